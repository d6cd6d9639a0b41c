"""Export: the agent in its files answers and plays as the trained network does, and needs neither torch nor pickle."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx.external_data_helper import uses_external_data

from ice_envs import agents, find_game
from ice_envs.agents.manifest import add_results, read_manifest
from ice_envs.errors import IceError
from ice_envs.files import write_json
from tests.face_helpers import in_process
from tests.helpers import apply_games, observations, random_play, started
from tests.portable_agents import evaluation_row
from training import command_line
from training import export as exporting
from training.export import ExportSettings, export, main
from training.model_card import model_card
from training.network import ActorCritic, NetworkAgent, NetworkShape, new_model
from training.run_folder import Origin, RunFolder

GAME = find_game("dokitto")
TRAINING = Origin(
    algorithm="none", decisions=0, seconds=0.0, seed=5, num_players=[2, 3, 4, 5], options={}, reward="win", settings="",
    command="", machine="", versions={},
)  # fmt: skip


def results():
    """Return evaluation rows at all table sizes."""
    return [{**evaluation_row(GAME), "num_players": size} for size in GAME.table_sizes]


@pytest.fixture(scope="module")
def model():
    """An untrained model whose logits differ as much as a trained one's."""
    model = new_model(GAME, NetworkShape([64, 32], [16, 8], [8]), 1e-3, 1, "cpu")
    with torch.no_grad():
        model.policy.action_net.each.weight *= 300
        model.policy.value_net.layer.weight *= 3
    return model


@pytest.fixture(scope="module")
def run(model, tmp_path_factory):
    """The folder of a finished run, as far as exporting needs it."""
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "a run")
    folder.path.mkdir()
    folder.save_model(model, "best.zip")
    folder.write_history(GAME, TRAINING, [])
    write_json(folder / "evaluation.json", results())
    return folder.path


def command(*words):
    """Run `python -m training.export words…` in this process; return its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as stop:
        command_line.run(
            main, ExportSettings, "training.export", positional=True, arguments=[str(word) for word in words]
        )
    return stop.value.code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    """The folder that the command has written."""
    folder = tmp_path_factory.mktemp("exported") / "agent"
    code, out, err = command(run, "--to", folder)
    assert (code, err) == (0, "")
    assert f"ice_envs.agents.load('{folder}/agent.json')" in out
    return folder


@pytest.fixture(scope="module")
def network(model):
    return ActorCritic(model.policy)


@pytest.fixture(scope="module")
def positions():
    """Observations and masks of a thousand positions, at all table sizes, from first to last moves."""
    parts = []
    for states, _ in random_play(GAME, started(GAME, list(GAME.table_sizes), 40, seed=3), seed=3):
        alive = states[states["over"] == 0]
        parts.append(observations(GAME, alive, alive["to_move"]))
    observation, mask = (np.concatenate(part) for part in zip(*parts, strict=True))
    chosen = np.random.default_rng(0).choice(len(mask), 1000, replace=False)
    return observation[chosen], mask[chosen]


# the same answers


def check_agreement(network, agent, positions):
    """Assert that the agent from the file answers as the network."""
    logits, value = (part.numpy() for part in network.answer(*positions))
    found, found_value = agent.answer(*positions)
    legal = positions[1] == 1
    np.testing.assert_allclose(found[legal], logits[legal], atol=1e-5, rtol=0)
    np.testing.assert_allclose(found_value, value, atol=1e-5, rtol=0)
    first, second = np.sort(logits, axis=1)[:, :-3:-1].T
    clear = first - second > 1e-4
    assert clear.mean() > 0.6  # the rest has one legal action, or two as good as equal
    np.testing.assert_array_equal(found.argmax(axis=1)[clear], logits.argmax(axis=1)[clear])


def test_a_thousand_positions_are_answered_alike(network, exported, positions):
    check_agreement(network, agents.load(exported / "agent.json", GAME), positions)
    assert np.ptp(network.answer(*positions)[0].numpy()[positions[1] == 1]) > 3, (
        "all logits are alike: nothing is proved"
    )


def games(agent):
    """Return every action of some whole games in which the agent plays all seats."""
    states, told = started(GAME, list(GAME.table_sizes), 24, seed=11, target_score=4), []
    while len(states := states[states["over"] == 0]):
        actions = agent.choose(states)
        told.append(actions.tolist())
        apply_games(states, actions)
    return told


def test_whole_games_are_played_alike(network, exported):
    transcript = games(NetworkAgent(network, GAME))
    assert len(transcript) > 40
    assert games(agents.load(exported / "agent.json", GAME)) == transcript
    assert games(agents.load("random", GAME)) != transcript


@pytest.mark.parametrize("size", [1, 2, 7])
def test_batches_of_any_size_are_answered(size, network, exported, positions):
    few = tuple(part[:size] for part in positions)
    logits, value = agents.load(exported / "agent.json", GAME).answer(*few)
    assert (logits.shape, value.shape) == ((size, GAME.num_actions), (size,))
    np.testing.assert_allclose(logits, network.answer(*few)[0].numpy(), atol=1e-5, rtol=1e-6)


# mixed-up actions


@pytest.fixture(scope="module")
def swapped(model, exported):
    """A network that takes each flavor for the next one in its answers, and knows nothing of it."""
    policy = new_model(GAME, NetworkShape([64, 32], [16, 8], [8]), 1e-3, 1, "cpu").policy
    policy.load_state_dict(model.policy.state_dict())
    policy.action_net.places[:65] = policy.action_net.places[:65].roll(13, 0)
    return ActorCritic(policy)


def test_swapped_actions_would_be_caught(swapped, exported, positions):
    agent = agents.load(exported / "agent.json", GAME)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_agreement(swapped, agent, positions)
    assert games(NetworkAgent(swapped, GAME)) != games(agent)


def test_a_model_with_swapped_actions_fails_its_parity_vectors(swapped, exported, tmp_path):
    path = export(swapped, GAME, tmp_path, "swapped", TRAINING, results())
    model, right = (tmp_path / "agent.onnx").read_bytes(), read_manifest(exported / "agent.json")
    right["onnx"] |= {"sha256": hashlib.sha256(model).hexdigest()}
    assert agents.load(path, GAME).name == "swapped"  # by itself it looks whole
    write_json(path, right)
    with pytest.raises(IceError, match="off on its parity vectors"):
        agents.load(path, GAME)


def test_swapped_labels_are_refused(exported, tmp_path):
    (tmp_path / "agent.onnx").write_bytes((exported / "agent.onnx").read_bytes())
    manifest = read_manifest(exported / "agent.json")
    labels = manifest["actions"]["labels"]
    labels[0], labels[1] = labels[1], labels[0]
    manifest["actions"]["labels_hash"] = hashlib.sha256(json.dumps(labels).encode()).hexdigest()[:16]
    write_json(tmp_path / "agent.json", manifest)
    with pytest.raises(IceError, match="was made for action labels"):
        agents.load(tmp_path / "agent.json", GAME)


def test_an_export_that_does_not_answer_as_the_network_is_refused(network, swapped, tmp_path, monkeypatch):
    export(network, GAME, tmp_path, "older", TRAINING, results())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    original = exporting.onnx_model
    monkeypatch.setattr(exporting, "onnx_model", lambda network, *others: original(swapped, *others))
    with pytest.raises(IceError, match="off on its parity vectors"):
        export(network, GAME, tmp_path, "agent", TRAINING, results())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before, "the older agent stays"


# the files


def test_the_model_is_one_file_of_plain_operators(exported):
    assert {path.name for path in exported.iterdir()} == set(exporting.PUBLISHED)
    model = onnx.load(exported / "agent.onnx", load_external_data=False)
    onnx.checker.check_model(model, full_check=True)
    assert not any(uses_external_data(tensor) for tensor in model.graph.initializer)
    arithmetic = {"Gemm", "MatMul", "Relu", "Mul", "Add", "Sub", "ReduceSum"}
    moving = {"Gather", "Reshape", "Concat", "Slice", "Unsqueeze", "Squeeze", "Pad"}
    assert {node.op_type for node in model.graph.node} <= arithmetic | moving
    for node in (*model.graph.input, *model.graph.output):
        batch, _ = node.type.tensor_type.shape.dim
        assert (batch.dim_param, node.type.tensor_type.elem_type) == ("batch", onnx.TensorProto.FLOAT)


def test_the_model_carries_its_manifest(exported):
    model = onnx.load(exported / "agent.onnx")
    (inside,) = [json.loads(entry.value) for entry in model.metadata_props if entry.key == "ice_envs.manifest"]
    beside = read_manifest(exported / "agent.json")
    described = beside.pop("onnx")
    assert {name: part for name, part in inside.items() if name != "onnx"} == beside
    assert described["file"] == "agent.onnx"
    assert described["opset"] == model.opset_import[0].version == 18
    assert described["ir_version"] == model.ir_version
    assert described["bytes"] == (exported / "agent.onnx").stat().st_size
    assert "torch" in described["exporter"]


def test_no_file_tells_of_the_machine(exported):
    sources = str(Path(exporting.__file__).parent.parent).encode()
    for path in exported.iterdir():
        assert sources not in path.read_bytes(), path.name
        assert b'File "' not in path.read_bytes(), path.name


def test_the_manifest_tells_what_the_run_told(exported):
    manifest = read_manifest(exported / "agent.json")
    assert (manifest["name"], manifest["game"], manifest["training"]) == ("a run", "dokitto", TRAINING)
    assert manifest["evaluation"] == [{**row, "agent": "a run"} for row in results()]
    assert manifest["seats"] == [2, 3, 4, 5]
    assert "with 2, 3, 4 or 5 seats" in manifest["description"]
    assert manifest["options"] == GAME.default_options()
    choices = [sum(vector["mask"]) for vector in manifest["parity"]["vectors"]]
    assert len(choices) == 16
    assert max(choices) > 3


def test_an_agent_may_play_only_what_it_was_evaluated_at(network, tmp_path):
    rows = [{**row, "options": {**row["options"], "target_score": 7}} for row in results()[1:3]]
    path = export(network, GAME, tmp_path, "agent", Origin(**TRAINING | {"reward": "margin"}), rows)
    manifest = read_manifest(path)
    assert (manifest["seats"], manifest["options"]["target_score"]) == ([3, 4], 7)
    assert "3 or 4 seats" in manifest["description"]
    assert "points" in manifest["outputs"][1]["units"]  # what the value was trained for
    with pytest.raises(IceError, match=r"plays with \[3, 4\] seats, not with 5"):
        agents.load(path, GAME).choose(started(GAME, 5))


# an agent in the place of another

GONE = "The agent that was there had another network: what was measured of it is gone with it."


@pytest.fixture
def measured(run, tmp_path):
    """The folder of an agent of which more was measured since it was exported."""
    folder = tmp_path / "published"
    assert command(run, "--to", folder, "--name", "older")[0] == 0
    row = {**results()[0], "agent": "older"}
    add_results(folder / "agent.json", "evaluation", [{**row, "games": 1200}, {**row, "opponent": "search:100"}])
    add_results(folder / "agent.json", "challengers", [{**row, "agent": "greedy", "opponent": "older"}])
    trained = {"minutes": 1.0, "decisions": 5, "start": None}
    add_results(folder / "agent.json", "exploitability", [{**row, **trained}])
    return folder


def test_the_same_network_keeps_what_was_measured_of_it(run, measured):
    before = read_manifest(measured / "agent.json")
    code, out, err = command(run, "--to", measured, "--name", "newer")
    assert (code, err, GONE in out) == (0, "", False)
    after = read_manifest(measured / "agent.json")
    assert json.dumps(after["evaluation"]) == json.dumps(before["evaluation"]).replace("older", "newer")
    assert len(after["evaluation"]) == len(GAME.table_sizes) + 1
    assert after["challengers"] == [{**before["challengers"][0], "opponent": "newer"}]
    assert after["exploitability"] == [{**before["exploitability"][0], "agent": "newer"}]
    assert (measured / "README.md").read_text(encoding="utf-8") == model_card(after, GAME)
    inside = onnx.load(measured / "agent.onnx").metadata_props[0].value
    assert json.loads(inside)["exploitability"] == after["exploitability"]


def test_what_was_measured_anew_with_as_many_games_is_the_newer_result(network, measured):
    rows = [{**row, "games": 1200, "win_share": 0.75} for row in results()]
    export(network, GAME, measured, "newer", TRAINING, rows)
    found = read_manifest(measured / "agent.json")["evaluation"]
    assert [row["win_share"] for row in found if row["opponent"] == "random"] == [0.75] * len(rows)


def test_another_network_gets_no_results_of_the_one_before(run, measured, tmp_path):
    other = new_model(GAME, NetworkShape([64, 32], [16, 8], [8]), 1e-3, 2, "cpu")
    folder = RunFolder(tmp_path / "other")
    folder.path.mkdir()
    folder.save_model(other, "best.zip")
    folder.write_history(GAME, TRAINING, [])
    write_json(folder / "evaluation.json", results())
    code, out, err = command(folder.path, "--to", measured)
    assert (code, err, GONE in out) == (0, "", True)
    manifest = read_manifest(measured / "agent.json")
    assert manifest["evaluation"] == [{**row, "agent": "other"} for row in results()]
    assert (manifest["challengers"], manifest["exploitability"]) == ([], [])


def test_a_damaged_agent_is_replaced_like_none(run, measured):
    (measured / "agent.onnx").write_bytes(b"no model")
    code, out, err = command(run, "--to", measured)
    assert (code, err, GONE in out) == (0, "", False)
    assert agents.load(measured / "agent.json", GAME).name == "a run"
    assert read_manifest(measured / "agent.json")["challengers"] == []


BLOCKED = """
import pickle, sys

class Blocked:
    def __init__(self, *arguments, **named):
        raise AssertionError("something was unpickled")

for name in ("torch", "stable_baselines3", "sb3_contrib", "onnx", "onnxscript", "training"):
    sys.modules[name] = None
pickle.load = pickle.loads = pickle.Unpickler = pickle._load = pickle._loads = pickle._Unpickler = Blocked
sys.modules["_pickle"] = None

from ice_envs import Batch, agents, find_game

game = find_game("dokitto")
agent = agents.load(PATH)
batch = Batch(game, 3, seed=2, num_players=(2, 4, 5))
for _ in range(6):
    states = batch.states.copy()
    actions = agent.choose(states)
    for i in range(3):
        move = agent.act(game.to_view(states[i], states[i].to_move))
        assert move.action == actions[i], (move, actions[i])
    batch.step(actions)
    print(actions.tolist())
"""


def test_loading_and_playing_needs_neither_torch_nor_pickle(network, exported):
    # plain Python, since compiled code would be read from Numba's cache, which unpickles
    done = in_process(f"PATH = {str(exported / 'agent.json')!r}{BLOCKED}", NUMBA_DISABLE_JIT="1")
    assert (done.returncode, done.stderr) == (0, "")
    states, told = started(GAME, [2, 4, 5], 3, seed=2), []
    for _ in range(6):
        told.append(NetworkAgent(network, GAME).choose(states).tolist())
        apply_games(states, np.array(told[-1]))
    assert done.stdout == "".join(f"{actions}\n" for actions in told)


# what is refused


def test_a_folder_that_cannot_be_written_is_one_sentence(run, tmp_path):
    (tmp_path / "file").write_text("")
    for place, words in ((tmp_path / "file", "File exists"), (tmp_path / "file" / "agent", "Not a directory")):
        code, out, err = command(run, "--to", place)
        assert (code, out, err) == (2, "", f"cannot make the folder {place}: {words}\n")


DAMAGE = {
    "evaluation.json": [
        (None, "there is no finished run in"),
        (b"[", "is not JSON, or only the beginning of it"),
        (b"[]", "evaluation.json holds no results"),
        (b"3", "evaluation.json must be a list, not 3"),
        (b"[{}]", "evaluation.json[0] lacks 'game'"),
    ],
    "history.json": [
        (None, "history.json: No such file or directory"),
        (b"{", "is not JSON, or only the beginning of it"),
        (b"{}", "history.json does not tell of a training run"),
        (b"[]", "history.json does not tell of a training run"),
        (b'{"game": "kawai", "training": {}}', "unknown game 'kawai'"),
    ],
    "best.zip": [(None, "best.zip: No such file or directory"), (b"", "best.zip is not a whole model")],
}


@pytest.mark.parametrize(("name", "content", "sentence"), [(name, *case) for name in DAMAGE for case in DAMAGE[name]])
def test_a_damaged_run_is_one_sentence_and_nothing_is_written(run, tmp_path, name, content, sentence):
    copy = tmp_path / "run"
    copy.mkdir()
    for path in run.iterdir():
        if (path.name, content) != (name, None):
            (copy / path.name).write_bytes(content if path.name == name else path.read_bytes())
    code, out, err = command(copy, "--to", tmp_path / "agent")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
    assert not (tmp_path / "agent").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "run"),
        (("nowhere",), "there is no finished run in nowhere"),
        (("run", "--too", "x"), "did you mean '--to'?"),
    ],
)
def test_bad_words_are_one_sentence(words, sentence):
    code, out, err = command(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err

"""Agents: the contract, the built-in ones, and what the loader says about every file that does not fit."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from ice_envs import agents, find_game
from ice_envs.agents.manifest import read_manifest, write_manifest
from ice_envs.engine import loops
from ice_envs.errors import IceError, IllegalAction
from tests import portable_agents
from tests.helpers import masks, random_play, started

GAME = find_game("dokitto")


def positions(count=64, moves=30, seed=3):
    """Return games of all table sizes after some random moves, none of them over."""
    play = random_play(GAME, started(GAME, [2, 3, 4, 5], count, seed), seed)
    for _ in range(moves):
        states, _ = next(play)
    return states[states["over"] == 0]


def sentence(error):
    text = str(error.value)
    assert "\n" not in text
    return text


@pytest.fixture(params=["random", "greedy", "file"])
def agent(request, tmp_path):
    spec = portable_agents.export(tmp_path, GAME) if request.param == "file" else request.param
    return agents.load(spec, GAME)


# every agent


def test_choices_are_legal_and_the_states_are_left_alone(agent):
    for moves in (1, 5, 30):
        states = positions(moves=moves)
        before = states.copy()
        actions = agent.choose(states)
        assert actions.dtype == np.int64
        assert masks(GAME, states)[np.arange(len(states)), actions].all()
        assert (states == before).all()


def test_no_games_give_no_choices(agent):
    assert agent.choose(started(GAME, 4, 1)[:0]).shape == (0,)


def test_act_answers_a_view_with_a_labeled_move(agent):
    for state in positions():
        seat = int(state.to_move)
        move = agent.act(json.loads(json.dumps(GAME.to_view(state, seat))))
        assert masks(GAME, np.array([state], GAME.dtype))[0, move.action] == 1
        assert (move.label, move.label_ja) == (GAME.labels[move.action], GAME.labels_ja[move.action])


@pytest.mark.parametrize("spec", ["greedy", "file"])
def test_act_chooses_as_choose_does(spec, tmp_path):
    agent = agents.load(portable_agents.export(tmp_path, GAME) if spec == "file" else spec, GAME)
    states = positions()
    by_view = [agent.act(GAME.to_view(state, int(state.to_move))).action for state in states]
    assert by_view == agent.choose(states).tolist()


def test_act_without_a_game_learns_it_from_the_view():
    state = positions()[0]
    for spec in agents.BUILT_IN:
        move = agents.load(spec).act(GAME.to_view(state, int(state.to_move)))
        assert move.label in GAME.labels


def test_act_refuses_views_it_cannot_answer(agent):
    states = positions()
    waiting = (int(states[0].to_move) + 1) % int(states[0].num_players)
    with pytest.raises(IceError, match="to move"):
        agent.act(GAME.to_view(states[0], waiting))
    for bad in ({}, [], {"game": "dokito"}):
        with pytest.raises(IceError) as error:
            agent.act(bad)
        sentence(error)
    over = states[:1].copy()
    over["over"] = 1
    with pytest.raises(IceError, match="over"):
        agent.act(GAME.to_view(over[0], int(over[0].to_move)))


# the built-in agents


def test_random_is_uniform_over_the_legal_actions():
    states = np.repeat(positions(moves=1)[:1], 20_000)
    legal = np.flatnonzero(masks(GAME, states[:1])[0])
    counts = np.bincount(agents.load("random", GAME).choose(states), minlength=GAME.num_actions)
    assert counts[legal].sum() == len(states)
    expected = len(states) / len(legal)
    assert (np.abs(counts[legal] - expected) < 5 * np.sqrt(expected)).all()


def test_random_repeats_itself_for_a_seed_and_after_reseed():
    states = positions()
    first, second, other = (agents.load("random", GAME, seed) for seed in (5, 5, 6))
    choices = [first.choose(states).tolist() for _ in range(3)]
    assert choices == [second.choose(states).tolist() for _ in range(3)]
    assert choices[0] != choices[1]
    assert choices[0] != other.choose(states).tolist()
    first.reseed(5)
    assert first.choose(states).tolist() == choices[0]
    assert agents.load("random", seed=5).choose(states).tolist() == choices[0]


def test_greedy_is_the_games_heuristic():
    states = positions()
    expected = np.empty(len(states), np.int64)
    loops.greedy_actions(states, expected)
    assert agents.load("greedy", GAME).choose(states).tolist() == expected.tolist()


def test_states_of_no_registered_game_need_a_game():
    with pytest.raises(IceError, match="registered"):
        agents.load("random").choose(np.zeros(1, [("to_move", "i1")]))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("gredy", ["unknown agent 'gredy'", "did you mean 'greedy'?"]),
        ("best", ["unknown agent 'best'", "random, greedy, search:1000, path/to/agent.json"]),
        ("nowhere/agent.json", ["cannot read nowhere/agent.json", "No such file"]),
    ],
)
def test_unknown_specs_are_named(spec, words):
    with pytest.raises(IceError) as error:
        agents.load(spec, GAME)
    assert all(word in sentence(error) for word in words)


def test_an_unknown_game_is_named():
    with pytest.raises(IceError, match=r"unknown game 'dokito' \(did you mean 'dokitto'\?\)"):
        agents.load("random", "dokito")


class Stubborn(agents.Agent):
    """Always answers the same."""

    name, game = "stubborn", GAME

    def __init__(self, answer):
        self.answer = answer

    def choose(self, states):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "words"), [(65, "'take a strawberry tile' (65)"), (70, "action 70"), (-1, "action -1")]
)
def test_an_illegal_choice_names_agent_and_action(answer, words):
    with pytest.raises(IllegalAction) as error:
        agents.checked_choice(Stubborn(np.array([answer])), GAME, started(GAME, 4, 1))
    assert "'stubborn' chose an illegal action" in sentence(error)
    assert words in sentence(error)


@pytest.mark.parametrize("answer", [np.zeros(2, np.int64), np.zeros(1), 3])
def test_choices_of_the_wrong_form_are_refused(answer):
    with pytest.raises(IceError, match="'stubborn' must return 1 whole numbers"):
        agents.checked_choice(Stubborn(answer), GAME, started(GAME, 4, 1))


# agents from files


def test_a_file_plays_the_best_legal_action_of_its_model(tmp_path):
    agent = agents.load(portable_agents.export(tmp_path, GAME))
    assert (agent.name, agent.game) == ("tiny", GAME)
    states = np.concatenate([positions(moves=moves) for moves in range(1, 90)])
    assert len(states) > 4096  # more than one chunk
    observation = np.zeros((len(states), GAME.layout.size), np.uint8)
    mask = np.zeros((len(states), GAME.num_actions), np.int8)
    loops.observe_games(states, observation, mask, np.zeros(len(states), np.int64))
    logits, value = portable_agents.answers(GAME, observation, mask)
    actions = agent.choose(states)
    best = logits[np.arange(len(states)), actions]
    assert (logits.max(axis=1) - best < 1e-4).all()
    np.testing.assert_allclose(agent.answer(observation, mask)[1], value, atol=1e-4)


def test_equals_are_settled_for_the_lowest_index(tmp_path, monkeypatch):
    monkeypatch.setattr(
        portable_agents, "weights", lambda game: np.zeros((game.layout.size, game.num_actions + 1), "f4")
    )
    states = positions()
    agent = agents.load(portable_agents.export(tmp_path, GAME))
    assert agent.choose(states).tolist() == masks(GAME, states).argmax(axis=1).tolist()


def test_a_file_refuses_tables_it_was_not_made_for_and_finished_games(tmp_path):
    agent = agents.load(portable_agents.export(tmp_path, GAME, seats=[3, 4]))
    agent.choose(started(GAME, 4, 2))
    with pytest.raises(IceError, match=r"'tiny' plays with \[3, 4\] seats, not with 2"):
        agent.choose(started(GAME, 2, 2))
    over = started(GAME, 4, 2)
    over["over"] = 1
    with pytest.raises(IceError, match="over"):
        agent.choose(over)


def test_a_model_that_answers_nan_is_caught(tmp_path):
    agent = agents.load(portable_agents.export(tmp_path, GAME))
    agent.answer = lambda observation, mask: (np.full((len(mask), GAME.num_actions), np.nan), None)
    with pytest.raises(IllegalAction, match="the model of agent 'tiny' chose an illegal action"):
        agent.choose(started(GAME, 4, 8))


def test_a_file_of_another_game_is_refused(tmp_path):
    other = replace(GAME, name="sorbet")
    with pytest.raises(IceError) as error:
        agents.load(portable_agents.export(tmp_path, GAME), other)
    assert sentence(error) == f"{tmp_path / 'agent.json'} plays dokitto, not sorbet"


WRONG_FIELDS = [
    ({"schema": "ice-agent/2"}, ["agent.json has schema 'ice-agent/2'", "reads 'ice-agent/1'"]),
    ({"schema": "ice-agent/10"}, ["'ice-agent/10'", "'ice-agent/1'"]),
    ({"schema": 1}, ["agent.json is not an agent manifest", "'schema'"]),
    ({"game": "chess"}, ["agent.json", "unknown game 'chess'"]),
    ({"rules_version": 7}, ["rules version 7", f"has {GAME.version}"]),
    ({"observation__layout_hash": "beef"}, ["observation layout beef", f"has {GAME.layout.hash()}"]),
    ({"actions__labels_hash": "beef"}, ["action labels beef", f"has {GAME.labels_hash}"]),
    ({"observation__shape": ["batch", 5]}, ["observation shape ['batch', 5]", f"{GAME.layout.size}"]),
    ({"mask__shape": ["batch", 5]}, ["mask shape ['batch', 5]", f"{GAME.num_actions}"]),
    ({"outputs": []}, ["outputs []", "masked_logits"]),
    ({"recurrent": True}, ["recurrent"]),
    ({"onnx__sha256": "beef"}, ["agent.onnx has sha256 ", "agent.json says beef"]),
    ({"onnx__file": "other.onnx"}, ["cannot read", "other.onnx", "No such file"]),
    ({"onnx__file": "../agent.onnx"}, ["'../agent.onnx'", "same folder"]),
    ({"observation__input": "obs"}, ["input observation tensor(float)", "input obs tensor(float)"]),
    ({"seats": 4}, ["agent.json is not a whole agent manifest", "seats must be a list, not 4"]),
    ({"seats": [True]}, ["seats[0] must be a whole number, not True"]),
    ({"parity": {}}, ["parity lacks 'vectors'"]),
    ({"parity__vectors": []}, ["agent.onnx", "one or more rows"]),
    ({"parity__tolerance": 1e-12}, ["agent.onnx is", "off on its parity vectors", "1e-12 is allowed"]),
]


@pytest.mark.parametrize(("changes", "words"), WRONG_FIELDS)
def test_a_manifest_that_does_not_fit_is_refused_in_one_sentence(tmp_path, changes, words):
    path = portable_agents.export(tmp_path, GAME, **changes)
    with pytest.raises(IceError) as error:
        agents.load(path)
    assert all(word in sentence(error) for word in [str(tmp_path), *words])


@pytest.mark.parametrize("row", ["observation", "mask", "masked_logits"])
def test_a_parity_vector_of_the_wrong_length_is_refused(tmp_path, row):
    path = portable_agents.export(tmp_path, GAME)
    content = json.loads(path.read_text())
    content["parity"]["vectors"][0][row].pop()
    path.write_text(json.dumps(content))
    with pytest.raises(IceError, match="one or more rows of"):
        agents.load(path)


def test_a_swapped_action_is_seen_by_the_parity_vectors(tmp_path):
    path = portable_agents.export(tmp_path, GAME)
    content = json.loads(path.read_text())
    for vector in content["parity"]["vectors"]:
        logits, legal = vector["masked_logits"], np.flatnonzero(vector["mask"])
        logits[legal[0]], logits[legal[1]] = logits[legal[1]], logits[legal[0]]
    path.write_text(json.dumps(content))
    with pytest.raises(IceError, match="off on its parity vectors"):
        agents.load(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"schema": "ice-agent/1", "name"', "is not JSON, or only the beginning of it"),
        ("\xff\xfe", "is not JSON, or only the beginning of it"),
        ("[1, 2]", "is not an agent manifest"),
        ('{"license": "MIT"}', "is not an agent manifest"),
        ('{"schema": "ice-agent/1"}', "is not a whole agent manifest: the manifest lacks 'game'"),
    ],
)
def test_damaged_and_foreign_json_is_refused_in_one_sentence(tmp_path, content, words):
    path = tmp_path / "agent.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(IceError) as error:
        agents.load(path)
    assert str(path) in sentence(error)
    assert words in sentence(error)


def test_a_folder_is_no_agent(tmp_path):
    with pytest.raises(IceError, match=r"is a folder: give the path of the agent\.json in it"):
        agents.load(tmp_path)


def truncated(game):
    return portable_agents.model_bytes(game)[:500]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (truncated, "is not a model that onnxruntime can open"),
        (lambda game: b"", "is not a model that onnxruntime can open"),
        (lambda game: portable_agents.model_bytes(game, input_name="obs"), "has input action_mask"),
        (lambda game: portable_agents.model_bytes(game, batch=1), "[1, 70]"),
        (lambda game: portable_agents.model_bytes(game, masked=False), "does not mask illegal actions"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_in_one_sentence(tmp_path, model, words):
    path = portable_agents.export(tmp_path, GAME, model(GAME))  # its hash is right
    with pytest.raises(IceError) as error:
        agents.load(path)
    assert str(tmp_path / "agent.onnx") in sentence(error)
    assert words in sentence(error)


def test_a_model_cut_short_after_export_is_seen_by_its_hash(tmp_path):
    path = portable_agents.export(tmp_path, GAME)
    (tmp_path / "agent.onnx").write_bytes(truncated(GAME))
    with pytest.raises(IceError, match=r"agent\.onnx has sha256 \w+, but .*agent\.json says \w+"):
        agents.load(path)


def test_a_missing_onnxruntime_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(IceError, match=r'needs onnxruntime to be played: pip install "ice_envs\[agents\]"'):
        agents.load(portable_agents.export(tmp_path, GAME))


def test_playing_a_file_imports_neither_torch_nor_onnx_and_importing_agents_not_even_onnxruntime(tmp_path):
    path = portable_agents.export(tmp_path, GAME)
    code = (
        "import sys, ice_envs.agents as agents; print('onnxruntime' in sys.modules);"
        f"agents.load({str(path)!r}); print(*(name in sys.modules for name in ('onnxruntime', 'torch', 'onnx')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "False", "False"]


# manifests


def test_a_manifest_comes_back_as_it_was_written(tmp_path):
    content = portable_agents.manifest(GAME, b"model")
    write_manifest(tmp_path / "agent.json", content)
    assert read_manifest(tmp_path / "agent.json") == content


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("games", 0, "counts 0 games"),
        ("interval", [], r"has \[\] where an interval"),
        ("margin_interval", [2.0, 1.0], "where an interval"),
        ("win_share", float("nan"), "win_share is nan, not a finite number"),
        ("interval", [0.1, float("inf")], r"interval\[1\] is inf"),
        ("versions", {"x": float("nan")}, "not finite"),
        ("opponent", None, "opponent must be text, not None"),
    ],
)
def test_a_manifest_with_a_dishonest_evaluation_is_not_written(tmp_path, field, value, words):
    content = portable_agents.manifest(GAME, b"model")
    content["evaluation"][0][field] = value
    with pytest.raises(IceError, match=words):
        write_manifest(tmp_path / "agent.json", content)
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_without_evaluation_or_with_a_missing_interval_is_not_written(tmp_path):
    content = portable_agents.manifest(GAME, b"model")
    del content["evaluation"][0]["interval"]
    with pytest.raises(IceError, match=r"evaluation\[0\] lacks 'interval'"):
        write_manifest(tmp_path / "agent.json", content)
    content["evaluation"] = []
    with pytest.raises(IceError, match="no evaluation"):
        write_manifest(tmp_path / "agent.json", content)

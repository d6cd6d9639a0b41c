"""Published agents: what is measured of them is written and told, and those in checkpoints/ are whole."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from ice_envs import IceError, agents, find_game, games
from ice_envs.agents.manifest import EvaluationRow, read_manifest, write_manifest
from ice_envs.files import read_json
from tests import portable_agents
from tests.front_ends import PUBLISHED, export_new
from tests.training_runs import AT_FOUR, SMALL, begun
from training import command_line, docs, docs_agents, docs_results, evaluate
from training.docs_files import whole_files
from training.evaluate import EvaluationSettings
from training.export import PUBLISHED as FILES
from training.model_card import model_card
from training.run import TrainSettings

GAME = find_game("dokitto")
MOST_BYTES = 8_000_000
OF_A_MACHINE = re.compile(rb"/(home|root|tmp|work|mnt|opt|usr|Users)/")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[Any, str, str]:
    """Run `python -m training.evaluate words…` in this process."""
    with pytest.raises(SystemExit) as stop:
        command_line.run(evaluate.main, EvaluationSettings, "training.evaluate", arguments=words)
    return stop.value.code, *capsys.readouterr()


# ---- what is measured ----


@pytest.fixture
def agent(tmp_path: Path) -> str:
    """A tiny agent with an old card: its manifest."""
    path = portable_agents.export(tmp_path, GAME, evaluation=[portable_agents.evaluation_row(GAME)])
    path.with_name("README.md").write_text("An old card.")
    return str(path)


def measure(capsys: pytest.CaptureFixture[str], one: str, others: str, to: str, *sizes: int, games: int = 60) -> None:
    words = ["--agent", one, "--opponents", *others.split(), "--num_players", *map(str, sizes), "--games", str(games)]
    code, _, err = run(capsys, *words, "--to", to)
    assert code == 0, err


def told(rows: list[EvaluationRow]) -> list[tuple[str, str, int, int]]:
    return [(row["agent"], row["opponent"], row["num_players"], row["games"]) for row in rows]


def test_results_take_the_place_of_those_of_the_same_opponent_and_table_size(
    agent: str, capsys: pytest.CaptureFixture[str]
):
    measure(capsys, agent, "greedy search:2", agent, 3, games=6)
    measure(capsys, agent, "random greedy", agent, 2, 3)
    manifest = read_manifest(agent)
    against = {"greedy": [(2, 60), (3, 60)], "random": [(2, 60), (3, 60)], "search:2": [(3, 6)]}
    assert told(manifest["evaluation"]) == [("tiny", name, *sizes) for name in against for sizes in against[name]]
    before: Any = portable_agents.manifest(GAME, Path(agent).with_name("agent.onnx").read_bytes())
    assert {**before, "evaluation": manifest["evaluation"]} == manifest
    card = Path(agent).with_name("README.md").read_text(encoding="utf-8")
    assert card == model_card(manifest, GAME)
    assert f"{manifest['evaluation'][0]['win_share']:.3f} (" in card


def test_an_opponent_among_agents_is_its_challenger(agent: str, capsys: pytest.CaptureFixture[str]):
    measure(capsys, "greedy", agent, agent, 3, 2)
    manifest = read_manifest(agent)
    assert told(manifest["challengers"]) == [("greedy", "tiny", 2, 60), ("greedy", "tiny", 3, 60)]
    assert told(manifest["evaluation"]) == [("tiny", "random", 2, 12)]
    assert "win share of the opponent" in Path(agent).with_name("README.md").read_text(encoding="utf-8")


def test_handicaps_have_rows_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = str(portable_agents.export(tmp_path, find_game("kawaii")))
    words = ["--env", "kawaii", "--agent", path, "--opponents", "random", "--num_players", "2", "--games", "4"]
    for more in ([], ["--handicap", "1", "2"], ["--handicap", "2"]):
        assert run(capsys, *words, *more, "--to", path)[0] == 0
    rows = read_manifest(path)["evaluation"]
    assert [row.get("handicap") for row in rows] == [None, [1, 0], [2, 0]]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--agent greedy --to AGENT", "is not the manifest of greedy, the agent that is measured, nor of its only opp"),
        ("--agent greedy --opponents AGENT random --to AGENT", "nor of its only opponent"),
        ("--agent OTHER --to AGENT", "is not the manifest of tiny, the agent that is measured"),
        ("--agent AGENT --to AGENT --options.target_score 5", "tells of an agent for other rule options"),
        ("--agent AGENT --to nowhere/agent.json", "cannot read nowhere/agent.json: No such file or directory"),
    ],
)
def test_results_of_others_are_refused_before_a_game_is_played(
    agent: str, tmp_path: Path, words: str, sentence: str, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "other").mkdir()
    model = portable_agents.model_bytes(GAME) + b"\x32\x01\x20"  # documentation: other bytes, the same model
    other = portable_agents.export(tmp_path / "other", GAME, model)
    before = Path(agent).read_bytes()
    places = {"AGENT": agent, "OTHER": str(other)}
    code, out, err = run(capsys, *(places.get(word, word) for word in words.split()), "--games", "60")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
    assert Path(agent).read_bytes() == before


# ---- what pages tell ----


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for published agents in which there is none."""
    monkeypatch.setattr(docs_agents, "CHECKPOINTS", tmp_path)
    return tmp_path


def put(checkpoints: Path, name: str, **more: Any) -> Any:
    """Publish a tiny agent with results against several opponents at every table size; return its manifest."""
    game = find_game(name)
    row = portable_agents.evaluation_row(game)
    rows = [
        {**row, "num_players": size, "opponent": opponent, "win_share": 0.4 + i / 100 + size / 1000}
        for i, opponent in enumerate(("random", "greedy", "search:100", "search:1000", "search:50ms"))
        for size in game.table_sizes
    ]
    (checkpoints / name).mkdir()
    path = portable_agents.export(checkpoints / name, game, evaluation=rows, **more)
    return read_manifest(path)


@pytest.mark.parametrize("name", games())
def test_a_page_tells_all_that_is_known_of_a_published_agent(checkpoints: Path, name: str):
    adversary = {**portable_agents.evaluation_row(find_game(name)), "minutes": 7.5, "decisions": 1000, "start": None}
    manifest = put(checkpoints, name, exploitability=[adversary], training={"seed": 23, "machine": "a machine"})
    page = docs_agents.published(name)
    for row in manifest["evaluation"]:
        assert (
            f"| {row['num_players']} | {row['opponent']} | {1 / row['num_players']:.3f} | {row['win_share']:.3f} ("
            in page
        )
    for words in (
        "in seat 1",
        "| 7.5 |",
        "| seed | 23 |",
        "| machine | a machine |",
        f"../checkpoints/{name}/README.md",
    ):
        assert words in page


@pytest.mark.parametrize("name", games())
def test_a_game_without_an_agent_says_so_and_loses_no_result(checkpoints: Path, name: str):
    assert docs_agents.published(name) == (
        f"No agent of {find_game(name).title} is published yet; `python -m training.train --env {name}` trains one."
    )
    alone = docs_results.results(name)
    assert "published" not in alone
    put(checkpoints, name)
    both = docs_results.results(name)
    assert "published agent against greedy | published agent against search:1000 | default run" in both
    for size in find_game(name).table_sizes:
        assert (
            f"| {size} | {1 / size:.3f} | {0.41 + size / 1000:.3f} (0.200–0.800) | {0.43 + size / 1000:.3f} (" in both
        )
    title = docs_results.anchor(find_game(name).title)
    assert f"](docs/benchmarks.md#{title})" in both
    assert f"\n## {find_game(name).title}\n" in (docs.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def test_what_was_not_measured_is_left_open(checkpoints: Path):
    manifest = put(checkpoints, "dokitto")
    manifest["evaluation"] = [row for row in manifest["evaluation"] if row["num_players"] != 3]
    write_manifest(checkpoints / "dokitto" / "agent.json", manifest)
    assert "| 3 | 0.333 |  |  | 0." in docs_results.results("dokitto")


def test_an_agent_of_other_rules_is_refused(checkpoints: Path):
    put(checkpoints, "dokitto", rules_version=9)
    with pytest.raises(IceError, match=r"checkpoints/dokitto/agent\.json is not of dokitto as it is now"):
        docs_agents.published("dokitto")


# ---- where an agent comes from ----


def test_a_run_tells_every_command_that_it_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    told, folder = [], str(tmp_path / "run")
    for typed, commit in (("train --out run", "aa"), ("train --resume run", "bb"), ("train --resume run", "bb")):
        monkeypatch.setattr(command_line, "typed", lambda typed=typed: typed)
        monkeypatch.setattr(command_line, "versions", lambda commit=commit: {"commit": commit, "dirty": False})
        run = begun(*(["--resume", folder] if told else [*SMALL, *AT_FOUR, "--out", folder]))
        run.folder.save_state(run.state())
        told.append(run.origin()["command"])
    assert told == ["train --out run", *["train --out run && train --resume run"] * 2]
    assert run.origin()["commits"] == ["aa", "bb"]
    assert run.origin()["machine"] == command_line.cpu_name()
    older = run.state()
    del older["commands"]  # saved before commands were told
    run.commands = ["train --resume run"]
    run.restore(older)
    assert run.origin()["command"] == "train --resume run"


# ---- the agents in checkpoints/ ----


def faults(folder: Path, name: str) -> list[str]:
    """Return what a published agent lacks."""
    game = find_game(name)
    agent = agents.load(folder / "agent.json", game)
    manifest = read_manifest(folder / "agent.json")
    parity = read_json(folder / "parity.json")
    positions = parity["positions"]
    observation, mask, logits = (
        np.array([position[key] for position in positions]) for key in ("observation", "mask", "masked_logits")
    )
    found, value = agent.answer(observation, mask)  # type: ignore[attr-defined]  # a portable agent
    near = {"atol": parity["tolerance"], "rtol": 0}
    training = manifest["training"]
    settings = yaml.safe_load(training.get("settings", "")) or {}
    files = [path for path in folder.iterdir() if path.name != "runs"]
    checks = {
        "other files": {path.name for path in files} == set(FILES),
        "positions": len(positions) == 64 and parity["sha256"] == manifest["onnx"]["sha256"],
        "logits": np.allclose(found[mask == 1], logits[mask == 1], **near),
        "values": np.allclose(value, [position["value"] for position in positions], **near),
        "actions": [agent.act(position["view"]).action for position in positions]
        == [position["action"] for position in positions],
        "size": (folder / "agent.onnx").stat().st_size < MOST_BYTES,
        "commit": bool(re.fullmatch(r"[0-9a-f]{40}", str(training.get("versions", {}).get("commit")))),
        "config": settings.get("env") == name and settings.keys() >= {field.name for field in fields(TrainSettings)},
        "card": (folder / "README.md").read_text(encoding="utf-8") == model_card(manifest, game),
        "paths of a machine": not any(OF_A_MACHINE.search(path.read_bytes()) for path in files),
        "table sizes": {row["num_players"] for row in manifest["evaluation"]} == set(game.table_sizes),
        "options": manifest["options"] == game.default_options(),
    }
    return [name for name, fine in checks.items() if not fine]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an agent that is as a published one should be, and of a run beside it."""
    folder = tmp_path_factory.mktemp("sound")
    export_new(GAME, folder)
    manifest = read_manifest(folder / "agent.json")
    settings = command_line.read_settings(TrainSettings, "training.train", ["--seed", "5"], game_defaults=True)
    plain = json.loads(
        json.dumps({field.name: getattr(settings, field.name) for field in fields(settings)}, default=str)
    )
    manifest["training"] |= {"settings": yaml.safe_dump(plain), "versions": {"commit": "0123456789" * 4}}
    write_manifest(folder / "agent.json", manifest)
    (folder / "README.md").write_text(model_card(manifest, GAME), encoding="utf-8")
    (folder / "runs" / "first").mkdir(parents=True)
    return folder


def test_a_sound_agent_has_no_fault(sound: Path):
    assert faults(sound, "dokitto") == []


def test_every_fault_is_found(sound: Path, tmp_path: Path):
    folder = tmp_path / "spoiled"
    shutil.copytree(sound, folder)
    (folder / "resume.pt").write_text("File /home/somebody/training/network.py")
    parity = read_json(folder / "parity.json")
    parity["positions"] = parity["positions"][:63]
    legal = parity["positions"][0]["mask"].index(1)
    parity["positions"][0]["masked_logits"][legal] += 0.01
    parity["positions"][0]["value"] += 0.01
    parity["positions"][0]["action"] += 1
    (folder / "parity.json").write_text(json.dumps(parity))
    manifest: Any = read_manifest(folder / "agent.json")
    manifest |= {"options": {**manifest["options"], "target_score": 3}, "evaluation": manifest["evaluation"][1:]}
    manifest["training"] |= {"settings": "env: kawaii", "versions": {"commit": None}}
    write_manifest(folder / "agent.json", manifest)
    expected = ["other files", "positions", "logits", "values", "actions", "commit", "config", "card"]
    assert faults(folder, "dokitto") == [*expected, "paths of a machine", "table sizes", "options"]


def test_an_agent_that_is_too_large_is_found(sound: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules[__name__], "MOST_BYTES", (sound / "agent.onnx").stat().st_size)
    assert faults(sound, "dokitto") == ["size"]


@pytest.mark.parametrize("name", games())
def test_the_agent_in_checkpoints_is_sound(name: str):
    """There need not be one of each game; what is there is whole, and told of in the docs."""
    folder = PUBLISHED / name
    published = folder / "agent.json" in whole_files_of_agents()
    assert published == (folder / "agent.json").is_file()
    assert faults(folder, name) == [] if published else "is published yet" in docs_agents.published(name)


def whole_files_of_agents() -> set[Path]:
    """Return the manifests whose cards the docs write."""
    return {path.with_name("agent.json") for path in whole_files(docs.ROOT) if path.parent.parent == PUBLISHED}


def test_runs_are_left_out_of_the_repository_and_agents_are_not():
    ignored = (docs.ROOT / ".gitignore").read_text().splitlines()
    assert "runs/" in ignored
    assert not any(line.startswith("checkpoints") or "onnx" in line for line in ignored)

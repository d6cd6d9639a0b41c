"""Comparing runs: the settings that differ, figures from the runs' files, the picture, the page, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ice_envs import IceError, find_game
from ice_envs.agents.manifest import check
from ice_envs.files import write_json
from tests.portable_agents import evaluation_row
from training import command_line, compare, docs_ablations, docs_results
from training.compare import CompareSettings, Comparison
from training.run import TrainSettings
from training.run_folder import Origin, RunFolder

GAME = find_game("dokitto")
PLAIN = TrainSettings(seed=3, options={"target_score": 7})
VARIED = replace(
    PLAIN, hidden=[64], opponents={"greedy": 0.5}, teacher=replace(PLAIN.teacher, temperature=0.5), minutes=5.0
)


def a_run(folder: Path, settings: TrainSettings, name: str = "dokitto", start: float = 0.3, **row: Any) -> Path:
    """Write what a comparison needs of a finished run; return its folder."""
    game = find_game(name)
    run = RunFolder(folder)
    run.make()
    run.write_settings(replace(settings, out=folder))
    origin = Origin(
        algorithm="none", decisions=123_456, seconds=600.0, seed=3, num_players=[2, 4], options={}, reward="win",
        settings="", command="", machine="a machine", versions={"commit": "0123456789abcdef"},
    )  # fmt: skip
    shares = [{str(size): start + i / 10 + size / 100 for size in (2, 4)} for i in range(3)]
    history = [
        {"seconds": 200.0 * i, "decisions": 40_000 * i, "win_shares": {"random": {}, "greedy": share}}
        for i, share in enumerate(shares)
    ]
    write_json(run / "history.json", {"game": game.name, "training": dict(origin), "history": history})
    rows = [
        {**evaluation_row(game), "opponent": opponent, "num_players": size, "win_share": start + size / 1000, **row}
        for opponent in ("random", "greedy")
        for size in (2, 4)
    ]
    write_json(run / "evaluation.json", rows)
    return folder


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    """Two runs that differ in four settings."""
    return [a_run(tmp_path / "plain", PLAIN), a_run(tmp_path / "varied", VARIED, start=0.4)]


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[Any, str, str]:
    """Run `python -m training.compare words…` in this process."""
    with pytest.raises(SystemExit) as stop:
        command_line.run(compare.main, CompareSettings, "training.compare", arguments=[str(word) for word in words])
    return stop.value.code, *capsys.readouterr()


# ---- what is found ----


def test_the_settings_that_differ_are_told_and_no_others(two: list[Path]):
    plain, varied = compare.compare(two)["runs"]
    assert plain["settings"] == {
        "hidden": [256, 256],
        "minutes": 10.0,
        "opponents.random": 0.3,
        "teacher.temperature": 0.25,
    }
    assert varied["settings"] == {"hidden": [64], "minutes": 5.0, "opponents.greedy": 0.5, "teacher.temperature": 0.5}
    first, second = compare.lines(compare.compare(two, ["a", "b"]))
    assert first[:4] == ["a", "", "10.0", "123,456"]
    assert set(second[1].split("; ")) == {
        "minutes 5, not 10",
        "hidden 64, not 256 256",
        "opponents.random none, not 0.3",
        "opponents.greedy 0.5, not none",
        "teacher.temperature 0.5, not 0.25",
    }


def test_figures_are_those_of_the_runs_own_files(two: list[Path]):
    found = compare.compare(two)
    for folder, told in zip(two, found["runs"], strict=True):
        assert told["name"] == folder.name
        assert (told["minutes"], told["decisions"], told["machine"]) == (10.0, 123_456, "a machine")
        assert told["evaluation"] == json.loads((folder / "evaluation.json").read_text())
        history = json.loads((folder / "history.json").read_text())["history"]
        assert [point["win_shares"] for point in told["curve"]] == [point["win_shares"] for point in history]
        assert [point["minutes"] for point in told["curve"]] == [0, 3.333, 6.667]
    _, second = compare.lines(found)
    assert second[4:] == ["0.402 (0.200–0.800)", "0.404 (0.200–0.800)"]


def test_a_run_of_before_machines_were_told_compares_too(two: list[Path]):
    path = two[0] / "history.json"
    path.write_text(path.read_text().replace('"machine": "a machine",', ""))
    assert [told["machine"] for told in compare.compare(two)["runs"]] == [None, "a machine"]


def test_the_command_shows_a_table_and_writes_the_files(
    two: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file, picture = tmp_path / "all.json", tmp_path / "all.svg"
    code, out, err = run(capsys, "--runs", *two, "--names", "plain", "in $", "--json", file, "--plot", picture)
    assert (code, err) == (0, "")
    assert "Runs in Dokitto! Ice: final win share against greedy" in out
    assert max(map(len, out.splitlines())) <= 80
    assert "in $: minutes 5, not 10; " in " ".join(out.split())
    assert "0.200–0.800" in out
    assert "…" not in out
    found = json.loads(file.read_text())
    check(found, Comparison)
    assert [told["name"] for told in found["runs"]] == ["plain", "in $"]
    ElementTree.parse(picture)
    drawn = picture.read_text()
    for words in ("2 seats", "4 seats", "plain", "win share against greedy"):
        assert f"<!-- {words}" in drawn or f"{words} -->" in drawn, words
    assert drawn.count('id="axes_') == 2
    compare.draw(found, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == drawn
    compare.draw(found, tmp_path / "again.png")
    assert (tmp_path / "again.png").read_bytes()[1:4] == b"PNG"


def test_curves_follow_the_runs(two: list[Path]):
    from matplotlib.figure import Figure

    panel, handles = Figure().subplots(), {}
    compare.draw_panel(panel, compare.compare(two), 4, handles)
    assert list(handles) == ["plain", "varied"]
    assert handles["plain"].get_xydata().round(3).tolist() == [[0, 0.34], [3.333, 0.44], [6.667, 0.54]]
    ends = [list(container.lines[0].get_xydata()[0]) for container in panel.containers]
    assert ends == [[10.0, 0.304], [10.0, 0.404]]


# ---- what is refused ----


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--runs plain", "name two or more runs to compare"),
        ("--runs plain nowhere", "there is no finished run in nowhere: evaluation.json is missing"),
        ("--runs plain unfinished", "there is no finished run in unfinished: evaluation.json is missing"),
        ("--runs plain kawaii", "runs of different games do not compare: these are of dokitto and kawaii"),
        ("--runs plain older", "do not compare: these are of dokitto's rules of versions [0, 9]"),
        ("--runs plain bare", "cannot read the config file bare/config.yaml: No such file or directory"),
        ("--runs plain broken", "the config file broken/config.yaml is not YAML"),
        ("--runs plain empty", "the config file empty/config.yaml must hold lines of the form 'name: value'"),
        ("--runs plain varied --names one", "2 runs need as many different names, not one"),
        ("--runs plain varied --names one one", "2 runs need as many different names, not one, one"),
        ("--runs plain plain", "2 runs need as many different names, not plain, plain"),
        ("--runs plain varied --against search:9", "the run in plain was not evaluated against search:9"),
        ("--runs plain varied --json nowhere/a.json", "cannot write nowhere/a.json: there is no folder"),
        ("--runs plain varied --plot a.gif", "--plot draws .svg or .png files, not a.gif"),
        ("--runs plain varied --plots a.svg", "unknown flag --plots (did you mean '--plot'?)"),
        ("", "runs"),
    ],
)
def test_runs_that_do_not_compare_are_one_sentence(
    two: list[Path], words: str, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    place = two[0].parent
    monkeypatch.chdir(place)
    (a_run(place / "unfinished", PLAIN) / "evaluation.json").unlink()
    a_run(place / "kawaii", PLAIN, "kawaii")
    a_run(place / "older", PLAIN, rules_version=9)
    (a_run(place / "bare", PLAIN) / "config.yaml").unlink()
    (a_run(place / "broken", PLAIN) / "config.yaml").write_text("a: [")
    (a_run(place / "empty", PLAIN) / "config.yaml").write_text("")
    before = sorted(place.rglob("*"))
    code, out, err = run(capsys, *words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
    assert sorted(place.rglob("*")) == before


# ---- the page ----


@pytest.fixture
def docs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder docs without any result."""
    (tmp_path / "docs" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "figures").mkdir()
    monkeypatch.setattr(docs_results, "RESULTS", tmp_path / "docs" / "results")
    return tmp_path / "docs"


def test_the_page_has_a_section_for_each_game_that_has_an_ablation(two: list[Path], docs_folder: Path):
    assert docs_ablations.ablations() == "No comparison has been recorded yet."
    found = compare.compare(two)
    write_json(docs_folder / "results" / "dokitto_ablation.json", found)
    with pytest.raises(IceError, match=r"docs/figures/dokitto_ablation.svg is missing: make it with the command in"):
        docs_ablations.ablations()
    (docs_folder / "figures" / "dokitto_ablation.svg").write_text("<svg/>")
    page = docs_ablations.ablations()
    assert page.startswith("### Dokitto! Ice\n")
    assert page.count("###") == 1
    assert "(figures/dokitto_ablation.svg)" in page
    assert "| varied | " in page
    assert "0.402 (0.200–0.800)" in page
    for words in (found["command"], "`0123456789`", "a machine", found["date"][:10]):
        assert words in page
    write_json(docs_folder / "results" / "dokitto_ablation.json", {**found, "rules_version": 9})
    with pytest.raises(IceError, match=r"dokitto_ablation.json is not of dokitto as it is now"):
        docs_ablations.ablations()

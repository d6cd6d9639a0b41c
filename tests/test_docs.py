"""What README and docs say is so: generated parts are up to date, snippets and commands run, links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import pettingzoo
import pytest

from ice_envs import IceError, find_game, games
from training import (
    benchmark,
    command_line,
    compare,
    docs,
    docs_code,
    docs_ladder,
    docs_results,
    evaluate,
    exploit,
    export,
    tournament,
)
from training.run import TrainSettings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def fenced(text: str, language: str) -> list[str]:
    """Return the blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run(*words: str, place: Path, typed: str = "") -> str:
    """Run a command in a folder as a user with an active environment would; return what it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    done = subprocess.run(words, cwd=place, env=settings, input=typed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


# ---- README's commands and snippets ----


def test_the_two_commands_near_the_top_do_all_the_set_up():
    training, testing = (ROOT / "README.md").read_text(encoding="utf-8").partition("## ")[0].split("```bash\n")[1:]
    begin = 'python3 -m venv .venv && .venv/bin/pip install -e ".[{}]" && .venv/bin/'
    assert training.startswith(begin.format("train") + "python -m training.train --env dokitto\n```")
    assert testing.startswith(begin.format("test") + "pytest\n```")
    assert README[: README.index("## ")].count("\n") < 30


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which README's commands on training were run, with tiny budgets instead of many minutes."""
    place = tmp_path_factory.mktemp("workplace")
    (commands,) = (block for block in fenced(README, "bash") if "--out my_run" in block)
    hurried, count = re.subn(r"--minutes \d+", "--minutes 0.02 --threads 1", commands)
    assert count == 2
    run("bash", "-euc", hurried, place=place)
    return place


@pytest.mark.parametrize("snippet", fenced(README, "python"), ids=lambda snippet: snippet.split("\n")[0])
def test_readmes_snippet_runs_as_it_stands(snippet: str, workplace: Path):
    run(sys.executable, "-W", "error", "-c", snippet, place=workplace)


def test_readmes_agent_tells_its_move(workplace: Path):
    (snippet,) = (snippet for snippet in fenced(README, "python") if "my_agent" in snippet)
    assert run(sys.executable, "-c", snippet, place=workplace).startswith("play ")


def test_a_game_of_kawaii_is_played_tick_by_tick(tmp_path: Path):
    (snippet,) = fenced((ROOT / "docs" / "games" / "kawaii.md").read_text(encoding="utf-8"), "python")
    told = run(sys.executable, "-W", "error", "-c", f"{snippet}\nprint(terminations, rewards)", place=tmp_path)
    assert (told.count("True"), told.count("False")) == (3, 0)


def test_the_shapes_that_readme_tells_are_so():
    game = find_game("dokitto")
    seats = game.table_sizes[-1]
    assert f"(1024, {game.layout.size}), (1024, {game.num_actions}), (1024,)" in README
    assert f"# of every seat: (1024, {seats}), (1024,)" in README


def test_the_example_plays_a_game_and_asks_again_for_what_it_does_not_understand(tmp_path: Path):
    example = ("python", str(ROOT / "examples" / "play.py"), "--num_players", "2", "--seed", "3")
    told = run(*example, place=tmp_path, typed="99\nx\n" + 200 * "1\n")
    assert told.count("Type a number from 1 to") == 2
    assert re.search(r"\nYou had \d+ points, the others \[\d+\.0\]\.\n$", told)
    assert run(*example, place=tmp_path, typed="1\n").endswith("Until next time.\n")


COMMANDS: dict[str, tuple[type[Any], dict[str, bool]]] = {
    "train": (TrainSettings, {"game_defaults": True}),
    "evaluate": (evaluate.EvaluationSettings, {}),
    "export": (export.ExportSettings, {"positional": True}),
    "benchmark": (benchmark.BenchmarkSettings, {}),
    "docs": (docs.DocsSettings, {}),
    "tournament": (tournament.TournamentSettings, {}),
    "exploit": (exploit.ExploitSettings, {}),
    "compare": (compare.CompareSettings, {}),
}


def training_commands(text: str) -> list[list[str]]:
    """Return the words after `python -m training.` of every such command in a page, in blocks of code and in lines."""
    lines = [line for block in fenced(text, "bash") for line in block.splitlines()]
    lines += re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    found = [re.search(r"python -m training\.([^#&]+)", line) for line in lines]
    return [shlex.split(match[1]) for match in found if match]


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("README.md", 8),
        ("docs/training.md", 9),
        ("CONTRIBUTING.md", 3),
        ("docs/games/kawaii.md", 1),
        ("docs/benchmarks.md", 7),
        ("docs/search.md", 2),
    ],
)
def test_every_command_of_training_is_understood(page: str, least: int):
    found = training_commands((ROOT / page).read_text(encoding="utf-8"))
    assert len(found) >= least
    for name, *words in found:
        kind, how = COMMANDS[name]
        command_line.read_settings(kind, f"training.{name}", words, **how)


# ---- what the pages name ----


def test_the_table_of_environments_is_what_the_registries_hold():
    rows = re.findall(r"^\| \[.+\| `(ice_envs/.+?)` \| `(ice_envs/.+?)` \| `(.+?)` \|$", README, re.MULTILINE)
    pettingzoo_ids, gymnasium_ids, modules = map(set, zip(*rows, strict=True))
    assert len(rows) == len(games())
    assert pettingzoo_ids == {key for key in pettingzoo.aec_registry if key.startswith("ice_envs/")}
    assert gymnasium_ids == {key for key in gymnasium.registry if key.startswith("ice_envs/")}
    assert modules == {f"ice_envs.{name}_v{find_game(name).version}" for name in games()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path):
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


@pytest.mark.parametrize("name", games())
def test_every_game_has_the_files_that_contributors_are_told_of(name: str):
    paths = re.findall(r"`([\w./<>]+/[\w.<>]+\.\w+)`", CONTRIBUTING)
    assert sum("<game>" in path for path in paths) >= 16
    for path in paths:
        assert (ROOT / path.replace("<game>", name)).is_file(), path


def test_every_game_has_a_page_with_the_same_headings():
    found = {
        page.stem: re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        for page in (ROOT / "docs" / "games").glob("*.md")
    }
    assert found.keys() == set(games())
    assert all(headings == found["dokitto"] for headings in found.values())
    assert len(found["dokitto"]) == 10


# ---- generated parts ----


def test_generated_parts_are_up_to_date(capsys: pytest.CaptureFixture[str]):
    assert docs.main(docs.DocsSettings(check=True)) == 0, capsys.readouterr().out


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the result files with a README of its own."""
    shutil.copytree(ROOT / "docs" / "results", tmp_path / "docs" / "results")
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    monkeypatch.setattr(docs_results, "RESULTS", tmp_path / "docs" / "results")
    return tmp_path


def write(site: Path, *parts: str) -> None:
    text = "\n".join(f"before\n<!-- generated: {part} -->\nold\n<!-- end -->" for part in parts)
    (site / "README.md").write_text(text)


def test_an_outdated_part_is_noticed_and_then_written(site: Path, capsys: pytest.CaptureFixture[str]):
    write(site, "environments", "results dokitto", "speeds")
    old = (site / "README.md").read_text()
    assert docs.main(docs.DocsSettings(check=True)) == 1
    assert "README.md is not what the code and docs/results say" in capsys.readouterr().out
    assert (site / "README.md").read_text() == old
    assert docs.main(docs.DocsSettings()) == 0
    assert docs.main(docs.DocsSettings(check=True)) == 0
    new = (site / "README.md").read_text()
    assert ("old" in new, new.count("before")) == (False, 3)
    assert docs_code.environments() in README


@pytest.mark.parametrize(
    ("part", "file", "sentence"),
    [
        ("results dokitto", "dokitto_greedy.json", "--agent greedy .*--json docs/results/dokitto_greedy.json"),
        ("results dokitto", "dokitto_evaluation.json", "is missing: make it with python -m training.evaluate"),
        ("ladder kawaii", "kawaii_ladder.json", "training.tournament --env kawaii --agents random greedy --json docs/"),
        ("speeds", "benchmark.json", "is missing: make it with python -m training.benchmark --json"),
    ],
)
def test_a_missing_result_file_is_named_with_what_makes_it(site: Path, part: str, file: str, sentence: str):
    write(site, part)
    (site / "docs" / "results" / file).unlink()
    with pytest.raises(IceError, match=sentence):
        docs.main(docs.DocsSettings())


def test_results_of_other_rules_or_without_a_row_are_refused(site: Path):
    write(site, "results dokitto")
    path = site / "docs" / "results" / "dokitto_greedy.json"
    good = path.read_text()
    path.write_text(good.replace('"target_score": 10', '"target_score": 9'))
    with pytest.raises(IceError, match="is not of dokitto as it is now: make it anew with python"):
        docs.main(docs.DocsSettings())
    path.write_text(good.replace('"opponent": "random"', '"opponent": "other"'))
    with pytest.raises(IceError, match=r"docs/results has no evaluation of dokitto at 2 seats against random"):
        docs.main(docs.DocsSettings())


def test_a_tournament_of_other_rules_is_refused(site: Path):
    write(site, "ladder dokitto")
    path = site / "docs" / "results" / "dokitto_ladder.json"
    path.write_text(path.read_text().replace('"rules_version": 0', '"rules_version": 9'))
    with pytest.raises(IceError, match=r"dokitto_ladder.json is not of dokitto as it is now: make it anew with python"):
        docs.main(docs.DocsSettings())


@pytest.mark.parametrize("name", games())
def test_a_tournament_is_told_with_its_command_machine_and_every_share(site: Path, name: str):
    found = json.loads((site / "docs" / "results" / f"{name}_ladder.json").read_text())
    told = docs_ladder.ladder(name)
    for words in (found["command"], found["cpu"], found["date"][:10], f"{found['games']:,} games of each"):
        assert words in told
    assert told.count("fair share") == len(find_game(name).table_sizes)
    for row in found["duels"]:
        assert f"{row['win_share']:.3f} ({row['interval'][0]:.3f}–{row['interval'][1]:.3f})" in told
    for row in found["ratings"]:
        assert f"| `{row['agent']}` | {row['rating']:+.0f} (" in told


def test_a_curve_of_other_rules_or_without_a_row_is_refused(site: Path):
    write(site, "handicaps kawaii")
    path = site / "docs" / "results" / "kawaii_handicap.json"
    rows = json.loads(path.read_text())
    for wrong in ([*rows[:-1], {**rows[-1], "options": {}}], [{k: v for k, v in rows[0].items() if k != "handicap"}]):
        path.write_text(json.dumps(wrong))
        with pytest.raises(IceError, match=r"kawaii_handicap.json is not of kawaii as it is now: make it anew"):
            docs.main(docs.DocsSettings())
    for wrong in (rows[:-1], [*rows, {**rows[0], "opponent": "random"}]):
        path.write_text(json.dumps(wrong))
        with pytest.raises(IceError, match=r"kawaii_handicap.json must hold one opponent, and all handicaps"):
            docs.main(docs.DocsSettings())
    path.unlink()
    with pytest.raises(
        IceError, match=r"is missing: make it .* --handicap 0 1 2 3 4 --json docs/results/kawaii_handic"
    ):
        docs.main(docs.DocsSettings())


def test_a_curve_names_its_agent_and_the_command(site: Path):
    path = site / "docs" / "results" / "kawaii_handicap.json"
    path.write_text(json.dumps([{**row, "agent": "swift"} for row in json.loads(path.read_text())]))
    told = docs_results.handicaps("kawaii")
    assert "Win share of `swift` with its 95 % interval, `greedy` without handicap" in told
    assert "python -m training.evaluate --env kawaii" in told


def rounds_alone(site: Path) -> Path:
    """Return the path of the file of rounds, when there is no other."""
    results = site / "docs" / "results"
    for other in results.glob("nokosu_dice_rounds_*.json"):
        other.unlink()
    return results / "nokosu_dice_rounds.json"


def test_rounds_are_told_with_their_command_and_how_many_seats_hit(site: Path):
    path = rounds_alone(site)
    rows = json.loads(path.read_text())
    told = docs_results.rounds("nokosu_dice")
    assert f"```bash\n{rows[0]['command']}\n```" in told
    assert all(f" {row['agent']} {row['games']:,} ({row['date'][:10]})" in told for row in rows)
    for row in rows:
        parts = [f"{part:.0%}" for part in row["hitters"]] + ["-"] * (4 - row["num_players"])
        assert f"| {' | '.join([str(row['num_players']), row['agent'], row['opponent'], *parts])} |" in told
    path.write_text(path.read_text().replace('"rules_version": 0', '"rules_version": 9'))
    with pytest.raises(IceError, match=r"nokosu_dice_rounds.json is not of nokosu_dice as it is now: make it anew"):
        docs_results.rounds("nokosu_dice")


def test_rounds_of_several_files_stand_in_one_table_with_their_games(site: Path):
    path = rounds_alone(site)
    rows = json.loads(path.read_text())
    more = [{**rows[0], "agent": "search:7", "games": 12, "date": "2026-01-02T00:00:00+00:00", "command": "another"}]
    path.with_name("nokosu_dice_rounds_other.json").write_text(json.dumps(more))
    told = docs_results.rounds("nokosu_dice")
    assert f"```bash\n{rows[0]['command']}\nanother\n```" in told
    assert "| 3 | search:7 | random | 4" in told
    assert "search:7 12 (2026-01-02)" in told


def test_the_strength_of_a_search_is_told_for_every_budget_that_was_measured(site: Path):
    results = site / "docs" / "results"
    for path in results.glob("dokitto_search_*.json"):
        path.unlink()
    assert "--env dokitto --agent search:100 --opponents greedy" in docs_results.search_strength("dokitto")
    rows = json.loads((results / "dokitto_greedy.json").read_text())
    for budget, share in (("10000", 0.75), ("100", 0.25)):
        told = [{**row, "agent": f"search:{budget}", "win_share": share} for row in rows]
        (results / f"dokitto_search_{budget}.json").write_text(json.dumps(told if budget == "100" else told[1:]))
    told = docs_results.search_strength("dokitto")
    assert "| `search:100` | `search:10000` |" in told
    date = rows[0]["date"][:10]
    assert f"Games at each table size: `search:100` 12,000 ({date}); `search:10000` 12,000 ({date})." in told
    assert re.search(r"\| 2 \| random \| 0.500 \| 0.250 \([^|]*\) \|  \|", told)
    assert re.search(r"\| 3 \| random \| 0.333 \| 0.250 \([^|]*\) \| 0.750 \([^|]*\) \|", told)
    (results / "dokitto_search_100.json").write_text(json.dumps([{**rows[0], "rules_version": 9}]))
    with pytest.raises(IceError, match=r"dokitto_search_100.json is not of dokitto .* --agent search:100"):
        docs_results.search_strength("dokitto")


def test_an_evaluation_with_handicaps_is_not_taken_for_one_without(site: Path):
    path = site / "docs" / "results" / "kawaii_greedy.json"
    path.write_text(json.dumps([{**row, "handicap": [0, 0]} for row in json.loads(path.read_text())]))
    with pytest.raises(IceError, match=r"kawaii_greedy.json is not of kawaii as it is now"):
        docs_results.results("kawaii")


def test_a_benchmark_that_lacks_a_row_is_refused(site: Path):
    write(site, "speeds")
    path = site / "docs" / "results" / "benchmark.json"
    path.write_text(path.read_text().replace('"documented loop, connect_four"', '"something else"'))
    with pytest.raises(IceError, match="has not measured 'documented loop, connect_four'"):
        docs.main(docs.DocsSettings())


def test_marks_must_be_known_and_closed(site: Path):
    write(site, "optoins dokitto")
    with pytest.raises(IceError, match=r"unknown generated part in README.md: 'optoins' \(did you mean 'options'\?\)"):
        docs.main(docs.DocsSettings())
    (site / "README.md").write_text("<!-- generated: files -->\nand no end")
    with pytest.raises(IceError, match="without '<!-- end -->'"):
        docs.main(docs.DocsSettings())

"""The model card: every figure comes from the manifest, and what the manifest lacks is left out."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from ice_envs import find_game, games
from ice_envs.agents.manifest import read_manifest
from tests import portable_agents
from tests.front_ends import ROOT
from training.docs_files import whole_files
from training.model_card import model_card

TOLD = {"algorithm": "a search as teacher", "decisions": 1_234_567, "seconds": 3725.4, "seed": 11, "reward": "win"}
ADVERSARY = {"num_players": 4, "win_share": 0.3125, "interval": [0.28, 0.345], "fair_share": 0.25, "minutes": 42}


def a_manifest(name: str = "dokitto", **more: Any) -> Any:
    """Return a tiny agent's manifest with several table sizes and opponents."""
    game = find_game(name)
    manifest: Any = portable_agents.manifest(game, portable_agents.model_bytes(game))
    row = manifest["evaluation"][0]
    manifest["evaluation"] = [
        {**row, "opponent": opponent, "num_players": size, "win_share": 0.4 + size / 100, "games": 1000 * size}
        for opponent in ("random", "greedy")
        for size in game.table_sizes
    ]
    return manifest | {"training": TOLD} | more


@pytest.mark.parametrize("name", games())
def test_the_card_tells_results_of_every_table_against_every_opponent(name: str):
    manifest = a_manifest(name)
    card = model_card(manifest, find_game(name))
    for row in manifest["evaluation"]:
        size, share = row["num_players"], f"{row['win_share']:.3f} (0.200–0.800)"
        line = f"| {size} | {row['opponent']} | {1 / size:.3f} | {share} | 0.50 (-1.00–2.00) | {row['games']:,} |\n"
        assert line in card
    assert f"`{manifest['onnx']['sha256']}`" in card
    assert "- plays badly" in card
    assert "1,234,567" in card
    assert "| minutes | 62 |" in card
    assert "Exploitability" not in card


def test_the_card_tells_how_others_do_among_agents():
    manifest = a_manifest()
    rows = [row for row in manifest["evaluation"] if row["opponent"] == "greedy"]
    manifest["challengers"] = [
        {**row, "agent": agent, "opponent": "tiny", "win_share": 0.3 + row["num_players"] / 1000, "games": 600}
        for agent in ("greedy", "search:100")
        for row in rows
    ]
    card = model_card(manifest, find_game("dokitto"))
    assert "| win share of the agent | points ahead | games | win share of the opponent | games |" in card
    assert (
        "| 3 | greedy | 0.333 | 0.430 (0.200–0.800) | 0.50 (-1.00–2.00) | 3,000 | 0.303 (0.200–0.800) | 600 |" in card
    )
    assert "| 4 | search:100 | 0.250 |  |  |  | 0.304 (0.200–0.800) | 600 |" in card
    assert "| 5 | random | 0.200 | 0.450 (0.200–0.800) | 0.50 (-1.00–2.00) | 5,000 |  |  |" in card


def test_results_with_a_handicap_are_not_taken_for_the_agents_own():
    manifest = a_manifest("kawaii")
    plain = model_card(manifest, find_game("kawaii"))
    manifest["evaluation"] += [{**row, "handicap": [4, 0], "win_share": 0.111} for row in manifest["evaluation"]]
    assert model_card(manifest, find_game("kawaii")) == plain


def halved(value: Any) -> Any:
    """Return plain data with every fraction halved."""
    if isinstance(value, float):
        return value / 2 + 0.0137
    if isinstance(value, dict):
        return {key: halved(part) for key, part in value.items()}
    return [halved(part) for part in value] if isinstance(value, list) else value


def test_no_figure_of_the_card_is_its_own():
    """Every fraction follows the manifest's when they all change."""
    manifest = a_manifest(exploitability=[ADVERSARY])
    cards = (model_card(part, find_game("dokitto")) for part in (manifest, halved(manifest)))
    fair = {f"{1 / size:.3f}" for size in find_game("dokitto").table_sizes}
    before, after = (set(re.findall(r"\d+\.\d{2,}", card)) for card in cards)
    assert len(before) > 10
    assert before & after == fair


def test_the_settings_of_the_run_are_told_if_the_manifest_has_them():
    assert "Every setting" not in model_card(a_manifest(), find_game("dokitto"))
    told = {**TOLD, "settings": "env: dokitto\nseed: 11\n", "command": "python -m training.train --seed 11"}
    told |= {"machine": "a processor, 2 cores", "versions": {"commit": "abc", "dirty": True}}
    card = model_card(a_manifest(training=told), find_game("dokitto"))
    assert "```yaml\nenv: dokitto\nseed: 11\n```" in card
    assert "| command | `python -m training.train --seed 11` |" in card
    assert "| commit of the training | `abc`, changed since |\n| machine | a processor, 2 cores |" in card
    assert "`python -m training.train --config settings.yaml --out again`" in card


def test_where_an_agent_is_not_stronger_stands_among_its_limits():
    (row, *_) = a_manifest()["evaluation"]
    rows = [
        {**row, "opponent": "search:9", "num_players": size, "fair_share": 0.25, "interval": interval}
        for size, interval in ((2, [0.1, 0.2]), (3, [0.2, 0.3]), (4, [0.26, 0.3]), (5, [0.1, 0.2]))
    ]
    limits = model_card(a_manifest(evaluation=rows), find_game("dokitto")).partition("## Limits")[2]
    assert "- With 2 and 5 seats it is weaker than `search:9`: see above." in limits
    assert "- With 3 seats it is not clearly stronger than `search:9`: see above." in limits
    assert "4" not in limits.partition("- Plays")[0]


def test_the_front_matter_is_read_by_model_hubs():
    card = model_card(a_manifest(), find_game("dokitto"))
    front = yaml.safe_load(card.split("---\n")[1])
    assert front["license"] == "mit"
    assert {"dokitto", "onnx", "reinforcement-learning"} <= set(front["tags"])


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (ADVERSARY, "| 4 | 0.312 (0.280–0.345) | 0.250 | 42 |"),
        ({"num_players": 2, "win_share": 0.5}, "| 2 | 0.500 | ? | ? |"),
        ({}, "| ? | ? | ? | ? |"),
    ],
)
def test_adversaries_are_told_as_far_as_the_manifest_does(row: dict[str, Any], line: str):
    card = model_card(a_manifest(exploitability=[row]), find_game("dokitto"))
    assert "## Exploitability" in card
    assert line in card


@pytest.mark.parametrize("rows", [[], None])
def test_without_adversaries_there_is_no_section(rows: Any):
    assert "Exploitability" not in model_card(a_manifest(exploitability=rows), find_game("dokitto"))


def test_long_options_are_told_by_their_length(tmp_path: Path):
    manifest = deepcopy(a_manifest("ice_split"))
    manifest["options"] = {"sequence": "contiguous", "deck": [{}] * 63}
    assert "sequence contiguous, deck 63 rows" in model_card(manifest, find_game("ice_split"))
    path = portable_agents.export(tmp_path, find_game("ice_split"))
    assert model_card(read_manifest(path), find_game("ice_split")).startswith("---\n")


def test_a_published_agent_has_its_card_written_with_the_docs(tmp_path: Path):
    folder = tmp_path / "checkpoints" / "kawaii"
    folder.mkdir(parents=True)
    portable_agents.export(folder, find_game("kawaii"))
    files = whole_files(tmp_path)
    assert files[folder / "README.md"] == model_card(read_manifest(folder / "agent.json"), find_game("kawaii"))
    assert not any("dokitto" in path.parts for path in files), "the others are not published here"


def test_what_front_ends_compare_is_written_down():
    written = json.loads((ROOT / "examples" / "shared" / "games.json").read_text())
    for name in games():
        game = find_game(name)
        assert written[name]["layout_hash"] == game.layout.hash()
        assert written[name]["labels_hash"] == game.labels_hash
        assert written[name].get("data_hash") == game.data_hash({})
        assert json.loads((ROOT / "docs" / "schemas" / f"{name}_view.json").read_text()) == game.view_schema

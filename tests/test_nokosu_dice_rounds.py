"""The counts of what happens in rounds of Nokosu Dice agree with what the reference twin tells of the same games."""

from __future__ import annotations

import io
import json
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from ice_envs import agents
from tests import nokosu_dice_lockstep as room
from tests.lockstep import replay
from training import command_line
from training import nokosu_dice_rounds as rounds

GAMES = 40


def counted(num_players: int, monkeypatch: pytest.MonkeyPatch) -> tuple[rounds.RoundsRow, list[Any]]:
    """Return a row, and the twins at the ends of the games that it counts."""
    original, moves, tables = rounds.play, [], []

    def noting(states: Any, actions: Any) -> None:
        if not tables:
            tables.append(states)
            moves.append((states.copy(), None))
        original(states, actions)
        if states is tables[0]:
            moves.append((states.copy(), actions.copy()))

    monkeypatch.setattr(rounds, "play", noting)
    agent, opponent = agents.load("greedy", room.GAME), agents.load("random", room.GAME)
    row = rounds.count(room.GAME, agent, opponent, num_players, GAMES, seed=5)
    twins = []
    for game in range(GAMES):
        records = np.concatenate([states[game : game + 1] for states, _ in moves])
        actions = [int(actions[game]) for _, actions in moves[1:]]
        twins.append(replay(room, records, actions, {}))
    return row, twins


@pytest.mark.parametrize("num_players", room.GAME.table_sizes)
def test_counts_agree_with_the_twin(num_players: int, monkeypatch: pytest.MonkeyPatch):
    row, twins = counted(num_players, monkeypatch)
    total = GAMES * num_players
    hitters, own_hits, own_points = Counter[int](), 0, 0
    last_die, ties, own_calls, own_made = set(), set(), 0, 0
    for game, twin in enumerate(twins):
        seat, number = game % num_players, 0
        for event, *details in twin.log:
            if event == "zero_call":
                own_calls += details[0] == seat
            elif event == "zero_made":
                own_made += details[0] == seat
            elif event == "last_die_need_not_follow":
                last_die.add((game, number))
            elif event in ("tie_of_trumps", "tie_of_led_color"):
                ties.add((game, number))
            elif event == "round_over":
                _, targets, won, points = details
                hits = [target == tricks for target, tricks in zip(targets, won, strict=True)]
                hitters[sum(hits)] += 1
                own_hits += hits[seat]
                own_points += points[seat]
                number += 1
    assert row["hit"] == pytest.approx(own_hits / total)
    assert row["zero_called"] == pytest.approx(own_calls / total)
    assert row["zero_made"] == pytest.approx(own_made / own_calls)
    assert 0 < own_made < own_calls
    assert row["points"] == pytest.approx(own_points / total)
    assert row["hitters"] == pytest.approx([hitters[k] / total for k in range(num_players + 1)])
    every = sum(k * part for k, part in enumerate(row["hitters"]))
    assert row["hit"] + (num_players - 1) * row["opponents_hit"] == pytest.approx(every)
    assert row["last_die"] == pytest.approx(len(last_die) / total)
    assert row["tie"] == pytest.approx(len(ties) / total)
    assert 0 < row["last_die"] < 1


@pytest.fixture
def shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[rounds.RoundsRow, list[str]]:
    """The row that a short count writes, and the lines that it prints."""
    path = tmp_path / "rounds.json"
    settings = rounds.RoundsSettings(agents=["greedy"], opponents=["random"], num_players=[3], games=30, json=path)
    assert rounds.main(settings) == 0
    (row,) = json.loads(path.read_text())
    return row, capsys.readouterr().out.splitlines()


def test_the_command_shows_tables_and_writes_the_rows(shown: tuple[rounds.RoundsRow, list[str]]):
    row, lines = shown
    assert (row["num_players"], row["agent"], row["opponent"], row["games"]) == (3, "greedy", "random", 30)
    cells = [line.split() for line in lines]
    assert ["3", "random", *rounds.cells(row)] in cells
    assert ["3", "random", *(f"{part:.0%}" for part in row["hitters"]), "-"] in cells
    assert f"{row['hit']:.1%}" in rounds.cells(row)


def test_a_row_says_where_it_comes_from(shown: tuple[rounds.RoundsRow, list[str]]):
    row, _ = shown
    assert (row["seed"], row["versions"], row["command"]) == (0, command_line.versions(), command_line.typed())
    assert datetime.now(timezone.utc) - datetime.fromisoformat(row["date"]) < timedelta(minutes=5)


def test_lines_of_long_names_are_not_broken(shown: tuple[rounds.RoundsRow, list[str]]):
    name = "2026-09-18-101500-seed0"
    row = shown[0] | {"agent": name, "opponent": name}
    console = Console(width=80, file=io.StringIO())
    console.print(rounds.rounds_table([row]))
    cells = [line.split() for line in console.file.getvalue().splitlines()]
    assert ["3", name, *rounds.cells(row)] in cells
    assert ["3", name, *rounds.hitters_cells(row)] in cells

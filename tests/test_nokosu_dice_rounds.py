"""The counts of what happens in rounds of Nokosu Dice agree with what the reference twin tells of the same games."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from ice_envs import agents
from tests import nokosu_dice_lockstep as room
from tests.lockstep import replay
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
    agent, opponent = agents.load("random", room.GAME), agents.load("random", room.GAME)
    row = rounds.count(room.GAME, agent, opponent, num_players, GAMES, seed=3)
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
    last_die, ties, own_calls = set(), set(), 0
    for game, twin in enumerate(twins):
        seat, number = game % num_players, 0
        for event, *details in twin.log:
            if event == "zero_call":
                own_calls += details[0] == seat
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
    assert row["points"] == pytest.approx(own_points / total)
    assert row["hitters"] == pytest.approx([hitters[k] / total for k in range(num_players + 1)])
    every = sum(k * part for k, part in enumerate(row["hitters"]))
    assert row["hit"] + (num_players - 1) * row["opponents_hit"] == pytest.approx(every)
    assert row["last_die"] == pytest.approx(len(last_die) / total)
    assert row["tie"] == pytest.approx(len(ties) / total)
    assert 0 < row["last_die"] < 1


def test_the_command_shows_a_table_and_writes_the_rows(tmp_path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "rounds.json"
    settings = rounds.RoundsSettings(agents=["greedy"], opponents=["random"], num_players=[3], games=30, json=path)
    assert rounds.main(settings) == 0
    (row,) = json.loads(path.read_text())
    assert (row["num_players"], row["agent"], row["opponent"], row["games"]) == (3, "greedy", "random", 30)
    out = capsys.readouterr().out
    assert f"{row['hit']:.1%}" in out
    assert max(map(len, out.splitlines())) <= 80

"""A tiny Kawaii: two seats, a few cards left to flip, one tick. The whole tree is walked twice.

Chance draws nothing here but the winners of clashes, and both are walked. Every line of play must end with the same
scores in the compiled rules and in the reference twin, and the numbers of nodes and ends are those written here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from ice_envs.engine.game import States
from tests.helpers import apply_games, masks
from tests.kawaii_positions import GAME
from tests.kawaii_tables import CoreTable, Position, ShufflingDealer, TwinTable

OPTIONS = {"window_ticks": 1, "reaction_ticks": 1}
SEEDS = 40
"""Generators tried after a clash: enough to meet each winner of both piles."""


class Move(NamedTuple):
    """A set of piles by owner, and who won each pile that both had claimed."""

    piles: tuple[int, ...]
    winners: tuple[int, ...]


Line = tuple[Move, ...]
"""The moves of a round from its first window to its end."""
SETTINGS = {
    "one token each": (Position(["s1", ""], ["", "s2 c1"], tokens=[1, 1], round=3), 177, 103),
    "the last window": (Position(["s1 X", "X c1"], tokens=[2, 2], round=3), 86, 57),
    "all three shops": (Position(["s1 X", "c2"], ["", "*"], captured=["X", "X"], tokens=[1, 2], round=3), 310, 184),
}


def moves(states: States) -> Iterator[tuple[Move, States]]:
    """Yield each move of the seat to move and the position that it leads to, clashes won by either."""
    state = states[0]
    seat = int(state.to_move)
    for action in np.flatnonzero(masks(GAME, states)[0]).tolist():
        piles = tuple(sorted((seat + step) % 2 for step in range(2) if action >> step & 1))
        contested = [pile for pile in piles if int(state.pending[1 - seat]) >> pile & 1]
        found = {}
        for seed in range(SEEDS if contested else 1):
            child = states.copy()
            child["rng"] = seed
            apply_games(child, np.array([action]))
            found[tuple(child["taken_by"][0, contested].tolist())] = child
        for winners, child in sorted(found.items(), key=lambda entry: entry[0]):
            yield Move(piles, winners), child


def core_tree(states: States, line: Line, ends: dict[Line, list[int]]) -> int:
    """Note each line's scores in `ends` and return the number of nodes."""
    if states[0].over:
        ends[line] = states[0].totals[:2].tolist()
        return 1
    return 1 + sum(core_tree(child, (*line, move), ends) for move, child in moves(states))


class Arbiter(ShufflingDealer):
    """A chance that lets clashes end as it is told."""

    winners: list[int]

    def clash(self, claimants: list[int]) -> int:
        return self.winners.pop(0)


def twin_scores(position: Position, line: Line) -> list[int]:
    """Return the scores after a line that must be legal throughout."""
    table = TwinTable(2, position, **OPTIONS)
    table.twin.chance = chance = Arbiter(2, 0)
    for move in line:
        assert list(move.piles) in table.choices()
        chance.winners = list(move.winners)
        table.commit(set(move.piles))
        assert not chance.winners
    assert table.asked() is None
    return list(table.facts()["totals"])


def twin_branches(position: Position, line: Line) -> int:
    """Return how many sets of piles the seat may slap that is asked after this line; 0 at the end."""
    table = TwinTable(2, position, **OPTIONS)
    table.twin.chance = chance = Arbiter(2, 0)
    for move in line:
        chance.winners = list(move.winners)
        table.commit(set(move.piles))
    return 0 if table.asked() is None else len(table.choices())


@pytest.mark.parametrize("name", SETTINGS)
def test_every_line(name: str):
    position, nodes, leaves = SETTINGS[name]
    ends: dict[Line, list[int]] = {}
    found = core_tree(CoreTable(2, position, **OPTIONS).states, (), ends)
    for line, scores in ends.items():
        assert twin_scores(position, line) == scores, line
    inner: dict[Line, set[tuple[int, ...]]] = {}
    for line in ends:
        for length, move in enumerate(line):
            inner.setdefault(line[:length], set()).add(move.piles)
    assert len(inner) + len(ends) == found
    for line, tried in inner.items():
        assert twin_branches(position, line) == len(tried)
    assert (found, len(ends)) == (nodes, leaves)

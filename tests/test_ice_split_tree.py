"""A tiny Ice Split: two seats with two turns left each, two open cards and a deck of one or two, or none.

From each such position the whole game tree is walked twice, by the compiled rules and by the reference twin. Every line
of play must be the same, with the same points, and the numbers of nodes are those written here.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from ice_envs.engine.game import States
from tests.helpers import apply_games, masks, results
from tests.ice_split_lockstep import ACTION, GAME
from tests.ice_split_tables import CoreTable, TwinTable, deal, new_table
from tests.twins.ice_split import IceSplit

Line = tuple[int, ...]
"""The actions of a game from the position to its end."""

DEAL = deal("50 45 8 14", "42 4 59 21", market="29 25 35 9", pile=" ".join(map(str, (3, 44, 30, 18, 55, 0, 40, 62))))
SETTINGS = [(0, {}, 3187, 2592), (1, {}, 9421, 7776), (2, {"sequence": "subsequence"}, 14065, 11664)]


def after_ten_turns(kind: str, options: dict[str, str]) -> Any:
    """Return a table at which both seats have laid eleven cards, by the same moves with any rules."""
    table = new_table(kind, DEAL, **options).play("s50 s42")
    for turn in range(20):
        codes = table.legal().split()
        table.play(codes[-1 - turn % 3])  # goals and flavors, of high numbers
        table.play("b")
    return table


def compiled_root(deck_size: int, options: dict[str, str]) -> States:
    table = after_ten_turns("compiled", options)
    assert isinstance(table, CoreTable)
    state = table.states[0]
    state.market = int(state.market) & (int(state.market) - 1)
    state.market = int(state.market) & (int(state.market) - 1)
    state.deck[:deck_size] = state.deck[state.deck_size - deck_size : state.deck_size].copy()
    state.deck[deck_size:] = 0
    state.deck_size = deck_size
    return table.states


def twin_root(deck_size: int, options: dict[str, str], compiled: States) -> IceSplit:
    table = after_ten_turns("twin", options)
    assert isinstance(table, TwinTable)
    twin = table.twin
    twin.market = sorted(card for card in twin.market if card is not None)[2:]
    twin.deck = set(compiled[0].deck[:deck_size].tolist())
    return twin


def compiled_tree(states: States) -> tuple[int, dict[Line, list[float]]]:
    """Walk the tree level by level; return the nodes, and the points of each line."""
    lines: list[Line] = [()]
    nodes, ends = 0, {}
    while len(states):
        nodes += len(states)
        points = results(states)[0][:, :2].tolist()
        for i in np.flatnonzero(states["over"]):
            ends[lines[i]] = points[i]
        parents, actions = np.nonzero(masks(GAME, states))
        states = states[parents]
        lines = [(*lines[parent], int(action)) for parent, action in zip(parents, actions, strict=True)]
        apply_games(states, actions)
    return nodes, ends


def twin_tree(twin: IceSplit, line: Line, ends: dict[Line, list[int]]) -> int:
    """Walk the tree below a position, note each line's points in `ends` and return the number of nodes."""
    if twin.over:
        ends[line] = twin.points
        return 1
    nodes = 1
    for move in twin.legal():
        child = deepcopy(twin)
        child.play(move)
        nodes += twin_tree(child, (*line, ACTION[move]), ends)
    return nodes


@pytest.mark.parametrize(("deck_size", "options", "nodes", "ends"), SETTINGS, ids=["no deck", "one card", "two cards"])
def test_every_line(deck_size: int, options: dict[str, str], nodes: int, ends: int):
    root = compiled_root(deck_size, options)
    found_nodes, found = compiled_tree(root.copy())
    twin_ends: dict[Line, list[int]] = {}
    twin_nodes = twin_tree(twin_root(deck_size, options, root), (), twin_ends)
    assert found == twin_ends
    assert len({tuple(points) for points in found.values()}) > 5
    assert (found_nodes, len(found)) == (twin_nodes, len(twin_ends)) == (nodes, ends)

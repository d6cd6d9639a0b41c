"""A tiny Dokitto!: two seats, two flavors, three or four numbers, two or three cards each, one round.

For every deal the whole game tree is walked twice, by the compiled rules and by the reference twin. Every line of
play must be the same, with the same scores, and the numbers of nodes are those written here.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest

from ice_envs.engine.game import States
from tests.dokitto_positions import GAME, action_code, action_index, position
from tests.helpers import apply_games, masks
from tests.twins import dokitto as twin_rules
from tests.twins.dokitto import Card, Dokitto

STARS = "s2 c1"
Line = tuple[str, ...]
"""The moves of a game from the deal to its end."""


class Setting(NamedTuple):
    """What lies on the table when the tiny round begins, and how many nodes and ends all its deals have together."""

    hand_size: int
    numbers: int
    leader: int
    cones: str
    totals: tuple[int, int]
    nodes: int
    ends: int


SETTINGS = [
    Setting(2, 3, 0, "", (0, 0), 1890, 576),
    Setting(2, 4, 1, "ssc/cs", (9, 8), 3540, 1200),
    Setting(3, 3, 0, "", (0, 0), 3230, 1008),
    Setting(3, 3, 1, "sc/ss", (4, 7), 994, 288),
]


def deals(setting: Setting) -> Iterator[tuple[set[Card], set[Card]]]:
    """Every way to deal the tiny deck; what is left over is set aside."""
    cards = [(flavor, number) for flavor in range(2) for number in range(1, setting.numbers + 1)]
    for first in combinations(cards, setting.hand_size):
        for second in combinations([card for card in cards if card not in first], setting.hand_size):
            yield set(first), set(second)


def compiled_root(setting: Setting, hands: tuple[set[Card], set[Card]]) -> States:
    codes = [" ".join(f"{'sc'[flavor]}{number}" for flavor, number in sorted(hand)) for hand in hands]
    tiny = {"num_flavors": 2, "hand_size": setting.hand_size, "trick": 0}
    root = position(
        *codes,
        lead=setting.leader,
        cones=setting.cones,
        totals=setting.totals,
        stars=STARS,
        sold_out="m",
        fields=tiny,
        max_rounds=1,
    )
    root["toppings"] &= 0b11
    return root


def compiled_tree(setting: Setting) -> tuple[int, list[dict[Line, list[int]]]]:
    """Walk the trees of all deals level by level; return the nodes, and each deal's lines with their scores."""
    states = np.concatenate([compiled_root(setting, hands) for hands in deals(setting)])
    owners, lines = list(range(len(states))), [()] * len(states)
    nodes, ends = 0, [{} for _ in states]
    while len(states):
        nodes += len(states)
        for i in np.flatnonzero(states["over"]):
            ends[owners[i]][lines[i]] = states[i].totals[:2].tolist()
        parents, actions = np.nonzero(masks(GAME, states))
        states = states[parents]
        owners = [owners[parent] for parent in parents]
        lines = [(*lines[parent], action_code(int(a))) for parent, a in zip(parents, actions, strict=True)]
        apply_games(states, actions)
    return nodes, ends


class Fixed:
    """A chance that deals what it is told."""

    def __init__(self, setting: Setting, hands: tuple[set[Card], set[Card]]):
        self.leader, self.hands = setting.leader, hands

    def first_leader(self) -> int:
        return self.leader

    random_leader = first_leader

    def deal(self) -> tuple[list[set[Card]], list[list[bool]]]:
        return list(self.hands), [[False, True, False], [True, False, False]]


def twin_root(setting: Setting, hands: tuple[set[Card], set[Card]]) -> Dokitto:
    twin = Dokitto(2, Fixed(setting, hands), max_rounds=1)
    twin.totals = list(setting.totals)
    for seat, cone in enumerate(setting.cones.split("/")):
        twin.cones[seat] = ["sc".index(letter) for letter in cone]
    twin.tiles = [3 - sum(cone.count(flavor) for cone in twin.cones) for flavor in range(2)]
    return twin


def twin_tree(twin: Dokitto, line: Line, ends: dict[Line, list[int]]) -> int:
    """Walk the tree below a position, note each line's scores in `ends` and return the number of nodes."""
    if twin.over:
        ends[line] = twin.totals
        return 1
    nodes = 1
    for move in sorted(twin.legal()):
        child = deepcopy(twin)
        child.play(move)
        letter = "sc"[move[1]]
        nodes += twin_tree(child, (*line, f"+{letter}" if move[0] == "take" else f"{letter}{move[2]}"), ends)
    return nodes


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: f"{s.hand_size} of {s.numbers} {s.cones}")
def test_every_line_of_every_deal(setting: Setting, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(twin_rules.HAND_SIZE, 2, setting.hand_size)
    monkeypatch.setitem(twin_rules.FLAVORS_IN_PLAY, 2, 2)
    nodes, ends = compiled_tree(setting)
    twin_nodes, twin_ends = 0, []
    for hands in deals(setting):
        twin_ends.append({})
        twin_nodes += twin_tree(twin_root(setting, hands), (), twin_ends[-1])
    assert ends == twin_ends
    assert (nodes, sum(map(len, ends))) == (twin_nodes, sum(map(len, twin_ends))) == (setting.nodes, setting.ends)


def test_codes_of_actions_are_read_back():
    assert [action_index(action_code(action)) for action in range(GAME.num_actions)] == list(range(GAME.num_actions))

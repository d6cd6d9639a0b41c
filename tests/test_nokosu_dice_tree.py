"""The end of a round of Nokosu Dice: the dealer's last pick, the calls and the last two tricks of three seats.

The whole tree is walked twice, by the compiled rules and by the reference twin. Every line of play must be the same,
with the same points, and the numbers of nodes are those written here.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

import pytest

from tests.nokosu_dice_tables import CoreTable, TwinTable

Line = tuple[str, ...]
"""The moves from the last pick to the end of the game."""


class Setting(NamedTuple):
    """What lies on the table, the options, and how many nodes and ends the tree has."""

    hands: tuple[str, ...]
    pool: str
    won: tuple[int, ...]
    options: dict[str, Any]
    nodes: int
    ends: int


SETTINGS = [
    Setting(("r3 R2 Y1", "r6 R5 G2", "y3 B2"), "R1 G5", (1, 2, 4), {}, 2090, 508),
    Setting(("r5 R5 R5", "y5 Y5 B5", "g5 G5"), "B5 R4", (5, 5, 0), {"bonus": "per_miss"}, 1811, 440),
    Setting(("r5 R5 R5", "y5 Y5 B5", "g5 G5"), "B5 R4", (4, 4, 2), {"tie": "first"}, 1767, 416),
    Setting(("b0 R1 Y2", "y6 R3 G4", "y2 B1"), "B3 Y3", (0, 0, 3), {"zero_call": "secret"}, 2191, 475),
]


def core(setting: Setting) -> CoreTable:
    table = CoreTable.position(*setting.hands, pool=setting.pool, **arguments(setting))
    table.state.trick, table.state.leader = 10, 0
    return table


def twin(setting: Setting) -> TwinTable:
    table = TwinTable.position(*setting.hands, pool=setting.pool, **arguments(setting))
    table.twin.trick, table.twin.leader = 10, 0
    return table


def arguments(setting: Setting) -> dict[str, Any]:
    """The dealer picks; it is the last round, so the game ends."""
    where = {"phase": "draft", "to_move": 2, "dealer": 2, "round_number": 3}
    return {**where, "won": setting.won, "totals": (10, 20, 30), **setting.options}


def copied(table: Any) -> Any:
    return CoreTable(table.states.copy()) if isinstance(table, CoreTable) else deepcopy(table)


def walk(table: Any, line: Line, ends: dict[Line, list[int]]) -> int:
    """Walk the tree below a position, note each line's totals in `ends` and return the number of nodes."""
    if table.phase == "over":
        ends[line] = table.totals
        return 1
    return 1 + sum(walk(copied(table).play(code), (*line, code), ends) for code in table.legal().split())


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: " / ".join(setting.hands))
def test_every_line(setting: Setting):
    ends: tuple[dict[Line, list[int]], dict[Line, list[int]]] = ({}, {})
    nodes = walk(core(setting), (), ends[0]), walk(twin(setting), (), ends[1])
    assert ends[0] == ends[1]
    assert (*nodes, len(ends[0])) == (setting.nodes, setting.nodes, setting.ends)

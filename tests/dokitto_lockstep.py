"""The compiled records of Dokitto! Ice and its reference twin brought into one form, for `tests/lockstep.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ice_envs import find_game
from ice_envs.engine.game import States
from tests.helpers import masks
from tests.lockstep import final_shares
from tests.twins.dokitto import Card, Dokitto, Move

GAME = find_game("dokitto")

CARDS: list[Card] = [(flavor, number) for flavor in range(5) for number in range(1, 14)]
MOVES: list[Move] = [("play", *card) for card in CARDS] + [("take", flavor) for flavor in range(5)]
INDEX = {card: index for index, card in enumerate(CARDS)}
BIT = {card: 1 << index for index, card in enumerate(CARDS)}
ACTION = {move: index for index, move in enumerate(MOVES)}

NAMES = (
    "legal", "to_move", "hands", "table", "played", "voids", "tiles", "toppings", "cones", "cone_toppings", "totals",
    "round", "trick", "leader", "first_leader", "over", "truncated", "win_shares",
)  # fmt: skip
RARE = {"sold_out_high", "last_of_equal_lowest", "topping", "bust", "low_win", "high_win", "truncated", "shared"}
"""What must have happened in one game of a hundred for the comparison to prove something."""
Facts = tuple[Any, ...]
"""All that can be told of a position, in the order of NAMES, in a form that both sides can be brought into."""


class Dealer:
    """The twin's chance: reads what the compiled core drew from the record it arrived at."""

    record: Any

    def first_leader(self) -> int:
        return int(self.record.first_leader)

    random_leader = first_leader

    def deal(self) -> tuple[list[set[Card]], list[list[bool]]]:
        flavors = range(self.record.num_flavors)
        hands = [
            {(f, n) for f, n in CARDS if hand[f] >> (n - 1) & 1}
            for hand in self.record.hands[: self.record.num_players].tolist()
        ]
        return hands, [[bool(self.record.stars[f] >> place & 1) for place in range(3)] for f in flavors]


def new_twin(record: Any, dealer: Dealer, options: dict[str, Any]) -> Dokitto:
    return Dokitto(int(record.num_players), dealer, **options)


def twin_facts(twin: Dokitto) -> Facts:
    played = [0] * len(CARDS)
    for seat, card, trick in twin.played:
        played[INDEX[card]] = 16 * (seat + 1) + trick + 1
    return (
        {ACTION[move] for move in twin.legal()},
        twin.to_move,
        [sum([BIT[card] for card in hand]) for hand in twin.hands],
        [(seat, INDEX[card]) for seat, card in twin.table],
        played,
        [sum([1 << flavor for flavor in void]) for void in twin.voids],
        twin.tiles,
        sum([1 << flavor for flavor in twin.toppings]),
        [[cone.count(flavor) for flavor in range(5)] for cone in twin.cones],
        [sum([1 << flavor for flavor in toppings]) for toppings in twin.cone_toppings],
        twin.totals,
        twin.round,
        twin.trick,
        twin.leader,
        twin.first_leader,
        twin.over,
        twin.truncated,
        twin.win_shares() if twin.over else None,
    )


def record_facts(records: States) -> Iterator[Facts]:
    """Read one game's records, column by column: record by record would take ten times longer."""
    seats, flavors = int(records[0].num_players), int(records[0].num_flavors)
    over = records["over"].astype(bool).tolist()
    columns = (
        [set(np.flatnonzero(mask).tolist()) for mask in masks(GAME, records)],
        [None if ended else seat for ended, seat in zip(over, records["to_move"].tolist(), strict=True)],
        hands_as_numbers(records["hands"][:, :seats]).tolist(),
        tables(records, seats),
        (16 * records["played_by"].astype(int) + records["played_trick"]).tolist(),
        records["voids"][:, :seats].tolist(),
        records["tiles"][:, :flavors].tolist(),
        records["toppings"].tolist(),
        records["cones"][:, :seats].tolist(),
        records["cone_toppings"][:, :seats].tolist(),
        records["totals"][:, :seats].tolist(),
        records["round_number"].tolist(),
        records["trick"].tolist(),
        records["leader"].tolist(),
        records["first_leader"].tolist(),
        over,
        records["truncated"].astype(bool).tolist(),
        [None] * (len(records) - 1) + [final_shares(records[-1:])],
    )
    return zip(*columns, strict=True)


def hands_as_numbers(hands: Any) -> Any:
    """Join the flavors' bits of each hand in one Python integer, as BIT numbers the cards."""
    four = sum(hands[..., flavor].astype(np.uint64) << np.uint64(13 * flavor) for flavor in range(4))
    return four.astype(object) | hands[..., 4].astype(object) << 52


def tables(records: States, seats: int) -> list[list[tuple[int, int]]]:
    """List each record's trick as (seat, card) in the order played."""
    columns = [records[name].tolist() for name in ("leader", "trick_size", "trick_cards")]
    return [
        [((leader + k) % seats, cards[(leader + k) % seats]) for k in range(size)]
        for leader, size, cards in zip(*columns, strict=True)
    ]

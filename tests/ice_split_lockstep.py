"""The compiled records of Ice Split and its reference twin brought into one form, for `tests/lockstep.py`."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import ice_envs
from ice_envs import find_game
from ice_envs.engine.game import States
from tests.helpers import masks
from tests.lockstep import final_shares
from tests.twins.ice_split import DECK_SIZE, Card, IceSplit, Move, deck_of

GAME = find_game("ice_split")

CARDS = range(DECK_SIZE)
MOVES: list[Move] = [(way, card) for way in ("start", "goal", "flavor", "market") for card in CARDS] + [("blind",)]
ACTION = {move: index for index, move in enumerate(MOVES)}
PHASES = ("start", "play", "draw")

NAMES = (
    "legal", "to_move", "phase", "hands", "start_choice", "market", "deck", "shown", "goals", "flavors", "points",
    "first_seat", "over", "truncated", "win_shares",
)  # fmt: skip
GOALS = (
    "MAJORITY", "NONE_OF", "EXACTLY_ONE", "SEQUENCE", "ALL_SEVEN", "RIGHTMOST_IN", "AT_MOST_THREE_KINDS", "TWO_PAIRS",
    "THREE_ADJACENT", "FOUR_OF_A_KIND", "MORE_FLAVORS_THAN_GOALS", "MORE_GOALS_THAN_FLAVORS",
)  # fmt: skip
"""By number, as they are printed in the deck; the twin logs those that are met at the end."""
RARE = {"start", "reveal", "goal", "flavor", "market", "refill", "blind", "shared", "tie_broken_by_flavors"}
RARE |= set(GOALS) - {"ALL_SEVEN", "TWO_PAIRS"}
"""What must have happened in one game of a hundred for the comparison to prove something."""
Facts = tuple[Any, ...]
"""All that can be told of a position, in the order of NAMES, in a form that both sides can be brought into."""


class Dealer:
    """The twin's chance: reads what the compiled core drew from the record it arrived at."""

    record: Any

    def first_seat(self) -> int:
        return int(self.record.first_seat)

    def deal(self) -> tuple[list[set[int]], list[int]]:
        hands = self.record.hands[: self.record.num_players].tolist()
        return [cards_of(hand) for hand in hands], sorted(cards_of(int(self.record.market)))

    def draw(self, deck: set[int]) -> int:
        """Return a card that has left the deck: at most one has, by any move."""
        return deck.difference(self.record.deck[: self.record.deck_size].tolist()).pop()


def cards_of(bits: int) -> set[int]:
    return {card for card in CARDS if bits >> card & 1}


def bits_of(cards: Iterable[int]) -> int:
    return sum([1 << card for card in cards])


@functools.cache
def deck_rows() -> list[dict[str, str]]:
    """Return the rows of the deck that comes with the package, as its file has them."""
    path = Path(ice_envs.__file__).parent / "games" / "ice_split" / "deck.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@functools.cache
def box_deck() -> list[Card]:
    return deck_of(deck_rows())


def new_twin(record: Any, dealer: Dealer, options: Mapping[str, Any]) -> IceSplit:
    """Return a twin of the game; `options` may have a deck as rows."""
    rules = dict(options)
    rows = rules.pop("deck", None)
    return IceSplit(int(record.num_players), dealer, deck_of(rows) if rows else box_deck(), **rules)


def twin_facts(twin: IceSplit) -> Facts:
    hands = [bits_of(hand) for hand in twin.hands]
    for seat, card in enumerate(twin.start_choice):
        if twin.phase == "start" and card is not None:
            hands[seat] |= 1 << card  # a record keeps it in the hand until it is revealed
    return (
        {ACTION[move] for move in twin.legal()},
        twin.to_move,
        twin.phase,
        hands,
        twin.start_choice if twin.phase == "start" else None,
        bits_of([card for card in twin.market if card is not None]),
        bits_of(twin.deck),
        bits_of(twin.shown),
        twin.goals,
        twin.flavors,
        twin.points,
        twin.first_seat,
        twin.over,
        twin.truncated,
        twin.win_shares() if twin.over else None,
    )


def record_facts(records: States) -> Iterator[Facts]:
    """Read one game's records, column by column: record by record would take ten times longer."""
    seats = int(records[0].num_players)
    over = records["over"].astype(bool).tolist()
    phases = ["over" if ended else PHASES[phase] for ended, phase in zip(over, records["phase"].tolist(), strict=True)]
    columns = (
        [set(np.flatnonzero(mask).tolist()) for mask in masks(GAME, records)],
        [None if ended else seat for ended, seat in zip(over, records["to_move"].tolist(), strict=True)],
        phases,
        records["hands"][:, :seats].tolist(),
        [
            starts(chosen) if p == "start" else None
            for p, chosen in zip(phases, records["starts"][:, :seats].tolist(), strict=True)
        ],
        records["market"].tolist(),
        deck_bits(records),
        records["public"].tolist(),
        rows(records["goal_row"], records["num_goals"], seats, -1),
        rows(records["flavor_row"], records["num_flavors"], seats, 1),
        records["points"][:, :seats].tolist(),
        records["first_seat"].tolist(),
        over,
        records["truncated"].astype(bool).tolist(),
        [None] * (len(records) - 1) + [final_shares(records[-1:]) if over[-1] else None],
    )
    return zip(*columns, strict=True)


def starts(chosen: list[int]) -> list[int | None]:
    return [None if card < 0 else card for card in chosen]


def deck_bits(records: States) -> list[int]:
    """Return the deck of each record as bits; a card that is there twice spoils the sum."""
    inside = np.arange(DECK_SIZE) < records["deck_size"][:, None]
    return np.where(inside, 1 << records["deck"].astype(np.int64), 0).sum(1).tolist()


def rows(cards: Any, sizes: Any, seats: int, step: int) -> list[list[list[int]]]:
    """Return each record's rows of cards, one a seat, from left to right."""
    pairs = zip(cards[:, :seats].tolist(), sizes[:, :seats].tolist(), strict=True)
    return [[row[:size][::step] for row, size in zip(*pair, strict=True)] for pair in pairs]


def set_deal(state: Any, hands: list[list[int]], market: list[int], pile: list[int], first: int) -> None:
    """Write another deal into a record in which no start card has been chosen; the pile begins with its top."""
    state.hands[: len(hands)] = [bits_of(hand) for hand in hands]
    state.market = state.public = bits_of(market)
    state.deck[: len(pile)] = pile[::-1]
    state.first_seat = state.to_move = first
    assert len(pile) == state.deck_size
    assert sorted([*chain(*hands), *market, *pile]) == list(CARDS), "not each card is there once"

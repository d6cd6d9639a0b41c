"""The compiled records of Kawaii and its reference twin brought into one form, for `tests/lockstep.py`.

Between two questions chance may draw many times: windows go by in which nobody is asked. So the dealer does not read
the draws from the records but draws for itself, from the generator as it was before the game; that both sides have
drawn equally often, and in the same order, is compared after every move.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from ice_envs import find_game
from ice_envs.engine.game import States
from tests.helpers import masks
from tests.lockstep import final_shares
from tests.twins.kawaii import CHERRY, DECK, FLAVORS, SHAPES, SHOP, Card, Kawaii, Move

GAME = find_game("kawaii")

KINDS: list[Card] = [*((flavor, shape) for flavor in FLAVORS for shape in SHAPES), SHOP, CHERRY]
KIND = {card: kind for kind, card in enumerate(KINDS)}
MOVES: list[Move] = [frozenset(step for step in range(5) if action >> step & 1) for action in range(32)]
ACTION = {move: action for action, move in enumerate(MOVES)}

NAMES = (
    "legal", "to_move", "piles", "reserves", "left", "captured", "tokens", "favorite_flavors", "favorite_shapes",
    "totals", "round", "starter", "flipper", "after_capture", "tick", "reactions", "slapped", "pending", "taken_by",
    "possible", "over", "truncated", "rng", "win_shares",
)  # fmt: skip
Facts = tuple[Any, ...]
"""All that can be told of a position, in the order of NAMES, in a form that both sides can be brought into."""
RARE = {
    "clash", "exchange", "several_piles", "own_pile", "new_token_used", "missed", "late", "tokens_gone", "all_flipped",
    "three_shops", "shared",
}  # fmt: skip
"""What must have happened in one game of a hundred for the comparison to prove something."""

GAMMA, WORD = 0x9E3779B97F4A7C15, 1 << 64


class Dealer:
    """The twin's chance: SplitMix64 in Python's integers, beginning where the compiled core began."""

    record: Any
    rng: int

    def rewind(self, num_players: int) -> None:
        """Go back to before the game: over the first starter, the favorites, the deck and the windows until now."""
        flips = len(DECK) - int(self.record.reserves.sum())
        draws = 1 + 2 * num_players + len(DECK) + num_players * flips
        self.num_players, self.rng = num_players, (int(self.record.rng) - draws * GAMMA) % WORD

    def below(self, bound: int) -> int:
        """Draw a whole number from 0 to bound − 1."""
        self.rng = word = (self.rng + GAMMA) % WORD
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
        return ((word ^ (word >> 31)) >> 32) * bound >> 32

    reaction = below

    def first_starter(self) -> int:
        return self.below(self.num_players)

    def favorites(self) -> tuple[list[int], list[int]]:
        flavors, shapes = [*FLAVORS], [*SHAPES]
        for place in range(self.num_players):
            self.exchange(flavors, place)
            self.exchange(shapes, place)
        return flavors[: self.num_players], shapes[: self.num_players]

    def deck(self) -> list[Card]:
        cards = sorted(DECK, key=KIND.__getitem__)
        for place in range(len(cards)):
            self.exchange(cards, place)
        return cards

    def exchange(self, cards: list[Any], place: int) -> None:
        """Bring one of the cards from this place on to this place."""
        other = place + self.below(len(cards) - place)
        cards[place], cards[other] = cards[other], cards[place]

    def clash(self, claimants: list[int]) -> int:
        return claimants[self.below(len(claimants))]


def new_twin(record: Any, dealer: Dealer, options: dict[str, Any]) -> Kawaii:
    dealer.rewind(int(record.num_players))
    return Kawaii(dealer.num_players, dealer, **options)


def counts(cards: list[Card]) -> list[int]:
    """Count the cards of each kind."""
    numbers = [0] * len(KINDS)
    for card in cards:
        numbers[KIND[card]] += 1
    return numbers


def bits(owners: set[int]) -> int:
    return sum([1 << owner for owner in owners])


def twin_facts(twin: Kawaii) -> Facts:
    seats = range(twin.num_players)
    return (
        {ACTION[move] for move in twin.legal()},
        twin.to_move,
        [[KIND[card] for card in pile] for pile in twin.piles],
        [len(reserve) for reserve in twin.reserves],
        counts([*chain(*twin.reserves)]),
        [counts(cards) for cards in twin.captured],
        twin.tokens,
        twin.favorite_flavors,
        twin.favorite_shapes,
        twin.totals,
        twin.round,
        twin.starter,
        twin.flipper,
        twin.stopped,
        0 if twin.over else twin.tick,  # at the end the record forgets its last window
        [0] * twin.num_players if twin.over else twin.reactions,
        [bits(twin.slapped[seat]) for seat in seats],
        [bits(twin.claims.get(seat, set())) for seat in seats],
        [twin.taken.get(owner, -1) for owner in seats],
        [sum([1 << KIND[pair] for pair in pairs]) for pairs in twin.possible],
        twin.over,
        twin.truncated,
        twin.chance.rng,  # type: ignore[attr-defined]  # it is the dealer above
        twin.win_shares() if twin.over else None,
    )


def record_facts(records: States) -> Iterator[Facts]:
    """Read one game's records, column by column: record by record would take ten times longer."""
    seats = int(records[0].num_players)
    over = records["over"].astype(bool).tolist()
    columns = (
        [set(legal.nonzero()[0].tolist()) for legal in masks(GAME, records)],
        [None if ended else seat for ended, seat in zip(over, records["to_move"].tolist(), strict=True)],
        piles(records, seats),
        records["reserves"][:, :seats].tolist(),
        records["left"].tolist(),
        records["captured"][:, :seats].tolist(),
        records["tokens"][:, :seats].tolist(),
        records["favorite_flavor"][:, :seats].tolist(),
        records["favorite_shape"][:, :seats].tolist(),
        records["totals"][:, :seats].tolist(),
        records["round_number"].tolist(),
        records["starter"].tolist(),
        records["flipper"].tolist(),
        records["after_capture"].astype(bool).tolist(),
        records["tick"].tolist(),
        records["reactions"][:, :seats].tolist(),
        records["claims"][:, :seats].tolist(),
        records["pending"][:, :seats].tolist(),
        records["taken_by"][:, :seats].tolist(),
        records["possible"][:, :seats].tolist(),
        over,
        records["truncated"].astype(bool).tolist(),
        records["rng"].tolist(),
        [None] * (len(records) - 1) + [final_shares(records[-1:])],
    )
    return zip(*columns, strict=True)


def piles(records: States, seats: int) -> list[list[list[int]]]:
    """List each record's piles as kinds, from the bottom."""
    zones = zip(records["piles"][:, :seats].tolist(), records["heights"][:, :seats].tolist(), strict=True)
    return [[pile[:height] for pile, height in zip(*zone, strict=True)] for zone in zones]

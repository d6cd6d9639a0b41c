"""One table for both readings of Kawaii, the reference twin and the compiled core: the same positions, the same words.

A card is its flavor's first letter and the number of its shape: `s1` is strawberry and the first shape; `X` is a closed
shop, `*` a cherry. A pile begins with its bottom card, a reserve with the card that is flipped next. Piles are named by
their owners.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ice_envs.engine.jit import compiled
from ice_envs.games.kawaii.rules import go_on
from ice_envs.games.kawaii.window import open_window
from tests.helpers import apply_games, masks, results, started
from tests.kawaii_lockstep import GAME, KIND, KINDS, MOVES, bits, counts
from tests.twins.kawaii import CHERRY, DECK, SHOP, Card, Kawaii

LETTERS = "scvmb"


@dataclass
class Position:
    """A window that the flip of `flipper` has just opened. Of each list, an entry for each seat."""

    piles: list[str]
    reserves: list[str] = field(default_factory=list)
    """None: the flip was the last one, and the window lasts until all have been asked."""
    captured: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    """None: two each."""
    favorites: list[str] = field(default_factory=list)
    """Flavor and shape in the notation of a card; None: `s1`, `c2`, `v3` and so on."""
    totals: list[int] = field(default_factory=list)
    flipper: int = 0
    starter: int = 0
    round: int = 1

    def __post_init__(self) -> None:
        seats = len(self.piles)
        self.reserves = self.reserves or [""] * seats
        self.captured = self.captured or [""] * seats
        self.tokens = self.tokens or [2] * seats
        self.favorites = self.favorites or [f"{LETTERS[seat]}{seat + 1}" for seat in range(seats)]
        self.totals = self.totals or [0] * seats


def card_of(code: str) -> Card:
    return {"X": SHOP, "*": CHERRY}.get(code) or (LETTERS.index(code[0]), int(code[1]) - 1)


def code_of(card: Card) -> str:
    return {SHOP: "X", CHERRY: "*"}.get(card) or f"{LETTERS[card[0]]}{card[1] + 1}"  # type: ignore[call-overload]


def cards_of(codes: str) -> list[Card]:
    return [card_of(code) for code in codes.split()]


def codes_of(cards: list[Card]) -> str:
    return " ".join(map(code_of, cards))


class Table(ABC):
    """A game of either side, in the words of the tests."""

    num_players: int

    @abstractmethod
    def asked(self) -> int | None:
        """Return the seat to move, None when the game is over."""

    @abstractmethod
    def choices(self) -> list[list[int]]:
        """Return the sets of piles that the seat to move may slap, by owner, sorted."""

    @abstractmethod
    def commit(self, owners: set[int]) -> None:
        """Slap these piles with the seat to move."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return piles, reserves, captured (sorted), tokens, favorites, totals, flipper, starter, round, tick."""

    @abstractmethod
    def shares(self) -> list[float]:
        """Return the win shares."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self.facts()[name]
        except KeyError:
            raise AttributeError(name) from None

    def slap(self, seat: int, *owners: int) -> None:
        """Let `seat`, which must be asked now, slap these piles; none of them: let it pass."""
        assert self.asked() == seat
        assert sorted(owners) in self.choices()
        self.commit(set(owners))

    def all_pass(self) -> list[int]:
        """Let everybody pass who is asked before the next flip; return who that was."""
        flips, seats = self.flips_left(), []
        while (seat := self.asked()) is not None and self.flips_left() == flips:
            seats.append(seat)
            self.slap(seat)
        return seats

    def flips_left(self) -> int:
        """Return a number that falls with every flip, and with every round."""
        return 100 * (3 - self.round) + sum(len(reserve.split()) for reserve in self.reserves)


class ShufflingDealer:
    """Chance for the twin from one seed."""

    def __init__(self, num_players: int, seed: int) -> None:
        self.num_players, self.rng = num_players, random.Random(seed)

    def first_starter(self) -> int:
        return self.rng.randrange(self.num_players)

    def favorites(self) -> tuple[list[int], list[int]]:
        return self.rng.sample(range(5), self.num_players), self.rng.sample(range(5), self.num_players)

    def deck(self) -> list[Card]:
        return self.rng.sample(DECK, len(DECK))

    def reaction(self, ticks: int) -> int:
        return self.rng.randrange(ticks)

    def clash(self, claimants: list[int]) -> int:
        return self.rng.choice(claimants)


class TwinTable(Table):
    """A game of the reference twin."""

    def __init__(self, num_players: int, position: Position | None = None, seed: int = 0, **options: Any) -> None:
        self.num_players = num_players
        self.twin = Kawaii(num_players, ShufflingDealer(num_players, seed), **options)
        if position:
            self.set_up(position)

    def set_up(self, position: Position) -> None:
        twin = self.twin
        twin.piles, twin.reserves, twin.captured = (
            [cards_of(codes) for codes in zone] for zone in (position.piles, position.reserves, position.captured)
        )
        twin.favorite_flavors = [LETTERS.index(code[0]) for code in position.favorites]
        twin.favorite_shapes = [int(code[1]) - 1 for code in position.favorites]
        twin.tokens, twin.totals = [*position.tokens], [*position.totals]
        twin.flipper, twin.starter, twin.round = position.flipper, position.starter, position.round
        twin.captures = 0
        twin.go_on(twin.from_the_window())

    def asked(self) -> int | None:
        return self.twin.to_move

    def choices(self) -> list[list[int]]:
        seat = self.twin.to_move or 0
        return sorted(sorted((seat + step) % self.num_players for step in move) for move in self.twin.legal())

    def commit(self, owners: set[int]) -> None:
        assert self.twin.to_move is not None
        self.twin.play(frozenset((owner - self.twin.to_move) % self.num_players for owner in owners))

    def facts(self) -> dict[str, Any]:
        twin = self.twin
        return {
            "piles": [codes_of(pile) for pile in twin.piles],
            "reserves": [codes_of(reserve) for reserve in twin.reserves],
            "captured": [" ".join(sorted(map(code_of, cards))) for cards in twin.captured],
            "tokens": [*twin.tokens],
            "favorites": [
                f"{LETTERS[f]}{s + 1}" for f, s in zip(twin.favorite_flavors, twin.favorite_shapes, strict=True)
            ],
            "totals": [*twin.totals],
            "flipper": twin.flipper,
            "starter": twin.starter,
            "round": twin.round,
            "tick": twin.tick,
        }

    def shares(self) -> list[float]:
        return [float(share) for share in self.twin.win_shares()]


@compiled
def open_first_window(states: Any) -> None:
    """Go on in one game as if its flipper had just flipped."""
    open_window(states[0], False)
    go_on(states[0], 0)


class CoreTable(Table):
    """A game of the compiled core: `states` is the one record."""

    def __init__(self, num_players: int, position: Position | None = None, seed: int = 0, **options: Any) -> None:
        self.num_players = num_players
        self.states = started(GAME, num_players, 1, seed, **options)
        if position:
            self.set_up(position)

    def set_up(self, position: Position) -> None:
        state = self.states[0]
        zones = zip(position.piles, position.reserves, position.captured, position.favorites, strict=True)
        for seat, (pile, reserve, captured, favorite) in enumerate(zones):
            kinds = [KIND[card] for card in cards_of(pile)]
            state.piles[seat] = kinds + [0] * (state.piles.shape[1] - len(kinds))
            state.heights[seat], state.reserves[seat] = len(kinds), len(reserve.split())
            state.captured[seat] = counts(cards_of(captured))
            state.favorite_flavor[seat], state.favorite_shape[seat] = card_of(favorite)
        state.filled = bits({seat for seat, pile in enumerate(position.piles) if pile})
        state.tokens[: self.num_players], state.totals[: self.num_players] = position.tokens, position.totals
        state.flipper, state.starter, state.round_number = position.flipper, position.starter, position.round
        to_flip = self.in_order_of_flips([cards_of(reserve) for reserve in position.reserves])
        if to_flip:
            state.deck[-len(to_flip) :] = [KIND[card] for card in to_flip]
        state.left = counts(to_flip)
        open_first_window(self.states)

    def in_order_of_flips(self, reserves: list[list[Any]]) -> list[Any]:
        """Put the cards of all reserves in the order in which they will be flipped."""
        after = int(self.states[0].flipper) + 1
        seats = [(after + step) % self.num_players for step in range(self.num_players)]
        rounds = range(max(map(len, reserves)))
        return [reserves[seat][k] for k in rounds for seat in seats if k < len(reserves[seat])]

    def asked(self) -> int | None:
        return None if self.states[0].over else int(self.states[0].to_move)

    def choices(self) -> list[list[int]]:
        seat = int(self.states[0].to_move)
        actions = masks(GAME, self.states)[0].nonzero()[0]
        return sorted(sorted((seat + step) % self.num_players for step in MOVES[action]) for action in actions)

    def commit(self, owners: set[int]) -> None:
        steps = {(owner - int(self.states[0].to_move)) % self.num_players for owner in owners}
        apply_games(self.states, np.array([bits(steps)]))

    def facts(self) -> dict[str, Any]:
        state, seats = self.states[0], range(self.num_players)
        sizes = state.reserves.tolist()[: self.num_players]
        places = self.in_order_of_flips([[seat] * sizes[seat] for seat in seats])
        to_flip = [KINDS[kind] for kind in state.deck.tolist()[len(DECK) - sum(sizes) :]]
        assert counts(to_flip) == state.left.tolist()
        captured = [np.repeat(np.arange(len(KINDS)), state.captured[seat]).tolist() for seat in seats]
        favorites = zip(state.favorite_flavor.tolist(), state.favorite_shape.tolist(), strict=True)
        return {
            "piles": [codes_of([KINDS[k] for k in state.piles[seat][: state.heights[seat]]]) for seat in seats],
            "reserves": [codes_of([c for c, s in zip(to_flip, places, strict=True) if s == seat]) for seat in seats],
            "captured": [" ".join(sorted(code_of(KINDS[kind]) for kind in kinds)) for kinds in captured],
            "tokens": state.tokens.tolist()[: self.num_players],
            "favorites": [code_of(pair) for pair in favorites][: self.num_players],
            "totals": state.totals.tolist()[: self.num_players],
            "flipper": int(state.flipper),
            "starter": int(state.starter),
            "round": int(state.round_number),
            "tick": int(state.tick),
        }

    def shares(self) -> list[float]:
        return results(self.states)[1][0, : self.num_players].tolist()


SIDES: list[type[Table]] = [TwinTable, CoreTable]

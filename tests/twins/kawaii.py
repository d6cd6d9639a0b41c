"""Kawaii, told slowly: a reference twin.

A second, independent reading of the rules to hold the fast core against. It uses nothing but lists, sets and
fractions, and leaves all chance to the caller. Everybody slaps piles of ice creams, each with two kinds of favorites.

The course of the game is told by generators: each `yield` is a question to the seat `to_move`.
"""

from collections import Counter
from collections.abc import Generator, Iterator
from fractions import Fraction
from itertools import product
from typing import Any, Protocol

FLAVORS = range(5)
SHAPES = range(5)
SHOP = "closed shop"
CHERRY = "cherry"
TOKENS = 2  # each seat's at the beginning of a round
ROUNDS = 3

Card = tuple[int, int] | str  # (flavor, shape) of an ice cream, or SHOP, or CHERRY
Move = frozenset[int]  # the piles to slap, as steps clockwise from the own pile (0); the empty set lets it pass
Questions = Generator[None, Move, None]

DECK: list[Card] = [(flavor, shape) for flavor in FLAVORS for shape in SHAPES for _ in range(2)]
DECK += [SHOP] * 3 + [CHERRY] * 2
"""All 55 cards."""


class Chance(Protocol):
    """Everything in the game that is drawn: the caller shuffles, the twin only plays."""

    def first_starter(self) -> int:
        """The seat that flips first in the first round."""
        ...

    def favorites(self) -> tuple[list[int], list[int]]:
        """The favorite flavor and the favorite shape of each seat."""
        ...

    def deck(self) -> list[Card]:
        """The shuffled deck, in the order in which it is dealt: clockwise from the starter, a card at a time."""
        ...

    def reaction(self, ticks: int) -> int:
        """A seat's reaction, from 0 to ticks − 1; asked for each seat in order when a window opens."""
        ...

    def clash(self, claimants: list[int]) -> int:
        """The winner among the seats (in order) that slapped one pile in one tick; asked pile by pile in order."""
        ...


def points(cards: list[Card], flavor: int, shape: int) -> int:
    """What captured cards are worth to a seat with these favorites.

    Rule: a point for the favorite flavor, a point for the favorite shape, so two for both; a point for a cherry.
    A closed shop costs a point, but all three of them together bring three.
    """
    total = 0
    for card in cards:
        if card == CHERRY:
            total += 1
        elif card != SHOP:
            total += (card[0] == flavor) + (card[1] == shape)
    shops = cards.count(SHOP)
    return total + (3 if shops == 3 else -shops)


class Kawaii:
    """One game of three rounds."""

    def __init__(
        self,
        num_players: int,
        chance: Chance,
        *,
        window_ticks: int = 3,
        reaction_ticks: int = 3,
        handicaps: list[tuple[int, int]] | tuple[tuple[int, int], ...] = (),
        flipper_delay: int = 0,
        favorites: str = "each_round",
        memory: bool = False,
    ) -> None:
        if num_players not in range(2, 6):
            raise ValueError(f"2 to 5 seats, not {num_players}")
        if window_ticks < 1 or reaction_ticks < 1 or flipper_delay < 0:
            raise ValueError("at least one tick, and no negative delay")
        if favorites not in ("each_round", "whole_game"):
            raise ValueError(f"unknown favorites {favorites!r}")
        self.num_players, self.chance = num_players, chance
        self.window_ticks, self.reaction_ticks, self.flipper_delay = window_ticks, reaction_ticks, flipper_delay
        self.handicaps = [*handicaps, *[(0, 0)] * num_players][:num_players]
        self.new_favorites = favorites == "each_round"
        self.memory = memory  # changes what is seen, never what may be done
        self.totals = [0] * num_players  # points of finished rounds
        self.taken: dict[int, int] = {}  # by owner of the pile: who took it, at the last tick with a claim
        self.possible = [set(product(FLAVORS, SHAPES)) for _ in self.totals]  # favorites that the points allow
        self.log: list[tuple[Any, ...]] = []
        self.over = False
        self.truncated = False
        self.to_move: int | None = None
        self.go_on(self._game())

    # ---- what a player may do ----

    def legal(self) -> set[Move]:
        """Rule: a token on any pile that has cards, one token a pile, as many piles as you have tokens, or none."""
        if self.to_move is None:
            return set()
        moves = {frozenset[int]()}
        for step in range(self.num_players):
            if self.piles[(self.to_move + step) % self.num_players]:
                moves |= {move | {step} for move in moves}
        return {move for move in moves if len(move) <= self.tokens[self.to_move]}

    def play(self, move: Move) -> None:
        """Make a move of the seat to move, and all that follows from it, up to the next question."""
        if move not in self.legal():
            raise ValueError(f"illegal move {move!r}")
        try:
            self._questions.send(move)
        except StopIteration:
            self._end()

    def win_shares(self) -> list[Fraction]:
        """Rule: most points wins; k seats with equally many get 1/k of the win each. Zeros before the end."""
        if not self.over:
            return [Fraction(0)] * self.num_players
        most = max(self.totals)
        share = Fraction(1, self.totals.count(most))
        return [share if total == most else Fraction(0) for total in self.totals]

    def go_on(self, questions: Questions) -> None:
        """Follow this course of the game from now on, up to its first question."""
        self._questions = questions
        try:
            next(questions)
        except StopIteration:
            self._end()

    def _end(self) -> None:
        self.over, self.to_move = True, None

    # ---- the course of the game ----

    def _game(self) -> Questions:
        self.round = 1
        self.starter = self.chance.first_starter()
        self._set_up_round()
        self._flip()
        yield from self.from_the_window()

    def from_the_window(self) -> Questions:
        """The game from the window on that a flip has opened: the rest of this round, and the other rounds."""
        yield from self._rest_of_round()
        self._score_round()
        while self.round < ROUNDS:
            self.round += 1
            self.starter = self._next_starter()
            self._set_up_round()
            self._flip()
            yield from self._rest_of_round()
            self._score_round()

    def _rest_of_round(self) -> Questions:
        """Rule: a round ends when all cards are flipped and nobody wants more, or when no token is left."""
        yield from self._grabbing()
        while any(self.tokens) and any(self.reserves):
            self._flip()
            yield from self._grabbing()

    def _set_up_round(self) -> None:
        """Rule: favorites, two tokens and all cards; from the starter on, the first seats may get a card more."""
        if self.round == 1 or self.new_favorites:
            self.favorite_flavors, self.favorite_shapes = self.chance.favorites()
            assert len(set(self.favorite_flavors)) == len(set(self.favorite_shapes)) == self.num_players
        deck = self.chance.deck()
        assert Counter(deck) == Counter(DECK), "not the whole deck"
        self.tokens = [TOKENS] * self.num_players
        self.piles: list[list[Card]] = [[] for _ in self.tokens]  # bottom card first
        self.captured: list[list[Card]] = [[] for _ in self.tokens]
        self.reserves: list[list[Card]] = [[] for _ in self.tokens]  # the next one to flip first
        for seat, order in zip(self._clockwise_from(self.starter), range(self.num_players), strict=True):
            self.reserves[seat] = deck[order :: self.num_players]
        self.flipper: int | None = None
        self.captures = 0
        self.log.append(("round", self.round))

    def _flip(self) -> None:
        """Rule: clockwise, each seat turns its top card over onto its own pile; who has none left is skipped."""
        after = self.starter if self.flipper is None else self.flipper + 1
        self.flipper = next(seat for seat in self._clockwise_from(after) if self.reserves[seat])
        self.piles[self.flipper].append(self.reserves[self.flipper].pop(0))
        self.log.append(("flip", self.flipper, self.piles[self.flipper][-1]))

    def _score_round(self) -> None:
        """Rule: the captured cards' points, and a point for each token left. All else counts nothing."""
        self.log.append(("all_flipped",) if any(self.tokens) else ("tokens_gone",))
        for seat, cards in enumerate(self.captured):
            gained = points(cards, self.favorite_flavors[seat], self.favorite_shapes[seat])
            if not self.new_favorites and not self.memory:  # all see the cards, and the points that they are worth
                self.possible[seat] = {pair for pair in self.possible[seat] if points(cards, *pair) == gained}
            gained += self.tokens[seat]
            self.totals[seat] += gained
            self.log.append(("gained", seat, gained, self.tokens[seat]))
            if cards.count(SHOP) == 3:
                self.log.append(("three_shops", seat))

    def _next_starter(self) -> int:
        """Rule: the seat with the lowest total; of equals the first after the last starter, that one last."""
        return min(self._clockwise_from(self.starter + 1), key=lambda seat: self.totals[seat])

    # ---- grabbing ----

    def _grabbing(self) -> Questions:
        """Rule: a window; if there is a capture in it, the game is stopped, and there is another window.

        Only while play runs on does the next flip hurry anybody: not after the last flip, not in the game stopped.
        """
        self.stopped = False
        captures = self.captures
        yield from self._window()
        while self.captures > captures and any(self.tokens):
            self.stopped = True
            self.log.append(("stopped",))
            captures = self.captures
            yield from self._window()

    def _window(self) -> Questions:
        """Rule: each seat reacts at a tick of its own; ticks go by until the next flip, or until all have reacted."""
        self.reactions = [self.chance.reaction(self.reaction_ticks + widen) for _, widen in self.handicaps]
        self.reactions = [tick + shift for tick, (shift, _) in zip(self.reactions, self.handicaps, strict=True)]
        assert self.flipper is not None
        if not self.stopped:
            self.reactions[self.flipper] += self.flipper_delay
        hurried = self._is_hurried()
        self.slapped: list[set[int]] = [set() for _ in self.tokens]  # in this window, up to the last tick
        self.without_token = {seat for seat, tokens in enumerate(self.tokens) if not tokens}
        for tick in sorted(set(self.reactions)):
            if hurried and tick >= self.window_ticks:
                late = {seat for seat, reaction in enumerate(self.reactions) if reaction >= tick}
                if late - self.without_token:
                    self.log.append(("missed", *sorted(late - self.without_token)))
                return
            self.tick = tick
            yield from self._one_tick()
            if not any(self.tokens):
                return

    def _is_hurried(self) -> bool:
        """Rule: who is late misses the window, but only while play runs on."""
        return not self.stopped and any(self.reserves)

    def _one_tick(self) -> Questions:
        """Rule: who reacts now, holds a token and finds a pile, commits without seeing what the others of the tick do.

        Clockwise from the left of the last flipper. When all have committed, their claims are settled together.
        """
        assert self.flipper is not None
        self.claims: dict[int, set[int]] = {}  # by seat: whose piles
        for seat in self._clockwise_from(self.flipper + 1):
            if self.reactions[seat] == self.tick and self.tokens[seat] and any(self.piles):
                self.to_move = seat
                steps = yield
                self.to_move = None
                self.claims[seat] = {(seat + step) % self.num_players for step in steps}
        if self.claims:
            self._settle()

    def _settle(self) -> None:
        """Rule: one claimant takes the pile, of several one by rock-paper-scissors; the others keep their tokens."""
        taken: dict[int, int] = {}  # by owner of the pile: who takes it
        for owner in sorted(set().union(*self.claims.values())):
            claimants = sorted(seat for seat, owners in self.claims.items() if owner in owners)
            if len(claimants) > 1:
                taken[owner] = self.chance.clash(claimants)
                self.log.append(("clash", owner, *claimants))
            else:
                taken[owner] = claimants[0]
        if taken:
            self.taken = taken
            self._tell_tick(taken)
        for seat, owners in self.claims.items():
            self.slapped[seat] |= owners
        for owner, seat in taken.items():
            self._capture(seat, owner)
        self.claims = {}

    def _capture(self, seat: int, owner: int) -> None:
        """Rule: the whole pile to the score pile; the token to the pile's owner, or out of the game from one's own."""
        self.captures += 1
        self.log.append(("capture", seat, owner, self.piles[owner]))
        self.captured[seat] += self.piles[owner]
        self.piles[owner] = []
        self.tokens[seat] -= 1
        if owner == seat:
            self.log.append(("own_pile", seat))
        else:
            self.tokens[owner] += 1

    def _tell_tick(self, taken: dict[int, int]) -> None:
        """Log what a rules lawyer would ask about."""
        if self.tick >= self.window_ticks:
            self.log.append(("late",))  # past the last tick, and still in time: nothing hurries anybody
        if any(self.claims.get(seat) for seat in self.without_token):
            self.log.append(("new_token_used",))  # won in this very window
        if any(taken.get(seat) == owner != seat for owner, seat in taken.items()):
            self.log.append(("exchange",))
        if len(set(taken.values())) < len(taken):
            self.log.append(("several_piles",))

    # ---- small words ----

    def _clockwise_from(self, seat: int) -> Iterator[int]:
        return ((seat + step) % self.num_players for step in range(self.num_players))

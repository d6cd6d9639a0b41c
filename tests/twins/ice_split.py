"""Ice Split, told slowly: a reference twin.

A second, independent reading of the rules to hold the fast core against. It uses nothing but lists, sets and
fractions, and leaves all chance to the caller. Every card is a goal or a flavor: half of it shows, half is covered.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

DECK_SIZE = 63
HAND_SIZE = 4
MARKET_SIZE = 4
DISPLAY_SIZE = 13  # the start card and twelve turns

Move = tuple[str, int] | tuple[str]  # ("start" | "goal" | "flavor" | "market", card number) or ("blind",)
Condition = tuple[str, tuple[str, ...], int]  # what makes two goals one: type, flavors, points


class Card(NamedTuple):
    """One card: a goal on its left half, a flavor on its right half."""

    flavor: str
    goal: str
    named: tuple[str, ...]  # the flavors that the goal names, in the printed order
    points: int


def deck_of(rows: Iterable[Mapping[str, Any]]) -> list[Card]:
    """Cards by number, from rows as a deck file has them."""
    cards = {
        int(row["card_id"]): Card(
            row["flavor"],
            row["goal_type"],
            tuple(row["goal_flavors"].split("|")) if row["goal_flavors"] else (),
            int(row["points"]),
        )
        for row in rows
    }
    return [cards[number] for number in range(DECK_SIZE)]


def read_deck(path: Path) -> list[Card]:
    """Cards by number, from a deck file."""
    with path.open(encoding="utf-8", newline="") as file:
        return deck_of(csv.DictReader(file))


class Chance(Protocol):
    """Everything in the game that is drawn: the caller shuffles, the twin only plays."""

    def first_seat(self) -> int:
        """The seat that has the first turn."""
        ...

    def deal(self) -> tuple[list[set[int]], list[int]]:
        """A hand per seat, and the cards that lie open at the start."""
        ...

    def draw(self, deck: set[int]) -> int:
        """Which of these cards lies on top of the face-down deck."""
        ...


# ---- the twelve goals ----


def is_met(card: Card, flavors: list[str], num_goals: int, sequence: str, two_pairs: str) -> bool:
    """Is this card's goal met by a display with these flavors, left to right, and so many goals?"""
    count = Counter(flavors)
    match card.goal:
        case "MAJORITY":  # the single most frequent one: a tie is not enough
            (named,) = card.named
            return all(count[named] > count[other] for other in count if other != named) and count[named] > 0
        case "NONE_OF":
            return not any(named in flavors for named in card.named)
        case "EXACTLY_ONE":
            (named,) = card.named
            return count[named] == 1
        case "SEQUENCE":
            return has_sequence(card.named, flavors, sequence)
        case "ALL_SEVEN":
            return len(count) == 7
        case "RIGHTMOST_IN":
            return flavors[-1] in card.named
        case "AT_MOST_THREE_KINDS":
            return len(count) in (1, 2, 3)
        case "TWO_PAIRS":
            return has_two_pairs(flavors, two_pairs)
        case "THREE_ADJACENT":
            return any(flavors[i] == flavors[i + 1] == flavors[i + 2] for i in range(len(flavors) - 2))
        case "FOUR_OF_A_KIND":
            return any(number >= 4 for number in count.values())
        case "MORE_FLAVORS_THAN_GOALS":
            return len(flavors) > num_goals
        case "MORE_GOALS_THAN_FLAVORS":
            return num_goals > len(flavors)
    raise ValueError(f"unknown goal {card.goal!r}")


def has_sequence(named: tuple[str, ...], flavors: list[str], how: str) -> bool:
    """Do the named flavors stand in this order: side by side ("contiguous"), or with others between?"""
    if how == "contiguous":
        return any(tuple(flavors[i : i + len(named)]) == named for i in range(len(flavors)))
    return any(some == named for some in combinations(flavors, len(named)))


def has_two_pairs(flavors: list[str], how: str) -> bool:
    """XXYY, side by side ("adjacent"); or XX and YY anywhere ("apart"). Four of one flavor are not two pairs."""
    if how == "adjacent":
        fours = [flavors[i : i + 4] for i in range(len(flavors) - 3)]
        return any(a == b and c == d and b != c for a, b, c, d in fours)
    return len({left for left, right in pairwise(flavors) if left == right}) >= 2


def condition(card: Card) -> Condition:
    """What a goal asks for and pays. Only a sequence cares in which order its flavors are named."""
    named = card.named if card.goal == "SEQUENCE" else tuple(sorted(card.named))
    return card.goal, named, card.points


# ---- the game ----


class IceSplit:
    """One game, from the deal until every display has thirteen cards."""

    def __init__(
        self,
        num_players: int,
        chance: Chance,
        deck: list[Card],
        *,
        sequence: str = "contiguous",
        two_pairs: str = "adjacent",
        duplicate_goals: str = "each",
    ) -> None:
        if num_players not in (2, 3, 4):
            raise ValueError(f"2 to 4 seats, not {num_players}")
        if sequence not in ("contiguous", "subsequence"):
            raise ValueError(f"unknown sequence {sequence!r}")
        if two_pairs not in ("adjacent", "apart"):
            raise ValueError(f"unknown two_pairs {two_pairs!r}")
        if duplicate_goals not in ("each", "once"):
            raise ValueError(f"unknown duplicate_goals {duplicate_goals!r}")
        self.num_players, self.chance, self.cards = num_players, chance, deck
        self.sequence, self.two_pairs, self.duplicate_goals = sequence, two_pairs, duplicate_goals
        hands, market = chance.deal()
        assert [len(hand) for hand in hands] == [HAND_SIZE] * num_players
        assert len(market) == MARKET_SIZE
        self.hands = [set(hand) for hand in hands]
        self.market: list[int | None] = list(market)  # by place; None once it can no longer be refilled
        self.deck = set(range(DECK_SIZE)).difference(market, *hands)  # face down, in no order that anybody knows
        assert len(self.deck) == DECK_SIZE - HAND_SIZE * num_players - MARKET_SIZE, "a card dealt twice"
        self.goals: list[list[int]] = [[] for _ in hands]  # cards that show their goal, left to right
        self.flavors: list[list[int]] = [[] for _ in hands]  # cards that show their flavor, left to right
        self.start_choice: list[int | None] = [None] * num_players  # secret until everybody has chosen
        self.shown: set[int] = set(market)  # cards of which everybody has seen both halves
        self.points = [0] * num_players
        self.first_seat = chance.first_seat()
        self.phase = "start"
        self.to_move: int | None = self.first_seat
        self.over = self.truncated = False
        self.log: list[tuple[str | int, ...]] = []

    # ---- what a player may do ----

    def legal(self) -> set[Move]:
        """Rule: choose a start card; later play a card at either end, then draw an open card or a hidden one."""
        if self.to_move is None:
            return set()
        if self.phase == "draw":
            hidden: set[Move] = {("blind",)} if self.deck else set()
            return hidden | {("market", card) for card in self.market if card is not None}
        ways = ("start",) if self.phase == "start" else ("goal", "flavor")
        return {(way, card) for way in ways for card in self.hands[self.to_move]}

    def play(self, move: Move) -> None:
        """Make a move of the seat to move, and all that follows from it, up to the next decision."""
        if move not in self.legal():
            raise ValueError(f"illegal move {move!r}")
        seat = self.to_move
        assert seat is not None
        self.log.append((move[0], seat, *move[1:]))
        match move:
            case ("start", card):
                self._choose_start_card(seat, card)
            case ("market", card):
                self._take_open_card(seat, card)
            case ("blind",):
                self.hands[seat].add(self._top_card())
                self._end_turn()
            case (way, card):
                self._lay_card(seat, card, way)

    def win_shares(self) -> list[Fraction]:
        """Rule: most points wins, of equals whoever shows more kinds of flavors; else they share. Zeros before."""
        if not self.over:
            return [Fraction(0)] * self.num_players
        standing = self.standing()
        best = max(standing)
        return [Fraction(place == best, standing.count(best)) for place in standing]

    # ---- the start ----

    def _choose_start_card(self, seat: int, card: int) -> None:
        """Rule: everybody chooses in secret; all start cards are revealed together and show both halves."""
        self.hands[seat].remove(card)
        self.start_choice[seat] = card
        if None in self.start_choice:
            self.to_move = (seat + 1) % self.num_players
            return
        for owner, chosen in enumerate(self.start_choice):
            assert chosen is not None
            self.goals[owner] = [chosen]
            self.flavors[owner] = [chosen]
            self.shown.add(chosen)
            self.points[owner] = self._score(owner)
        self.log.append(("reveal",))
        self.phase = "play"
        self.to_move = self.first_seat

    # ---- a turn ----

    def _lay_card(self, seat: int, card: int, way: str) -> None:
        """Rule: under the left end, so that the goal shows, or under the right end, so that the flavor shows.

        Who has played the last card draws no more: it could not be played.
        """
        self.hands[seat].remove(card)
        if way == "goal":
            self.goals[seat].insert(0, card)
        else:
            self.flavors[seat].append(card)
        self.points[seat] = self._score(seat)
        if self._cards_on_display(seat) < DISPLAY_SIZE:
            self.phase = "draw"
        else:
            self._end_turn()

    def _take_open_card(self, seat: int, card: int) -> None:
        """Rule: the place of an open card is filled from the deck, as long as there is one."""
        self.hands[seat].add(card)
        place = self.market.index(card)
        if self.deck:
            new = self._top_card()
            self.market[place] = new
            self.shown.add(new)
            self.log.append(("refill", new))
        else:
            self.market[place] = None
            self.log.append(("no_refill", place))
        self._end_turn()

    def _top_card(self) -> int:
        card = self.chance.draw(set(self.deck))
        self.deck.remove(card)
        if not self.deck:
            self.log.append(("deck_empty",))
        return card

    def _end_turn(self) -> None:
        """Rule: clockwise; the game ends when every display has thirteen cards."""
        assert self.to_move is not None
        if all(self._cards_on_display(seat) == DISPLAY_SIZE for seat in range(self.num_players)):
            self._end_game()
        else:
            self.to_move = (self.to_move + 1) % self.num_players
            self.phase = "play"

    def _end_game(self) -> None:
        self.over = True
        self.to_move = None
        self.phase = "over"
        for seat in range(self.num_players):
            for card in self.met_goals(seat):
                self.log.append((self.cards[card].goal, seat, card))
        leaders = [place for place in self.standing() if place[0] == max(self.points)]
        if len(leaders) > 1:
            self.log.append(("shared" if leaders.count(max(leaders)) > 1 else "tie_broken_by_flavors",))

    # ---- points ----

    def met_goals(self, seat: int) -> list[int]:
        """Rule: every goal that shows is counted once if it is met; a flavor may serve many goals.

        Option "once": of identical goals in one display only one counts.
        """
        flavors = [self.cards[card].flavor for card in self.flavors[seat]]
        met = [
            card
            for card in self.goals[seat]
            if is_met(self.cards[card], flavors, len(self.goals[seat]), self.sequence, self.two_pairs)
        ]
        if self.duplicate_goals == "once":
            met = list({condition(self.cards[card]): card for card in met}.values())
        return met

    def _score(self, seat: int) -> int:
        return sum([self.cards[card].points for card in self.met_goals(seat)])

    def standing(self) -> list[tuple[int, int]]:
        """Points, then how many different flavors show, of each seat."""
        kinds = [len({self.cards[card].flavor for card in shown}) for shown in self.flavors]
        return list(zip(self.points, kinds, strict=True))

    def _cards_on_display(self, seat: int) -> int:
        return len(self.goals[seat]) + len(self.flavors[seat]) - 1  # the start card shows both halves

"""Ice Split from a deal chosen by hand, on the twin's table and on the compiled rules' table, in one notation.

A move is a letter and a card's number: `s5` chooses start card 5, `g5` plays it as a goal, `f5` as a flavor, `m5` takes
it from the market; `b` draws blind. Every position is reached by play from its deal, so whatever the compiled rules
keep beside the cards they have worked out themselves.

A card of a deck made by hand is its flavor's first letter, its goal and the flavors that the goal names:
`c SEQUENCE s m`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from ice_envs.engine import loops
from tests.helpers import apply_games, started
from tests.ice_split_lockstep import (
    ACTION,
    GAME,
    GOALS,
    MOVES,
    NAMES,
    Facts,
    cards_of,
    deck_rows,
    record_facts,
    set_deal,
    twin_facts,
)
from tests.twins.ice_split import DECK_SIZE, DISPLAY_SIZE, HAND_SIZE, MARKET_SIZE, IceSplit, Move, deck_of

FLAVORS = {name[0]: name for name in ("vanilla", "chocolate", "strawberry", "mint", "lemon", "blueberry", "pistachio")}
POINTS = dict(zip(GOALS, (4, 3, 4, None, 12, 5, 6, 5, 5, 6, 5, 5), strict=True))
SEQUENCE_POINTS = {2: 4, 3: 6, 4: 9}
NAMED = {"MAJORITY": (1, 1), "NONE_OF": (2, 3), "EXACTLY_ONE": (1, 1), "SEQUENCE": (2, 4), "RIGHTMOST_IN": (2, 3)}
"""The fewest and the most flavors that a goal names; the others name none."""
WAYS = {"s": "start", "g": "goal", "f": "flavor", "m": "market", "b": "blind"}

Rows = list[dict[str, str]]
"""A deck, as its file has it."""


# ---- deals and decks ----


@dataclass(frozen=True)
class Deal:
    """A deal by hand, which is also the twin's chance: what lies where (the pile from its top), and who begins."""

    hands: list[list[int]]
    market: list[int]
    pile: list[int]
    first: int

    def first_seat(self) -> int:
        return self.first

    def deal(self) -> tuple[list[set[int]], list[int]]:
        return [set(hand) for hand in self.hands], self.market

    def draw(self, deck: set[int]) -> int:
        return next(card for card in self.pile if card in deck)


def deal(*hands: str, market: str = "", pile: str = "", first: int = 0) -> Deal:
    """Return a deal; cards that are named nowhere fill the market, then lie in order at the bottom of the pile."""
    *held, opened, top = [[int(card) for card in cards.split()] for cards in (*hands, market, pile)]
    rest = [card for card in range(DECK_SIZE) if not any(card in cards for cards in (*held, opened, top))]
    missing = MARKET_SIZE - len(opened)
    return Deal(held, opened + rest[:missing], top + rest[missing:], first)


def made_deck(*cards: str) -> Rows:
    """Return the rows of a deck that begins with these cards; the others have all flavors in turn, and MAJORITY p."""
    filler = [f"{'vcsmlbp'[card % 7]} MAJORITY p" for card in range(len(cards), DECK_SIZE)]
    return [card_row(number, *card.split()) for number, card in enumerate([*cards, *filler])]


def card_row(number: int, flavor: str, goal: str, *named: str) -> dict[str, str]:
    points = POINTS[goal] or SEQUENCE_POINTS[len(named)]
    return {
        "card_id": str(number),
        "flavor": FLAVORS[flavor],
        "goal_no": str(GOALS.index(goal) + 1),
        "goal_type": goal,
        "goal_flavors": "|".join(FLAVORS[letter] for letter in named),
        "points": str(points),
    }


def random_deck(seed: int) -> Rows:
    """Return the rows of a deck with all that a deck may have: goals at random, some of them identical."""
    rng = np.random.default_rng(seed)
    rows = []
    for card in range(DECK_SIZE):
        goal = str(rng.choice(GOALS))
        least, most = NAMED.get(goal, (0, 0))
        named = rng.choice(list(FLAVORS), rng.integers(least, most + 1), replace=goal == "SEQUENCE")
        row = card_row(card, str(rng.choice(list(FLAVORS))), goal, *named)
        rows.append(row | {"points": str(rng.integers(1, 20))} if goal == "SEQUENCE" else row)
    return rows


# ---- tables ----


class Table:
    """One game on a table of either kind; its facts are those of the lockstep."""

    def facts(self) -> Facts:
        raise NotImplementedError

    def move(self, move: Move) -> None:
        raise NotImplementedError

    def __getitem__(self, name: str) -> Any:
        return self.facts()[NAMES.index(name)]

    def play(self, codes: str) -> Table:
        """Play the moves, each of which must be legal, and return the table."""
        for code in codes.split():
            assert code in self.legal().split(), f"{code} is illegal; legal: {self.legal()}"
            self.move(move_of(code))
        return self

    def legal(self) -> str:
        """Return the legal moves: by kind, then by card."""
        moves = [MOVES[action] for action in self["legal"]]
        return " ".join(sorted([move[0][0] + "".join(map(str, move[1:])) for move in moves], key=code_order))

    def hand(self, seat: int) -> set[int]:
        return cards_of(self["hands"][seat])

    def market(self) -> set[int]:
        return cards_of(self["market"])

    def deck_height(self) -> int:
        return int(self["deck"].bit_count())


def move_of(code: str) -> Move:
    return ("blind",) if code == "b" else (WAYS[code[0]], int(code[1:]))


def code_order(code: str) -> tuple[int, int]:
    return "sgfmb".index(code[0]), int(code[1:] or 0)


class TwinTable(Table):
    """A game of the twin."""

    def __init__(self, dealt: Deal, rows: Rows, options: dict[str, str]) -> None:
        self.twin = IceSplit(len(dealt.hands), dealt, deck_of(rows), **options)

    def facts(self) -> Facts:
        return twin_facts(self.twin)

    def move(self, move: Move) -> None:
        self.twin.play(move)


class CoreTable(Table):
    """A game of the compiled rules."""

    def __init__(self, dealt: Deal, rows: Rows, options: dict[str, str]) -> None:
        self.states = started(GAME, len(dealt.hands), deck=rows, **options)
        set_deal(self.states[0], dealt.hands, dealt.market, dealt.pile, dealt.first)

    def facts(self) -> Facts:
        (facts,) = record_facts(self.states)
        return facts

    def move(self, move: Move) -> None:
        action = np.array([ACTION[move]])
        assert loops.first_illegal(self.states, action, GAME.num_actions) < 0, move
        apply_games(self.states, action)


TABLES: dict[str, Callable[..., Table]] = {"twin": TwinTable, "compiled": CoreTable}


def new_table(kind: str, dealt: Deal, rows: Rows | None = None, **options: str) -> Table:
    """Return a table just dealt, with the box's deck unless another one is given."""
    return TABLES[kind](dealt, deck_rows() if rows is None else rows, options)


# ---- whole displays ----


def deal_for(plays: Sequence[str]) -> Deal:
    """Return a deal from which each seat can lay just these cards if everybody draws blind: `s5 g6 f7`."""
    wanted = [[int(code[1:]) for code in codes.split()] for codes in plays]
    spare = iter([card for card in range(DECK_SIZE) if not any(card in cards for cards in wanted)])
    market = [next(spare) for _ in range(MARKET_SIZE)]
    hands = [cards[:HAND_SIZE] + [next(spare) for _ in range(HAND_SIZE - len(cards))] for cards in wanted]
    drawn = [cards[HAND_SIZE:] for cards in wanted]
    pile = [next(spare) if card is None else card for each in zip_longest(*drawn) for card in each]
    return Deal(hands, market, pile + list(spare), 0)


def displayed(kind: str, *plays: str, rows: Rows | None = None, **options: str) -> Table:
    """Return a table on which each seat, the first one first, has laid just these cards: `s5 g6 f7`.

    The seats have equally many cards. What they need they hold at first or draw blind, in time.
    """
    table = new_table(kind, deal_for(plays), rows, **options)
    for turn, codes in enumerate(zip(*map(str.split, plays), strict=True)):
        for code in codes:
            table.play(code)
            if 0 < turn < DISPLAY_SIZE - 1:
                table.play(last_draw(table))
    return table


def last_draw(table: Table) -> str:
    """Return a blind draw or, once the deck is empty, a card of the market."""
    return table.legal().split()[-1]


def laid_points(kind: str, goal: str, flavors: str, more_goals: int = 0, **options: str) -> int:
    """Return what a display pays that shows these flavors, this goal, and more goals that pay nothing."""
    cards = [f"{flavors[0]} {goal}", *[f"{flavor} MAJORITY p" for flavor in flavors[1:]]]
    goals = range(len(flavors), len(flavors) + more_goals)
    own = ["s0", *[f"f{card}" for card in range(1, len(flavors))], *[f"g{card}" for card in goals]]
    others = [f"{'f' if turn else 's'}{DECK_SIZE - 1 - turn}" for turn in range(len(own))]
    return int(displayed(kind, " ".join(own), " ".join(others), rows=made_deck(*cards), **options)["points"][0])

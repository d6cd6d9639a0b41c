"""Positions of Nokosu Dice for the rule tests, alike for the compiled core and for the reference twin.

A card is its color's letter and number, `r5`; a die has a capital, `R5`. Taking, returning or playing a die is its
code; `-` is not to call zero.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import States
from tests.helpers import apply_games, masks, results, started
from tests.nokosu_dice_lockstep import (
    ACTION,
    CARD_BIT,
    DICE,
    DIE_BIT,
    DIE_MARK,
    GAME,
    MOVES,
    NO_TRUMP,
    PHASE,
    SUIT,
    as_dice,
)
from tests.twins.nokosu_dice import (
    CARDS_IN_PLAY,
    COLORS,
    DICE_OF_A_COLOR,
    HAND_SIZE,
    MIDDLE_ROLL,
    OWN_ROLL,
    TRICKS,
    Face,
    Item,
    Move,
    NokosuDice,
)

LETTERS = "".join(color[0] for color in COLORS)


def item(code: str) -> Item:
    kind = "die" if code[0].isupper() else "card"
    return kind, LETTERS.index(code[0].lower()), int(code[1])


def face(code: str) -> Face:
    return item(code)[1:]


def code_of(move: Move) -> str:
    if len(move) == 1:
        return "-"
    kind, color, number = move
    return f"{LETTERS[color].upper() if kind == 'die' else LETTERS[color]}{number}"


class Shuffled:
    """The twin's chance where nothing is recorded: Python's generator."""

    def __init__(self, num_players: int, seed: int) -> None:
        self.num_players, self.rng = num_players, random.Random(seed)

    def first_dealer(self) -> int:
        return self.rng.randrange(self.num_players)

    def deal(self) -> tuple[list[set[Face]], list[list[Face]], list[Face]]:
        seats = self.num_players
        cards = self.rng.sample(sorted(CARDS_IN_PLAY[seats]), seats * HAND_SIZE[seats])
        bag = [color for color, count in enumerate(DICE_OF_A_COLOR[seats]) for _ in range(count)]
        drawn = self.rng.sample(bag, seats * OWN_ROLL[seats] + MIDDLE_ROLL[seats])
        dice = [(color, self.rng.randint(1, 6)) for color in drawn]
        return (
            [set(cards[seat::seats]) for seat in range(seats)],
            [[dice.pop() for _ in range(OWN_ROLL[seats])] for _ in range(seats)],
            dice,
        )


class TwinTable:
    """A game of the twin, spoken to in codes."""

    def __init__(self, twin: NokosuDice) -> None:
        self.twin = twin

    @classmethod
    def started(cls, num_players: int, seed: int = 0, **options: Any) -> TwinTable:
        return cls(NokosuDice(num_players, Shuffled(num_players, seed), **options))

    @classmethod
    def position(
        cls,
        *hands: str,
        phase: str = "play",
        pool: str = "",
        trump: str = "",
        to_move: int = 0,
        dealer: int | None = None,
        calls: dict[int, str] | None = None,
        won: tuple[int, ...] | None = None,
        totals: tuple[int, ...] | None = None,
        round_number: int = 1,
        **options: Any,
    ) -> TwinTable:
        """Return a game in which nothing lies on the table yet.

        Args:
            hands: each seat's cards and dice, the die that stays included.
            phase: `draft`, `call` or `play`.
            pool: the dice in the middle, in the draft.
            trump: the die left there, later.
            to_move: the seat that acts (in `play`, leads) next.
            dealer: the dealer; the seat to the right of `to_move` if it is not given.
            calls: the dice that zero callers returned.
            won: tricks won; as many tricks are taken to be over as the hands lack items.
            totals: points of the rounds before.
            round_number: the round, from 1.
            options: rule options.
        """
        table = cls.started(len(hands), **options)
        twin = table.twin
        twin.round, twin.phase = round_number, phase
        items = [[item(code) for code in hand.split()] for hand in hands]
        twin.hands = [{part[1:] for part in hand if part[0] == "card"} for hand in items]
        twin.dice = [[part[1:] for part in hand if part[0] == "die"] for hand in items]
        twin.pool = [face(code) for code in (pool or trump).split()]
        twin.trump = face(trump) if trump else None
        twin.dealer = (to_move - 1) % len(hands) if dealer is None else dealer
        twin.leader = twin.to_move = to_move
        for seat, code in (calls or {}).items():
            twin.calls[seat] = face(code)
        if phase == "play":
            twin.trick = TRICKS[len(hands)] - len(items[0]) + (not twin.calls[0])
        twin.won = list(won or [0] * len(hands))
        twin.totals = list(totals or [0] * len(hands))
        return table

    def play(self, codes: str) -> TwinTable:
        """Play the moves, each of which must be legal."""
        for code in codes.split():
            self.twin.play(("no call",) if code == "-" else item(code))
        return self

    def legal(self) -> str:
        """Return the legal moves: cards by color and number, dice by color and number, then `-`."""
        moves = sorted(self.twin.legal(), key=lambda move: (["card", "die", "no call"].index(move[0]), move))
        return " ".join(map(code_of, moves))

    @property
    def to_move(self) -> int | None:
        return self.twin.to_move

    @property
    def phase(self) -> str:
        return "over" if self.twin.over else self.twin.phase

    @property
    def dealer(self) -> int:
        return self.twin.dealer

    @property
    def round_number(self) -> int:
        return self.twin.round

    @property
    def trick(self) -> int:
        """How many tricks of the round are over."""
        return self.twin.trick

    @property
    def trump(self) -> str:
        """The die that is left in the middle; empty in the draft."""
        return code_of(("die", *self.twin.trump)) if self.twin.trump else ""

    @property
    def pool(self) -> str:
        """The dice in the middle that are not trump yet, in order."""
        return "" if self.twin.trump else " ".join(code_of(("die", *die)) for die in sorted(self.twin.pool))

    @property
    def won(self) -> list[int]:
        return list(self.twin.won)

    @property
    def totals(self) -> list[int]:
        return list(self.twin.totals)

    @property
    def shares(self) -> list[float]:
        return list(map(float, self.twin.win_shares()))

    def dice(self, seat: int) -> str:
        """Return a seat's dice in order."""
        return " ".join(code_of(("die", *die)) for die in sorted(self.twin.dice[seat]))

    def call(self, seat: int) -> str:
        """Return the die that the seat returned, as everybody knows it; empty if there is none."""
        die = self.twin.calls[seat]
        return code_of(("die", *die)) if die else ""

    def voids(self, seat: int) -> set[str]:
        """Return the suits of which the seat has shown to hold no card: letters, `t` for trump."""
        return {void[0] for void in self.twin.voids[seat]}


class CoreTable:
    """A game of the compiled core, spoken to in codes; what its methods mean is said at TwinTable's."""

    def __init__(self, states: States) -> None:
        self.states = states

    @property
    def state(self) -> Any:
        return self.states[0]

    @classmethod
    def started(cls, num_players: int, seed: int = 0, **options: Any) -> CoreTable:
        return cls(started(GAME, num_players, seed=seed, **options))

    @classmethod
    def position(
        cls,
        *hands: str,
        phase: str = "play",
        pool: str = "",
        trump: str = "",
        to_move: int = 0,
        dealer: int | None = None,
        calls: dict[int, str] | None = None,
        won: tuple[int, ...] | None = None,
        totals: tuple[int, ...] | None = None,
        round_number: int = 1,
        **options: Any,
    ) -> CoreTable:
        """Return a game in which nothing lies on the table yet; the arguments are those of TwinTable."""
        seats = len(hands)
        table = cls.started(seats, **options)
        state = table.state
        state.round_number, state.phase = round_number, PHASE[phase]
        state.hands, state.dice, state.dice_sets, state.dice_left, state.pool = 0, 0, 0, 0, 0
        for seat, hand in enumerate(hands):
            for kind, *part in map(item, hand.split()):
                if kind == "card":
                    state.hands[seat] |= CARD_BIT[part[0], part[1]]
                else:
                    state.dice[seat, DICE.index((part[0], part[1]))] += 1
                    state.dice_sets[seat] |= DIE_BIT[part[0], part[1]]
                    state.dice_left[seat] += 1
        for code in (pool or trump).split():
            state.pool[DICE.index(face(code))] += 1
        state.pool_size = state.pool.sum()
        state.trump = DICE.index(face(trump)) if trump else NO_TRUMP
        state.dealer = (to_move - 1) % seats if dealer is None else dealer
        state.leader = state.to_move = to_move
        for seat, code in (calls or {}).items():
            state.called[seat], state.returned[seat] = 1, DIE_MARK[face(code)]
        if phase == "play":
            state.trick = TRICKS[seats] - len(hands[0].split()) + (not state.called[0])
        state.tricks[:seats] = won or 0
        state.totals[:seats] = totals or 0
        return table

    def play(self, codes: str) -> CoreTable:
        for code in codes.split():
            action = np.array([ACTION[("no call",) if code == "-" else item(code)]])
            wrong = loops.first_illegal(self.states, action, GAME.num_actions)
            assert wrong < 0, loops.why_illegal(GAME, self.states, int(action[0]))
            apply_games(self.states, action)
        return self

    def legal(self) -> str:
        return " ".join(code_of(MOVES[action]) for action in np.flatnonzero(masks(GAME, self.states)[0]))

    @property
    def to_move(self) -> int | None:
        return None if self.state.over else int(self.state.to_move)

    @property
    def phase(self) -> str:
        return "over" if self.state.over else list(PHASE)[self.state.phase]

    @property
    def dealer(self) -> int:
        return int(self.state.dealer)

    @property
    def round_number(self) -> int:
        return int(self.state.round_number)

    @property
    def trick(self) -> int:
        return int(self.state.trick)

    @property
    def trump(self) -> str:
        return "" if self.state.trump == NO_TRUMP else code_of(("die", *DICE[self.state.trump]))

    @property
    def pool(self) -> str:
        return "" if self.trump else dice_codes(self.state.pool)

    @property
    def won(self) -> list[int]:
        return self.state.tricks[: self.state.num_players].tolist()

    @property
    def totals(self) -> list[int]:
        return self.state.totals[: self.state.num_players].tolist()

    @property
    def shares(self) -> list[float]:
        if not self.state.over:
            return [0.0] * self.state.num_players
        return results(self.states)[1][0, : self.state.num_players].tolist()

    def dice(self, seat: int) -> str:
        return dice_codes(self.state.dice[seat])

    def call(self, seat: int) -> str:
        mark = self.state.returned[seat]
        assert (mark > 0) == self.state.called[seat]
        return next((code_of(("die", *die)) for die in DICE if DIE_MARK[die] == mark), "")

    def voids(self, seat: int) -> set[str]:
        return {name[0] for name, suit in SUIT.items() if self.state.voids[seat] >> suit & 1}


def dice_codes(counts: Any) -> str:
    return " ".join(code_of(("die", *die)) for die in as_dice(counts))

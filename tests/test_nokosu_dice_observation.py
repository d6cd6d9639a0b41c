"""Every cell of the observation, worked out again from the reference twin by the words of the layout."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from tests import nokosu_dice_lockstep
from tests.helpers import observations
from tests.lockstep import lockstep, recorded
from tests.nokosu_dice_lockstep import CARDS, DICE, ITEMS
from tests.nokosu_dice_positions import GAME, OPTION_SETS
from tests.twins.nokosu_dice import (
    CARDS_IN_PLAY,
    COLORS,
    HAND_SIZE,
    TRICKS,
    Face,
    Item,
    NokosuDice,
    rank,
    suit,
    trick_winner,
)

SUITS = (*COLORS, "trump")
ORDER = [(1, number) for number in range(8)]
TRUMP_ORDER = [*ORDER, (2, 0), (3, 0)]
"""Ranks from the weakest to the strongest: of a color, and of the trumps."""


def suit_of(twin: NokosuDice, item: Item) -> str:
    return suit(item, twin.trump) if twin.trump else COLORS[item[1]]


def strength(twin: NokosuDice, item: Item) -> int:
    """Count from 1: the numbers 0 to 7, then trumps."""
    if suit_of(twin, item) == "trump":
        assert twin.trump
        return 9 + TRUMP_ORDER.index(rank(item, twin.trump))
    return 1 + item[2]


def one_hot(index: int | None, size: int) -> list[int]:
    return [int(index == place) for place in range(size)]


def card_grid(cells: dict[Face, int]) -> list[list[int]]:
    return [[cells.get((color, number), 0) for number in range(8)] for color in range(5)]


def die_grid(cells: dict[Face, int]) -> list[list[int]]:
    return [[cells.get((color, number), 0) for number in range(1, 7)] for color in range(5)]


def counted(dice: Iterable[Face]) -> list[list[int]]:
    dice = list(dice)
    return die_grid({die: dice.count(die) for die in dice})


def playable_dice(twin: NokosuDice, seat: int) -> set[Item]:
    return {item for item in twin.playable(seat) if item[0] == "die"}


def unseen(twin: NokosuDice, seat: int) -> set[Item]:
    gone = {item for _, item, _ in twin.played}
    cards = CARDS_IN_PLAY[twin.num_players] - twin.hands[seat]
    return {("card", *card) for card in cards} - gone


def ahead(twin: NokosuDice, item: Item) -> bool:
    """Whether the item would be ahead, were it played now."""
    assert twin.trump
    nobody = twin.num_players
    return trick_winner([*twin.table, (nobody, item)], twin.trump, twin.tie) == nobody


def beaten(twin: NokosuDice, item: Item, other: int, hidden: set[Item]) -> float:
    """The chance that a later seat beats an item, if its hand is drawn from what is hidden and it plays anything."""
    assert twin.trump
    assert item not in hidden
    led = suit_of(twin, twin.table[0][1] if twin.table else item)
    cards = {c: len(twin.hands[other]) / len(hidden) for c in hidden if suit_of(twin, c) not in twin.voids[other]}
    held = cards | dict.fromkeys(playable_dice(twin, other), 1.0)  # how many of each the seat has, on the mean
    following = {i: share for i, share in held.items() if suit_of(twin, i) == led}
    winning = {i: share for i, share in held.items() if trick_winner([(0, item), (1, i)], twin.trump, twin.tie)}
    led_hidden = sum(suit_of(twin, card) == led for card in cards)
    lacks = (1 - led_hidden / max(len(hidden), 1)) ** len(twin.hands[other])
    if any(i[0] == "die" for i in following):
        lacks = 0.0
    beats = (1 - lacks) * sum(following[i] for i in winning if i in following) / max(sum(following.values()), 1e-9)
    trumps = sum(share for i, share in winning.items() if i not in following)
    return beats + lacks * min(1.0, trumps / max(len(twin.hands[other]) + len(playable_dice(twin, other)), 1))


def now(twin: NokosuDice, seat: int, item: Item, hidden: set[Item]) -> float:
    """The chance to win the trick on the table with an item that may be played."""
    if not ahead(twin, item):
        return 0.0
    later = [(seat + step) % twin.num_players for step in range(1, twin.num_players - len(twin.table))]
    return math.prod(1 - beaten(twin, item, other, hidden) for other in later)


def stronger(twin: NokosuDice, item: Item, others: Iterable[Item]) -> int:
    same = [other for other in others if suit_of(twin, other) == suit_of(twin, item)]
    return sum(strength(twin, other) > strength(twin, item) for other in same)


def percent(twin: NokosuDice, item: Item, others: list[Item]) -> int:
    """The chance to win a trick by the baseline's formula, of which nothing is taken from the core but its numbers."""
    of_suit = [other for other in others if suit_of(twin, other) == suit_of(twin, item)]
    equal = sum(strength(twin, other) == strength(twin, item) for other in of_suit)
    beating = stronger(twin, item, others) + equal / 4
    if suit_of(twin, item) == "trump":
        odds = 1.05 - 0.64 * beating + 0.34 * len(of_suit)
    else:
        odds = min(-2.38 - 0.59 * beating + 0.26 * len(of_suit), 3.2)
    return int(100 / (1 + math.exp(-odds)) + 0.5)


def cells(values: dict[Item, int]) -> list[int]:
    """A cell for each card, then for each kind of die."""
    return [values.get(item, 0) for item in ITEMS]


def expected_items(twin: NokosuDice, seat: int, around: list[int]) -> dict[str, Any]:
    """What the layout says of own cards and dice."""
    hidden = unseen(twin, seat)
    dice = [die for other in around[1:] for die in playable_dice(twin, other)]
    held = Counter([("card", *card) for card in twin.hands[seat]] + [("die", *die) for die in twin.dice[seat]])
    percents = {item: percent(twin, item, [*hidden, *dice]) for item in held}
    chances = {item: now(twin, seat, item, hidden) for item in twin.legal() if twin.phase == "play" and item in held}
    return {
        "own": cells(held),
        "own_trump": cells({item: int(suit_of(twin, item) == "trump") for item in held}),
        "own_strength": cells({item: strength(twin, item) for item in held}),
        "own_under_cards": cells({item: stronger(twin, item, hidden) for item in held}),
        "own_under_dice": cells({item: stronger(twin, item, dice) for item in held}),
        "own_chance": cells(percents),
        "own_now": cells({i: int(100 * chance + 0.5) for i, chance in chances.items() if seat == twin.to_move}),
        "promise": promises(twin, held, percents, chances) if seat == twin.to_move else [0] * 71,
        "expected": [sum(percents[item] for item in held.elements()) // 10],
        "spread": [sum(percents[item] * (100 - percents[item]) for item in held.elements()) // 1000],
        "unseen": card_grid({item[1:]: 1 for item in hidden}),
        "unseen_suits": [sum(suit_of(twin, item) == name for item in hidden) for name in SUITS],
    }


# ---- what the baseline expects of a call or a play, by the numbers of its module ----


def hit(twin: NokosuDice, needed: int, left: int, rest: list[int]) -> float:
    """How likely `needed` of the `left` tricks are won with the items of the chances `rest`."""
    miss = (abs(100 * needed - sum(rest)) // 4 + 0.5) * 0.04
    variance = (sum(percent * (100 - percent) for percent in rest) // 512 + 0.5) * 0.0512
    likely = math.exp(-miss * miss / (2 * (0.19 + 1.61 * variance))) / (1 + 2.07 * variance)
    return likely if 0 <= needed <= left else 0.0


def best_two(values: list[float]) -> float:
    best, second = sorted([*values, 0.0, 0.0], reverse=True)[:2]
    return 20 * (best + 0.18 * second)


def points_of(twin: NokosuDice, held: Counter[Item], percents: dict[Item, int], item: Item, chance: float) -> float:
    """What playing an item promises, if it wins the trick with this chance."""
    seat, left = twin.to_move, TRICKS[twin.num_players] - twin.trick - 1
    assert seat is not None
    kept = held - Counter([item])

    def of(target: int, rest: Counter[Item]) -> float:
        needed, others = target - twin.won[seat], [percents[other] for other in rest.elements()]
        return chance * hit(twin, needed - 1, left, others) + (1 - chance) * hit(twin, needed, left, others)

    if twin.calls[seat]:
        return 0.74 * chance + 36 * of(0, kept)
    return 0.74 * chance + best_two([of(die[2], kept - Counter([die])) for die in kept if die[0] == "die"])


def promises(twin: NokosuDice, held: Counter[Item], percents: dict[Item, int], chances: dict[Item, float]) -> list[int]:
    """A cell for each action: how it compares with the best."""
    dice, tricks = [item for item in held if item[0] == "die"], TRICKS[twin.num_players]
    values: dict[Any, float] = {}
    if twin.phase == "call":
        total = sum(percents[item] for item in held.elements())
        rest = {die: [percents[item] for item in (held - Counter([die])).elements()] for die in dice}
        values[None] = best_two([hit(twin, die[2], tricks, rest[die]) for die in dice])
        values |= {die: 36 * math.exp((percents[die] - total) / 100) for die in dice}
    if twin.phase == "play":
        values = {item: points_of(twin, held, percents, item, chance) for item, chance in chances.items()}
    fifths = {action: int(5 * value + 0.5) for action, value in values.items()}
    most = max(fifths.values(), default=0)
    compared = {action: max(25 - most + value, 1) for action, value in fifths.items()}
    return [*cells(compared), compared.get(None, 0)]


def code(item: Item | None) -> int:
    return 64 * (item[0] == "die") + 8 * (item[1] + 1) + item[2] if item else 0


def expected_dice(twin: NokosuDice, seat: int, around: list[int]) -> dict[str, Any]:
    """What the layout says of the dice on the table, the draft and the calls."""
    secret = twin.commitments if twin.zero_call == "secret" and twin.phase == "call" else {}
    own = 0
    if seat in secret:
        die = secret[seat]
        own = code(("die", *die)) if die else 1
    returned = [twin.calls[s] for s in around]
    return {
        "dice": [counted(twin.dice[s]) for s in around[1:]],
        "pool": counted(twin.pool),
        "trump_color": one_hot(twin.trump[0] if twin.trump else None, 5),
        "trump_number": one_hot(twin.trump[1] - 1 if twin.trump else None, 6),
        "phase": one_hot(("draft", "call", "play").index(twin.phase), 3),
        "drafted": [
            [code(("die", *die)) for die in twin.drafted[s]] + [0] * (3 - len(twin.drafted[s])) for s in around
        ],
        "called": [int(twin.calls[s] is not None) for s in around],
        "returned": [code(("die", *die)) if die else 0 for die in returned],
        "own_secret": [own],
    }


def expected_history(twin: NokosuDice, around: list[int]) -> dict[str, Any]:
    """What the layout says of what was played."""
    played = np.zeros((4, 14), int)
    for player, item, trick in twin.played:
        played[around.index(player), trick] = code(item)
    return {"played": played}


def expected_trick(twin: NokosuDice, seat: int, around: list[int]) -> dict[str, Any]:
    """What the layout says of the trick."""
    table = dict(twin.table)
    led = suit_of(twin, twin.table[0][1]) if twin.table else None
    winner = trick_winner(twin.table, twin.trump, twin.tie) if twin.table and twin.trump else None
    suits = [SUITS.index(suit_of(twin, table[s])) if s in table else None for s in around]
    return {
        "led": one_hot(SUITS.index(led) if led else None, 6),
        "trick_suit": [one_hot(index, 6) for index in suits],
        "trick_strength": [strength(twin, table[s]) if s in table else 0 for s in around],
        "ahead": [int(s == winner) for s in around],
        "yet_to_play": [int(s not in table) for s in around],
        "must_follow": [int(any(suit_of(twin, item) == led for item in twin.playable(seat)))],
        "tricks_left": [TRICKS[twin.num_players] - twin.trick],
    }


def bids(twin: NokosuDice, seat: int) -> set[int]:
    """The bids that the seat can still keep and fulfil."""
    numbers = {0} if twin.calls[seat] else {number for _, number in twin.dice[seat]}
    left = TRICKS[twin.num_players] - twin.trick
    return {number for number in numbers if twin.won[seat] <= number <= twin.won[seat] + left}


def expected_seats(twin: NokosuDice, around: list[int]) -> dict[str, Any]:
    """What the layout says of each seat."""
    possible = {s: bids(twin, s) for s in around}
    return {
        "present": [1] * len(around),
        "dealer": [int(s == twin.dealer) for s in around],
        "voids": [[int(name in twin.voids[s]) for name in SUITS] for s in around],
        "cards_left": [len(twin.hands[s]) for s in around],
        "dice_left": [len(twin.dice[s]) for s in around],
        "tricks": [twin.won[s] for s in around],
        "bids": [[int(bid in possible[s]) for bid in range(7)] for s in around],
        "needed": [[int(more + twin.won[s] in possible[s]) for more in range(7)] for s in around],
        "totals": [twin.totals[s] for s in around],
        "round": [twin.round],
        "zero_call": one_hot(("in_turn", "secret").index(twin.zero_call), 2),
        "tie": one_hot(("last", "first").index(twin.tie), 2),
        "bonus": one_hot(("table", "per_miss").index(twin.bonus), 2),
    }


def expected(twin: NokosuDice, seat: int) -> dict[str, Any]:
    around = [(seat + place) % twin.num_players for place in range(twin.num_players)]
    return {
        **expected_items(twin, seat, around),
        **expected_dice(twin, seat, around),
        **expected_history(twin, around),
        **expected_trick(twin, seat, around),
        **expected_seats(twin, around),
    }


def padded(value: Any, shape: tuple[int, ...]) -> Any:
    """Fill the rows of absent seats with zeros."""
    array, full = np.asarray(value), np.zeros(shape, int)
    full[tuple(slice(length) for length in array.shape)] = array
    return full


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_every_cell_is_what_the_layout_says(num_players: int):
    compared = 0
    for seed, options in enumerate(OPTION_SETS[::3]):
        for records, actions in recorded(GAME, num_players, 1, seed, options):
            seen = [observations(GAME, records, np.full(len(records), seat))[0] for seat in range(num_players)]
            for move, twin in enumerate(lockstep(nokosu_dice_lockstep, records, actions, options)):
                for seat in range(num_players):
                    found = GAME.layout.views(seen[seat][move])
                    told = expected(twin, seat)
                    assert found.keys() == told.keys()
                    for part in GAME.layout:
                        wanted = padded(told[part.name], part.shape)
                        assert np.array_equal(found[part.name], wanted), (part.name, seat, move, options)
                    compared += 1
    assert compared > 400


def test_items_and_hands_are_as_many_as_the_layout_says():
    assert len(CARDS) == 40
    assert len(DICE) == 30
    assert GAME.layout["cards_left"].high == HAND_SIZE[4]

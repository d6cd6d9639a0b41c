"""How likely an item of Nokosu Dice wins a trick, as the baseline and the observation of own items have it.

What others may hold is three numbers: the unseen cards as bits, and the dice that they may play, two seats' sets in
each of two numbers, in its lower and its upper half.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine.bits import count_bits
from ice_envs.engine.jit import compiled
from ice_envs.games.nokosu_dice.items import (
    NUM_CARDS,
    STRENGTHS,
    STRONGER_CARDS,
    STRONGER_DICE,
    SUIT_CARDS,
    SUIT_DICE,
    SUITS,
    TRUMP_SUIT,
    as_bits,
)
from ice_envs.games.nokosu_dice.rules import LAST, next_seat, playable_dice
from ice_envs.games.nokosu_dice.setup import HAND_SIZES, MAX_PLAYERS, is_in_play

EQUAL_CARDS, EQUAL_DICE = as_bits(
    (SUITS[:, None, :] == SUITS[:, :, None]) & (STRENGTHS[:, None, :] == STRENGTHS[:, :, None])
)
"""Cards and dice that are as strong as an item under each trump: (trumps, items) sets each."""

_CARDS_IN_PLAY = np.array(
    [sum(1 << card for card in range(NUM_CARDS) if is_in_play(table, card)) for table in range(MAX_PLAYERS + 1)]
)
"""The cards used at each table size, as bits."""

_TWICE = 1 + (1 << 32)
_SUIT, _STRENGTH, _STRONGER, _STRONGER_DICE, _EQUAL, _EQUAL_DICE, _OF_SUIT, _OF_SUIT_DICE = range(8)
_TRUMPS = np.arange(len(SUITS))[:, None]
_FACTS = np.stack(
    [
        SUITS,
        STRENGTHS,
        STRONGER_CARDS,
        STRONGER_DICE * _TWICE,
        EQUAL_CARDS,
        EQUAL_DICE * _TWICE,
        SUIT_CARDS[_TRUMPS, SUITS],
        SUIT_DICE[_TRUMPS, SUITS] * _TWICE,
    ],
    axis=-1,
)
"""What is asked of an item under a trump, side by side in memory: (trumps, items, 8). Sets of dice are there twice."""

_MOST_BEATING, _MOST_OF_SUIT = 48, 48
"""Where the table of chances ends: more items than others can hold."""


def _percents() -> NDArray[np.int64]:
    """Return the chance in percent that an item wins its trick: a row for each (plain or trump, items that beat it).

    The rows stand one behind the other, with a cell for each number of items of its suit. Items are those that others
    may hold; of equally strong ones four count as one that beats it, so the rows are a quarter of an item apart. The
    numbers come from a random search for win share and hits, against random seats and an earlier baseline.
    """
    beating, of_suit = np.arange(4 * _MOST_BEATING)[:, None] / 4, np.arange(_MOST_OF_SUIT)
    plain, trump = -2.38 - 0.59 * beating + 0.26 * of_suit, 1.05 - 0.64 * beating + 0.34 * of_suit
    chances = 1 / (1 + np.exp(-np.array([np.minimum(plain, 3.2), trump])))
    return np.floor(100 * chances + 0.5).astype(np.int64).ravel()


PERCENTS = _percents()


def _lacking() -> NDArray[np.float64]:
    """Return the chance that a hand has no card of a suit: (its cards, unseen cards of the suit, unseen cards)."""
    held, of_suit, unseen = np.ogrid[: HAND_SIZES[MAX_PLAYERS] + 1, : NUM_CARDS + 1, : NUM_CARDS + 1]
    return np.maximum(1 - of_suit / np.maximum(unseen, 1), 0.0) ** held


_LACKING = _lacking()


@compiled
def unseen_cards(state: Any, seat: int) -> int:
    """Return the cards (bits) that the seat has not seen this round."""
    return _CARDS_IN_PLAY[state.num_players] ^ (state.hands[seat] | state.played)


@compiled
def others_dice(state: Any, seat: int) -> tuple[int, int]:
    """Return the dice that the other seats may play: two seats' sets in one number, the third's in another."""
    first, second, third, other = 0, 0, 0, seat
    for _ in range(state.num_players - 1):
        other = next_seat(state, other)
        first, second, third = second, third, playable_dice(state, other)
    return second | third << 32, first


@compiled
def place_among(trump: int, item: int, unseen: int, near: int, far: int) -> tuple[int, int, int, int]:
    """Return where an item stands among all that others may hold (`unseen`, `near` and `far`: see the module).

    That are: 1 for a trump, cards that are stronger, dice that are stronger, and where its chance is in the tables.
    """
    facts = _FACTS[trump, item]
    stronger, equal, suit = facts[_STRONGER_DICE], facts[_EQUAL_DICE], facts[_OF_SUIT_DICE]
    is_trump = int(facts[_SUIT] == TRUMP_SUIT)
    cards, dice = count_bits(unseen & facts[_STRONGER]), count_bits(near & stronger) + count_bits(far & stronger)
    equals = count_bits(unseen & facts[_EQUAL]) + count_bits(near & equal) + count_bits(far & equal)
    of_suit = count_bits(unseen & facts[_OF_SUIT]) + count_bits(near & suit) + count_bits(far & suit)
    beating = 4 * (cards + dice) + equals
    return is_trump, cards, dice, (is_trump * 4 * _MOST_BEATING + beating) * _MOST_OF_SUIT + of_suit


@compiled
def percent(trump: int, item: int, unseen: int, near: int, far: int) -> Any:
    """Return the chance in percent that an item wins the trick in which it will be played (see `place_among`)."""
    return PERCENTS[place_among(trump, item, unseen, near, far)[3]]


# ---- the trick on the table ----


@compiled
def trick_chance(state: Any, item: int, unseen: int) -> float:
    """Return the chance that an item wins the trick if the seat to move plays it, later ones anything they may."""
    trump, facts = state.trump, _FACTS[state.trump, item]
    suit = facts[_SUIT]
    led = suit if state.trick_size == 0 else state.led
    if (suit != led and suit != TRUMP_SUIT) or facts[_STRENGTH] < state.best_strength + state.tie:
        return 0.0
    cards, dice = facts[_STRONGER], facts[_STRONGER_DICE]
    if state.tie == LAST:
        cards, dice = cards | facts[_EQUAL], dice | facts[_EQUAL_DICE]
    trumps, trump_dice = cards, dice
    if suit != TRUMP_SUIT:
        trumps, trump_dice = SUIT_CARDS[trump, TRUMP_SUIT], SUIT_DICE[trump, TRUMP_SUIT]
    counts = count_bits(unseen & SUIT_CARDS[trump, led]), count_bits(unseen & cards), count_bits(unseen & trumps)
    hidden = max(count_bits(unseen), 1)
    chance, other = 1.0, state.to_move
    for _ in range(state.trick_size + 1, state.num_players):
        other = next_seat(state, other)
        sets = SUIT_DICE[trump, led], dice, trump_dice
        chance *= 1.0 - beaten_chance(state, other, led, suit == led, hidden, counts, sets)
    return chance


@compiled
def beaten_chance(state: Any, other: int, led: int, follows: bool, hidden: int, cards: Any, dice: Any) -> float:
    """Return the chance that a later seat beats an item, which is of the suit led (`follows`) or a trump.

    `cards` are counts among the `hidden` unseen ones, `dice` sets: those of the suit led, those that beat the item if
    it is of that suit, and the trumps that beat it.
    """
    own, held = playable_dice(state, other), count_bits(state.hands[other])
    void, void_trump = (state.voids[other] >> led) & 1, (state.voids[other] >> TRUMP_SUIT) & 1
    led_cards, led_dice = 0 if void else cards[0], count_bits(own & dice[0])
    lacks, following = 0.0 if led_dice else _LACKING[held, led_cards, hidden], 0.0
    if follows:  # of each unseen card the seat has held / hidden
        beating = (0 if void else cards[1]) * held + count_bits(own & dice[1]) * hidden
        following = beating / max(led_cards * held + led_dice * hidden, 1)
    if led == TRUMP_SUIT:
        return (1.0 - lacks) * following
    trumps = (0 if void_trump else cards[2]) * held + count_bits(own & dice[2]) * hidden
    trumping = min(1.0, trumps / max(hidden * (held + count_bits(own)), 1))
    return (1.0 - lacks) * following + lacks * trumping

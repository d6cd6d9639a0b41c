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
from ice_envs.games.nokosu_dice.rules import next_seat, playable_dice
from ice_envs.games.nokosu_dice.setup import HAND_SIZES, MAX_PLAYERS

EQUAL_CARDS, EQUAL_DICE = as_bits(
    (SUITS[:, None, :] == SUITS[:, :, None]) & (STRENGTHS[:, None, :] == STRENGTHS[:, :, None])
)
"""Cards and dice that are as strong as an item under each trump: (trumps, items) sets each."""

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


def _chances() -> NDArray[np.float64]:
    """Return the chance that an item wins its trick: (plain or trump, four times the items that beat it, of its suit).

    Items are those that others may hold; of equally strong ones four count as one that beats it. All stand in one row.
    The numbers come from a random search for win share and hits, against random seats and an earlier state of this
    baseline.
    """
    beating, of_suit = np.arange(4 * _MOST_BEATING)[:, None] / 4, np.arange(_MOST_OF_SUIT)
    plain, trump = -2.38 - 0.59 * beating + 0.26 * of_suit, 1.05 - 0.64 * beating + 0.34 * of_suit
    return (1 / (1 + np.exp(-np.array([np.minimum(plain, 3.2), trump])))).ravel()


_CHANCES = _chances()
PERCENTS = np.floor(100 * _CHANCES + 0.5).astype(np.int64)


def _lacking() -> NDArray[np.float64]:
    """Return the chance that a hand has no card of a suit: (its cards, unseen cards of the suit, unseen cards)."""
    held, of_suit, unseen = np.ogrid[: HAND_SIZES[MAX_PLAYERS] + 1, : NUM_CARDS + 1, : NUM_CARDS + 1]
    return np.maximum(1 - of_suit / np.maximum(unseen, 1), 0.0) ** held


_LACKING = _lacking()


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
def chance(trump: int, item: int, unseen: int, near: int, far: int) -> float:
    """Return the chance that an item wins the trick in which it will be played (arguments: see `place_among`)."""
    return _CHANCES[place_among(trump, item, unseen, near, far)[3]]


# ---- the trick on the table ----


@compiled
def trick_chance(state: Any, item: int, unseen: int) -> float:
    """Return the chance that an item wins the trick if the seat to move plays it, later ones anything they may."""
    facts = _FACTS[state.trump, item]
    suit = facts[_SUIT]
    led = suit if state.trick_size == 0 else state.led
    if (suit != led and suit != TRUMP_SUIT) or facts[_STRENGTH] < state.best_strength + state.tie:
        return 0.0
    chance, other = 1.0, state.to_move
    for _ in range(state.trick_size + 1, state.num_players):
        other = next_seat(state, other)
        chance *= 1.0 - beaten_chance(state, item, led, other, unseen)
    return chance


@compiled
def beaten_chance(state: Any, item: int, led: int, other: int, unseen: int) -> float:
    """Return the chance that a later seat beats an item."""
    trump, facts = state.trump, _FACTS[state.trump, item]
    suit, cards, dice = facts[_SUIT], facts[_STRONGER], facts[_STRONGER_DICE]
    if state.tie == 0:
        cards, dice = cards | facts[_EQUAL], dice | facts[_EQUAL_DICE]
    own_dice, held, hidden = playable_dice(state, other), count_bits(state.hands[other]), max(count_bits(unseen), 1)
    void, void_trump = (state.voids[other] >> led) & 1, (state.voids[other] >> TRUMP_SUIT) & 1
    led_cards = 0 if void else count_bits(unseen & SUIT_CARDS[trump, led])
    led_dice = count_bits(own_dice & SUIT_DICE[trump, led])
    lacks, following = 0.0 if led_dice else _LACKING[held, led_cards, hidden], 0.0
    if suit == led:  # of each unseen card the seat has held / hidden
        beating = (0 if void else count_bits(unseen & cards)) * held + count_bits(own_dice & dice) * hidden
        following = beating / max(led_cards * held + led_dice * hidden, 1)
    if led == TRUMP_SUIT or lacks == 0.0:
        return (1.0 - lacks) * following
    if suit != TRUMP_SUIT:
        cards, dice = SUIT_CARDS[trump, TRUMP_SUIT], SUIT_DICE[trump, TRUMP_SUIT]
    trumps = (0 if void_trump else count_bits(unseen & cards)) * held + count_bits(own_dice & dice) * hidden
    trumping = min(1.0, trumps / max(hidden * (held + count_bits(own_dice)), 1))
    return (1.0 - lacks) * following + lacks * trumping

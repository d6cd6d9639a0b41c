"""Cards and dice of Nokosu Dice, and what a trump makes of them: suits, strengths, and who beats whom.

An item is a card, `color * 8 + number` (0–39), or a kind of die, `40 + color * 6 + number - 1` (40–69). A set of cards
is the bits 0–39 of a number, a set of kinds of dice the bits 0–29. A mark is an item in one byte: 64 for a die,
8 × (color + 1), and the number; 0 is none. Every table has a row for each kind of die that may be the trump die, and a
last one, NO_TRUMP, for the time before there is one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine.jit import compiled

COLORS = ("red", "yellow", "green", "blue", "purple")
NUM_COLORS = 5
NUM_NUMBERS = 8
NUM_FACES = 6
NUM_CARDS = NUM_COLORS * NUM_NUMBERS
NUM_KINDS = NUM_COLORS * NUM_FACES
"""Kinds of dice: a color and the number on top."""
NUM_ITEMS = NUM_CARDS + NUM_KINDS

TRUMP_SUIT = NUM_COLORS
NUM_SUITS = NUM_COLORS + 1
NO_TRUMP = NUM_KINDS
MOST_STRENGTH = NUM_NUMBERS + NUM_NUMBERS + 1

ITEM_COLORS = np.array([item // NUM_NUMBERS for item in range(NUM_CARDS)] + [k // NUM_FACES for k in range(NUM_KINDS)])
ITEM_NUMBERS = np.array(
    [item % NUM_NUMBERS for item in range(NUM_CARDS)] + [k % NUM_FACES + 1 for k in range(NUM_KINDS)]
)


def _suits_and_strengths() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return suit and strength of each item under each trump: two tables (trumps, items).

    Strengths compare items of one suit: the number; for trumps 8 + the number if only the color is the trump's, then
    16 for all that share only its number, then 17 (rulebook: Trump).
    """
    kinds = np.arange(NUM_KINDS)[:, None]
    same_color = kinds // NUM_FACES == ITEM_COLORS
    same_number = kinds % NUM_FACES + 1 == ITEM_NUMBERS
    suits = np.where(same_color | same_number, TRUMP_SUIT, ITEM_COLORS)
    by_color = np.where(same_color, NUM_NUMBERS + ITEM_NUMBERS, ITEM_NUMBERS)
    strengths = np.where(same_number, 2 * NUM_NUMBERS + same_color, by_color)
    return np.vstack([suits, ITEM_COLORS]), np.vstack([strengths, ITEM_NUMBERS])


SUITS, STRENGTHS = _suits_and_strengths()


def as_bits(items: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cards and the kinds of dice among `items` (…, NUM_ITEMS) as sets of bits (…) each."""
    cards, dice = items[..., :NUM_CARDS], items[..., NUM_CARDS:]
    return cards @ (1 << np.arange(NUM_CARDS)), dice @ (1 << np.arange(NUM_KINDS))


SUIT_CARDS, SUIT_DICE = as_bits(SUITS[:, None, :] == np.arange(NUM_SUITS)[:, None])
"""Cards and dice of each suit under each trump: (trumps, suits) sets each."""

_SAME_SUIT = SUITS[:, None, :] == SUITS[:, :, None]
STRONGER_CARDS, STRONGER_DICE = as_bits(_SAME_SUIT & (STRENGTHS[:, None, :] > STRENGTHS[:, :, None]))
"""Cards and dice of the same suit that are stronger than an item under each trump: (trumps, items) sets each."""


@compiled
def mark(item: int) -> int:
    """Return an item in one byte: 64 for a die, 8 × (color + 1), and the number."""
    return (64 if item >= NUM_CARDS else 0) + 8 * (ITEM_COLORS[item] + 1) + ITEM_NUMBERS[item]


@compiled
def item_of(mark: int) -> int:
    """Return the item of a mark that is not 0."""
    color, number = ((mark >> 3) & 7) - 1, mark & 7
    return NUM_CARDS + color * NUM_FACES + number - 1 if mark & 64 else color * NUM_NUMBERS + number

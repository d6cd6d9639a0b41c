"""How likely an item of Nokosu Dice wins a trick, as the baseline and the observation of own items have it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine.bits import count_bits
from ice_envs.engine.jit import compiled
from ice_envs.games.nokosu_dice.items import (
    STRENGTHS,
    STRONGER_CARDS,
    STRONGER_DICE,
    SUIT_CARDS,
    SUIT_DICE,
    SUITS,
    TRUMP_SUIT,
    as_bits,
)

EQUAL_CARDS, EQUAL_DICE = as_bits(
    (SUITS[:, None, :] == SUITS[:, :, None]) & (STRENGTHS[:, None, :] == STRENGTHS[:, :, None])
)
"""Cards and dice that are as strong as an item under each trump: (trumps, items) sets each."""

_MOST_BEATING, _MOST_OF_SUIT = 48, 48
"""Where the table of chances ends: more items than others can hold."""


def _chances() -> NDArray[np.float64]:
    """Return the chance that an item wins its trick: (plain or trump, four times the items that beat it, of its suit).

    Items are those that others may hold; of equally strong ones four count as one that beats it. The numbers
    come from a random search for win share and hits, against random seats and an earlier state of this baseline.
    """
    beating, of_suit = np.arange(4 * _MOST_BEATING)[:, None] / 4, np.arange(_MOST_OF_SUIT)
    plain, trump = -2.38 - 0.59 * beating + 0.26 * of_suit, 1.05 - 0.64 * beating + 0.34 * of_suit
    return 1 / (1 + np.exp(-np.array([np.minimum(plain, 3.2), trump])))


_CHANCES = _chances()


@compiled
def chance(trump: int, item: int, unseen: int, others: Any) -> float:
    """Return the chance that an item wins the trick in which it will be played, under `trump`.

    `unseen` are cards as bits; `others` (…,) has sets of dice that others may play, an array or a tuple.
    """
    suit = SUITS[trump, item]
    stronger = count_bits(unseen & STRONGER_CARDS[trump, item])
    equal = count_bits(unseen & EQUAL_CARDS[trump, item])
    of_suit = count_bits(unseen & SUIT_CARDS[trump, suit])
    for dice in others:
        stronger += count_bits(dice & STRONGER_DICE[trump, item])
        equal += count_bits(dice & EQUAL_DICE[trump, item])
        of_suit += count_bits(dice & SUIT_DICE[trump, suit])
    return _CHANCES[int(suit == TRUMP_SUIT), 4 * stronger + equal, of_suit]

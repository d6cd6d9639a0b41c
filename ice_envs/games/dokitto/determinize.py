"""A random full state of Dokitto! Ice that agrees with what one seat knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.bits import count_bits
from ice_envs.engine.hidden import deal_unseen
from ice_envs.engine.jit import compiled
from ice_envs.engine.stack import zeros_on_stack
from ice_envs.games.dokitto.observation import unseen_numbers
from ice_envs.games.dokitto.rules import (
    NUM_CARDS,
    NUM_FLAVORS,
    NUM_NUMBERS,
    TILES_PER_FLAVOR,
    place_stars,
)

_FLAVORS_OF_CARDS = np.arange(NUM_CARDS) // NUM_NUMBERS
_zero_holders = zeros_on_stack((NUM_CARDS,), np.int8)


@compiled
def determinize(state: Any, seat: int, seed: Any) -> None:
    """Reseed the record and redraw the other hands and the stars, agreeing with shown voids and found toppings.

    See `engine.hidden` for how evenly the deals that agree are drawn.
    """
    state.rng = seed
    redraw_stars(state)
    holders = _zero_holders()
    holders[:] = state.num_players  # the cards set aside
    unseen = gather_unseen(state, seat)
    place = 0
    for other in range(state.num_players):
        if other != seat:
            for _ in range(hand_count(state, other)):
                holders[place] = other
                place += 1
    deal_unseen(state, _FLAVORS_OF_CARDS, holders, unseen)
    for other in range(state.num_players):
        if other != seat:
            state.hands[other, :] = 0
    for place in range(unseen):
        if holders[place] < state.num_players:
            card = state.deck[place]
            state.hands[holders[place], card // NUM_NUMBERS] |= 1 << (card % NUM_NUMBERS)


@compiled
def redraw_stars(state: Any) -> None:
    """Hide a flavor's stars anew; once its topping is gone, further stars mean nothing."""
    for flavor in range(state.num_flavors):
        state.stars[flavor] = 0
        if (state.toppings >> flavor) & 1:
            place_stars(state, flavor, TILES_PER_FLAVOR - state.tiles[flavor], state.stars_per_flavor)


@compiled
def gather_unseen(state: Any, seat: int) -> int:
    """Put the cards that the seat has not seen at the front of the deck, in order; return how many."""
    count = 0
    for flavor in range(state.num_flavors):
        numbers = unseen_numbers(state, seat, flavor)
        for place in range(NUM_NUMBERS):
            if (numbers >> place) & 1:
                state.deck[count] = flavor * NUM_NUMBERS + place
                count += 1
    state.deck[count:] = 0  # the rest may tell how the hidden cards truly lie
    return count


@compiled
def hand_count(state: Any, seat: int) -> int:
    """Return the number of cards in a seat's hand, which everybody can count."""
    count = 0
    for flavor in range(NUM_FLAVORS):
        count += count_bits(state.hands[seat, flavor])
    return count

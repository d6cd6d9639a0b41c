"""A random full state of Nokosu Dice that agrees with what one seat knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.bits import count_bits, lowest_bit
from ice_envs.engine.generator import random_below
from ice_envs.engine.hidden import deal_unseen
from ice_envs.engine.jit import compiled
from ice_envs.engine.stack import zeros_on_stack
from ice_envs.games.nokosu_dice.chances import unseen_cards
from ice_envs.games.nokosu_dice.items import NUM_CARDS, SUITS
from ice_envs.games.nokosu_dice.rules import NO_CALL, NOTHING_YET

_zero_holders = zeros_on_stack((NUM_CARDS,), np.int8)


@compiled
def determinize(state: Any, seat: int, seed: Any) -> None:
    """Reseed the record and redraw the other hands, the card left over and calls that are still secret.

    Dice are open: who fails to follow shows that it has no card of the suit led (see `engine.hidden` for how evenly
    the deals that agree are drawn). A secret call is any that its seat could have made, each as likely.
    """
    state.rng = seed
    holders = _zero_holders()
    holders[:] = state.num_players  # the card left over
    unseen = gather_unseen(state, seat)
    place = 0
    for other in range(state.num_players):
        if other != seat:
            for _ in range(count_bits(state.hands[other])):
                holders[place] = other
                place += 1
            state.hands[other] = 0
    deal_unseen(state, SUITS[state.trump], holders, unseen)
    for place in range(unseen):
        if holders[place] < state.num_players:
            state.hands[holders[place]] |= 1 << np.int64(state.deck[place])
    redraw_secrets(state, seat)


@compiled
def gather_unseen(state: Any, seat: int) -> int:
    """Put the cards that the seat has not seen at the front of the deck, in order; return how many."""
    count, cards = 0, unseen_cards(state, seat)
    while cards:
        state.deck[count] = lowest_bit(cards)
        cards &= cards - 1
        count += 1
    state.deck[count:] = 0  # the rest may tell how the hidden cards truly lie
    return count


@compiled
def redraw_secrets(state: Any, seat: int) -> None:
    """Draw anew the calls that others have made in secret."""
    for other in range(state.num_players):
        if other != seat and state.commits[other] != NOTHING_YET:
            dice = np.int64(state.dice_sets[other])
            for _ in range(random_below(state, count_bits(dice) + 1)):
                dice &= dice - 1
            state.commits[other] = NUM_CARDS + lowest_bit(dice) if dice else NO_CALL

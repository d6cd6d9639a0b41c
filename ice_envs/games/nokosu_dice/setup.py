"""Cards dealt and dice rolled for a round of Nokosu Dice, at each table size (rulebook: Preparation of the Game)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.generator import random_below
from ice_envs.engine.jit import compiled
from ice_envs.games.nokosu_dice.items import NUM_CARDS, NUM_COLORS, NUM_FACES, NUM_NUMBERS

MAX_PLAYERS = 4
PICKS = 3
"""Dice that each seat drafts."""
HAND_SIZES = (0, 0, 0, 9, 10)
NUM_TRICKS = (0, 0, 0, 12, 14)
OWN_ROLLS, COLORS_IN_PLAY, NUMBERS_IN_PLAY, DICE_PER_COLOR = np.array(
    [(0, 0, 0, 1, 2), (0, 0, 0, 4, 5), (0, 0, 0, 7, 8), (0, 0, 0, 4, 5)]
)  # compiled code looks up an array twenty times as fast as a tuple
MOST_TRICKS = 14
MOST_DICE = 5


@compiled
def deal_hands(state: Any) -> None:
    """Shuffle the cards in play and deal; at three seats one card is left over, unseen."""
    in_play = 0
    for card in range(NUM_CARDS):
        state.deck[card] = 0
        if is_in_play(state.num_players, card):
            state.deck[in_play] = card
            in_play += 1
    place = 0
    for seat in range(MAX_PLAYERS):
        state.hands[seat] = 0
        for _ in range(state.hand_size if seat < state.num_players else 0):
            other = place + random_below(state, in_play - place)
            card = state.deck[other]
            state.deck[other] = state.deck[place]
            state.deck[place] = card
            state.hands[seat] |= 1 << card
            place += 1


@compiled
def is_in_play(num_players: int, card: int) -> bool:
    """Return whether a card is used at a table: at three seats the last color and the 7s are not."""
    color, number = card // NUM_NUMBERS, card % NUM_NUMBERS
    return bool(color < COLORS_IN_PLAY[num_players] and number < NUMBERS_IN_PLAY[num_players])


@compiled
def roll_dice(state: Any) -> None:
    """Draw and roll each seat's own dice, then those in the middle."""
    state.dice[:] = 0
    state.dice_sets[:] = 0
    state.dice_left[:] = 0
    state.pool[:] = 0
    for color in range(NUM_COLORS):
        in_play = color < COLORS_IN_PLAY[state.num_players]
        state.bag[color] = DICE_PER_COLOR[state.num_players] if in_play else 0
    in_bag = COLORS_IN_PLAY[state.num_players] * DICE_PER_COLOR[state.num_players]
    for seat in range(state.num_players):
        for _ in range(OWN_ROLLS[state.num_players]):
            add_die(state, seat, draw_die(state, in_bag))
            in_bag -= 1
    state.pool_size = PICKS * state.num_players + 1
    for _ in range(state.pool_size):
        state.pool[draw_die(state, in_bag)] += 1
        in_bag -= 1


@compiled
def draw_die(state: Any, in_bag: int) -> int:
    """Draw one of the `in_bag` dice from the bag and roll it; return its kind."""
    color, place = 0, random_below(state, in_bag)
    while place >= state.bag[color]:
        place -= state.bag[color]
        color += 1
    state.bag[color] -= 1
    return color * NUM_FACES + random_below(state, NUM_FACES)


@compiled
def add_die(state: Any, seat: int, kind: int) -> None:
    """Give a seat a die."""
    state.dice[seat, kind] += 1
    state.dice_sets[seat] |= 1 << kind
    state.dice_left[seat] += 1


@compiled
def remove_die(state: Any, seat: int, kind: int) -> None:
    """Take a die from a seat."""
    state.dice[seat, kind] -= 1
    state.dice_left[seat] -= 1
    if state.dice[seat, kind] == 0:
        state.dice_sets[seat] ^= 1 << kind

"""The heuristic baseline of Nokosu Dice. It reads only what the seat to move knows.

Every own item gets a chance to win the trick in which it will be played, by how many items that others may hold would
beat it. The sum over the hand is the number of tricks to expect; a bid is the likelier to be hit the nearer it is to
that sum, and the more the tricks to come leave room to steer. Playing an item changes both what is won now and what is
to be expected, and the best die to keep is chosen anew at each move: so neighboring dice stay as long as possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.bits import lowest_bit
from ice_envs.engine.jit import compiled
from ice_envs.games.nokosu_dice.chances import chance, others_dice, trick_chance
from ice_envs.games.nokosu_dice.items import (
    NUM_CARDS,
    NUM_FACES,
    NUM_ITEMS,
    NUM_KINDS,
)
from ice_envs.games.nokosu_dice.observation import unseen_cards
from ice_envs.games.nokosu_dice.rules import CALL, DRAFT, NO_CALL, playable

_STEERING = 0.19
"""Variance that a seat can always make good by its choices."""
_SPREAD = 1.61
"""How much of the variance of the tricks to come counts."""
_UNSURE = 2.07
"""How much likelier a hit is with less variance ahead."""
_HIT = 20.0
"""Points of a hit."""
_ZERO_HIT = 36.0
"""Points of a successful zero call."""
_DUCKING = 1.0
"""By how much the chance of a zero call sinks with each trick that is to be expected."""
_TRICK = 0.74
"""Points of a trick."""
_CHOICE = 0.18
"""What a second die that may be kept is worth, as part of a hit with it."""


@compiled
def greedy(state: Any) -> int:
    """Return the action that promises most points in this round."""
    if state.phase == DRAFT:
        return best_pick(state)
    if state.phase == CALL:
        return best_call(state)
    return best_play(state)


# ---- what to expect of the hand ----


@compiled
def write_chances(state: Any, trump: int, near: int, far: int, out: Any) -> tuple[float, float]:
    """Write the chance of each item of the seat to move into `out` (NUM_ITEMS,); return their sum and variance."""
    unseen = unseen_cards(state, state.to_move)
    expected, variance = 0.0, 0.0
    cards, dice = state.hands[state.to_move], np.int64(state.dice_sets[state.to_move])
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        out[card] = chance(trump, card, unseen, near, far)
        expected += out[card]
        variance += out[card] * (1 - out[card])
    while dice:
        kind = lowest_bit(dice)
        dice &= dice - 1
        win = chance(trump, NUM_CARDS + kind, unseen, near, far)
        out[NUM_CARDS + kind] = win
        expected += state.dice[state.to_move, kind] * win
        variance += state.dice[state.to_move, kind] * win * (1 - win)
    return expected, variance


@compiled
def likelihood(needed: int, left: int, expected: float, variance: float) -> float:
    """Return how likely the seat wins just `needed` of the `left` tricks to come."""
    if needed < 0 or needed > left:
        return 0.0
    miss = needed - expected
    return np.exp(-miss * miss / (2 * (_STEERING + _SPREAD * variance))) / (1 + _UNSURE * variance)


@compiled
def number_of(kind: int) -> int:
    """Return the number on top of a die."""
    return kind % NUM_FACES + 1


# ---- the three kinds of moves ----


@compiled
def best_pick(state: Any) -> int:
    """Return the die to draft: with it, some die comes close to the tricks to expect under the likely trumps."""
    near, far = others_dice(state, state.to_move)
    pool = 0
    for kind in range(NUM_KINDS):
        if state.pool[kind]:
            pool |= 1 << kind
    far |= pool << 32
    chances = np.zeros(NUM_ITEMS)
    values = np.zeros(NUM_KINDS)
    unseen = unseen_cards(state, state.to_move)
    trumps = pool
    while trumps:
        trump = lowest_bit(trumps)
        trumps &= trumps - 1
        expected, variance = write_chances(state, trump, near, far, chances)
        picks = pool
        while picks:
            pick = lowest_bit(picks)
            picks &= picks - 1
            weight = state.pool[trump] - (pick == trump)
            if weight:
                win = chance(trump, NUM_CARDS + pick, unseen, near, far)
                chances[NUM_CARDS + pick] = win
                held = state.dice_sets[state.to_move] | (1 << pick)
                values[pick] += weight * best_bid(state, held, chances, expected + win, variance + win * (1 - win))
    best, best_value = -1, 0.0
    for kind in range(NUM_KINDS):
        if state.pool[kind] and (best < 0 or values[kind] > best_value):
            best, best_value = kind, values[kind]
    return NUM_CARDS + best


@compiled
def best_bid(state: Any, dice: Any, chances: Any, expected: float, variance: float) -> float:
    """Return the likelihood of the likeliest bid among `dice` (bits) before the first trick."""
    best, second = 0.0, 0.0
    while dice:
        kind = lowest_bit(dice)
        dice &= dice - 1
        win = chances[NUM_CARDS + kind]
        needed = number_of(kind)
        value = likelihood(needed, state.num_tricks, expected - win, variance - win * (1 - win))
        best, second = max(best, value), max(second, min(best, value))
    return best + _CHOICE * second


@compiled
def best_call(state: Any) -> int:
    """Return the die to return for a zero call, or no call."""
    chances = np.zeros(NUM_ITEMS)
    near, far = others_dice(state, state.to_move)
    expected, variance = write_chances(state, state.trump, near, far, chances)
    own = np.int64(state.dice_sets[state.to_move])
    bid = _HIT * best_bid(state, own, chances, expected, variance)
    strongest, most = -1, -1.0
    while own:
        kind = lowest_bit(own)
        own &= own - 1
        if chances[NUM_CARDS + kind] > most:
            strongest, most = NUM_CARDS + kind, chances[NUM_CARDS + kind]
    zero = _ZERO_HIT * np.exp(-_DUCKING * (expected - most))
    return strongest if zero > bid else NO_CALL


@compiled
def best_play(state: Any) -> int:
    """Return the item to play."""
    chances, unseen = np.zeros(NUM_ITEMS), unseen_cards(state, state.to_move)
    near, far = others_dice(state, state.to_move)
    expected, variance = write_chances(state, state.trump, near, far, chances)
    cards, dice = playable(state, state.to_move)
    best, best_value = -1, -1.0
    while cards | dice:
        if cards:
            item = lowest_bit(cards)
            cards &= cards - 1
        else:
            item = NUM_CARDS + lowest_bit(dice)
            dice &= dice - 1
        value = play_value(state, item, unseen, chances, expected, variance)
        if value > best_value:
            best, best_value = item, value
    return best


@compiled
def play_value(state: Any, item: int, unseen: int, chances: Any, expected: float, variance: float) -> float:
    """Return the points that an item promises if it is played now."""
    seat = state.to_move
    now, later = trick_chance(state, item, unseen), chances[item]
    expected -= later
    variance -= later * (1 - later)
    left = state.num_tricks - state.trick - 1
    if state.called[seat]:
        return _TRICK * now + _ZERO_HIT * hit_chance(now, -state.tricks[seat], left, expected, variance)
    best, second, kept = 0.0, 0.0, np.int64(state.dice_sets[seat])
    while kept:
        kind = lowest_bit(kept)
        kept &= kept - 1
        if item == NUM_CARDS + kind and state.dice[seat, kind] == 1:
            continue
        win = chances[NUM_CARDS + kind]
        needed = number_of(kind) - state.tricks[seat]
        value = hit_chance(now, needed, left, expected - win, variance - win * (1 - win))
        best, second = max(best, value), max(second, min(best, value))
    return _TRICK * now + _HIT * (best + _CHOICE * second)


@compiled
def hit_chance(now: float, needed: int, left: int, expected: float, variance: float) -> float:
    """Return how likely just `needed` tricks are won, this one with the chance `now`."""
    winning = likelihood(needed - 1, left, expected, variance)
    return now * winning + (1 - now) * likelihood(needed, left, expected, variance)

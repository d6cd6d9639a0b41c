"""The heuristic baseline of Nokosu Dice. It reads only what the seat to move knows.

Every own item gets a chance to win the trick in which it will be played, by how many items that others may hold would
beat it. The sum over the hand is the number of tricks to expect; a bid is the likelier to be hit the nearer it is to
that sum, and the more the tricks to come leave room to steer. Playing an item changes both what is won now and what is
to be expected, and the best die to keep is chosen anew at each move: so neighboring dice stay as long as possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine.bits import lowest_bit
from ice_envs.engine.jit import compiled
from ice_envs.engine.stack import zeros_on_stack
from ice_envs.games.nokosu_dice.chances import others_dice, percent, trick_chance, unseen_cards
from ice_envs.games.nokosu_dice.items import (
    NUM_CARDS,
    NUM_FACES,
    NUM_ITEMS,
    NUM_KINDS,
)
from ice_envs.games.nokosu_dice.rules import CALL, DRAFT, NO_CALL, playable
from ice_envs.games.nokosu_dice.setup import HAND_SIZES, MAX_PLAYERS, MOST_DICE

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
_zero_percents = zeros_on_stack((NUM_ITEMS,), np.int64)
_zero_values = zeros_on_stack((NUM_KINDS,), np.float64)


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
def write_percents(state: Any, trump: int, near: int, far: int, percents: Any) -> tuple[int, int]:
    """Write the chance of each item of the seat to move into `percents` (NUM_ITEMS,); return their sum and variance.

    Others may hold `near` and `far` (see `chances`). Here and below the sum is in percent, the variance in percent of
    a percent, and a seat's chances are `percents`, the first item's at the place `first`.
    """
    unseen, expected, spread = unseen_cards(state, state.to_move), 0, 0
    cards, dice = state.hands[state.to_move], np.int64(state.dice_sets[state.to_move])
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        win = percent(trump, card, unseen, near, far)
        percents[card] = win
        expected += win
        spread += win * (100 - win)
    while dice:
        kind = lowest_bit(dice)
        dice &= dice - 1
        win = percent(trump, NUM_CARDS + kind, unseen, near, far)
        percents[NUM_CARDS + kind] = win
        expected += state.dice[state.to_move, kind] * win
        spread += state.dice[state.to_move, kind] * win * (100 - win)
    return expected, spread


def _likelihoods() -> NDArray[np.float32]:
    """Return how likely a number of tricks is won: (variance, distance from what is to be expected), in steps."""
    variance = (np.arange(_MOST_SPREAD // _SPREAD_STEP + 1)[:, None] + 0.5) * _SPREAD_STEP / 10_000
    miss = (np.arange(_MOST_EXPECTED // _MISS_STEP + 1) + 0.5) * _MISS_STEP / 100
    likely = np.exp(-(miss**2) / (2 * (_STEERING + _SPREAD * variance))) / (1 + _UNSURE * variance)
    return likely.astype(np.float32)  # half the memory: it is looked up all the time


_SPREAD_STEP, _MISS_STEP = 512, 4
_MOST_EXPECTED = 100 * (HAND_SIZES[MAX_PLAYERS] + MOST_DICE)
_MOST_SPREAD = 25 * _MOST_EXPECTED
_LIKELIHOODS = _likelihoods()


@compiled
def likelihood(needed: int, left: int, expected: int, spread: int) -> float:
    """Return how likely the seat wins just `needed` of the `left` tricks to come."""
    if needed < 0 or needed > left:
        return 0.0
    return float(_LIKELIHOODS[spread // _SPREAD_STEP, abs(100 * needed - expected) // _MISS_STEP])


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
    percents, values = _zero_percents(), _zero_values()
    unseen = unseen_cards(state, state.to_move)
    trumps = pool
    while trumps:
        trump = lowest_bit(trumps)
        trumps &= trumps - 1
        expected, spread = write_percents(state, trump, near, far, percents)
        picks = pool
        while picks:
            pick = lowest_bit(picks)
            picks &= picks - 1
            weight = state.pool[trump] - (pick == trump)
            if weight:
                win = percent(trump, NUM_CARDS + pick, unseen, near, far)
                percents[NUM_CARDS + pick] = win
                held = state.dice_sets[state.to_move] | (1 << pick)
                bid = best_bid(state, held, percents, 0, expected + win, spread + win * (100 - win))
                values[pick] += weight * bid
    best, best_value = -1, 0.0
    for kind in range(NUM_KINDS):
        if state.pool[kind] and (best < 0 or values[kind] > best_value):
            best, best_value = kind, values[kind]
    return NUM_CARDS + best


@compiled
def best_bid(state: Any, dice: Any, percents: Any, first: int, expected: int, spread: int) -> float:
    """Return the likelihood of the likeliest bid among `dice` (bits) before the first trick."""
    best, second = 0.0, 0.0
    while dice:
        kind = lowest_bit(dice)
        dice &= dice - 1
        win: Any = np.int64(percents[first + NUM_CARDS + kind])
        value = likelihood(number_of(kind), state.num_tricks, expected - win, spread - win * (100 - win))
        best, second = max(best, value), max(second, min(best, value))
    return best + _CHOICE * second


@compiled
def best_call(state: Any) -> int:
    """Return the die to return for a zero call, or no call."""
    percents = _zero_percents()
    near, far = others_dice(state, state.to_move)
    expected, spread = write_percents(state, state.trump, near, far, percents)
    own = np.int64(state.dice_sets[state.to_move])
    best, best_value = NO_CALL, call_value(state, NO_CALL, percents, 0, expected, spread)
    while own:
        die = NUM_CARDS + lowest_bit(own)
        own &= own - 1
        value = call_value(state, die, percents, 0, expected, spread)
        if value > best_value:
            best, best_value = die, value
    return best


@compiled
def call_value(state: Any, action: int, percents: Any, first: int, expected: int, spread: int) -> float:
    """Return the points that a zero call by returning a die promises, or no call."""
    if action == NO_CALL:
        return _HIT * best_bid(state, np.int64(state.dice_sets[state.to_move]), percents, first, expected, spread)
    return _ZERO_HIT * np.exp(-_DUCKING * (expected - np.int64(percents[first + action])) / 100)


@compiled
def best_play(state: Any) -> int:
    """Return the item to play."""
    percents, unseen = _zero_percents(), unseen_cards(state, state.to_move)
    near, far = others_dice(state, state.to_move)
    expected, spread = write_percents(state, state.trump, near, far, percents)
    cards, dice = playable(state, state.to_move)
    best, best_value = -1, -1.0
    while cards | dice:
        if cards:
            item = lowest_bit(cards)
            cards &= cards - 1
        else:
            item = NUM_CARDS + lowest_bit(dice)
            dice &= dice - 1
        value = play_value(state, item, trick_chance(state, item, unseen), percents, 0, expected, spread)
        if value > best_value:
            best, best_value = item, value
    return best


@compiled
def play_value(state: Any, item: int, now: float, percents: Any, first: int, expected: int, spread: int) -> float:
    """Return the points that an item promises if it is played now and wins with the chance `now`."""
    seat = state.to_move
    later: Any = np.int64(percents[first + item])
    expected -= later
    spread -= later * (100 - later)
    left = state.num_tricks - state.trick - 1
    if state.called[seat]:
        return _TRICK * now + _ZERO_HIT * hit_chance(now, -state.tricks[seat], left, expected, spread)
    best, second, kept = 0.0, 0.0, np.int64(state.dice_sets[seat])
    while kept:
        kind = lowest_bit(kept)
        kept &= kept - 1
        if item == NUM_CARDS + kind and state.dice[seat, kind] == 1:
            continue
        win: Any = np.int64(percents[first + NUM_CARDS + kind])
        needed = number_of(kind) - state.tricks[seat]
        value = hit_chance(now, needed, left, expected - win, spread - win * (100 - win))
        best, second = max(best, value), max(second, min(best, value))
    return _TRICK * now + _HIT * (best + _CHOICE * second)


@compiled
def hit_chance(now: float, needed: int, left: int, expected: int, spread: int) -> float:
    """Return how likely just `needed` tricks are won, this one with the chance `now`."""
    winning = likelihood(needed - 1, left, expected, spread)
    return now * winning + (1 - now) * likelihood(needed, left, expected, spread)

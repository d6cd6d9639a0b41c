"""Flat determinized Monte-Carlo: what each legal action is worth if everybody plays on to the round's end."""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.game import apply, determinize, greedy, legal, score, win_share
from ice_envs.engine.generator import mix, random_below
from ice_envs.engine.jit import compiled
from ice_envs.engine.loops import MAX_SEATS, utility

ALL_MOVES = 1 << 30
"""More moves than any round has."""


@compiled
def finish_round(state: Any, skilled: int, mask: Any, choices: Any) -> None:
    """Play to the end of the round or the game, the first `skilled` moves as the greedy baseline, the rest at random.

    `mask` (A,) int8 and `choices` (A,) int64 are scratch.
    """
    round_number = state.round_number
    while state.over == 0 and state.round_number == round_number:
        if skilled > 0:
            skilled -= 1
            apply(state, greedy(state))
            continue
        legal(state, mask)
        count = 0
        for action in range(len(mask)):
            choices[count] = action
            count += mask[action]
        apply(state, choices[random_below(state, count)])


@compiled
def lead(state: Any, seat: int, win_bonus: float, points: Any) -> float:
    """Return the seat's points minus the mean of the others', plus the zero-sum utility of winning once it is over."""
    score(state, points)
    total = 0.0
    for other in range(state.num_players):
        total += points[other]
    margin = points[seat] - (total - points[seat]) / (state.num_players - 1)
    if state.over:
        win_share(state, points)
        margin += win_bonus * utility(state.num_players, points[seat])
    return margin


@compiled
def action_values(
    states: Any, playouts: int, skilled: int, win_bonus: float, seed: Any, scratch: Any, first_row: int, values: Any
) -> None:
    """Write the mean gain of each legal action of the seat to move into `values` (N, A) float32; others stay 0.

    Each playout draws the hidden parts anew (`determinize`, so nothing is read that the seat cannot know) and tries
    every legal action on that same draw; in the first `skilled` ones everybody plays on as the greedy baseline does, in
    the others at random. A gain is the change of `lead` until the round's end. `scratch` holds two
    records. Row i draws from `seed` and `first_row + i` alone, so slices of a batch may run side by side.
    """
    num_actions = values.shape[1]
    mask, trial_mask = np.zeros(num_actions, np.int8), np.zeros(num_actions, np.int8)
    choices, points = np.zeros(num_actions, np.int64), np.zeros(MAX_SEATS)
    for i in range(len(states)):
        seat = states[i].to_move
        legal(states[i], mask)
        before = lead(states[i], seat, win_bonus, points)
        values[i, :] = 0
        stream = mix(seed + np.uint64(first_row + i))
        for playout in range(playouts):
            scratch[0] = states[i]
            determinize(scratch[0], seat, mix(stream + np.uint64(playout)))
            for action in range(num_actions):
                if mask[action]:
                    scratch[1] = scratch[0]
                    apply(scratch[1], action)
                    if scratch[1].round_number == scratch[0].round_number:
                        finish_round(scratch[1], ALL_MOVES * (playout < skilled), trial_mask, choices)
                    values[i, action] += (lead(scratch[1], seat, win_bonus, points) - before) / playouts

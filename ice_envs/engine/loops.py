"""Compiled loops over arrays of games. A slice of the arrays is a slice of the games: threads share nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine.bits import count_bits, eight_bytes
from ice_envs.engine.game import (
    Game,
    States,
    apply,
    determinize,
    greedy,
    is_legal,
    legal,
    observe,
    score,
    start,
    win_share,
)
from ice_envs.engine.generator import random_for_row
from ice_envs.engine.jit import compiled, compiled_apart

MAX_SEATS = 8
REWARDS = ("win", "score", "margin")
"""Names of the rewards, in the order of the codes that the compiled loops take."""
WIN, SCORE, MARGIN = range(3)
WORD = 8
"""Cells of a mask that are looked at together."""


@compiled_apart
def start_games(states: Any) -> None:
    """Begin a new game in each record."""
    for i in range(len(states)):
        start(states[i])


@compiled_apart
def legal_games(states: Any, mask: Any) -> None:
    """Write each game's mask of legal actions: (N, A) int8."""
    for i in range(len(states)):
        legal(states[i], mask[i])


@compiled_apart
def observe_games(states: Any, observation: Any, mask: Any, seat: Any) -> None:
    """Write observation (N, L) uint8 and mask (N, A) int8 of the seat to move, and which seat that is (N,)."""
    for i in range(len(states)):
        observation[i, :] = 0
        observe(states[i], states[i].to_move, observation[i])
        legal(states[i], mask[i])
        seat[i] = states[i].to_move


@compiled_apart
def observe_seats(states: Any, seats: Any, observation: Any, mask: Any) -> None:
    """Write what seat `seats[i]` observes of game i (N, L) uint8, and its mask (N, A) int8: 0 unless it is to move."""
    for i in range(len(states)):
        observation[i, :] = 0
        observe(states[i], seats[i], observation[i])
        if states[i].to_move == seats[i]:
            legal(states[i], mask[i])
        else:
            mask[i, :] = 0


@compiled_apart
def first_illegal(states: Any, actions: Any, num_actions: int) -> int:
    """Return the index of the first game whose rules forbid its action, or −1."""
    for i in range(len(states)):
        if not (0 <= actions[i] < num_actions and is_legal(states[i], actions[i])):
            return i
    return -1


@compiled
def utility(num_players: int, share: float) -> float:
    """Return the zero-sum utility of a win share: 1 for winning alone, 0 for the fair share."""
    return (num_players * share - 1.0) / (num_players - 1.0)


@compiled
def write_reward(kind: int, num_players: int, gained: Any, shares: Any, over: bool, reward: Any) -> None:
    """Write one reward a seat: `WIN`, `SCORE` (points gained) or `MARGIN` (points minus the mean of the others')."""
    total = 0.0
    for seat in range(num_players):
        total += gained[seat]
    for seat in range(num_players):
        if kind == WIN:
            reward[seat] = utility(num_players, shares[seat]) if over else 0.0
        elif kind == SCORE:
            reward[seat] = gained[seat]
        else:
            reward[seat] = gained[seat] - (total - gained[seat]) / (num_players - 1)


@compiled_apart
def step_games(
    states: Any,
    actions: Any,
    kind: int,
    restart: bool,
    reward: Any,
    done: Any,
    truncated: Any,
    scores: Any,
    shares: Any,
) -> None:
    """Play one action in each game; with `restart`, begin anew those that end.

    `reward` (N, seats) and `done`, `truncated` (N,) are of this step; `scores` and `shares` (N, seats) are written
    only where a game ends, so the last ones stay readable.
    """
    before, gained = np.zeros(MAX_SEATS), np.zeros(MAX_SEATS)
    for i in range(len(states)):
        state = states[i]
        num_players = state.num_players
        if kind != WIN:
            score(state, before)
        apply(state, actions[i])
        over = state.over != 0
        done[i] = over
        truncated[i] = state.truncated
        reward[i, :] = 0
        if over:
            score(state, scores[i])
            win_share(state, shares[i])
        if kind != WIN:
            score(state, gained)
            for seat in range(num_players):
                gained[seat] -= before[seat]
        if over or kind != WIN:
            write_reward(kind, num_players, gained, shares[i], over, reward[i])
        if over and restart:
            start(state)


@compiled
def random_actions(mask: Any, seed: Any, actions: Any) -> None:
    """Choose uniformly among the legal actions of each row of `mask`; each row's draw depends on seed and row only."""
    random_rows(mask, seed, 0, actions)


@compiled_apart
def random_rows(mask: Any, seed: Any, first: int, actions: Any) -> None:
    """Choose as `random_actions` does; row 0 is the row `first` of all."""
    for i in range(len(mask)):
        actions[i] = random_action(mask[i], seed, first + i)


@compiled
def random_action(mask: Any, seed: Any, row: int) -> int:
    """Return a legal action of one row's `mask` (A,): eight cells are counted at once, and without branches."""
    whole = len(mask) // WORD * WORD
    count, passed, before, first = 0, 0, 0, 0
    for action in range(0, whole, WORD):
        count += count_bits(eight_bytes(mask, action))
    for action in range(whole, len(mask)):
        count += mask[action]
    left = random_for_row(seed, row, count)  # so many legal actions are passed over
    for action in range(0, whole, WORD):
        passed += count_bits(eight_bytes(mask, action))
        past = int(passed <= left)
        before += past * (passed - before)
        first += past * WORD
    left -= before
    chosen = first
    for action in range(first, min(first + WORD, len(mask))):
        left -= mask[action]
        chosen += left >= 0
    return min(chosen, len(mask) - 1)  # nothing is legal in a game that is over


@compiled_apart
def greedy_actions(states: Any, actions: Any) -> None:
    """Choose the heuristic baseline's action in each game."""
    for i in range(len(states)):
        actions[i] = greedy(states[i])


@compiled
def apply_to(states: Any, action: int) -> None:
    """Play a legal action in the game `states[0]`."""
    apply(states[0], action)


@compiled
def draw_hidden(states: Any, seat: int, seed: Any) -> None:
    """Reseed the game `states[0]` with `seed` (uint64) and redraw what the seat cannot know."""
    determinize(states[0], seat, seed)


def new_states(game: Game, table_sizes: Iterable[int], options: Mapping[str, Any], seeds: NDArray[np.uint64]) -> States:
    """Return started games, one for each table size and generator state (see `generator.game_seeds`)."""
    sizes = [game.check_table(size) for size in table_sizes]
    states = np.zeros(len(sizes), game.dtype)
    valid = game.make_options(options)
    for i, size in enumerate(sizes):
        states[i].rng = seeds[i]
        states[i].num_players = size
        game.configure(states[i], size, valid)
    start_games(states)
    return states


def observed(game: Game, states: States) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """Return observations (N, L) and masks (N, A) of the seats to move, in new arrays."""
    observation = np.empty((len(states), game.layout.size), np.uint8)
    mask = np.empty((len(states), game.num_actions), np.int8)
    observe_games(states, observation, mask, np.empty(len(states), np.int64))
    return observation, mask


def why_illegal(game: Game, states: States, action: int) -> str:
    """Return a sentence that names an illegal action and the legal ones of the game `states[0]`."""
    mask = np.zeros((1, game.num_actions), np.int8)
    legal_games(states, mask)
    allowed = ", ".join(f"{game.labels[i]} ({i})" for i in np.flatnonzero(mask[0]))
    name = f"{game.labels[action]!r} ({action})" if 0 <= action < game.num_actions else f"action {action}"
    return f"{name} is illegal for player_{states[0].to_move}; legal: {allowed or 'nothing, the game is over'}"

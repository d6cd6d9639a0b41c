"""What several test files share: games played at random, and the compiled loops that only tests need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import Game, States, apply, determinize, legal, score, win_share
from ice_envs.engine.generator import game_seeds, random_for_row
from ice_envs.engine.jit import compiled


def started(game: Game, num_players: int | list[int], count: int = 1, seed: int = 0, **options: Any) -> States:
    """Return `count` started games; several table sizes are dealt out in turn."""
    sizes = [num_players] if isinstance(num_players, int) else num_players
    table_sizes = [sizes[i % len(sizes)] for i in range(count)]
    return loops.new_states(game, table_sizes, options, game_seeds(seed, count))


@compiled
def advance(states: Any, seed: Any, mask: Any, actions: Any) -> int:
    """Play a random legal action in each game that is not over; return how many there were.

    `mask` (A,) is scratch; `actions` (N,) takes what was played, −1 where nothing was or nothing could be.
    """
    live = 0
    for i in range(len(states)):
        actions[i] = -1
        if states[i].over:
            continue
        live += 1
        legal(states[i], mask)
        chosen = random_for_row(seed, i, mask.sum())
        for action in range(len(mask)):
            chosen -= mask[action]
            if mask[action] and chosen < 0:
                actions[i] = action
                break
        if actions[i] >= 0:
            apply(states[i], actions[i])
    return live


@compiled
def apply_games(states: Any, actions: Any) -> None:
    """Play one legal action in each game; games that end stay ended."""
    for i in range(len(states)):
        apply(states[i], actions[i])


@compiled
def determinize_games(states: Any, seats: Any, seeds: Any) -> None:
    """Redraw in game i, with seed `seeds[i]`, what seat `seats[i]` cannot know."""
    for i in range(len(states)):
        determinize(states[i], seats[i], seeds[i])


@compiled
def write_results(states: Any, scores: Any, shares: Any) -> None:
    """Write the points so far and the win shares of each game: (N, seats) float."""
    for i in range(len(states)):
        score(states[i], scores[i])
        win_share(states[i], shares[i])


def results(states: States) -> tuple[Any, Any]:
    """Return points so far and win shares, (N, MAX_SEATS) float64 each; 0 for absent seats."""
    scores, shares = np.zeros((2, len(states), loops.MAX_SEATS))
    write_results(states, scores, shares)
    return scores, shares


def observations(game: Game, states: States, seats: Any) -> tuple[Any, Any]:
    """Return what seat `seats[i]` observes of game i (N, L) uint8, and its mask (N, A) int8: 0 unless it is to move."""
    out, mask = np.zeros((len(states), game.layout.size), np.uint8), np.zeros((len(states), game.num_actions), np.int8)
    loops.observe_seats(states, np.asarray(seats, np.int64), out, mask)
    return out, mask


def masks(game: Game, states: States) -> Any:
    """Return the legal actions of each game: (N, A) int8."""
    out = np.zeros((len(states), game.num_actions), np.int8)
    loops.legal_games(states, out)
    return out


def greedy_choices(states: States) -> Any:
    """Return the greedy baseline's action (N,) in each game."""
    actions = np.full(len(states), -1)
    loops.greedy_actions(states, actions)
    return actions


def determinized(states: States, seats: Any, seeds: Any) -> States:
    """Return copies of the games with what seat `seats[i]` cannot know redrawn from `seeds[i]`."""
    copies = states.copy()
    determinize_games(copies, np.asarray(seats, np.int64), np.asarray(seeds, np.uint64))
    return copies


def random_play(game: Game, states: States, seed: int) -> Iterator[tuple[States, Any]]:
    """Play all games to their ends at random, from copies; yield (states, actions that led there) after every move.

    Both arrays are overwritten by the next move. An action of −1 means that the game was over before.
    """
    states = states.copy()
    mask, actions = np.zeros(game.num_actions, np.int8), np.zeros(len(states), np.int64)
    for word in _words(seed):
        live = advance(states, word, mask, actions)
        assert live == (actions >= 0).sum(), "a game goes on, but nothing is legal"
        if live == 0:
            return
        yield states, actions


def finished(game: Game, states: States, seed: int) -> States:
    """Return the games played to their ends at random."""
    final = states
    for final, _ in random_play(game, states, seed):  # noqa: B007  # the last one is wanted
        pass
    return final


def _words(seed: int) -> Iterator[np.uint64]:
    generator = np.random.default_rng(seed)
    while True:
        yield from generator.integers(2**64, size=256, dtype=np.uint64)

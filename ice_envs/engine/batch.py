"""Many games at once: what training and evaluation use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.engine.generator import game_seeds
from ice_envs.errors import IceError, IllegalAction, choose, whole_number
from ice_envs.games import find_game

LEAST_SLICE = 2048
"""Fewer games than these take less time than waking a thread for them."""


class Batch:
    """`num_games` games of one kind, stepped together; games that end begin anew at once.

    Args:
        game: a name from `ice_envs.games()`, or a Game.
        num_games: number of games N.
        seed: the batch's seed; game i starts as `generator.game_seeds` says.
        num_players: one table size, or several, dealt out in turn: game i has size `num_players[i % len]`.
        num_threads: at most so many slices of the batch are stepped side by side, each of at least `LEAST_SLICE`
            games; results do not depend on it.
        reward: `"win"` (zero-sum utility of the win share, at the end), `"score"` (points as they are scored) or
            `"margin"` (points minus the mean of the others').
        options: the game's rule options.

    Attributes:
        states: the games' records (N,), yours to read, copy and overwrite.
        last_scores, last_shares: points and win shares (N, seats) float32 of each game that ended last at its place.
        truncated: (N,) bool, the games that the last step ended by the limit on their length.

    Seats past a game's table size get zeros. Raises IceError for bad arguments.
    """

    def __init__(
        self,
        game: str | Game,
        num_games: int,
        seed: int | np.random.SeedSequence | None = 0,
        num_players: int | Sequence[int] | None = None,
        num_threads: int = 1,
        reward: str = "win",
        **options: Any,
    ) -> None:
        self.game = find_game(game)
        self.num_games = whole_number("num_games", num_games, 1, 1 << 24)
        self.num_threads = whole_number("num_threads", num_threads, 1, 1024)
        self.reward = choose("reward", reward, loops.REWARDS)
        sizes = _table_sizes(self.game, num_players)
        self._table_sizes = [sizes[i % len(sizes)] for i in range(self.num_games)]
        self._options = options
        slices = max(min(self.num_threads, self.num_games // LEAST_SLICE), 1)
        edges = [self.num_games * i // slices for i in range(slices + 1)]
        self._slices = [slice(first, stop) for first, stop in pairwise(edges)]
        self._pool = ThreadPoolExecutor(len(self._slices) - 1) if len(self._slices) > 1 else None
        seats, actions, length = max(sizes), self.game.num_actions, self.game.layout.size
        self._observation = np.zeros((self.num_games, length), np.uint8)
        self._mask = np.zeros((self.num_games, actions), np.int8)
        self._seat = np.zeros(self.num_games, np.int64)
        self._reward = np.zeros((self.num_games, seats), np.float32)
        self._done = np.zeros(self.num_games, np.bool_)
        self.truncated = np.zeros(self.num_games, np.bool_)
        self.last_scores = np.zeros((self.num_games, seats), np.float32)
        self.last_shares = np.zeros((self.num_games, seats), np.float32)
        self.states: States = np.zeros(0, self.game.dtype)
        self.reset(seed)

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin all games anew from `seed` (None: entropy from the system)."""
        seeds = game_seeds(seed, self.num_games)
        self.states = loops.new_states(self.game, self._table_sizes, self._options, seeds)

    def observe(self) -> tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.int64]]:
        """Return observation (N, L) uint8, mask of legal actions (N, A) int8 and the seat to move (N,).

        The arrays are the batch's own: the next call overwrites them.
        """
        self._run(loops.observe_games, self.states, self._observation, self._mask, self._seat)
        return self._observation, self._mask, self._seat

    def step(self, actions: Any) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Play one action in each game; return reward (N, seats) float32 and done (N,) bool.

        Every seat's reward of this step is in the row. Raises IllegalAction, and steps no game, if one is illegal.
        The arrays are the batch's own: the next call overwrites them.
        """
        chosen = self._checked(actions)
        self._run(
            self._step_slice,
            self.states,
            chosen,
            self._reward,
            self._done,
            self.truncated,
            self.last_scores,
            self.last_shares,
        )
        return self._reward, self._done

    def _step_slice(self, states: States, actions: Any, *out: Any) -> None:
        loops.step_games(states, actions, loops.REWARDS.index(self.reward), True, *out)

    def _checked(self, actions: Any) -> NDArray[np.int64]:
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_games,) or chosen.dtype.kind not in "iu":
            raise IceError(
                f"actions must be {self.num_games} whole numbers, one for each game, "
                f"not {chosen.dtype} of shape {chosen.shape}"
            )
        chosen = chosen.astype(np.int64, copy=False)
        wrong = loops.first_illegal(self.states, chosen, self.game.num_actions)
        if wrong >= 0:
            raise IllegalAction(
                f"game {wrong}: {loops.why_illegal(self.game, self.states[wrong : wrong + 1], chosen[wrong])}"
            )
        return chosen

    def _run(self, function: Callable[..., None], *arrays: NDArray[Any]) -> None:
        own, *others = [[array[part] for array in arrays] for part in self._slices]
        jobs = [self._pool.submit(function, *slices) for slices in others] if self._pool else []
        function(*own)  # one slice less for threads that have to be woken
        for job in jobs:
            job.result()


def _table_sizes(game: Game, num_players: int | Iterable[int] | None) -> list[int]:
    """Return one table size or several as a list; None means the largest."""
    if num_players is None:
        return [game.table_sizes[-1]]
    sizes = [game.check_table(size) for size in (num_players if isinstance(num_players, Iterable) else [num_players])]
    if not sizes:
        raise IceError("num_players must be a table size, or at least one of several")
    return sizes

"""Many games at once: what training and evaluation use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine import loops
from ice_envs.engine.crew import CHECK, DRAW, MASK, OBSERVE, STEP, Crew, Work
from ice_envs.engine.game import Game, States
from ice_envs.engine.generator import game_seeds
from ice_envs.engine.jit import PLAIN
from ice_envs.errors import IceError, IllegalAction, choose, whole_number
from ice_envs.games import find_game

LEAST_GAMES = 256
"""For fewer games than these a further thread costs more than it gains."""


class Batch:
    """`num_games` games of one kind, stepped together; games that end begin anew at once.

    Args:
        game: a name from `ice_envs.games()`, or a Game.
        num_games: number of games N.
        seed: the batch's seed; game i starts as `generator.game_seeds` says.
        num_players: one table size, or several, dealt out in turn: game i has size `num_players[i % len]`.
        num_threads: at most so many threads share the work, one for each `LEAST_GAMES` games (plain Python: one);
            results do not depend on it.
        reward: `"win"` (zero-sum utility of the win share, at the end), `"score"` (points as they are scored) or
            `"margin"` (points minus the mean of the others').
        options: the game's rule options.

    Attributes:
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
        seats, actions, length = max(sizes), self.game.num_actions, self.game.layout.size
        self._work = Work(
            kind=loops.REWARDS.index(self.reward),
            seed=np.zeros(1, np.uint64),
            illegal=np.zeros(1, np.int64),
            states=np.zeros(self.num_games, self.game.dtype),
            actions=np.zeros(self.num_games, np.int64),
            observation=np.zeros((self.num_games, length), np.uint8),
            mask=np.zeros((self.num_games, actions), np.int8),
            seat=np.zeros(self.num_games, np.int64),
            reward=np.zeros((self.num_games, seats), np.float32),
            done=np.zeros(self.num_games, np.bool_),
            truncated=np.zeros(self.num_games, np.bool_),
            scores=np.zeros((self.num_games, seats), np.float32),
            shares=np.zeros((self.num_games, seats), np.float32),
        )
        self.truncated, self.last_scores, self.last_shares = self._work.truncated, self._work.scores, self._work.shares
        threads = min(self.num_threads, self.num_games // LEAST_GAMES)
        self._crew = Crew(self._work, threads) if threads > 1 and not PLAIN else None
        self.reset(seed)

    @property
    def states(self) -> States:
        """The games' records (N,), yours to read, copy and overwrite."""
        return self._work.states

    def reset(self, seed: int | np.random.SeedSequence | None = None) -> None:
        """Begin all games anew from `seed` (None: entropy from the system)."""
        seeds = game_seeds(seed, self.num_games)
        self._work.states[:] = loops.new_states(self.game, self._table_sizes, self._options, seeds)

    def observe(self) -> tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.int64]]:
        """Return observation (N, L) uint8, mask of legal actions (N, A) int8 and the seat to move (N,).

        The arrays are the batch's own: the next call overwrites them.
        """
        work = self._work
        if self._crew:
            self._crew.do(OBSERVE)
        else:
            loops.observe_games(work.states, work.observation, work.mask, work.seat)
        return work.observation, work.mask, work.seat

    def mask(self) -> NDArray[np.int8]:
        """Return the mask of legal actions (N, A) int8 alone: for those who need no observation, in far less time.

        The array is the batch's own: the next call overwrites it.
        """
        if self._crew:
            self._crew.do(MASK)
        else:
            loops.legal_games(self._work.states, self._work.mask)
        return self._work.mask

    def random_actions(self, seed: int) -> NDArray[np.int64]:
        """Return an action (N,) for each game, drawn uniformly from the mask that was written last.

        Each game's draw depends on `seed` (0 to 2⁶⁴ − 1) and the game's place only. The array is the batch's own: the
        next call overwrites it.
        """
        work = self._work
        work.seed[0] = whole_number("seed", seed, 0, (1 << 64) - 1)
        if self._crew:
            self._crew.do(DRAW)
        else:
            loops.random_actions(work.mask, work.seed[0], work.actions)
        return work.actions

    def step(self, actions: Any) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Play one action in each game; return reward (N, seats) float32 and done (N,) bool.

        Every seat's reward of this step is in the row. Raises IllegalAction, and steps no game, if one is illegal.
        The arrays are the batch's own: the next call overwrites them.
        """
        self._check(actions)
        work = self._work
        if self._crew:
            self._crew.do(STEP)
        else:
            loops.step_games(
                work.states,
                work.actions,
                work.kind,
                True,
                work.reward,
                work.done,
                work.truncated,
                work.scores,
                work.shares,
            )
        return work.reward, work.done

    def _check(self, actions: Any) -> None:
        """Take over the actions; raise an error, and change no game, if they are not one legal action for each."""
        chosen, work = np.asarray(actions), self._work
        if chosen.shape != (self.num_games,) or chosen.dtype.kind not in "iu":
            raise IceError(
                f"actions must be {self.num_games} whole numbers, one for each game, "
                f"not {chosen.dtype} of shape {chosen.shape}"
            )
        work.actions[:] = chosen
        if self._crew:
            work.illegal[0] = 0
            self._crew.do(CHECK)
            if not work.illegal[0]:
                return
        wrong = loops.first_illegal(work.states, work.actions, self.game.num_actions)
        if wrong >= 0:
            why = loops.why_illegal(self.game, work.states[wrong : wrong + 1], int(work.actions[wrong]))
            raise IllegalAction(f"game {wrong}: {why}")


def _table_sizes(game: Game, num_players: int | Iterable[int] | None) -> list[int]:
    """Return one table size or several as a list; None means the largest."""
    if num_players is None:
        return [game.table_sizes[-1]]
    sizes = [game.check_table(size) for size in (num_players if isinstance(num_players, Iterable) else [num_players])]
    if not sizes:
        raise IceError("num_players must be a table size, or at least one of several")
    return sizes

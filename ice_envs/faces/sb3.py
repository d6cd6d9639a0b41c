"""The face of Stable-Baselines3: many games as one of its vector environments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine.game import Game
from ice_envs.errors import IceError
from ice_envs.faces.common import check_options
from ice_envs.faces.learner import LearnerGames, Opponent
from ice_envs.games import find_game

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise IceError('SB3VecEnv needs Stable-Baselines3: pip install "ice_envs[train]"') from error

Indices = None | int | Iterable[int]


class SB3VecEnv(VecEnv):
    """Many games at once, each with one learning seat, ready for sb3-contrib's MaskablePPO.

    Ended games begin anew in the same step; their info is then that of a `SingleSeatEnv`'s end with
    `terminal_observation` and `TimeLimit.truncated`. `seed(s)` and the next `reset()` play the games of seed `s`, by
    the rule of `LearnerGames`.

    Args:
        game, num_players, seat, opponents, illegal, reward: see `LearnerGames`.
        num_envs: number of games N.
        seed: of the first reset; None takes entropy from the system.
        options: the game's rule options.

    Raises IceError for bad arguments.
    """

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 64,
        num_players: int = 4,
        seat: str | int = "random",
        opponents: Opponent | Sequence[Opponent] = "greedy",
        illegal: str = "lose",
        reward: str = "win",
        seed: int | None = None,
        **options: Any,
    ) -> None:
        check_options(find_game(game), options, type(self))
        self._games = LearnerGames(game, num_envs, num_players, seat, opponents, illegal, reward, options)
        self._actions = np.zeros(self._games.num_games, np.int64)
        super().__init__(self._games.num_games, self._games.observation_space, self._games.action_space)
        self.seed(seed)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Use this seed for all games at the next reset (None: entropy from the system); return it for each game."""
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self._seeds = [seed] * self.num_envs
        return self._seeds

    def reset(self) -> NDArray[np.uint8]:
        """Begin all games anew, from the seed given since the last reset if there is one; return observation (N, L)."""
        if any(options != self._options[0] for options in self._options):
            raise IceError("the games of one SB3VecEnv share their options: give set_options() one dictionary")
        self._games.reset(self._seeds[0], self._options[0])
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{"seat": int(seat)} for seat in self._games.seats]
        return self._games.observe()[0]

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions (N,) for `step_wait`; raise IceError unless they are N whole numbers of the action space."""
        self._actions = self._games.checked(actions)

    def step_wait(self) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play; return observation (N, L), reward (N,) float32, done (N,) bool and the infos, empty but at an end."""
        turn = self._games.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row, last, info in self._games.finish(turn):
            infos[row] = info | {"terminal_observation": last, "TimeLimit.truncated": bool(turn.truncated[row])}
        done = turn.terminated | turn.truncated
        return self._games.observe()[0], turn.reward.astype(np.float32), done, infos

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _action_mask(self, row: int) -> NDArray[np.bool_]:
        return self._games.action_masks()[row]

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return `render_mode`, `game`, `num_players` or `action_masks` of each game; others raise AttributeError."""
        rows = self._get_indices(indices)
        if attr_name == "action_masks":
            return [partial(self._action_mask, row) for row in rows]
        values = {"render_mode": None, "game": self._games.game.name, "num_players": self._games.num_players}
        if attr_name not in values:
            raise AttributeError(f"the games of an SB3VecEnv have no attribute {attr_name!r}")
        return [values[attr_name] for _ in rows]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Raise AttributeError: the games are made alike and stay so."""
        raise AttributeError(f"the games of an SB3VecEnv have no attribute {attr_name!r} to set")

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """Call `action_masks()`, the one method that games have: a mask (A,) bool for each."""
        if method_name != "action_masks":
            raise AttributeError(f"the games of an SB3VecEnv have no method {method_name!r}")
        return list(self._games.action_masks()[list(self._get_indices(indices))])

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Return False for each game: they have no wrappers."""
        return [False for _ in self._get_indices(indices)]

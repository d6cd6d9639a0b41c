"""The Gymnasium faces: one seat of a game against agents, as a single environment and as a native vector one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ice_envs.engine.game import Game
from ice_envs.errors import IceError, whole_number
from ice_envs.faces.common import RENDER_FPS, RENDER_MODES, check_options, check_render_mode, show
from ice_envs.faces.learner import LearnerGames, Opponent
from ice_envs.games import find_game

MOST_GAMES = 1 << 24


class SingleSeatEnv(gymnasium.Env[NDArray[np.uint8], Any]):
    """One seat of a game; the other seats are played by `opponents` between two steps.

    The observation is the flat vector (L,) uint8 of the learner's seat; `action_masks()` and `info["action_mask"]` say
    what is legal. `info["seat"]` is the learner's seat. At the end of an episode `info["scores"]` and
    `info["win_shares"]` (seats,) begin with the learner's own, or `info["illegal_action"]` says why it lost.

    Args:
        game, num_players, seat, opponents, illegal, reward: see `LearnerGames`.
        render_mode: `"ansi"` (text), `"human"` (printed) or None.
        options: the game's rule options.

    Raises IceError for bad arguments.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": RENDER_FPS}  # noqa: RUF012 – Gymnasium's way

    def __init__(
        self,
        game: str | Game,
        num_players: int = 4,
        seat: str | int = "random",
        opponents: Opponent | Sequence[Opponent] = "greedy",
        illegal: str = "lose",
        reward: str = "win",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        check_options(find_game(game), options, type(self))
        self.metadata = {**self.metadata, "notes": find_game(game).notes}
        self._games = LearnerGames(game, 1, num_players, seat, opponents, illegal, reward, options)
        self.observation_space = self._games.observation_space
        self.action_space = self._games.action_space
        self._live = False

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin an episode; return observation and info.

        Args:
            seed: the episode is game 0 of this seed, game `i` with `options={"game": i}`: the one that a vector
                environment of the same arguments plays at place `i`. Without a seed the random streams go on.
            options: rule options until the next reset, such as `{"target_score": 5}`; unknown keys are ignored.
        """
        super().reset(seed=seed)
        new = seed is not None or not self._games.begun
        first = whole_number("options['game']", (options or {}).get("game", 0), 0, MOST_GAMES)
        if first and not new:
            raise IceError("options['game'] is the number of a seed's game: give reset() the seed too")
        self._games.reset(self.np_random_seed if new else None, options, first)
        self._live = True
        return self._observe()

    def step(self, action: Any) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Play an action, and then the opponents to the learner's next turn or the end.

        Raises IceError for anything but a whole number of the action space and after the end of the episode;
        IllegalAction, with `illegal="raise"`, for an action that the mask forbids.
        """
        if not self._live:
            raise IceError("there is no episode to step: call reset() first")
        chosen = whole_number("action", action, 0, self._games.game.num_actions - 1)
        turn = self._games.step(np.array([chosen]))
        terminated, truncated = bool(turn.terminated[0]), bool(turn.truncated[0])
        self._live = not (terminated or truncated)
        observation, info = self._observe()
        return observation, float(turn.reward[0]), terminated, truncated, info

    def _observe(self) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        observation, _ = self._games.observe()
        if self.render_mode == "human":
            self.render()
        return observation[0], self._games.info(0)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal (A,) bool, as sb3-contrib asks for it; all False at the end."""
        return self._games.action_masks()[0]

    def render(self) -> str | None:
        """Show the table as the learner sees it: `"ansi"` returns the text, `"human"` prints it."""
        return show(self._games.game, self._games.states, int(self._games.seats[0]), self.render_mode)


class SingleSeatVectorEnv(VectorEnv[NDArray[np.uint8], Any, NDArray[Any]]):
    """Many games at once, each like a `SingleSeatEnv`; games that end begin anew in the same step (SAME_STEP).

    `infos` hold what Gymnasium's SyncVectorEnv gathers: `action_mask` (N, A), `seat` (N,), at an end `final_obs` and
    `final_info`, each with a boolean mask `_key` (N,). Rewards are float64. All arrays are fresh.

    Args:
        game, num_players, seat, opponents, illegal, reward: see `LearnerGames`.
        num_envs: number of games N.
        render_mode: only None.
        autoreset_mode: only `AutoresetMode.SAME_STEP`.
        options: the game's rule options.

    Raises IceError for bad arguments.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 – as above

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        num_players: int = 4,
        seat: str | int = "random",
        opponents: Opponent | Sequence[Opponent] = "greedy",
        illegal: str = "lose",
        reward: str = "win",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP,
        **options: Any,
    ) -> None:
        if autoreset_mode is not AutoresetMode.SAME_STEP:
            raise IceError(f"games restart in the same step: use AutoresetMode.SAME_STEP, not {autoreset_mode}")
        if render_mode is not None:
            raise IceError(f"many games have no picture: use a single environment for render_mode={render_mode!r}")
        check_options(find_game(game), options, type(self))
        self.metadata = {**self.metadata, "notes": find_game(game).notes}
        self._games = LearnerGames(game, num_envs, num_players, seat, opponents, illegal, reward, options)
        self.num_envs = self._games.num_games
        self.single_observation_space = self._games.observation_space
        self.single_action_space = self._games.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin all games anew; return observation (N, L) and infos.

        Args:
            seed: one whole number for all games; see `LearnerGames` for the rule. Without it the random streams go on.
            options: rule options until the next reset; unknown keys are ignored, `reset_mask` is refused.
        """
        if options and "reset_mask" in options:
            raise IceError("reset_mask is for AutoresetMode.DISABLED: these games restart in the same step")
        super().reset(seed=seed)
        new = seed is not None or not self._games.begun
        self._games.reset(self.np_random_seed if new else None, options)
        observation, mask = self._games.observe()
        return observation, self._infos(mask)

    def step(
        self, actions: Any
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one action (N,) in each game, and then the opponents; ended games begin anew.

        Raises IceError unless the actions are N whole numbers of the action space; IllegalAction, with
        `illegal="raise"`, if a mask forbids one.
        """
        if not self._games.begun:
            raise IceError("there are no games to step: call reset() first")
        turn = self._games.step(self._games.checked(actions))
        infos: dict[str, Any] = {}
        for row, last, info in self._games.finish(turn):
            infos = self._add_info(infos, {"final_obs": last, "final_info": info}, row)
        observation, mask = self._games.observe()
        return observation, *turn, infos | self._infos(mask)

    def _infos(self, mask: NDArray[np.int8]) -> dict[str, Any]:
        here = np.ones(self.num_envs, np.bool_)
        return {"action_mask": mask, "_action_mask": here, "seat": self._games.seats.copy(), "_seat": here.copy()}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal in each game: (N, A) bool."""
        return self._games.action_masks()

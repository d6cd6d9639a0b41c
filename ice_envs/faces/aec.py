"""The PettingZoo face: one game, whose seats are asked one after the other (AEC)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.errors import IllegalAction, choose, whole_number
from ice_envs.faces.common import (
    ILLEGAL_REWARD,
    RENDER_FPS,
    RENDER_MODES,
    check_options,
    check_render_mode,
    checked_state,
    next_game,
    observation_box,
    reset_options,
    show,
)

Observation = dict[str, NDArray[Any]]


def aec_metadata(game: Game) -> dict[str, Any]:
    """Return what PettingZoo calls an environment's metadata."""
    return {
        "render_modes": RENDER_MODES,
        "name": f"{game.name}_v{game.version}",
        "is_parallelizable": False,
        "render_fps": RENDER_FPS,
        "notes": game.notes,
    }


class CardGameEnv(AECEnv[str, Observation, Any]):  # type: ignore[misc]  # PettingZoo ships no types
    """Any of the games, as PettingZoo's AEC: seat `i` of the table is `player_i`.

    An observation is `{"observation": (L,) uint8, "action_mask": (A,) int8}`. The mask is all zero unless the agent is
    to move; `infos[agent]["action_mask"]` is the same. What is handed out is a copy, never overwritten later.

    Args:
        game: the Game.
        num_players: seats at the table.
        reward: `"win"` (zero-sum utility of the win share, at the end), `"score"` (points as they are scored) or
            `"margin"` (points minus the mean of the others').
        render_mode: `"ansi"`, `"human"` or None.
        options: the game's rule options.

    Raises IceError for bad arguments. Copies (`copy.deepcopy`, `pickle`) go on from the middle of a game.
    """

    metadata: dict[str, Any]

    def __init__(
        self, game: Game, num_players: int = 4, reward: str = "win", render_mode: str | None = None, **options: Any
    ) -> None:
        super().__init__()
        self.game = game
        self.metadata = aec_metadata(game)
        self.num_players = game.check_table(num_players)
        self.render_mode = check_render_mode(render_mode)
        self._reward_kind = loops.REWARDS.index(choose("reward", reward, loops.REWARDS))
        check_options(game, options, type(self))
        self._options = options
        game.make_options(options)
        self.possible_agents = [f"player_{seat}" for seat in range(num_players)]
        self.agents: list[str] = []
        self._num_actions = game.num_actions
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: Discrete(game.num_actions) for agent in self.possible_agents}
        self._seats = {agent: np.array([seat]) for seat, agent in enumerate(self.possible_agents)}
        self._states: States = np.zeros(0, game.dtype)
        self._action = np.zeros(1, np.int64)
        self._reward, self._scores, self._shares = np.zeros((3, 1, num_players))
        self._done, self._truncated = np.zeros((2, 1), np.bool_)

    def _observation_space(self) -> Dict:
        mask = Box(0, 1, (self._num_actions,), np.int8)
        return Dict({"observation": observation_box(self.game), "action_mask": mask})

    def observation_space(self, agent: str) -> Dict:
        """Return the space of the agent's observations: the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of the agent's actions: the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a game.

        Args:
            seed: the game is game 0 of this seed (`generator.game_seeds`). Without a seed the next game goes on with
                the last one's random stream; the very first takes entropy from the system.
            options: rule options for this game only, such as `{"target_score": 5}`; other keys are ignored.

        Raises IceError for a bad value of an option.
        """
        chosen = {**self._options, **reset_options(self.game, options)}
        self._states = next_game(self.game, self.num_players, chosen, seed, self._states)
        self._enter()

    def _enter(self) -> None:
        """Set all that PettingZoo reads as at the beginning of a game, or in its middle with no rewards due."""
        over, truncated = bool(self._states["over"][0]), bool(self._states["truncated"][0])
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, over and not truncated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self.infos = {agent: {"action_mask": self._no_action()} for agent in self.agents}
        self._skip_agent_selection = None
        self._select()
        if self.render_mode == "human":
            self.render()

    def _select(self) -> None:
        """Turn to the seat to move and put its mask into its info."""
        mask = np.empty((1, self._num_actions), np.int8)
        loops.legal_games(self._states, mask)
        self.agent_selection = self.possible_agents[self._states["to_move"][0]]
        self.infos[self.agent_selection] = {"action_mask": mask[0]}

    def _no_action(self) -> NDArray[np.int8]:
        return np.zeros(self._num_actions, np.int8)

    def step(self, action: Any) -> None:
        """Play an action of the agent to move, or take None from an agent whose game is over.

        Raises IceError for anything but a whole number in range, and IllegalAction, naming the action and the legal
        ones, if the mask forbids it; nothing has changed then.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._action[0] = whole_number("action", action, 0, self._num_actions - 1)
        if loops.first_illegal(self._states, self._action, self._num_actions) == 0:
            raise IllegalAction(loops.why_illegal(self.game, self._states, int(self._action[0])))
        self._play(agent)
        if self.render_mode == "human":
            self.render()

    def _play(self, agent: str) -> None:
        loops.step_games(
            self._states,
            self._action,
            self._reward_kind,
            False,
            self._reward,
            self._done,
            self._truncated,
            self._scores,
            self._shares,
        )
        self._cumulative_rewards[agent] = 0.0
        for name, reward in zip(self.agents, self._reward[0].tolist(), strict=True):
            self.rewards[name] = reward
            self._cumulative_rewards[name] += reward
        if self._done[0]:
            ends = self.truncations if self._truncated[0] else self.terminations
            ends.update(dict.fromkeys(self.agents, True))
        self.infos[agent] = {"action_mask": self._no_action()}
        self._select()

    def observe(self, agent: str) -> Observation:
        """Return what the agent observes, and its mask: fresh arrays."""
        observation = np.empty((1, self.game.layout.size), np.uint8)
        mask = np.empty((1, self._num_actions), np.int8)
        loops.observe_seats(self._states, self._seats[agent], observation, mask)
        if self.terminations.get(agent, True):  # the wrapper for illegal moves ends games whose state is not over
            mask[:] = 0
        return {"observation": observation[0], "action_mask": mask[0]}

    def render(self) -> str | None:
        """Show the table as the agent to move sees it: `"ansi"` returns the text, `"human"` prints it."""
        return show(self.game, self._states, int(self._states["to_move"][0]), self.render_mode)

    def get_state(self) -> bytes:
        """Return the whole game as bytes, hidden cards and random stream included."""
        return self._states.tobytes()

    def set_state(self, state: bytes | States | np.record) -> None:
        """Go to a state: bytes from `get_state`, or a record of this game such as `batch.states[3]`.

        All agents of a game that is not over are in it, and no rewards are due. To keep rewards that have not been
        read, copy the environment instead. Raises IceError for a state of another game or table size.
        """
        self._states = checked_state(self.game, self.num_players, state)
        self._enter()


class TerminateIllegal(TerminateIllegalWrapper[str, Observation, Any]):  # type: ignore[misc]  # as above
    """PettingZoo's wrapper that ends a game with a loss for an illegal action, judging by the mask of this moment.

    The original judges by the mask that was last observed, which is outdated after `set_state`, and is slower.
    """

    env: CardGameEnv

    def observe(self, agent: str) -> Observation:
        """Return what the agent observes, and its mask."""
        return self.env.observe(agent)

    def step(self, action: Any) -> None:
        """Play an action, or end the game if it is illegal; no info offers an action then."""
        env = self.env
        if action is None or env.infos[env.agent_selection]["action_mask"][action]:
            env.step(action)
            return
        self._prev_obs = env.observe(env.agent_selection)
        super().step(action)
        for info in env.infos.values():
            info["action_mask"] = np.zeros_like(info["action_mask"])


def wrapped(env: CardGameEnv) -> OrderEnforcingWrapper[str, Observation, Any]:
    """Return the environment in the wrappers of PettingZoo's classic games, in their order."""
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegal(env, illegal_reward=ILLEGAL_REWARD)))

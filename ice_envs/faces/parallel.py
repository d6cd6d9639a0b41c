"""The parallel face of PettingZoo: one game, whose seats act at the same time.

For games that declare `Game.simultaneous`. A step collects an action of every seat and gives the rules those of the
seats that decide at this moment, in the rules' own order: the AEC face plays the same game from the same decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.errors import IceError, IllegalAction, choose, nearest, whole_number
from ice_envs.faces.aec import Observation
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

Infos = dict[str, dict[str, Any]]
Step = tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], Infos]


class ParallelCardGameEnv(ParallelEnv[str, Observation, Any]):  # type: ignore[misc]  # PettingZoo ships no types
    """A game whose seats act at the same time, as PettingZoo's ParallelEnv: seat `i` of the table is `player_i`.

    An observation is `{"observation": (L,) uint8, "action_mask": (A,) int8}`; `infos[agent]["action_mask"]` is the same
    mask. Seats that are not asked in a step may only do nothing, and their mask has that action alone. Moments at which
    nobody is asked are no steps. What is handed out is a copy, never overwritten later.

    Args:
        game: the Game.
        num_players: seats at the table.
        reward: `"win"` (zero-sum utility of the win share, at the end), `"score"` (points as they are scored) or
            `"margin"` (points minus the mean of the others').
        render_mode: `"ansi"`, `"human"` or None; the table is shown as the first agent that is asked sees it.
        illegal: `"lose"` ends the game with −1 for each agent whose action is illegal and 0 for the others, and says
            so in its info as `illegal_action`; `"raise"` refuses the step with an error.
        options: the game's rule options.

    Raises IceError for bad arguments. Copies (`copy.deepcopy`, `pickle`) go on from the middle of a game.
    """

    metadata: dict[str, Any]

    def __init__(
        self,
        game: Game,
        num_players: int = 4,
        reward: str = "win",
        render_mode: str | None = None,
        illegal: str = "lose",
        **options: Any,
    ) -> None:
        super().__init__()
        if game.simultaneous is None:
            raise IceError(f"{game.name} has no parallel face: its seats act one after the other")
        self.game, self._together = game, game.simultaneous
        self.metadata = parallel_metadata(game)
        self.num_players = game.check_table(num_players)
        self.render_mode = check_render_mode(render_mode)
        self.illegal = choose("illegal", illegal, ("lose", "raise"))
        self._reward_kind = loops.REWARDS.index(choose("reward", reward, loops.REWARDS))
        check_options(game, options, type(self))
        self._options = options
        game.make_options(options)
        self.possible_agents = [f"player_{seat}" for seat in range(num_players)]
        self.agents: list[str] = []
        mask = Box(0, 1, (game.num_actions,), np.int8)
        self.observation_spaces = {
            agent: Dict({"observation": observation_box(game), "action_mask": mask}) for agent in self.possible_agents
        }
        self.action_spaces = {agent: Discrete(game.num_actions) for agent in self.possible_agents}
        self._states: States = np.zeros(0, game.dtype)

    def observation_space(self, agent: str) -> Dict:
        """Return the space of the agent's observations: the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of the agent's actions: the same object at every call."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Begin a game; return observations and infos.

        Args:
            seed: the game is game 0 of this seed (`generator.game_seeds`). Without a seed the next game goes on with
                the last one's random stream; the very first takes entropy from the system.
            options: rule options for this game only; other keys are ignored.

        Raises IceError for a bad value of an option.
        """
        chosen = {**self._options, **reset_options(self.game, options)}
        self._states = next_game(self.game, self.num_players, chosen, seed, self._states)
        self.agents = self.possible_agents[:]
        if self.render_mode == "human":
            self.render()
        return self._told(self._masks())

    def asked(self) -> list[str]:
        """Return the agents that decide in the next step, in the order in which the rules take their actions."""
        if not self.agents:
            return []
        return [self.possible_agents[seat] for seat in self._together.asked(self._states[0])]

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Play one action of each agent; return observations, rewards, terminations, truncations and infos.

        Raises IceError unless there is a whole number in range for every agent. For `illegal="raise"` raises
        IllegalAction, naming the action and the legal ones. Nothing has changed then.
        """
        chosen = self._checked(actions)
        masks = self._masks()
        wrong = [agent for agent in self.agents if not masks[agent][chosen[agent]]]
        if wrong and self.illegal == "raise":
            raise IllegalAction(self._why_illegal(wrong[0], chosen[wrong[0]]))
        result = self._lost(wrong, chosen) if wrong else self._played(chosen)
        if self.render_mode == "human":
            self.render()
        return result

    def _checked(self, actions: Mapping[str, Any]) -> dict[str, int]:
        if not self.agents:
            raise IceError("the game has not begun or is over: call reset()")
        for name in actions:
            if name not in self.agents:
                raise IceError(f"there is no agent {name!r}{nearest(name, self.agents)}")
        for agent in self.agents:
            if agent not in actions:
                raise IceError(f"actions lacks {agent!r}: every agent acts in every step")
        most = self.game.num_actions - 1
        return {agent: whole_number(f"action of {agent}", actions[agent], 0, most) for agent in self.agents}

    def _masks(self) -> dict[str, NDArray[np.int8]]:
        """Return each agent's mask (A,): doing nothing alone for those that are not asked."""
        masks = self._no_actions()
        asked = self._together.asked(self._states[0])
        for seat, mask in enumerate(masks.values()):
            if seat in asked:
                loops.legal_games(self._as_seat(seat), mask[None])
            else:
                mask[self._together.idle] = 1
        return masks

    def _no_actions(self) -> dict[str, NDArray[np.int8]]:
        return {agent: np.zeros(self.game.num_actions, np.int8) for agent in self.possible_agents}

    def _as_seat(self, seat: int) -> States:
        """Return the game with another of the seats to move that decide at this moment."""
        states = self._states.copy()
        states["to_move"] = seat
        return states

    def _why_illegal(self, agent: str, action: int) -> str:
        seat = self.possible_agents.index(agent)
        if seat in self._together.asked(self._states[0]):
            return loops.why_illegal(self.game, self._as_seat(seat), action)
        labels, idle = self.game.labels, self._together.idle
        return (
            f"{labels[action]!r} ({action}) is illegal for {agent}, which is not asked; legal: {labels[idle]} ({idle})"
        )

    def _played(self, chosen: Mapping[str, int]) -> Step:
        """Play the actions of the agents that are asked, in the rules' order."""
        due = np.zeros((1, self.num_players))
        reward, scores, shares = np.zeros((3, 1, self.num_players))
        done, truncated = np.zeros((2, 1), np.bool_)
        for agent in self.asked():
            action = np.array([chosen[agent]])
            kind = self._reward_kind
            loops.step_games(self._states, action, kind, False, reward, done, truncated, scores, shares)
            due += reward
        rewards = dict(zip(self.agents, due[0].tolist(), strict=True))
        return self._ended(rewards, bool(done[0]), bool(truncated[0]), {})

    def _lost(self, wrong: list[str], chosen: Mapping[str, int]) -> Step:
        """End the game with a loss for the agents whose actions are illegal."""
        rewards = {agent: ILLEGAL_REWARD if agent in wrong else 0.0 for agent in self.agents}
        return self._ended(rewards, True, False, {agent: {"illegal_action": chosen[agent]} for agent in wrong})

    def _ended(self, rewards: dict[str, float], done: bool, truncated: bool, notes: Infos) -> Step:
        """Return what a step tells, and dismiss the agents if it was the last one."""
        observations, infos = self._told(self._no_actions() if done else self._masks())
        for agent, note in notes.items():
            infos[agent].update(note)
        terminations = dict.fromkeys(self.agents, done and not truncated)
        truncations = dict.fromkeys(self.agents, truncated)
        if done:
            self.agents = []
        return observations, rewards, terminations, truncations, infos

    def _told(self, masks: Mapping[str, NDArray[np.int8]]) -> tuple[dict[str, Observation], Infos]:
        """Return all observations and infos, with copies of the masks."""
        seats = len(self.possible_agents)
        out = np.empty((seats, self.game.layout.size), np.uint8)
        scratch = np.empty((seats, self.game.num_actions), np.int8)
        loops.observe_seats(self._states.repeat(seats), np.arange(seats), out, scratch)
        observations = {
            agent: {"observation": row.copy(), "action_mask": masks[agent]}
            for agent, row in zip(self.possible_agents, out, strict=True)
        }
        return observations, {agent: {"action_mask": masks[agent].copy()} for agent in self.possible_agents}

    def render(self) -> str | None:
        """Show the table as the first agent that is asked sees it: `"ansi"` returns the text, `"human"` prints it."""
        return show(self.game, self._states, int(self._states["to_move"][0]), self.render_mode)

    def get_state(self) -> bytes:
        """Return the whole game as bytes, hidden cards and random stream included."""
        return self._states.tobytes()

    def set_state(self, state: bytes | States | np.record) -> tuple[dict[str, Observation], Infos]:
        """Go to a state, and return observations and infos as `reset` does.

        The state is bytes from `get_state`, or a record of this game such as `batch.states[3]`. All agents of a game
        that is not over are in it. Raises IceError for a state of another game or table size.
        """
        self._states = checked_state(self.game, self.num_players, state)
        over = bool(self._states["over"][0])
        self.agents = [] if over else self.possible_agents[:]
        if self.render_mode == "human":
            self.render()
        return self._told(self._no_actions() if over else self._masks())


def parallel_metadata(game: Game) -> dict[str, Any]:
    """Return what PettingZoo calls an environment's metadata."""
    return {"render_modes": RENDER_MODES, "name": f"{game.name}_v{game.version}", "render_fps": RENDER_FPS}

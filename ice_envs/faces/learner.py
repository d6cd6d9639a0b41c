"""One seat's point of view: games in which a learner sits at one seat and agents at the others.

Gymnasium's single and vector environments and the VecEnv of Stable-Baselines3 are views of `LearnerGames`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from ice_envs.agents import Agent, checked_choice, load
from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.engine.generator import game_seeds, random_for_row
from ice_envs.errors import IceError, IllegalAction, choose, whole_number
from ice_envs.faces.common import ILLEGAL_REWARD, observation_box, reset_options
from ice_envs.games import find_game

Opponent = str | Path | Agent


class Turn(NamedTuple):
    """What one step brought the learner of each game: reward (N,) float64, terminated and truncated (N,) bool."""

    reward: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


class Ending(NamedTuple):
    """How an episode ended: its place among the games, the learner's last observation (L,) and its info."""

    row: int
    observation: NDArray[np.uint8]
    info: dict[str, Any]


class LearnerGames:
    """N games, each with one learner; between the learner's turns the opponents play, in all games together.

    The seed rule: game `i` of seed `s` begins with the deal of game `i` of `Batch(…, seed=s)`. The learner's seats come
    from a stream of each game's own, and the opponents are reseeded. So a game is the same in every number of games,
    but for opponents that draw: they draw for all games from one stream.

    Args:
        game: a name from `ice_envs.games()`, or a Game.
        num_games: number of games N.
        num_players: seats at each table.
        seat: the learner's seat, or `"random"`: another one drawn for every episode.
        opponents: what `ice_envs.agents.load` takes, or an Agent, for all other seats; or a list of them, one for each
            other seat, clockwise from the learner.
        illegal: `"lose"` ends the episode with reward −1 when the learner's action is illegal, `"raise"` refuses it
            with IllegalAction and leaves all games as they were.
        reward: `"win"`, `"score"` or `"margin"`, as in Batch; all that the learner's seat got since its last turn.
        options: the game's rule options.

    Raises IceError for bad arguments.
    """

    def __init__(
        self,
        game: str | Game,
        num_games: int,
        num_players: int = 4,
        seat: str | int = "random",
        opponents: Opponent | Sequence[Opponent] = "greedy",
        illegal: str = "lose",
        reward: str = "win",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.game = find_game(game)
        self.num_games = whole_number("the number of games", num_games, 1, 1 << 24)
        self.num_players = self.game.check_table(num_players)
        self.illegal = choose("illegal", illegal, ("lose", "raise"))
        self.observation_space = observation_box(self.game)
        self.action_space = Discrete(self.game.num_actions)
        self.states: States = np.zeros(0, self.game.dtype)
        self.seats = np.zeros(self.num_games, np.int64)
        self._raw = np.dtype((np.void, self.game.dtype.itemsize))
        self._seat = seat if seat == "random" else whole_number("seat, if not 'random',", seat, 0, self.num_players - 1)
        self._options = dict(options or {})
        self.game.make_options(self._options)
        self._reward_kind = loops.REWARDS.index(choose("reward", reward, loops.REWARDS))
        self._load_opponents(opponents)
        seats = (self.num_games, self.num_players)
        self._due, self._scores, self._shares = np.zeros((3, *seats))
        self._illegal_actions = np.full(self.num_games, -1)
        self._mask = np.zeros((self.num_games, self.game.num_actions), np.int8)
        self._seat_seeds = np.zeros(self.num_games, np.uint64)
        self._episodes = np.zeros(self.num_games, np.int64)

    def _load_opponents(self, opponents: Opponent | Sequence[Opponent]) -> None:
        """Load the agents; `_agent_at[place]` is who sits `place` seats clockwise from the learner."""
        self._agent_at = np.zeros(self.num_players, np.int64)
        if isinstance(opponents, Opponent) or not isinstance(opponents, Sequence):
            specs = [opponents]
        elif len(opponents) == self.num_players - 1:
            specs = list(opponents)
            self._agent_at[1:] = range(len(specs))
        else:
            raise IceError(f"a table of {self.num_players} has {self.num_players - 1} opponents, not {len(opponents)}")
        self._agent_at[0] = -1
        self._agents = [self._load_opponent(spec) for spec in specs]

    def _load_opponent(self, spec: Opponent) -> Agent:
        if not isinstance(spec, Opponent):
            raise IceError(f"an opponent is an agent's spec, such as 'greedy', or an Agent, not {spec!r}")
        agent = spec if isinstance(spec, Agent) else load(spec, self.game)
        if agent.game is not None and agent.game is not self.game:
            raise IceError(f"opponent {agent.name!r} plays {agent.game.name}, not {self.game.name}")
        return agent

    @property
    def begun(self) -> bool:
        """Whether there has been a reset."""
        return len(self.states) > 0

    def reset(self, seed: int | None, options: Mapping[str, Any] | None = None, first: int = 0) -> None:
        """Begin all games anew and play to each learner's first turn.

        Args:
            seed: these are games `first` … `first + N - 1` of this seed. None goes on with the games' random streams;
                at the very first reset it takes entropy from the system.
            options: rule options for all episodes until the next reset; other keys are ignored.
            first: see `seed`.
        """
        chosen = {**self._options, **reset_options(self.game, options)}
        if seed is None and self.begun:
            seeds = self.states["rng"].copy()
        else:
            seeds = self._seed(np.random.SeedSequence(seed), first)
        self.states = loops.new_states(self.game, [self.num_players] * self.num_games, chosen, seeds)
        self._open(np.arange(self.num_games))

    def _seed(self, root: np.random.SeedSequence, first: int) -> NDArray[np.uint64]:
        """Begin all random streams anew; return the generator states of the games (N,)."""
        for_seats, *for_agents = root.spawn(1 + len(self._agents))
        self._seat_seeds = game_seeds(for_seats, first + self.num_games)[first:]
        self._episodes[:] = 0
        for agent, sequence in zip(self._agents, for_agents, strict=True):
            agent.reseed(sequence)
        return game_seeds(root, first + self.num_games)[first:]

    def _restart(self, rows: NDArray[np.int64]) -> None:
        """Begin new episodes in these games and play to the learner's first turn."""
        games = self._take(rows)
        loops.start_games(games)
        self._put(rows, games)
        self._open(rows)

    def _open(self, rows: NDArray[np.int64]) -> None:
        """Seat the learners of games that have just begun and let the opponents before them play."""
        for row in rows:
            drawn = random_for_row(self._seat_seeds[row], self._episodes[row], self.num_players)
            self.seats[row] = drawn if self._seat == "random" else self._seat
        self._episodes[rows] += 1
        self._due[rows] = 0.0
        self._illegal_actions[rows] = -1
        self._play_opponents()
        over = rows[self.states["over"][rows] != 0]
        if len(over):  # the learner never had a turn: not an episode
            self._restart(over)

    def _take(self, rows: NDArray[np.int64]) -> States:
        """Return copies of some games, as raw bytes: NumPy would copy records field by field, forty times slower."""
        return self.states.view(self._raw)[rows].view(self.game.dtype)

    def _put(self, rows: NDArray[np.int64], games: States) -> None:
        self.states.view(self._raw)[rows] = games.view(self._raw)

    def observe(self) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        """Return each learner's observation (N, L) and mask (N, A), all zero at an episode's end: fresh arrays."""
        observation = np.empty((self.num_games, self.game.layout.size), np.uint8)
        loops.observe_seats(self.states, self.seats, observation, self._mask)
        self._mask[self._illegal_actions >= 0] = 0
        return observation, self._mask.copy()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return each learner's mask (N, A) as last observed."""
        return self._mask.astype(np.bool_)

    def checked(self, actions: Any) -> NDArray[np.int64]:
        """Return actions (N,) as int64; raise IceError unless they are N whole numbers of the action space."""
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_games,) or chosen.dtype.kind not in "iu":
            raise IceError(
                f"actions must be {self.num_games} whole numbers, not {chosen.dtype} of shape {chosen.shape}"
            )
        for action in (chosen.min(), chosen.max()):
            whole_number("action", action, 0, self.game.num_actions - 1)
        return chosen.astype(np.int64, copy=False)

    def step(self, actions: NDArray[np.int64]) -> Turn:
        """Play each learner's action (N,), `checked`, and then the opponents until every game waits or is over."""
        illegal = self._mask[np.arange(self.num_games), actions] == 0
        if self.illegal == "raise" and illegal.any():
            row = int(illegal.argmax())
            why = loops.why_illegal(self.game, self.states[row : row + 1], int(actions[row]))
            raise IllegalAction(why if self.num_games == 1 else f"game {row}: {why}")
        self._illegal_actions = np.where(illegal, actions, -1)
        rows = np.flatnonzero(~illegal)
        self._play(rows, actions[rows])
        self._play_opponents()
        reward = np.where(illegal, ILLEGAL_REWARD, self._due[np.arange(self.num_games), self.seats])
        self._due[:] = 0.0
        truncated = self.states["truncated"] != 0
        return Turn(reward, (self.states["over"] != 0) & ~truncated | illegal, truncated)

    def _play(self, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Play legal actions (M,) in games `rows` (M,); note rewards due, and scores and win shares where one ends."""
        games = self._take(rows)
        reward, scores, shares = np.zeros((3, len(rows), self.num_players))
        done, truncated = np.zeros((2, len(rows)), np.bool_)
        loops.step_games(games, actions, self._reward_kind, False, reward, done, truncated, scores, shares)
        self._put(rows, games)
        self._due[rows] += reward
        self._scores[rows[done]], self._shares[rows[done]] = scores[done], shares[done]

    def _play_opponents(self) -> None:
        """Let the opponents play until every game waits for its learner or is over."""
        while True:
            place = (self.states["to_move"] - self.seats) % self.num_players
            who = np.where(self.states["over"] != 0, -1, self._agent_at[place])
            if who.max() < 0:
                return
            for i, agent in enumerate(self._agents):
                rows = np.flatnonzero(who == i)
                if len(rows):
                    self._play(rows, checked_choice(agent, self.game, self._take(rows)))

    def info(self, row: int) -> dict[str, Any]:
        """Return the info of one game: `seat`, `action_mask` (A,) int8 and, at an end, what `SingleSeatEnv` says."""
        info = {"action_mask": self._mask[row].copy(), "seat": int(self.seats[row])}
        if self._illegal_actions[row] >= 0:
            info["illegal_action"] = int(self._illegal_actions[row])
        elif self.states["over"][row]:
            order = (self.seats[row] + np.arange(self.num_players)) % self.num_players
            info |= {"scores": self._scores[row, order], "win_shares": self._shares[row, order]}
        return info

    def finish(self, turn: Turn) -> list[Ending]:
        """Begin new episodes where a turn ended one, and return how those ended."""
        ended = np.flatnonzero(turn.terminated | turn.truncated)
        if not len(ended):
            return []
        observation = np.empty((len(ended), self.game.layout.size), np.uint8)
        mask = np.empty((len(ended), self.game.num_actions), np.int8)
        loops.observe_seats(self._take(ended), self.seats[ended], observation, mask)
        self._mask[ended] = 0
        endings = [Ending(int(row), last, self.info(int(row))) for row, last in zip(ended, observation, strict=True)]
        self._restart(ended)
        return endings

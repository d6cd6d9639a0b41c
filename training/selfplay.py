"""Self-play: one batched forward pass a step over all games, and every learning seat's decisions are learned from.

Each (game, seat) is a chain of its own: the reward and the next value of a decision come from the *same seat's* next
decision, however many other seats have moved in between. A decision whose successor lies past the end of a rollout is
carried over and learned from in the next one, so none is lost and none is bootstrapped from another seat's view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ice_envs.agents import Agent
from ice_envs.engine.batch import Batch
from ice_envs.engine.game import States
from ice_envs.engine.jit import compiled
from training.network import ActorCritic


class Decisions(NamedTuple):
    """Decisions to learn from, one a row: D games' records before them, and (D, L), (D, A) and (D,) arrays."""

    states: States
    observation: NDArray[np.uint8]
    mask: NDArray[np.int8]
    action: NDArray[np.int64]
    log_probability: NDArray[np.float32]
    value: NDArray[np.float32]
    advantage: NDArray[np.float32]

    def map(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Decisions:
        """Return the decisions with `function` applied to every array."""
        return Decisions._make(function(part) for part in self)


@compiled
def chain_advantages(
    seat: Any,
    reward: Any,
    done: Any,
    value: Any,
    carried: Any,
    earned: Any,
    gamma: float,
    trace: float,
    advantage: Any,
    pending: Any,
    pending_earned: Any,
) -> None:
    """Generalized advantage estimation (Schulman et al. 2016) along each seat's own chain of decisions.

    T steps of N games with S seats. Rows 0 … T·N − 1 of `value` and `advantage` are the rollout's decisions (row
    step·N + game), the N·S rows after them the decisions carried over (row T·N + game·S + seat).

    Args:
        seat: (T, N) who decided.
        reward: (T, N, S) every seat's reward of each step.
        done: (T, N) whether the step ended the game.
        value: (T·N + N·S,) the value each decision was given.
        carried: (N, S) bool, which carried rows hold a decision.
        earned: (N, S) what each carried decision has earned so far.
        gamma: discount from one decision of a seat to its next.
        trace: the λ of generalized advantage estimation.
        advantage: (T·N + N·S,) written; NaN for rows that are not to be learned from (yet).
        pending: (N, S) written: the row of the seat's decision whose successor has not been seen, or −1.
        pending_earned: (N, S) written: what that decision has earned so far.
    """
    steps, games = seat.shape
    seats = carried.shape[1]
    gained, next_value, next_advantage = np.zeros(seats), np.zeros(seats), np.zeros(seats)
    known = np.zeros(seats, np.bool_)
    pending[:] = -1
    advantage[:] = np.nan
    for game in range(games):
        gained[:], known[:] = 0.0, False
        for step in range(steps - 1, -1, -1):
            if done[step, game]:
                gained[:], known[:], next_value[:], next_advantage[:] = 0.0, True, 0.0, 0.0
            for other in range(seats):
                gained[other] += reward[step, game, other]
            me, row = seat[step, game], step * games + game
            if known[me]:
                now = advantage_of(value[row], gained[me], next_value[me], next_advantage[me], gamma, trace)
                advantage[row] = next_advantage[me] = now
            else:
                pending[game, me], pending_earned[game, me] = row, gained[me]
                next_advantage[me] = 0.0
            next_value[me] = value[row]
            gained[me], known[me] = 0.0, True
        for me in range(seats):
            row = steps * games + game * seats + me
            total = earned[game, me] + gained[me]
            if carried[game, me] and known[me]:
                advantage[row] = advantage_of(value[row], total, next_value[me], next_advantage[me], gamma, trace)
            elif carried[game, me]:
                pending[game, me], pending_earned[game, me] = row, total


@compiled
def advantage_of(
    value: float, earned: float, next_value: float, next_advantage: float, gamma: float, trace: float
) -> float:
    """Return the advantage of a decision from what it earned and the seat's next one."""
    surprise = earned + gamma * next_value - value
    return surprise + gamma * trace * next_advantage


class Opponents(NamedTuple):
    """Seats that a fixed agent plays instead of the learner."""

    agent: Agent
    seats: NDArray[np.bool_]
    """(N, S) which seats of which games."""


class SelfPlay:
    """Plays the learner against itself in a batch of games and hands out decisions with their advantages.

    Args:
        batch: the games; they go on from rollout to rollout.
        network: chooses for the learning seats.
        opponents: seats that are not the learner's; nothing is learned from their decisions.
        horizon: steps of all games in a rollout (T).
        gamma: discount from one decision of a seat to its next.
        trace: the λ of generalized advantage estimation.

    `carried` (N, S) and `earned` (N, S), with the last N·S rows of `rows`, are what one rollout leaves to the next.
    """

    def __init__(
        self,
        batch: Batch,
        network: ActorCritic,
        opponents: list[Opponents],
        horizon: int,
        gamma: float,
        trace: float,
    ) -> None:
        self.batch, self.network, self.opponents = batch, network, opponents
        self.horizon, self.gamma, self.trace = horizon, gamma, trace
        games, seats = batch.last_shares.shape
        self._games = np.arange(games)
        self._learning = np.ones((games, seats), np.bool_)
        for part in opponents:
            self._learning &= ~part.seats
        rows = games * (horizon + seats)
        self.rows = Decisions(
            states=np.zeros(rows, batch.game.dtype),
            observation=np.zeros((rows, batch.game.layout.size), np.uint8),
            mask=np.zeros((rows, batch.game.num_actions), np.int8),
            action=np.zeros(rows, np.int64),
            log_probability=np.zeros(rows, np.float32),
            value=np.zeros(rows, np.float32),
            advantage=np.zeros(rows, np.float32),
        )
        self.carried = np.zeros((games, seats), np.bool_)
        self.earned = np.zeros((games, seats), np.float32)
        self._seat = np.zeros((horizon, games), np.int64)
        self._reward = np.zeros((horizon, games, seats), np.float32)
        self._done = np.zeros((horizon, games), np.bool_)

    def rollout(self, seed: np.random.SeedSequence) -> Decisions:
        """Play `horizon` steps of all games; return the decisions that are ready to be learned from.

        All that is drawn, but for the games' own chance, comes from `seed`.
        """
        own, *others = seed.spawn(1 + len(self.opponents))
        generator = np.random.default_rng(own)
        for part, stream in zip(self.opponents, others, strict=True):
            part.agent.reseed(stream)
        for step in range(self.horizon):
            self._step(step, generator)
        pending = np.empty(self.carried.shape, np.int64)
        pending_earned = np.zeros_like(self.earned)
        chain_advantages(
            self._seat,
            self._reward,
            self._done,
            self.rows.value,
            self.carried,
            self.earned,
            self.gamma,
            self.trace,
            self.rows.advantage,
            pending,
            pending_earned,
        )
        ready = ~np.isnan(self.rows.advantage)
        ready[: self._seat.size] &= self._learning[self._games, self._seat].reshape(-1)
        decisions = self.rows.map(lambda part: part.take(np.flatnonzero(ready), axis=0))
        pending[~self._learning] = -1
        self._carry(pending, pending_earned)
        return decisions

    def waiting(self) -> Decisions:
        """Return the carried rows as views: N·S rows, of which `carried` says which are in use."""
        return self.rows.map(lambda part: part[self._seat.size :])

    def _step(self, step: int, generator: np.random.Generator) -> None:
        """Play one action in every game and note it down."""
        observation, mask, seat = self.batch.observe()
        games = len(seat)
        here = self.rows.map(lambda part: part[step * games : (step + 1) * games])
        here.states.view(np.uint8)[:] = self.batch.states.view(np.uint8)  # records are copied field by field
        here.observation[:], here.mask[:] = observation, mask
        mine = np.flatnonzero(self._learning[self._games, seat])
        here.action[mine], here.log_probability[mine], here.value[mine] = sample(
            self.network, observation.take(mine, axis=0), mask.take(mine, axis=0), generator
        )
        for agent, seats in self.opponents:
            theirs = np.flatnonzero(seats[self._games, seat])
            here.action[theirs] = agent.choose(self.batch.states.take(theirs))
        self._seat[step] = seat
        self._reward[step], self._done[step] = self.batch.step(here.action)

    def _carry(self, pending: NDArray[np.int64], earned: NDArray[np.float32]) -> None:
        """Move the decisions that wait for their successor behind the rollout's rows."""
        self.carried, self.earned = pending >= 0, earned
        source = pending[self.carried]
        target = self._seat.size + np.flatnonzero(self.carried)
        for part in self.rows:
            part[target] = part.take(source, axis=0)


def torch_generator(seed: np.random.SeedSequence) -> torch.Generator:
    """Return a torch generator that begins where `seed` says."""
    return torch.Generator().manual_seed(int(seed.generate_state(1, np.uint64)[0] >> np.uint64(1)))


def sample(
    network: ActorCritic, observation: NDArray[Any], mask: NDArray[Any], generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
    """Draw an action (B,) from the network's policy; return it with its log-probability (B,) and the value (B,)."""
    logits, value = network.answer(observation, mask)
    action, log_probability = np.empty(len(mask), np.int64), np.empty(len(mask), np.float32)
    draw_actions(logits.cpu().numpy(), mask, generator.random(len(mask)), action, log_probability)
    return action, log_probability, value.cpu().numpy()


@compiled
def draw_actions(logits: Any, mask: Any, draws: Any, action: Any, log_probability: Any) -> None:
    """Draw a legal action (B,) of each row by the softmax of its logits (B, A), with its log-probability (B,).

    `draws` (B,) are uniform from 0 to 1. Only legal actions are looked at: few of the many.
    """
    for i in range(len(logits)):
        highest, total, chosen = -np.inf, 0.0, 0
        for a in range(mask.shape[1]):
            if mask[i, a]:
                highest = max(highest, logits[i, a])
        for a in range(mask.shape[1]):
            if mask[i, a]:
                total += np.exp(logits[i, a] - highest)
        left = draws[i] * total
        for a in range(mask.shape[1]):
            if mask[i, a] and left >= 0.0:
                chosen = a
                left -= np.exp(logits[i, a] - highest)
        action[i] = chosen
        log_probability[i] = logits[i, chosen] - highest - np.log(total)

"""A search as teacher: the policy learns the gains that flat Monte-Carlo search finds for every legal action.

Or the win shares that a tree search finds which the network itself guides, round and round: expert iteration (Anthony,
Tian and Barber, "Thinking fast and slow with deep learning and tree search", 2017).

With a bonus for what the greedy baseline would do, the search overrules it only where it finds enough to gain;
learning the bonus alone, for a while, costs no search and begins a run at the strength of the baseline.

A game's outcome says little about one decision; a search says something about each of its actions. The gains are
regressed rather than the best action imitated: with few playouts they are noisy, and a mean forgives noise that a
maximum does not. So are the tree's, where each action counts as often as it was tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ice_envs.agents.search import SearchAgent
from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.engine.playouts import action_values
from ice_envs.errors import IceError, check_range, whole_number
from training.network import ActorCritic, NetworkAgent
from training.selfplay import Decisions


@dataclass(frozen=True)
class TeacherSettings:
    """Settings of the taught part of a run."""

    share: float = 0.9
    """The part of the run in which the search teaches; in the rest the policy learns from its own games alone."""
    playouts: int = 6
    """Playouts for each legal action at the largest table; smaller ones, whose rounds are shorter, get more."""
    skilled: int = 2
    """In so many of these everybody plays on as the greedy baseline does, in the others at random."""
    greedy_bonus: float = 0.0
    """Points that are added to the gain of the greedy baseline's action."""
    imitate_until: float = 0.0
    """Until this part of the run there is this bonus alone and no search: the policy learns to play as the baseline."""
    skilled_after: float = 0.45
    """Until this part of the run all playouts are random: they teach less, but five times as fast."""
    simulations: int = 0
    """Simulations for each position of the tree search, guided by the network, that teaches after the flat one."""
    tree_after: float = 0.5
    """From this part of the run on the tree search teaches, if it has simulations."""
    win_bonus: float = 4.0
    """What winning is worth to the search, in points, besides the points of the round."""
    temperature: float = 0.25
    """Points by which an action must be better to be e times as probable."""
    tree_temperature: float = 0.015
    """The same for what the tree search finds, as a part of the games won."""
    policy_weight: float = 0.25
    """Weight of the squared error of the policy's scores, beside the value's."""
    minibatch: int = 1024
    """Decisions in one step of the optimizer."""
    passes: int = 1
    """Times that each position that was searched is learned from: at once, then again while it is remembered."""
    memory: int = 0
    """Positions that are remembered, the newest; needed for more than one pass."""

    def __post_init__(self) -> None:
        check_range("teacher.share", self.share, 0, 1)
        whole_number("teacher.playouts", self.playouts, 1, 1 << 20)
        whole_number("teacher.skilled", self.skilled, 0, self.playouts)
        check_range("teacher.greedy_bonus", self.greedy_bonus, 0)
        check_range("teacher.imitate_until", self.imitate_until, 0, 1)
        if self.imitate_until and not self.greedy_bonus:
            raise IceError("teacher.imitate_until needs a teacher.greedy_bonus of more than 0: what is to be learned")
        check_range("teacher.skilled_after", self.skilled_after, 0, 1)
        whole_number("teacher.simulations", self.simulations, 0, 1 << 20)
        check_range("teacher.tree_after", self.tree_after, 0, 1)
        check_range("teacher.win_bonus", self.win_bonus, 0)
        check_range("teacher.temperature", self.temperature, 1e-6)
        check_range("teacher.tree_temperature", self.tree_temperature, 1e-6)
        check_range("teacher.policy_weight", self.policy_weight, 0)
        whole_number("teacher.minibatch", self.minibatch, 1, 1 << 30)
        whole_number("teacher.passes", self.passes, 1, 1 << 10)
        whole_number("teacher.memory", self.memory, 0, 1 << 30)
        if self.passes > 1 and not self.memory:
            raise IceError("teacher.passes of more than 1 need a teacher.memory: how many positions to remember")


def playouts_at(game: Game, num_players: int, playouts: int) -> int:
    """Return as many playouts at a table as take the time of `playouts` at the largest: shorter rounds allow more."""
    options = game.make_options({})
    longest = game.longest_game(game.table_sizes[-1], options)
    return max(round(playouts * longest / game.longest_game(num_players, options)), playouts)


def greedy_gains(game: Game, states: States, bonus: float) -> NDArray[np.float32]:
    """Return gains (N, A): `bonus` points for the greedy baseline's action, nothing for all others."""
    actions = np.empty(len(states), np.int64)
    loops.greedy_actions(states, actions)
    gains = np.zeros((len(states), game.num_actions), np.float32)
    gains[np.arange(len(states)), actions] = bonus
    return gains


def search_gains(
    game: Game, states: States, settings: TeacherSettings, seed: np.random.SeedSequence, threads: int
) -> NDArray[np.float32]:
    """Return each legal action's mean gain in points (N, A), 0 elsewhere; the same for any number of threads."""
    gains = np.zeros((len(states), game.num_actions), np.float32)
    stream = seed.generate_state(1, np.uint64)[0]

    def search(rows: NDArray[np.int64], first: int) -> None:
        """Value the actions of positions of one table size."""
        playouts = playouts_at(game, int(states[rows[0]].num_players), settings.playouts)
        skilled = round(playouts * settings.skilled / settings.playouts)
        found, scratch = gains.take(rows, axis=0), np.zeros(2, game.dtype)
        action_values(states.take(rows), playouts, skilled, settings.win_bonus, stream, scratch, first, found)
        gains[rows] = found

    by_table = np.argsort(states["num_players"], kind="stable")
    tables = np.flatnonzero(np.diff(states["num_players"][by_table])) + 1
    shares = [len(states) * i // threads for i in range(threads + 1)]
    edges = np.unique([*shares, *tables])
    with ThreadPoolExecutor(threads) as pool:
        for job in [pool.submit(search, by_table[first:stop], first) for first, stop in pairwise(edges)]:
            job.result()
    return gains


def tree_values(
    game: Game, states: States, network: ActorCritic, simulations: int, seed: np.random.SeedSequence, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return each action's win share (N, A) in a tree search that the network guides, and how often it was tried."""
    searcher = SearchAgent(f"search:{simulations}", seed=seed, policy=NetworkAgent(network, game), num_threads=threads)
    found = searcher.search(states)
    return found.values, found.visits


class Lessons(NamedTuple):
    """Positions with what is to be learned of them, one a row."""

    states: States
    scores: NDArray[np.float16]
    """(N, A) what the policy's scores should be, up to a constant."""
    weights: NDArray[np.float16]
    """(N, A) how much each score counts; all together as many as there are legal actions."""
    returns: NDArray[np.float32]
    """(N,) what the value should be."""

    def take(self, rows: NDArray[np.int64]) -> Lessons:
        """Return some of the lessons."""
        return Lessons._make(part.take(rows, axis=0) for part in self)

    def and_then(self, others: Lessons) -> Lessons:
        """Return these lessons and then the others."""
        pairs: Iterator[tuple[NDArray[Any], NDArray[Any]]] = zip(self, others, strict=True)
        return Lessons._make(np.concatenate(pair) for pair in pairs)


class Memory:
    """The newest lessons, at most `rows`; the oldest give way. `added` lessons have been put in so far."""

    def __init__(self, game: Game, rows: int) -> None:
        scores, weights = np.zeros((2, rows, game.num_actions), np.float16)
        self.lessons = Lessons(np.zeros(rows, game.dtype), scores, weights, np.zeros(rows, np.float32))
        self.added = 0

    def add(self, lessons: Lessons) -> None:
        """Remember lessons, of more than there is room for the last."""
        rows = len(self.lessons.returns)
        kept = min(len(lessons.returns), rows)
        places = (self.added + np.arange(kept)) % max(rows, 1)
        pairs: Iterator[tuple[NDArray[Any], NDArray[Any]]] = zip(self.lessons, lessons, strict=True)
        for part, new in pairs:
            part[places] = new[len(new) - kept :]
        self.added += kept

    def draw(self, count: int, generator: np.random.Generator) -> Lessons:
        """Return so many lessons, each drawn from all that are remembered; none if nothing is."""
        known = min(self.added, len(self.lessons.returns))
        return self.lessons.take(generator.integers(known, size=count) if known else np.zeros(0, np.int64))


@dataclass(frozen=True)
class Teacher:
    """Teaches a network what a search finds, a flat one or a tree, or how the greedy baseline plays.

    What the search finds goes into the memory, and is learned from again later; the baseline is asked anew.
    """

    game: Game
    settings: TeacherSettings
    value_weight: float
    max_grad_norm: float
    threads: int
    memory: Memory
    method: Literal["greedy", "flat", "tree"] = "flat"

    def learn(
        self,
        network: ActorCritic,
        optimizer: torch.optim.Optimizer,
        decisions: Decisions,
        seed: np.random.SeedSequence,
    ) -> dict[str, float]:
        """Improve the network on these decisions; return means over the minibatches for the curves.

        Decisions without a choice teach nothing; if there are no others, the network stays as it is.
        """
        searching, shuffling = seed.spawn(2)
        generator = np.random.default_rng(shuffling)
        lessons = self.lessons(network, decisions, searching)
        count = len(lessons.returns)
        if count == 0:
            return {}
        if self.method != "greedy" and self.settings.passes > 1:
            again = self.memory.draw((self.settings.passes - 1) * count, generator)
            self.memory.add(lessons)
            lessons = lessons.and_then(again)
        order = generator.permutation(len(lessons.returns))
        minibatches = np.array_split(order, max(len(order) // self.settings.minibatch, 1))
        totals = np.zeros(2)
        for rows in minibatches:
            totals += self._step(network, optimizer, lessons.take(rows))
        policy_mean, value_mean = totals / len(minibatches)
        return {"teacher_loss": float(policy_mean), "value_loss": float(value_mean)}

    def lessons(self, network: ActorCritic, decisions: Decisions, seed: np.random.SeedSequence) -> Lessons:
        """Return what there is to learn of the decisions that were a choice."""
        real = np.flatnonzero(decisions.mask.sum(axis=1) > 1)
        states, mask, settings = decisions.states.take(real), decisions.mask.take(real, axis=0), self.settings
        scores: NDArray[Any]
        weights: NDArray[Any]
        if self.method == "tree":
            values, visits = tree_values(self.game, states, network, settings.simulations, seed, self.threads)
            scores = values / settings.tree_temperature
            weights = visits * (mask.sum(axis=1) / visits.sum(axis=1))[:, None]
        else:
            gains = greedy_gains(self.game, states, settings.greedy_bonus)
            if self.method == "flat":
                gains += search_gains(self.game, states, settings, seed, self.threads)
            scores, weights = gains / settings.temperature, mask
        returns = (decisions.value + decisions.advantage).take(real)
        return Lessons(states, scores.astype(np.float16), weights.astype(np.float16), returns)

    def _step(self, network: ActorCritic, optimizer: torch.optim.Optimizer, lessons: Lessons) -> tuple[float, float]:
        """Make one step of the optimizer; return the losses of policy and value."""
        observation, mask = loops.observed(self.game, lessons.states)
        device = next(network.parameters()).device
        legal = torch.from_numpy(mask).to(device).float()
        scores = torch.from_numpy(lessons.scores).to(device).float()
        weights = torch.from_numpy(lessons.weights).to(device).float()
        logits, value = network(torch.from_numpy(observation).to(device).float(), legal)
        miss = centered(logits, weights) - centered(scores, weights)
        policy_loss = (weights * miss**2).sum(dim=1).mean()
        value_loss = torch.nn.functional.mse_loss(value[:, 0], torch.from_numpy(lessons.returns).to(device))
        optimizer.zero_grad(set_to_none=True)
        (self.settings.policy_weight * policy_loss + self.value_weight * value_loss).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), self.max_grad_norm)
        optimizer.step()
        return policy_loss.item(), value_loss.item()


def centered(scores: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return scores (B, A) less their weighted mean, 0 where the weight is: what a softmax cannot see is gone."""
    kept = torch.where(weights > 0, scores, 0)
    mean = (kept * weights).sum(dim=1, keepdim=True) / weights.sum(dim=1, keepdim=True)
    return torch.where(weights > 0, kept - mean, 0)

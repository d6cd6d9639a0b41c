"""Agents that think with the rules: tree search and flat Monte-Carlo, by the number of simulations or by time."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ice_envs.agents.agent import Agent, game_of
from ice_envs.engine import search, tree
from ice_envs.engine.game import Game, States
from ice_envs.errors import IceError, whole_number

PREFIXES = ("search:", "search-flat:")
MOST_SIMULATIONS = 1 << 30
LONGEST = 3_600_000
"""Milliseconds of a move."""
_NUMBER = re.compile(r"(-?\d{1,20})(ms)?")
"""More digits than are allowed, to say so; of thousands Python makes no number."""
CHUNK = 16
"""Simulations between two looks at the clock."""
TIMED_NODES = 1 << 16
"""Decisions in the tree of a search that is limited by time."""
GROUP_NODES = 1 << 16
"""Positions are searched in groups, whose trees have together so many nodes, or are one."""
LARGEST_GROUP = 256
_LEAST_PRIOR = 1e-4
"""A policy's probability below this is taken for it: every legal action may be tried."""


class SearchSpec(NamedTuple):
    """What `search:400+path/agent.json` says: how to search, for how long, and by which policy."""

    flat: bool
    simulations: int | None
    milliseconds: int | None
    policy: str | None


class Policy(Protocol):
    """What can guide a search, such as a PortableAgent."""

    game: Game

    def check(self, states: States) -> None:
        """Raise IceError for games that the policy does not play."""

    def answer(self, observation: NDArray[Any], mask: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return masked logits (N, A) and values (N,) of observations (N, L) and masks of legal actions (N, A)."""


class Found(NamedTuple):
    """What a search found in N games: the choice (N,), and of each action the simulations and mean values (N, A)."""

    actions: NDArray[np.int64]
    visits: NDArray[np.int64]
    values: NDArray[np.float64]
    """Estimated win share of the seat to move; 0 for actions that were not tried."""


def read_spec(spec: str) -> SearchSpec:
    """Return what a spec that begins with one of `PREFIXES` says; raise IceError, in one sentence, if it is not one."""
    kind, _, rest = spec.partition(":")
    limit, plus, policy = rest.partition("+")
    found = _NUMBER.fullmatch(limit)
    if not found:
        raise IceError(
            f"{spec!r:.80} must be {kind}:<simulations> or {kind}:<milliseconds>ms, such as {kind}:1000 or {kind}:50ms"
        )
    flat = kind == "search-flat"
    if plus and flat:
        raise IceError(f"a flat search takes no policy: {spec!r} must be {kind}:{limit}, or search:{rest}")
    if plus and not policy:
        raise IceError(f"{spec!r} names no policy after the +: give the path of its agent.json")
    number, timed = int(found[1]), found[2] is not None
    what = f"the {'milliseconds' if timed else 'simulations'} of {spec!r}"
    whole_number(what, number, 1, LONGEST if timed else MOST_SIMULATIONS)
    return SearchSpec(flat, None if timed else number, number if timed else None, policy or None)


class SearchAgent(Agent):
    """Searches each position, drawing anew in each simulation what the seat to move cannot know.

    Limited by simulations, the same seed and the same calls give the same choices, on any number of threads. Each of
    several positions gets the whole limit.

    Args:
        spec: as `agents.load` takes it.
        game: the game to play; None for whichever it is shown.
        seed: of the agent's own random stream.
        policy: whose probabilities guide the search, such as the agent named in the spec.
        num_threads: positions searched side by side; None for as many as there are processors.
    """

    def __init__(
        self,
        spec: str,
        game: Game | None = None,
        seed: int | np.random.SeedSequence = 0,
        policy: Policy | None = None,
        num_threads: int | None = None,
    ) -> None:
        self.name = spec
        self.game = policy.game if policy else game
        self.spec = read_spec(spec)
        self.policy = policy
        self.num_threads = _processors() if num_threads is None else whole_number("num_threads", num_threads, 1, 1024)
        self._forests: dict[str, list[tree.Tree]] = {}
        self.reseed(seed)

    def reseed(self, seed: int | np.random.SeedSequence) -> None:
        """Begin the random stream anew."""
        self._generator = np.random.default_rng(seed)

    def choose(self, states: States) -> NDArray[np.int64]:
        """Return the action (N,) found for each of N games."""
        return self.search(states).actions

    def search(self, states: States) -> Found:
        """Return what is chosen in each of N games, and why."""
        game = self.game or game_of(states)
        if self.policy:
            self.policy.check(states)
        count, actions = len(states), game.num_actions
        found = Found(np.zeros(count, np.int64), np.zeros((count, actions), np.int64), np.zeros((count, actions)))
        seed = self._generator.integers(1 << 64, dtype=np.uint64)
        size = self._group_size()

        def search_group(first: int) -> None:
            """Search the positions from `first` on that share a forest."""
            rows = slice(first, min(first + size, count))
            out = Found(found.actions[rows], found.visits[rows], found.values[rows])
            self._search_group(game, states[rows], np.arange(count)[rows], seed, out)

        _run(search_group, range(0, count, size), self.num_threads)
        if (found.actions < 0).any():
            raise IceError(f"agent {self.name!r} was asked for an action in a game that is over")
        return found

    def _nodes(self) -> int:
        return min(self.spec.simulations or TIMED_NODES, tree.MOST_NODES)

    def _group_size(self) -> int:
        """Return how many positions share the calls of compiled code and policy; one that has its own clock."""
        return 1 if self.spec.milliseconds else max(min(GROUP_NODES // self._nodes(), LARGEST_GROUP), 1)

    def _search_group(self, game: Game, states: States, rows: NDArray[np.int64], seed: np.uint64, out: Found) -> None:
        flat, guided = self.spec.flat, self.policy is not None
        spare = self._forests.setdefault(game.name, [])
        forest = spare.pop() if spare else tree.new_forest(game, self._group_size(), self._nodes(), guided)
        counts = forest.counts[: len(states)]
        search.plant(states, forest, flat, guided)
        limit, deadline = self.spec.simulations or 0, np.inf
        if self.spec.milliseconds:
            deadline = time.perf_counter() + self.spec.milliseconds / 1000
        while True:
            self._answer(game, forest, counts)
            if self.spec.milliseconds:
                limit += CHUNK
            search.grow(states, rows, seed, forest, limit, flat, guided, game.search)
            least = counts[:, tree.DONE].min()
            if least >= (self.spec.simulations or search.DECIDED) or time.perf_counter() >= deadline:
                break
        search.write_results(states, forest, flat, game.search.doubt, out.visits, out.values, out.actions)
        spare.append(forest)

    def _answer(self, game: Game, forest: tree.Tree, counts: NDArray[np.int64]) -> None:
        """Give the nodes that ask for a prior the policy's probabilities, those of all positions at once."""
        asking = np.flatnonzero(counts[:, tree.ASKING] >= 0)
        if self.policy is None or len(asking) == 0:
            return
        mask = forest.mask[asking]
        logits, _ = self.policy.answer(forest.observation[asking, : game.layout.size], mask)
        chances = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True)) * mask
        search.answer(forest, asking, np.maximum(chances / chances.sum(axis=1, keepdims=True), _LEAST_PRIOR))


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run(work: Callable[[int], None], parts: Any, threads: int) -> None:
    """Do all parts of the work on several threads, or on this one if a single one is enough."""
    if min(threads, len(parts)) < 2:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(min(threads, len(parts))) as pool:
        for _ in pool.map(work, parts):
            pass

"""How the benchmark measures, and its sections on the games themselves: a function each, of things timed in turn."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pettingzoo
from pettingzoo.env_registry.exceptions import FailedToImport
from rich.console import Console
from rich.progress import track

from ice_envs.engine.batch import Batch
from ice_envs.engine.game import Game, States, apply, determinize, legal
from ice_envs.engine.generator import mix
from ice_envs.engine.jit import compiled
from ice_envs.engine.playouts import ALL_MOVES, action_values, finish_round

Work = Callable[[], float]
"""Does a piece of work and returns how much that was."""
Sample = Callable[[], float]
"""Measures once and returns the value."""

SECONDS, RATIO, DIFFERENCE = "s", "×", "s more"
FIRST_GAMES = 64
CHUNK = 256
SEARCHED_GAMES = 256
PLAYOUTS = 8
NEIGHBOR = "classic/connect_four-v3"

_IMPORTS = """
import time
began = time.perf_counter()
import numpy, numba, gymnasium, pettingzoo{more}
print(time.perf_counter() - began)
"""
_FIRST_STEP = """
import time
import ice_envs
began = time.perf_counter()
batch = ice_envs.Batch({game!r}, {games}, num_players={num_players})
batch.step(batch.observe()[1].argmax(axis=1))
print(time.perf_counter() - began)
"""


class Measurement(NamedTuple):
    """One thing that was measured, some times over. Without values it could not be, and `note` says why."""

    name: str
    unit: str
    values: list[float]
    settings: dict[str, Any]
    note: str = ""


@dataclass(frozen=True)
class Effort:
    """How much is measured; the defaults are the full benchmark."""

    seconds: float = 0.3
    """The least time of one measurement of a speed."""
    repeats: int = 7
    slow_repeats: int = 3
    """Repeats of what takes seconds in itself: training, and processes that compile."""
    games: int | None = None
    """Games that training plays side by side; None, here and below: as in the game's default settings."""
    horizon: int | None = None
    """Actions played in each of them between two rounds of learning."""
    minibatch: int | None = None
    """Decisions in one step of the optimizer."""
    stock_games: tuple[int, ...] = (64, 256, 1024)
    """Numbers of games that stock MaskablePPO is tried with."""
    stock_horizon: int = 2048
    """Actions between two rounds of learning where it keeps its own defaults."""


QUICK = Effort(0.01, 2, 1, games=64, horizon=16, minibatch=256, stock_games=(64,), stock_horizon=64)


@dataclass(frozen=True)
class Bench:
    """What every section needs to know."""

    game: Game
    num_players: int
    threads: int
    seed: int
    effort: Effort
    console: Console

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return the settings of a measurement: the table, then its own."""
        return {"env": self.game.name, "num_players": self.num_players, **more}

    def in_turn(self, what: str, samples: Sequence[Sample], repeats: int) -> list[list[float]]:
        """Return each sample's values, taken in turn (A B A B …) behind a progress bar.

        In turn, because what else the machine does then disturbs all of them alike.
        """
        values: list[list[float]] = [[] for _ in samples]
        quiet = not self.console.is_terminal
        for _ in track(range(repeats), f"Measuring {what}", console=self.console, transient=True, disable=quiet):
            for sample, found in zip(samples, values, strict=True):
                found.append(sample())
        return values

    def speeds(self, what: str, works: Iterable[Work]) -> list[list[float]]:
        """Return the speeds of each work, in units of work per second, after a warm-up."""
        samples = [partial(speed, work, self.effort.seconds) for work in works]
        for sample in samples:
            sample()
        return self.in_turn(what, samples, self.effort.repeats)


def speed(work: Work, seconds: float) -> float:
    """Return the units of work done per second, working for at least `seconds`."""
    done, began = 0.0, time.perf_counter()
    while True:
        done += work()
        elapsed = time.perf_counter() - began
        if elapsed >= seconds:
            return done / elapsed


def core_share(seconds: float = 0.1) -> float:
    """Return the part of one core that this process gets when it asks for all of it."""
    began, used = time.perf_counter(), time.process_time()
    while (elapsed := time.perf_counter() - began) < seconds:
        pass
    return (time.process_time() - used) / elapsed


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Return the ratio of values that were measured one after the other."""
    return [a / b for a, b in zip(above, below, strict=True)]


class RandomPlay:
    """Plays a batch at random: masks, the compiled chooser and the step, games that end begin anew.

    With `observed`, observations are written too.
    """

    def __init__(self, bench: Bench, games: int, threads: int, observed: bool) -> None:
        self.batch = Batch(bench.game, games, bench.seed, bench.num_players, threads)
        self._look = self.batch.observe if observed else self.batch.mask
        self._rounds = 0

    def work(self) -> float:
        """Play some rounds of all games; return the number of moves."""
        rounds = max(CHUNK // self.batch.num_games, 1)
        for _ in range(rounds):
            self.round()
        return rounds * self.batch.num_games

    def round(self) -> None:
        """Play one move in every game."""
        self._look()
        self.batch.step(self.batch.random_actions(self._rounds))
        self._rounds += 1


def batch(bench: Bench) -> list[Measurement]:
    """Measure random play of many games at once, by games, threads, and whether observations are written."""
    found = []
    for games in (1, 64, 1024, 16384):
        kinds = [(threads, observed) for threads in sorted({1, bench.threads}) for observed in (True, False)]
        plays = [RandomPlay(bench, games, threads, observed) for threads, observed in kinds]
        speeds = bench.speeds(f"{games:,} games", [play.work for play in plays])
        by_kind = dict(zip(kinds, speeds, strict=True))
        for (threads, observed), values in by_kind.items():
            kind = f"{plural(threads, 'thread')}, {'' if observed else 'not '}observed"
            name = f"{plural(games, 'game')}, {kind}"
            settings = bench.settings(games=games, threads=threads, observed=observed)
            found.append(Measurement(name, "moves/s", values, settings))
        if games > 1 and bench.threads > 1:
            gain = ratios(by_kind[bench.threads, True], by_kind[1, True])
            name = f"{plural(games, 'game')}, observed: {bench.threads} threads over 1"
            found.append(Measurement(name, RATIO, gain, bench.settings(games=games, threads=bench.threads)))
    return found


def plural(count: int, thing: str) -> str:
    """Return `1 thing` or `2,000 things`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def aec(bench: Bench) -> list[Measurement]:
    """Measure PettingZoo's interface, ours and that of a game of PettingZoo's own, with random legal actions."""
    works = aec_loops(bench.game.env_id, bench.seed, num_players=bench.num_players)
    try:
        neighbors, note = aec_loops(NEIGHBOR, bench.seed), ""
    except FailedToImport:
        neighbors, note = [], 'not measured: pip install "pettingzoo[classic]"'
    raw, documented, *others = bench.speeds("PettingZoo's interface", works + neighbors)
    raw_neighbor, documented_neighbor = others or ([], [])
    return [
        Measurement("raw loop", "moves/s", raw, bench.settings()),
        Measurement("documented loop", "moves/s", documented, bench.settings()),
        Measurement("raw loop, connect_four", "moves/s", raw_neighbor, {"env": NEIGHBOR}, note),
        Measurement("documented loop, connect_four", "moves/s", documented_neighbor, {"env": NEIGHBOR}, note),
    ]


def aec_loops(env_id: str, seed: int, **arguments: Any) -> list[Work]:
    """Return the works of the raw and the documented loop, each with an environment of its own."""
    raw, documented = (pettingzoo.make("aec", env_id, **arguments) for _ in range(2))
    return [raw_loop(raw.unwrapped, seed), documented_loop(documented, seed)]


def raw_loop(env: Any, seed: int) -> Work:
    """Return the work of observing and stepping an environment without wrappers."""
    generator = np.random.default_rng(seed)
    env.reset(seed=seed)

    def work() -> float:
        """Make CHUNK random moves."""
        for draw in generator.random(CHUNK).tolist():
            actions = env.observe(env.agent_selection)["action_mask"].nonzero()[0]
            env.step(int(actions[int(draw * len(actions))]))
            agent = env.agent_selection
            if env.terminations[agent] or env.truncations[agent]:
                env.reset()
        return CHUNK

    return work


def documented_loop(env: Any, seed: int) -> Work:
    """Return the work of playing one game in the loop that PettingZoo's documentation shows."""
    env.reset(seed=seed)
    for agent in env.possible_agents:
        env.action_space(agent).seed(seed)

    def work() -> float:
        """Play one game; return its moves."""
        moves = 0
        env.reset()
        for agent in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                action = None
            else:
                action = env.action_space(agent).sample(observation["action_mask"])
                moves += 1
            env.step(action)
        return moves

    return work


@compiled
def copy_games(states: Any, scratch: Any) -> None:
    """Copy each record."""
    for i in range(len(states)):
        scratch[i] = states[i]


@compiled
def imagine_games(states: Any, scratch: Any, seed: Any) -> None:
    """Copy each record and redraw what the seat to move cannot know."""
    for i in range(len(states)):
        scratch[i] = states[i]
        determinize(scratch[i], states[i].to_move, mix(seed + np.uint64(i)))


@compiled
def count_imagined_moves(states: Any, playouts: int, skilled: int, seed: Any, scratch: Any, num_actions: int) -> int:
    """Return how many moves `playouts.action_values` plays, `first_row` being 0: the same loop, counting."""
    mask, trial_mask = np.zeros(num_actions, np.int8), np.zeros(num_actions, np.int8)
    choices = np.zeros(num_actions, np.int64)
    moves = 0
    for i in range(len(states)):
        legal(states[i], mask)
        stream = mix(seed + np.uint64(i))
        for playout in range(playouts):
            scratch[0] = states[i]
            determinize(scratch[0], states[i].to_move, mix(stream + np.uint64(playout)))
            for action in range(num_actions):
                if mask[action]:
                    scratch[1] = scratch[0]
                    apply(scratch[1], action)
                    if scratch[1].round_number == scratch[0].round_number:
                        finish_round(scratch[1], ALL_MOVES * (playout < skilled), trial_mask, choices)
                    moves += scratch[1].decisions - scratch[0].decisions
    return moves


def search(bench: Bench) -> list[Measurement]:
    """Measure what a search does: copies, copies with the hidden parts redrawn, moves imagined by flat Monte-Carlo."""
    states = midgame_states(bench)
    scratch, seed = np.zeros_like(states), np.uint64(bench.seed)
    values = np.zeros((len(states), bench.game.num_actions), np.float32)

    def copy() -> float:
        """Copy all positions."""
        copy_games(states, scratch)
        return len(states)

    def redraw() -> float:
        """Copy all positions with their hidden parts drawn anew."""
        imagine_games(states, scratch, seed)
        return len(states)

    def imagine(skilled: int) -> Work:
        """Return the work of flat Monte-Carlo in all positions."""
        moves = count_imagined_moves(states, PLAYOUTS, skilled, seed, scratch, bench.game.num_actions)

        def work() -> float:
            """Value every action of every position; return the moves made."""
            action_values(states, PLAYOUTS, skilled, 1.0, seed, scratch, 0, values)
            return moves

        return work

    works = [copy, redraw, imagine(0), imagine(PLAYOUTS)]
    copies, redrawn, random, greedy = bench.speeds("what a search does", works)
    return [
        Measurement("copies", "copies/s", copies, bench.settings()),
        Measurement("copies, hidden parts redrawn", "copies/s", redrawn, bench.settings()),
        Measurement("imagined moves, random", "moves/s", random, bench.settings(playouts=PLAYOUTS)),
        Measurement("imagined moves, greedy", "moves/s", greedy, bench.settings(playouts=PLAYOUTS)),
    ]


def midgame_states(bench: Bench) -> States:
    """Return games in all phases, played at random."""
    play = RandomPlay(bench, SEARCHED_GAMES, 1, observed=False)
    for _ in range(CHUNK):
        play.round()
    return play.batch.states


def startup(bench: Bench) -> list[Measurement]:
    """Measure imports and the first step in fresh processes, the cache of compiled code being empty or filled."""
    first_step = _FIRST_STEP.format(game=bench.game.name, games=FIRST_GAMES, num_players=bench.num_players)
    with TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"

        def cold() -> float:
            """Take the first step with nothing compiled."""
            shutil.rmtree(cache, ignore_errors=True)
            return in_process(first_step, cache)

        imports: list[Sample] = [partial(in_process, _IMPORTS.format(more=more), cache) for more in ("", ", ice_envs")]
        imports[1]()  # the first one after an edit also compiles the modules to bytecode
        base, ours = bench.in_turn("imports", imports, bench.effort.repeats)
        firsts: list[Sample] = [cold, partial(in_process, first_step, cache)]
        empty, filled = bench.in_turn("the first step", firsts, bench.effort.slow_repeats)
    above = [a - b for a, b in zip(ours, base, strict=True)]
    settings = bench.settings(games=FIRST_GAMES)
    return [
        Measurement("import of numpy, numba, gymnasium, pettingzoo", SECONDS, base, {}),
        Measurement("import of these and ice_envs", SECONDS, ours, {}),
        Measurement("import of ice_envs above its base", DIFFERENCE, above, {}),
        Measurement("first step, cold cache", SECONDS, empty, settings),
        Measurement("first step, warm cache", SECONDS, filled, settings),
    ]


def in_process(program: str, cache: Path) -> float:
    """Return the number that a program prints in a fresh Python, with a given cache of compiled code."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)

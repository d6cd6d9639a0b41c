"""What the tests of the faces share: every game at every table size, random play, and transcripts."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ice_envs.agents import Agent
from ice_envs.engine import loops
from ice_envs.games import NAMES, VERSIONS, find_game
from tests.helpers import masks

SHORT: dict[str, dict[str, Any]] = {
    "dokitto": {"target_score": 1},
    "nokosu_dice": {},
    "ice_split": {},
    "kawaii": {"window_ticks": 1, "reaction_ticks": 30},
}
"""Options that make short games: one round, or few decisions, where there are any."""

EPISODE_STEPS = {"dokitto": 25, "nokosu_dice": 75, "ice_split": 25, "kawaii": 120}
"""Steps of a learner in which about every SHORT game ends once."""

CUT: dict[str, dict[str, Any]] = {"dokitto": {"target_score": 30, "max_rounds": 1}}
"""Options under which every game is truncated, of the games that can be."""

TABLES = [(name, num_players) for name in NAMES for num_players in find_game(name).table_sizes]

games = pytest.mark.parametrize("name", NAMES)
tables = pytest.mark.parametrize(("name", "num_players"), TABLES)
cut_tables = pytest.mark.parametrize(("name", "num_players"), [table for table in TABLES if table[0] in CUT])


def module(name: str) -> Any:
    """Return the game's PettingZoo module."""
    return import_module(f"ice_envs.{name}_v{VERSIONS[name]}")


def gym_id(name: str) -> str:
    return f"ice_envs/{''.join(word.capitalize() for word in name.split('_'))}-v{VERSIONS[name]}"


class Lowest(Agent):
    """An opponent that draws nothing: the lowest legal action."""

    name, game = "lowest", None

    def __init__(self, num_actions: int) -> None:
        self.num_actions = num_actions
        self.asked: list[Any] = []

    def choose(self, states: Any) -> Any:
        self.asked.append(states["to_move"].copy())
        mask = np.zeros((len(states), self.num_actions), np.int8)
        loops.legal_games(states, mask)
        return mask.argmax(1)


def random_action(mask: Any, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def core_mask(env: Any) -> Any:
    """Return the mask that the rules give for the state of an AEC environment."""
    game = env.unwrapped.game
    return masks(game, np.frombuffer(env.get_state(), game.dtype))[0]


def core_record(env: Any) -> Any:
    return np.frombuffer(env.get_state(), env.unwrapped.game.dtype)[0]


def core_points(env: Any) -> tuple[list[float], list[float]]:
    """Return the points and the win shares that the rules give for the state of an AEC environment."""
    game, record = env.unwrapped.game, core_record(env)
    points, shares = np.zeros((2, record.num_players))
    game.rules.score(record, points)
    game.rules.win_share(record, shares)
    return points.tolist(), shares.tolist()


def plain(value: Any) -> Any:
    """Return nested data with arrays as (dtype, shape, bytes), so that == compares all of it."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return [plain(item) for item in value]
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def aec_turns(env: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    """Play a random game from where the environment is; yield each agent and what `last()` told it."""
    for agent in env.agent_iter():
        last = env.last()
        yield agent, last
        env.step(None if last[2] or last[3] else random_action(last[0]["action_mask"], rng))


def aec_transcript(env: Any, seed: int = 0) -> list[Any]:
    """Return all that a random game tells, from where the environment is."""
    return [(agent, plain(last), dict(env.rewards)) for agent, last in aec_turns(env, np.random.default_rng(seed))]


def gym_transcript(env: Any, start: tuple[Any, Any], steps: int, seed: int = 0) -> list[Any]:
    """Return all that some random steps tell, from what the last reset told; episodes that end begin anew."""
    rng, told = np.random.default_rng(seed), [plain(start)]
    info = start[1]
    for _ in range(steps):
        *result, info = env.step(random_action(info["action_mask"], rng))
        told.append(plain([*result, info]))
        if result[2] or result[3]:
            told.append(plain(start := env.reset()))
            info = start[1]
    return told


def vector_transcript(env: Any, start: tuple[Any, Any], steps: int, seed: int = 0) -> list[Any]:
    """Return all that some random steps of a vector environment tell."""
    rng, told = np.random.default_rng(seed), [plain(start)]
    infos = start[1]
    for _ in range(steps):
        *result, infos = env.step([random_action(mask, rng) for mask in infos["action_mask"]])
        told.append(plain([*result, infos]))
    return told


def digest() -> str:
    """Return a digest of games of every face, the same in every process."""
    from ice_envs.faces.gymnasium import SingleSeatEnv, SingleSeatVectorEnv

    told: list[Any] = []
    for name, num_players in TABLES:
        env = module(name).env(num_players=num_players)
        env.reset(seed=7)
        told.append(aec_transcript(env))
        single = SingleSeatEnv(name, num_players, opponents="random")
        told.append(gym_transcript(single, single.reset(seed=7), 40))
        vector = SingleSeatVectorEnv(name, 5, num_players, opponents="random")
        told.append(vector_transcript(vector, vector.reset(seed=7), 40))
    return hashlib.sha256(repr(told).encode()).hexdigest()


def in_process(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a fresh process: warnings as errors, no display, and more environment variables."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
        env={name: value for name, value in os.environ.items() if name != "DISPLAY"} | environment,
        check=False,
    )

"""Agents: everything that chooses actions, behind one contract and one loader."""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ice_envs.agents.agent import Agent, Move, checked_choice
from ice_envs.agents.greedy import GreedyAgent
from ice_envs.agents.random import RandomAgent
from ice_envs.agents.search import PREFIXES, SearchAgent, read_spec
from ice_envs.engine.game import Game
from ice_envs.errors import IceError, nearest
from ice_envs.games import find_game

if TYPE_CHECKING:
    from ice_envs.agents.portable import PortableAgent

__all__ = ["Agent", "GreedyAgent", "Move", "RandomAgent", "SearchAgent", "checked_choice", "load"]

BUILT_IN = ("random", "greedy")
"""The baselines, which take no time to speak of."""


def load(spec: str | Path, game: str | Game | None = None, seed: int | np.random.SeedSequence = 0) -> Agent:
    """Return the agent that `spec` names.

    Args:
        spec: `"random"`, `"greedy"`, a search, or the path of an `agent.json` whose `.onnx` file lies beside it.
            `"search:1000"` does so many simulations for a move, `"search:50ms"` as many as there is time for;
            `"search:400+path/agent.json"` is guided by the policy in the file; `"search-flat:…"` grows no tree.
        game: the game to play. A file knows its own, and a different one is refused; without it the built-in
            agents play whichever game they are shown.
        seed: of the agent's own random stream, if it draws.

    Raises IceError, in one sentence, for an unknown spec or a file that is missing, damaged or of another game.
    """
    chosen = None if game is None else find_game(game)
    if spec == "random":
        return RandomAgent(chosen, seed)
    if spec == "greedy":
        return GreedyAgent(chosen)
    if str(spec).startswith(PREFIXES):
        policy = read_spec(str(spec)).policy
        return SearchAgent(str(spec), chosen, seed, None if policy is None else _load_file(policy, chosen))
    return _load_file(spec, chosen)


def _load_file(spec: str | Path, game: Game | None) -> PortableAgent:
    path = Path(spec)
    if path.suffix != ".json" and not os.path.exists(path):  # a Path would raise an error for long words
        right = nearest(spec, (*BUILT_IN, "search:1000", "path/to/agent.json"))
        raise IceError(f"unknown agent {str(spec)!r:.80}{right}")
    if os.path.isdir(path):
        raise IceError(f"{path} is a folder: give the path of the agent.json in it")
    from ice_envs.agents.portable import load_portable  # brings onnxruntime, an optional extra

    return load_portable(path, game)

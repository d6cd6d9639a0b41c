"""Agents: everything that chooses actions, behind one contract and one loader."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ice_envs.agents.agent import Agent, Move, checked_choice
from ice_envs.agents.greedy import GreedyAgent
from ice_envs.agents.random import RandomAgent
from ice_envs.engine.game import Game
from ice_envs.errors import IceError, nearest
from ice_envs.games import find_game

__all__ = ["Agent", "GreedyAgent", "Move", "RandomAgent", "checked_choice", "load"]

BUILT_IN = ("random", "greedy")


def load(spec: str | Path, game: str | Game | None = None, seed: int | np.random.SeedSequence = 0) -> Agent:
    """Return the agent that `spec` names.

    Args:
        spec: `"random"`, `"greedy"`, or the path of an `agent.json` whose `.onnx` file lies beside it.
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
    path = Path(spec)
    if path.suffix != ".json" and not path.exists():
        raise IceError(f"unknown agent {str(spec)!r}{nearest(spec, (*BUILT_IN, 'path/to/agent.json'))}")
    if path.is_dir():
        raise IceError(f"{path} is a folder: give the path of the agent.json in it")
    from ice_envs.agents.portable import load_portable  # brings onnxruntime, an optional extra

    return load_portable(path, chosen)

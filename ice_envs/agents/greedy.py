"""The agent that plays a game's heuristic baseline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ice_envs.agents.agent import Agent
from ice_envs.engine import loops
from ice_envs.engine.game import Game, States


class GreedyAgent(Agent):
    """Chooses by the game's own heuristic, `greedy(state)`, which reads only what the seat to move knows."""

    def __init__(self, game: Game | None = None) -> None:
        self.name = "greedy"
        self.game = game

    def choose(self, states: States) -> NDArray[np.int64]:
        """Return the heuristic's action (N,) for each of N games."""
        actions = np.empty(len(states), np.int64)
        loops.greedy_actions(states, actions)
        return actions

"""The agent that plays any legal action."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ice_envs.agents.agent import Agent, game_of
from ice_envs.engine import loops
from ice_envs.engine.game import Game, States


class RandomAgent(Agent):
    """Chooses uniformly among the legal actions, from a random stream of its own.

    The same seed and the same calls give the same choices.
    """

    def __init__(self, game: Game | None = None, seed: int | np.random.SeedSequence = 0) -> None:
        self.name = "random"
        self.game = game
        self.reseed(seed)

    def reseed(self, seed: int | np.random.SeedSequence) -> None:
        """Begin the random stream anew."""
        self._generator = np.random.default_rng(seed)

    def choose(self, states: States) -> NDArray[np.int64]:
        """Return a legal action (N,) for each of N games."""
        game = self.game or game_of(states)
        mask = np.empty((len(states), game.num_actions), np.int8)
        actions = np.empty(len(states), np.int64)
        loops.legal_games(states, mask)
        loops.random_actions(mask, self._generator.integers(1 << 64, dtype=np.uint64), actions)
        return actions

"""The network: a shared trunk under a policy and a value head, in sb3-contrib's MaskablePPO policy and file format."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from ice_envs.agents import Agent
from ice_envs.agents.manifest import MASK_FILL
from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.errors import IceError, choose
from ice_envs.faces.sb3 import SB3VecEnv


class ActionScorer(nn.Module):
    """One small network for all actions: what the observation says of an action, and the features of all of it → score.

    What it learns of one action it knows of all: of every color and every number, say.

    Args:
        cells: (A, S) for each action the S cells of the observation that describe it, −1 for none.
        features: how many features of the whole observation there are.
        hidden: widths of its layers.
    """

    def __init__(self, cells: NDArray[np.int64], features: int, hidden: list[int]) -> None:
        super().__init__()
        self.cells: torch.Tensor
        self.known: torch.Tensor
        self.register_buffer("cells", torch.from_numpy(np.maximum(cells, 0)).reshape(-1))
        self.register_buffer("known", torch.from_numpy(cells >= 0).float())
        self.of_action = nn.Linear(cells.shape[1], hidden[0], bias=False)
        self.of_all = nn.Linear(features, hidden[0])
        self.of_index = nn.Parameter(torch.zeros(len(cells), hidden[0]))
        widths = [*hidden, 1]
        self.layers = nn.Sequential(*(part for pair in pairwise(widths) for part in (nn.ReLU(), nn.Linear(*pair))))

    def forward(self, observations: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
        """Return scores (B, A) for scaled observations (B, L) and features (B, F)."""
        described = observations.index_select(1, self.cells).reshape(-1, *self.known.shape) * self.known
        scores: torch.Tensor = self.layers(
            self.of_action(described) + self.of_all(features).unsqueeze(1) + self.of_index
        )
        return scores.squeeze(-1)


class Trunk(BaseFeaturesExtractor):
    """Layers shared by policy and value: observation (B, L) → features (B, hidden[-1]).

    With `action_cells` (see ActionScorer) the scores of the actions (B, A) stand behind these. The observation is
    scaled by its declared upper bounds, so no statistics are needed and an exported network takes raw observations.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        hidden: list[int],
        action_cells: list[list[int]] | None = None,
        action_hidden: list[int] | None = None,
    ) -> None:
        super().__init__(observation_space, features_dim=hidden[-1] + len(action_cells or []))
        self.scale: torch.Tensor
        self.register_buffer("scale", 1.0 / torch.as_tensor(np.maximum(observation_space.high, 1), dtype=torch.float32))
        layers: list[nn.Module] = []
        inputs = int(np.prod(observation_space.shape))
        for outputs in hidden:
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
            inputs = outputs
        self.layers = nn.Sequential(*layers)
        self.scorer = ActionScorer(np.array(action_cells), hidden[-1], action_hidden or []) if action_cells else None

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the features of raw observations."""
        scaled = observations * self.scale
        features: torch.Tensor = self.layers(scaled)
        if self.scorer is None:
            return features
        return torch.cat([features, self.scorer(scaled, features)], dim=1)


class ActorCritic(nn.Module):
    """The network as learner and exporter see it: raw observation and mask → masked logits and value.

    It shares its parameters with the SB3 policy that it is made from.
    """

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.trunk: nn.Module = policy.features_extractor
        self.action_head: nn.Module = policy.action_net
        self.value_head: nn.Module = policy.value_net

    def forward(self, observation: torch.Tensor, action_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return masked logits (B, A) and value (B, 1) for float32 observation (B, L) and mask (B, A), 1 = legal."""
        features = self.trunk(observation)
        return self.action_head(features) + (action_mask - 1.0) * -MASK_FILL, self.value_head(features)

    @torch.no_grad()
    def answer(self, observation: NDArray[Any], mask: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return masked logits (B, A) and values (B,) of NumPy observations and masks of any number type."""
        device = next(self.parameters()).device
        logits, value = self(
            torch.from_numpy(observation).to(device).float(), torch.from_numpy(mask).to(device).float()
        )
        return logits, value[:, 0]


class NetworkAgent(Agent):
    """Plays the most probable legal action of a network, as an exported agent does."""

    game: Game

    def __init__(self, network: ActorCritic, game: Game, name: str = "network") -> None:
        self.network, self.game, self.name = network, game, name

    def choose(self, states: States) -> NDArray[np.int64]:
        """Return the network's action (N,) for each of N games."""
        observation = np.empty((len(states), self.game.layout.size), np.uint8)
        mask = np.empty((len(states), self.game.num_actions), np.int8)
        loops.observe_games(states, observation, mask, np.empty(len(states), np.int64))
        actions: NDArray[np.int64] = self.network.answer(observation, mask)[0].argmax(dim=1).cpu().numpy()
        return actions


def action_cells(game: Game, names: Sequence[str]) -> list[list[int]]:
    """Return for each action (A, S) its cell in each of the named slices of the observation, −1 for none.

    The cells of such a slice belong to the actions 0, 1, …. Raises IceError for a slice that is unknown or too long.
    """
    cells = np.full((game.num_actions, len(names)), -1)
    for column, name in enumerate(names):
        part = game.layout[choose("slice", name, [part.name for part in game.layout])]
        if part.stop - part.start > game.num_actions:
            raise IceError(f"the slice {name!r} has more cells than {game.name} has actions")
        cells[: part.stop - part.start, column] = np.arange(part.start, part.stop)
    return cells.tolist() if names else []


def new_model(
    game: Game,
    hidden: list[int],
    learning_rate: float,
    seed: int,
    device: str,
    action_slices: Sequence[str] = (),
    action_hidden: Sequence[int] = (),
) -> MaskablePPO:
    """Return an untrained MaskablePPO whose policy is a shared trunk with two linear heads.

    With `action_slices`, an ActionScorer adds its score of an action to what the head for actions says.
    """
    cells = action_cells(game, action_slices)
    model = MaskablePPO(
        "MlpPolicy",
        SB3VecEnv(game, num_envs=1, num_players=game.table_sizes[-1]),
        learning_rate=learning_rate,
        policy_kwargs={
            "features_extractor_class": Trunk,
            "features_extractor_kwargs": {
                "hidden": hidden,
                "action_cells": cells,
                "action_hidden": list(action_hidden),
            },
            "net_arch": [],
        },
        seed=seed,
        device=device,
    )
    if cells:
        with torch.no_grad():
            head: Any = model.policy.action_net
            head.weight[:, hidden[-1] :] = torch.eye(game.num_actions)
    return model

"""The network: a shared trunk under a policy and a value head, in sb3-contrib's MaskablePPO policy and file format."""

from __future__ import annotations

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
from ice_envs.faces.sb3 import SB3VecEnv


class Trunk(BaseFeaturesExtractor):
    """Layers shared by policy and value: observation (B, L) → features (B, hidden[-1]).

    The observation is scaled by its declared upper bounds, so no statistics are needed and an exported network takes
    raw observations.
    """

    def __init__(self, observation_space: spaces.Box, hidden: list[int]) -> None:
        super().__init__(observation_space, features_dim=hidden[-1])
        self.scale: torch.Tensor
        self.register_buffer("scale", 1.0 / torch.as_tensor(np.maximum(observation_space.high, 1), dtype=torch.float32))
        layers: list[nn.Module] = []
        inputs = int(np.prod(observation_space.shape))
        for outputs in hidden:
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
            inputs = outputs
        self.layers = nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the features of raw observations."""
        features: torch.Tensor = self.layers(observations * self.scale)
        return features


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


def new_model(game: Game, hidden: list[int], learning_rate: float, seed: int, device: str) -> MaskablePPO:
    """Return an untrained MaskablePPO whose policy is a shared trunk with two linear heads."""
    return MaskablePPO(
        "MlpPolicy",
        SB3VecEnv(game, num_envs=1, num_players=game.table_sizes[-1]),
        learning_rate=learning_rate,
        policy_kwargs={
            "features_extractor_class": Trunk,
            "features_extractor_kwargs": {"hidden": hidden},
            "net_arch": [],
        },
        seed=seed,
        device=device,
    )

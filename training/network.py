"""The network: a shared trunk under a policy and a value head, in sb3-contrib's MaskablePPO policy and file format.

Where a game has kinds that its rules treat alike, such as flavors, the network treats them alike too: what it learns of
one it knows of all (Zaheer et al. 2017, Deep Sets).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from ice_envs.agents import Agent
from ice_envs.agents.manifest import MASK_FILL
from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.errors import IceError
from ice_envs.faces.sb3 import SB3VecEnv


class NetworkShape(NamedTuple):
    """What a network is made of."""

    hidden: Sequence[int]
    """Widths of the layers."""
    kind_hidden: Sequence[int] = ()
    """As many widths of their part for each kind, in games with kinds; none: kinds are not told from anything else."""
    action_hidden: Sequence[int] = ()
    """Widths of the small network that scores all actions, in games whose observation describes each; or none."""


class KindsLayer(nn.Module):
    """One layer over K kinds and the whole position: (B, K, I), (B, J) → (B, K, O), (B, H).

    Each kind sees itself, the sum of all kinds and the whole position; the whole sees the sum and itself.
    """

    def __init__(self, kind_inputs: int, whole_inputs: int, kind_outputs: int, whole_outputs: int) -> None:
        super().__init__()
        self.kind = nn.Linear(kind_inputs, kind_outputs)
        self.kind_from_all = nn.Linear(kind_inputs + whole_inputs, kind_outputs, bias=False)
        self.whole = nn.Linear(kind_inputs + whole_inputs, whole_outputs)

    def forward(self, kinds: torch.Tensor, whole: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the layer's outputs for the kinds and for the whole position."""
        everything = torch.cat([kinds.sum(1), whole], 1)
        of_kinds = torch.relu(self.kind(kinds) + self.kind_from_all(everything).unsqueeze(1))
        return of_kinds, torch.relu(self.whole(everything))


class Trunk(BaseFeaturesExtractor):
    """Layers shared by policy and value: raw observation (B, L) → features (B, F).

    The features are those of each kind (K · kind_hidden[-1]), those of the whole position (hidden[-1]) and the cells
    that describe each action (A · S), for the heads. The observation is scaled by its declared upper bounds, so no
    statistics are needed and an exported network takes raw observations.

    Args:
        observation_space: the observations (L,).
        hidden: widths of the layers' part for the whole position.
        kind_hidden: widths of their part for each kind.
        kind_cells: the cells of the observation that are about each kind, in the same order for all (K rows).
        action_cells: the cells that describe each action (A rows); the one past the observation's end is always 0.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        hidden: list[int],
        kind_hidden: list[int],
        kind_cells: list[list[int]],
        action_cells: list[list[int]],
    ) -> None:
        self.kinds, self.kind_features, self.whole_features = len(kind_cells), 0, hidden[-1]
        self.actions, self.described = len(action_cells), len(action_cells[0]) if action_cells else 0
        if kind_cells:
            self.kind_features = kind_hidden[-1]
        edge = self.kinds * self.kind_features + self.whole_features
        super().__init__(observation_space, features_dim=edge + self.actions * self.described)
        self.each = len(kind_cells[0]) if kind_cells else 0
        length = int(np.prod(observation_space.shape))
        rest = sorted(set(range(length)).difference(*kind_cells))
        self.scale: torch.Tensor
        self.kind_cells: torch.Tensor
        self.other_cells: torch.Tensor
        self.action_cells: torch.Tensor
        scale = 1.0 / torch.as_tensor(np.maximum(observation_space.high, 1), dtype=torch.float32)
        self.register_buffer("scale", scale)
        self.register_buffer("kind_cells", torch.tensor(kind_cells, dtype=torch.int64).reshape(-1))
        self.register_buffer("other_cells", torch.tensor(rest))
        self.register_buffer("action_cells", torch.tensor(action_cells, dtype=torch.int64).reshape(-1))
        widths = pairwise([len(rest), *hidden])
        if kind_cells:
            kind_widths = pairwise([len(kind_cells[0]), *kind_hidden])
            layers: list[nn.Module] = [
                KindsLayer(given, inputs, made, outputs)
                for (given, made), (inputs, outputs) in zip(kind_widths, widths, strict=True)
            ]
        else:
            layers = [nn.Linear(inputs, outputs) for inputs, outputs in widths]
        self.layers = nn.ModuleList(layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the features of raw observations."""
        cells = observations * self.scale
        parts = []
        if self.kinds:
            kinds = cells.index_select(1, self.kind_cells).reshape(-1, self.kinds, self.each)
            whole = cells.index_select(1, self.other_cells)
            for layer in self.layers:
                kinds, whole = layer(kinds, whole)
            parts += [kinds.flatten(1), whole]
        else:
            whole = cells
            for layer in self.layers:
                whole = torch.relu(layer(whole))
            parts += [whole]
        if self.described:
            parts.append(nn.functional.pad(cells, (0, 1)).index_select(1, self.action_cells))
        return torch.cat(parts, 1)

    def split(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the features of kinds (B, K, W), the whole (B, H), and what describes each action (B, A, S)."""
        first = self.kinds * self.kind_features
        edge = first + self.whole_features
        kinds, whole, actions = features[:, :first], features[:, first:edge], features[:, edge:]
        return (
            kinds.reshape(features.shape[0], self.kinds, self.kind_features),
            whole,
            actions.reshape(features.shape[0], self.actions, self.described),
        )


class ActionScorer(nn.Module):
    """One small network for all actions: an action's cells, its kind's features and the whole's → its score.

    What it learns of one action it knows of all: of every color and every number, say.
    """

    def __init__(self, trunk: Trunk, kind_of: list[int], hidden: list[int]) -> None:
        super().__init__()
        self.kind_of: torch.Tensor
        self.register_buffer("kind_of", torch.tensor(kind_of))
        self.of_action = nn.Linear(trunk.described, hidden[0], bias=False)
        self.of_kind = nn.Linear(trunk.kind_features, hidden[0], bias=False) if trunk.kinds else None
        self.of_whole = nn.Linear(trunk.whole_features, hidden[0])
        self.layers = nn.Sequential(
            *(part for widths in pairwise([*hidden, 1]) for part in (nn.ReLU(), nn.Linear(*widths)))
        )

    def forward(self, kinds: torch.Tensor, whole: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Return scores (B, A)."""
        seen = self.of_action(actions) + self.of_whole(whole).unsqueeze(1)
        if self.of_kind is not None:
            of_no_kind = nn.functional.pad(self.of_kind(kinds), (0, 0, 0, 1))
            seen = seen + of_no_kind.index_select(1, self.kind_of)
        scores: torch.Tensor = self.layers(seen)
        return scores.squeeze(-1)


class ActionHead(nn.Module):
    """Scores of all actions from the trunk's features.

    Those about a kind are scored from its features, the others from the whole position's; if the features describe
    each action, an ActionScorer adds to both.
    """

    def __init__(self, trunk: Trunk, kind_actions: list[list[int]], num_actions: int, hidden: list[int]) -> None:
        super().__init__()
        self._trunk = (trunk,)  # in a tuple, so that its parameters are not this module's too
        others = sorted(set(range(num_actions)).difference(*kind_actions))
        each = len(kind_actions[0]) if kind_actions else 0
        self.places: torch.Tensor
        rows = np.array(kind_actions, np.int64).reshape(len(kind_actions), each)
        self.register_buffer("places", torch.from_numpy(np.argsort(np.append(rows, others))))
        self.each = nn.Linear(trunk.kind_features, each) if each else None
        self.others = nn.Linear(trunk.whole_features, len(others)) if others else None
        kind_of = np.full(num_actions, trunk.kinds)
        for kind, row in enumerate(rows):
            kind_of[row] = kind
        self.scorer = ActionScorer(trunk, kind_of.tolist(), hidden) if trunk.described else None

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return the scores (B, A)."""
        kinds, whole, actions = self._trunk[0].split(features)
        parts = []
        if self.each is not None:
            parts.append(self.each(kinds).flatten(1))
        if self.others is not None:
            parts.append(self.others(whole))
        scores = torch.cat(parts, 1).index_select(1, self.places)
        return scores if self.scorer is None else scores + self.scorer(kinds, whole, actions)


class ValueHead(nn.Module):
    """The value from the features of the whole position, which are the same for every order of the kinds."""

    def __init__(self, trunk: Trunk) -> None:
        super().__init__()
        self._trunk = (trunk,)
        self.layer = nn.Linear(trunk.whole_features, 1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return the value (B, 1)."""
        value: torch.Tensor = self.layer(self._trunk[0].split(features)[1])
        return value


class Policy(MaskableActorCriticPolicy):
    """sb3-contrib's policy with a Trunk and the heads above.

    Args:
        args: as of MaskableActorCriticPolicy.
        kind_actions: the actions that are about each kind, in the same order for all (K rows).
        action_hidden: widths of the ActionScorer.
        kwargs: as of MaskableActorCriticPolicy.
    """

    def __init__(self, *args: Any, kind_actions: list[list[int]], action_hidden: list[int], **kwargs: Any) -> None:
        self._kind_actions, self._action_hidden = kind_actions, action_hidden
        super().__init__(*args, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        trunk: Any = self.features_extractor
        space: Any = self.action_space
        head = ActionHead(trunk, self._kind_actions, int(space.n), self._action_hidden)
        value: Any = ValueHead(trunk)
        self.action_net, self.value_net = head, value
        scorer = head.scorer.layers[:-1] if head.scorer else nn.Identity()
        for module, gain in ((trunk, sqrt(2)), (head, 0.01), (scorer, sqrt(2)), (value, 1.0)):
            module.apply(partial(self.init_weights, gain=gain))  # as SB3 does
        optimizer_class: Any = self.optimizer_class
        self.optimizer = optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)


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
    """Plays the most probable legal action of a network, as an exported agent does; may guide a search as such."""

    game: Game

    def __init__(self, network: ActorCritic, game: Game, name: str = "network") -> None:
        self.network, self.game, self.name = network, game, name

    def choose(self, states: States) -> NDArray[np.int64]:
        """Return the network's action (N,) for each of N games."""
        logits, _ = self.network.answer(*loops.observed(self.game, states))
        actions: NDArray[np.int64] = logits.argmax(dim=1).cpu().numpy()
        return actions

    def check(self, states: States) -> None:
        """Accept every table size: a network answers wherever its game is played."""

    def answer(self, observation: NDArray[Any], mask: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return masked logits (N, A) and values (N,) of observations (N, L) and masks of legal actions (N, A)."""
        logits, value = self.network.answer(observation, mask)
        return logits.cpu().numpy(), value.cpu().numpy()


def kind_cells(game: Game) -> list[list[int]]:
    """Return the cells of the observation that are about each kind, in the same order for all (K rows)."""
    if game.kinds is None:
        return []
    described = np.array(action_cells(game), np.int64).reshape(game.num_actions, -1)
    parts = [described[list(row)].T for row in game.kinds.actions]
    rows = [row[row < game.layout.size].tolist() for row in parts]
    for name, axis in game.kinds.slices.items():
        part = game.layout[name]
        cells = np.moveaxis(np.arange(part.start, part.stop).reshape(part.shape), axis, 0)
        for row, own in zip(rows, cells, strict=False):
            row += own.reshape(-1).tolist()
    return rows


def action_cells(game: Game) -> list[list[int]]:
    """Return the cells that describe each action (A rows); the one past the observation's end where there is none."""
    cells = np.full((game.num_actions, len(game.action_slices)), game.layout.size)
    for column, name in enumerate(game.action_slices):
        part = game.layout[name]
        cells[: part.stop - part.start, column] = np.arange(part.start, part.stop)
    return cells.tolist() if game.action_slices else []


def new_model(game: Game, shape: NetworkShape, learning_rate: float, seed: int, device: str) -> MaskablePPO:
    """Return an untrained MaskablePPO whose policy is a shared trunk with two heads."""
    kinds = game.kinds.actions if game.kinds and shape.kind_hidden else ()
    return MaskablePPO(
        Policy,
        SB3VecEnv(game, num_envs=1, num_players=game.table_sizes[-1]),
        learning_rate=learning_rate,
        policy_kwargs={
            "features_extractor_class": Trunk,
            "features_extractor_kwargs": {
                "hidden": list(shape.hidden),
                "kind_hidden": list(shape.kind_hidden),
                "kind_cells": kind_cells(game) if shape.kind_hidden else [],
                "action_cells": action_cells(game) if shape.action_hidden else [],
            },
            "net_arch": [],
            "kind_actions": [list(row) for row in kinds],
            "action_hidden": list(shape.action_hidden),
        },
        seed=seed,
        device=device,
    )


def pick_device(name: str) -> str:
    """Return the device to learn on; raise IceError if torch does not have it."""
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise IceError(f"torch has no device {name!r} here: {str(error).splitlines()[0]}") from error
    return name

"""The network that a run begins with: the best one of an earlier run, or that of an exported agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from ice_envs.agents.portable import PortableAgent, load_portable
from ice_envs.engine.game import Game
from ice_envs.errors import IceError
from training.export import positions
from training.network import ActorCritic, NetworkShape, new_model
from training.run_folder import RunFolder

SHAPE = NetworkShape._fields
"""The settings that tell what a network is made of."""
POSITIONS = 64
CLOSE = 1e-3
"""Weights in the wrong place make answers differ by far more, other arithmetic by far less."""


def starting_model(path: Path, game: Game) -> MaskablePPO:
    """Return the network in a run's folder, or that of an agent.json, to learn on.

    Raises IceError if there is none, or if it is of another game.
    """
    return model_of_agent(path, game) if path.suffix == ".json" else RunFolder(path).load_model("best.zip", game)


def shape_of(model: MaskablePPO) -> dict[str, list[int]]:
    """Return the settings in SHAPE that a network was made with."""
    arguments = model.policy_kwargs | model.policy_kwargs["features_extractor_kwargs"]
    return {name: list(arguments[name]) for name in SHAPE}


def model_of_agent(path: Path, game: Game) -> MaskablePPO:
    """Return the network of an exported agent, as its model's graph has it; nothing in the files is run."""
    agent = load_portable(path, game)
    graph = onnx.load(path.with_name(agent.manifest["onnx"]["file"])).graph
    weights = {
        tensor.name: onnx.numpy_helper.to_array(tensor)
        for tensor in graph.initializer
        if tensor.data_type == onnx.TensorProto.FLOAT
    }
    shape = shape_in(weights)
    if shape.hidden and len(shape.kind_hidden) in (0, len(shape.hidden)):
        model = new_model(game, shape, learning_rate=0.0, seed=0, device="cpu")
        network = ActorCritic(model.policy)
        if put(weights, network) and plays_as(agent, network):
            return model
    raise IceError(f"the model of {path} can be played but not learned on: its layers are not those of training.train")


def plays_as(agent: PortableAgent, network: ActorCritic) -> bool:
    """Return whether a network answers as an agent does."""
    observation, mask = positions(agent.game, POSITIONS)
    pairs = zip(network.answer(observation, mask), agent.answer(observation, mask), strict=True)
    return all(np.allclose(here, there, rtol=CLOSE, atol=CLOSE) for here, there in pairs)


def shape_in(weights: Mapping[str, NDArray[Any]]) -> NetworkShape:
    """Return the shape of the network whose exported weights these are."""
    scorer = widths(weights, r"action_head\.scorer\.layers\.(\d+)\.bias")[:-1]
    return NetworkShape(
        hidden=widths(weights, r"trunk\.layers\.(\d+)\.(?:whole\.)?bias"),
        kind_hidden=widths(weights, r"trunk\.layers\.(\d+)\.kind\.bias"),
        action_hidden=[*widths(weights, r"action_head\.scorer\.()of_whole\.bias"), *scorer],
    )


def widths(weights: Mapping[str, NDArray[Any]], pattern: str) -> list[int]:
    """Return the sizes of the weights with such a name, in the order of the number in it."""
    found = [(match[1], array.size) for name, array in weights.items() if (match := re.fullmatch(pattern, name))]
    return [size for _, size in sorted(found, key=lambda each: int(each[0] or 0))]


def put(weights: Mapping[str, NDArray[Any]], network: ActorCritic) -> bool:
    """Write exported weights into a network; return whether each of its parameters was among them.

    The exporter turns some matrices round. These lose their names, but come in the order in which they are used.
    """
    parameters = dict(network.named_parameters())
    nameless = [array for name, array in weights.items() if name not in parameters]
    for name, parameter in parameters.items():
        found = weights.get(name)
        if found is None:
            place = next((i for i, array in enumerate(nameless) if array.T.shape == parameter.shape), None)
            found = None if place is None else nameless.pop(place).T
        if found is None or found.shape != parameter.shape:
            return False
        parameter.data.copy_(torch.from_numpy(found.copy()))
    return True

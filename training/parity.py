"""Positions with which a front end in any language tests itself: the file parity.json beside an exported agent.

Each has what the seat to move knows (as a JSON view), what that is as observation and mask, and what the network
answers. The network plays the games itself, a quarter of the moves at random; positions are spread evenly over table
sizes and phases, all have a choice, and none is so close that rounding could decide it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypedDict

import numpy as np
import torch
from numpy.typing import NDArray

from ice_envs.agents.manifest import Manifest
from ice_envs.engine import loops
from ice_envs.engine.batch import Batch
from ice_envs.engine.game import Game, States
from training.network import ActorCritic

SCHEMA = "ice-parity/1"
POSITIONS = 64
GAMES, STEPS = 64, 100
AT_RANDOM = 0.25
SEED = 64


class ParityPosition(TypedDict):
    """One position, and what the model must answer; illegal actions' logits need only be very low."""

    view: dict[str, Any]
    observation: list[int]
    mask: list[int]
    masked_logits: list[float]
    value: float
    action: int


class ParityFile(TypedDict):
    """The whole file. `tolerance` is absolute; actions must be the same."""

    schema: str
    game: str
    rules_version: int
    layout_hash: str
    labels_hash: str
    sha256: str
    tolerance: float
    positions: list[ParityPosition]


def parity_file(network: ActorCritic, game: Game, manifest: Manifest) -> ParityFile:
    """Return the content of parity.json for an agent whose manifest is whole."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # rows are few: a second thread would wait more than it works, much more beside other work
    try:
        positions = list(parity_positions(network, game, manifest))
    finally:
        torch.set_num_threads(threads)
    return ParityFile(
        schema=SCHEMA,
        game=game.name,
        rules_version=game.version,
        layout_hash=game.layout.hash(),
        labels_hash=game.labels_hash,
        sha256=manifest["onnx"]["sha256"],
        tolerance=manifest["parity"]["tolerance"],
        positions=positions,
    )


def parity_positions(network: ActorCritic, game: Game, manifest: Manifest) -> Iterator[ParityPosition]:
    """Yield positions of the table sizes and options that the agent is for."""
    states = spread(played(network, game, manifest), POSITIONS)
    observation, mask = loops.observed(game, states)
    logits, value = (part.numpy() for part in network.answer(observation, mask))
    for i, state in enumerate(states):
        yield ParityPosition(
            view=game.to_view(state, int(state.to_move)),
            observation=observation[i].tolist(),
            mask=mask[i].tolist(),
            masked_logits=short(logits[i]),
            value=short(value[i : i + 1])[0],
            action=int(logits[i].argmax()),
        )


def played(network: ActorCritic, game: Game, manifest: Manifest) -> States:
    """Return all positions of some games that have a choice, a clear one."""
    batch = Batch(game, GAMES, seed=SEED, num_players=manifest["seats"], **manifest["options"])
    rng = np.random.default_rng(SEED)
    at_random, found = np.empty(GAMES, np.int64), []
    for _ in range(STEPS):
        observation, mask, _ = batch.observe()
        logits = network.answer(observation, mask)[0].numpy()
        second, first = np.sort(logits, axis=1)[:, -2:].T
        clear = (first - second > manifest["parity"]["tolerance"]) & (mask.sum(axis=1) > 1)
        found.append(batch.states[clear])
        loops.random_actions(mask, rng.integers(2**64, dtype=np.uint64), at_random)
        batch.step(np.where(rng.random(GAMES) < AT_RANDOM, at_random, logits.argmax(axis=1)))
    return np.concatenate(found)


def spread(states: States, count: int) -> States:
    """Return `count` of the positions, or all if there are fewer: in turn one of each table size and phase."""
    phases = states["phase"] if "phase" in (states.dtype.names or ()) else np.zeros(len(states), np.int8)
    shuffled = np.random.default_rng(SEED).permutation(len(states))
    kinds: dict[tuple[int, int], list[int]] = {}
    for i in shuffled.tolist():
        kinds.setdefault((int(states["num_players"][i]), int(phases[i])), []).append(i)
    chosen: list[int] = []
    while len(chosen) < count and any(kinds.values()):
        chosen += [kinds[kind].pop() for kind in sorted(kinds) if kinds[kind]]
    return states[chosen[:count]]


def short(numbers: NDArray[np.float32]) -> list[float]:
    """Return float32 numbers with as few digits as tell them apart."""
    return [float(str(number)) for number in numbers]

"""What the tests of the front ends share: agents for all games, their service, and what Node needs."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ice_envs.agents.manifest import MASK_FILL
from ice_envs.engine import loops
from ice_envs.engine.batch import Batch
from ice_envs.engine.game import Game, States
from ice_envs.files import write_json
from ice_envs.games import NAMES, find_game
from tests import portable_agents
from tests.portable_agents import evaluation_row
from training.export import export
from training.network import ActorCritic, NetworkShape, new_model
from training.parity import parity_file
from training.run_folder import Origin

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
PUBLISHED = ROOT / "checkpoints"
ORIGIN = Origin(
    algorithm="none", decisions=0, seconds=0.0, seed=5, num_players=[], options={}, reward="win", settings="",
    command="", machine="", versions={},
)  # fmt: skip


def new_network(game: Game) -> ActorCritic:
    """Return an untrained network whose logits differ as much as a trained one's."""
    policy = new_model(game, NetworkShape([64, 32], [16, 8], [8]), 1e-3, 1, "cpu").policy
    with torch.no_grad():
        for head in (policy.action_net.each, policy.action_net.others):
            if head is not None:
                head.weight *= 300
        policy.value_net.layer.weight *= 3
    return ActorCritic(policy)


def export_new(game: Game, folder: Path) -> ActorCritic:
    """Export a new network as a training run would; return it."""
    network = new_network(game)
    rows = [{**evaluation_row(game), "num_players": size} for size in game.table_sizes]
    export(network, game, folder, "new", ORIGIN, rows)
    return network


class Answers:
    """A tiny agent's model in the place of a network: what `training.parity` asks of one."""

    def __init__(self, game: Game) -> None:
        self._weights = portable_agents.weights(game)

    def answer(self, observation: np.ndarray, mask: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        out = observation.astype(np.float32) @ self._weights
        logits = np.where(mask == 1, out[:, :-1], np.float32(MASK_FILL))
        return torch.from_numpy(logits), torch.from_numpy(out[:, -1])


def agents_folder(place: Path) -> Path:
    """Return a folder with an agent for each game: the published one, or a tiny one if there is none yet."""
    for name in NAMES:
        if (PUBLISHED / name / "agent.json").is_file():
            shutil.copytree(PUBLISHED / name, place / name, ignore=shutil.ignore_patterns("runs"))
        else:
            (place / name).mkdir(parents=True)
            tiny_agent(find_game(name), place / name)
    return place


def tiny_agent(game: Game, folder: Path) -> Path:
    """Write a tiny agent with its parity.json; return the manifest's path."""
    path = portable_agents.export(folder, game)
    manifest: Any = portable_agents.manifest(game, (folder / "agent.onnx").read_bytes())
    write_json(folder / "parity.json", parity_file(Answers(game), game, manifest))  # type: ignore[arg-type]  # as a network
    return path


def random_positions(game: Game, count: int, seed: int = 0) -> States:
    """Return positions of all table sizes and stages of games played at random."""
    batch = Batch(game, 60, seed=seed, num_players=game.table_sizes)
    actions, found = np.zeros(60, np.int64), []
    for step in range(100):
        found.append(batch.states.copy())
        loops.random_actions(batch.observe()[1], np.uint64(step), actions)
        batch.step(actions)
    return np.random.default_rng(seed).choice(np.concatenate(found), count, replace=False)


def views_of(game: Game, states: States) -> list[dict[str, Any]]:
    """Return what the seats to move know."""
    return [game.to_view(state, int(state.to_move)) for state in states]


@cache
def node() -> str:
    """Return the path of Node; fail, saying what to do, unless it and the packages of examples/ are there."""
    found = shutil.which("node")
    assert found, "these tests need Node 20 or newer: install it, or leave them out as plain `pytest` does"
    assert (EXAMPLES / "node_modules").is_dir(), "run `npm ci` in examples/ first"
    return found

"""Write the agent of a training run as data that any front end can load: agent.onnx, agent.json and more.

python -m training.export checkpoints/dokitto/runs/<run> --to my_agent
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import torch

from ice_envs.agents.manifest import (
    LOGITS,
    MASK,
    OBSERVATION,
    SCHEMA,
    VALUE,
    EvaluationRow,
    Manifest,
    OnnxFile,
    Parity,
    ParityVector,
    interface,
    measured,
    merged,
    read_manifest,
    write_manifest,
)
from ice_envs.agents.portable import load_portable
from ice_envs.engine import loops
from ice_envs.engine.batch import Batch
from ice_envs.engine.game import Game
from ice_envs.errors import IceError
from ice_envs.files import check_writable, make_folder, reason, write_json
from training import command_line
from training.model_card import model_card
from training.network import ActorCritic
from training.parity import parity_file
from training.run_folder import Origin, RunFolder

OPSET = 18
PARITY_VECTORS = 16
TOLERANCE = 1e-4
PUBLISHED = ("agent.onnx", "agent.json", "parity.json", "README.md")
"""The files of an exported agent."""
LIMITS = [
    "Plays the rule options it was trained with; others are legal input, but it has not learned them.",
    "Always plays the most probable action unless a front end samples from the logits.",
]


@dataclass
class ExportSettings:
    """What to export, and where to."""

    run: Path
    """The run's folder."""
    to: Path = Path("agent")
    """The folder to write agent.onnx, agent.json, parity.json and README.md into; it is made if need be."""
    name: str | None = None
    """The agent's name; null: that of the run's folder."""


def main(settings: ExportSettings) -> None:
    """Export the best model of a run with what its own files say of it."""
    run = RunFolder(settings.run)
    network, game, training, evaluation = run.read_for_export()
    make_folder(settings.to)
    check_writable(settings.to / "agent.json")
    former = weights_in(settings.to)
    manifest = export(network, game, settings.to, settings.name or run.path.name, training, evaluation)
    if former and former != weights_in(settings.to):
        print("The agent that was there had another network: what was measured of it is gone with it.")
    print(
        f"Wrote {manifest}, with the model, positions to test with and a model card beside it. "
        f"Load it with ice_envs.agents.load({str(manifest)!r})."
    )


def export(
    network: ActorCritic,
    game: Game,
    folder: Path,
    name: str,
    training: Origin,
    evaluation: Sequence[EvaluationRow],
) -> Path:
    """Write the files of an agent into `folder`, load them again and play; return the manifest's path.

    Args:
        network: the network to export, on any device.
        game: its game.
        folder: an existing folder.
        name: the agent's name.
        training: where it comes from.
        evaluation: its results, one row or more for each table size that it was trained for.

    If the folder holds the same network already, what was measured of it since is kept. Raises IceError if the
    exported agent does not answer as the network does.
    """
    network = network.to("cpu").eval()
    essence = describe(network, game, name, training, evaluation)
    graph = onnx_model(network, game)
    if weights(graph) == weights_in(folder):
        take_over(read_manifest(folder / "agent.json"), essence)
    model = with_manifest(graph, essence)
    essence["onnx"] = OnnxFile(
        file="agent.onnx",
        sha256=hashlib.sha256(model).hexdigest(),
        bytes=len(model),
        opset=graph.opset_import[0].version,
        ir_version=graph.ir_version,
        exporter=f"torch {torch.__version__} dynamo",
        producer=producer(),
    )
    try:
        with TemporaryDirectory(prefix=".partial.", dir=folder) as trial:
            (Path(trial) / "agent.onnx").write_bytes(model)
            write_manifest(Path(trial) / "agent.json", essence)
            load_portable(Path(trial) / "agent.json", game)  # what does not play as the network does replaces nothing
            write_json(Path(trial) / "parity.json", parity_file(network, game, essence))
            (Path(trial) / "README.md").write_text(model_card(essence, game), encoding="utf-8", newline="\n")
            for file in PUBLISHED:
                os.replace(Path(trial) / file, folder / file)
    except OSError as error:
        raise IceError(f"cannot write {folder / 'agent.onnx'}: {reason(error)}") from error
    return folder / "agent.json"


def weights(graph: onnx.ModelProto) -> list[bytes]:
    """Return the numbers of a model, whatever it calls them."""
    return sorted(part.SerializeToString() for part in map(nameless, graph.graph.initializer))


def nameless(tensor: onnx.TensorProto) -> onnx.TensorProto:
    """Return a copy of a tensor without its name."""
    copy = onnx.TensorProto()
    copy.CopyFrom(tensor)
    copy.ClearField("name")
    return copy


def weights_in(folder: Path) -> list[bytes] | None:
    """Return the numbers of the agent's model in a folder, or None if there is no whole agent that can be played."""
    try:
        file = load_portable(folder / "agent.json").manifest["onnx"]["file"]
        return weights(onnx.load(folder / file))
    except (IceError, OSError):
        return None


def take_over(former: Manifest, manifest: Manifest) -> None:
    """Take what was measured of the same network, except what was now measured with as many games or more."""
    own: list[EvaluationRow] = [{**row, "agent": manifest["name"]} for row in former["evaluation"]]
    games = {measured(row, "evaluation"): row["games"] for row in manifest["evaluation"]}
    better = [row for row in own if row["games"] > games.get(measured(row, "evaluation"), 0)]
    manifest["evaluation"] = merged(manifest["evaluation"], better, "evaluation")
    manifest["challengers"] = [{**row, "opponent": manifest["name"]} for row in former.get("challengers", [])]
    manifest["exploitability"] = [{**row, "agent": manifest["name"]} for row in former.get("exploitability", [])]


def either(numbers: Sequence[int]) -> str:
    """Return numbers as one would say them: 2, 3 or 4."""
    *first, last = map(str, numbers)
    return f"{', '.join(first)} or {last}" if first else last


def producer() -> str:
    """Return this package's version and commit, and whether its sources were changed since."""
    versions = command_line.versions()
    changed = ", changed since" if versions["dirty"] else ""
    return f"ice_envs {versions['ice_envs']}, commit {versions['commit']}{changed}"


def describe(
    network: ActorCritic, game: Game, name: str, training: Origin, evaluation: Sequence[EvaluationRow]
) -> Manifest:
    """Return the manifest, its part about the model file still empty; it may play what it was evaluated at."""
    seats = sorted({row["num_players"] for row in evaluation})
    options = evaluation[0]["options"]
    return Manifest(
        **interface(game, training["reward"], options),
        schema=SCHEMA,
        name=name,
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        authors=["ice_envs training"],
        licence="MIT",
        description=f"Plays {game.title} with {either(seats)} seats",
        onnx=OnnxFile(file="", sha256="", bytes=0, opset=0, ir_version=0, exporter="", producer=""),
        options=options,
        seats=seats,
        training={**training},
        evaluation=[{**row, "agent": name} for row in evaluation],
        challengers=[],
        exploitability=[],
        parity=parity(network, game),
        limits=[*LIMITS, *game.notes],
    )


def parity(network: ActorCritic, game: Game) -> Parity:
    """Return positions from random games of all table sizes, with the network's answers."""
    observation, mask = positions(game, PARITY_VECTORS)
    logits, value = network.answer(observation, mask)
    rows = zip(observation.tolist(), mask.tolist(), logits.tolist(), value.tolist(), strict=True)
    return Parity(
        vectors=[ParityVector(observation=o, mask=m, masked_logits=g, value=v) for o, m, g, v in rows],
        tolerance=TOLERANCE,
    )


def positions(game: Game, count: int) -> tuple[Any, Any]:
    """Return observations (count, L) and masks (count, A) from the middle of random games."""
    batch = Batch(game, count, seed=0, num_players=game.table_sizes)
    actions = np.zeros(count, np.int64)
    observation, mask, _ = batch.observe()
    for step in range(count):
        loops.random_actions(mask, np.uint64(step), actions)
        batch.step(actions)
        observation, mask, _ = batch.observe()
    return observation.copy(), mask.copy()


def onnx_model(network: ActorCritic, game: Game) -> onnx.ModelProto:
    """Return the network as a model, without what the exporter notes about the sources of each node."""
    observation, mask = positions(game, 2)  # two rows: an axis of size one would be frozen
    example = (torch.from_numpy(observation).float(), torch.from_numpy(mask).float())
    batch = torch.export.Dim("batch", min=1)
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns of its own internals
        program = torch.onnx.export(
            network,
            example,
            input_names=[OBSERVATION, MASK],
            output_names=[LOGITS, VALUE],
            dynamic_shapes=({0: batch}, {0: batch}),
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
    if program is None:
        raise IceError("torch exported nothing")
    model: onnx.ModelProto = program.model_proto
    graph = model.graph
    for noted in (model, graph, *graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
        noted.ClearField("metadata_props")  # paths of this machine among them
    onnx.checker.check_model(model)
    return model


def with_manifest(model: onnx.ModelProto, manifest: Manifest) -> bytes:
    """Return a model's file, with the manifest inside for those who lose theirs."""
    entry = model.metadata_props.add()
    entry.key, entry.value = "ice_envs.manifest", json.dumps(manifest, ensure_ascii=False)
    return model.SerializeToString()


if __name__ == "__main__":
    command_line.run(main, ExportSettings, "training.export", positional=True)

"""Tiny exported agents for tests: a linear model as ONNX, and a manifest that fits it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ice_envs.agents.manifest import LOGITS, MASK, MASK_FILL, OBSERVATION, SCHEMA, VALUE, Manifest, interface
from ice_envs.engine import loops
from ice_envs.engine.game import Game
from ice_envs.files import write_json
from tests.helpers import started

OPSET, IR_VERSION = 17, 8


def weights(game: Game) -> np.ndarray:
    """Return fixed pseudo-random weights (L, A + 1): one column a logit, and the value's."""
    return np.random.default_rng(7).normal(0, 0.1, (game.layout.size, game.num_actions + 1)).astype(np.float32)


def answers(game: Game, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the logits (N, A) and values (N,) that the model must give, worked out without it."""
    out = observation.astype(np.float64) @ weights(game).astype(np.float64)
    return np.where(mask == 1, out[:, :-1], MASK_FILL), out[:, -1]


def model_bytes(game: Game, input_name: str = OBSERVATION, batch: str | int = "batch", masked: bool = True) -> bytes:
    """Return the linear model as an ONNX file; the arguments spoil it."""
    length, actions = game.layout.size, game.num_actions
    constants = {"weights": weights(game)[:, :-1], "of_value": weights(game)[:, -1:], "one": np.float32(1)}
    constants["fill"] = np.float32(-MASK_FILL if masked else 0)
    nodes = [
        helper.make_node("MatMul", [input_name, "weights"], ["logits"]),
        helper.make_node("MatMul", [input_name, "of_value"], [VALUE]),
        helper.make_node("Sub", [MASK, "one"], ["forbidden"]),
        helper.make_node("Mul", ["forbidden", "fill"], ["penalty"]),
        helper.make_node("Add", ["logits", "penalty"], [LOGITS]),
    ]

    def tensor(name: str, size: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [batch, size])

    graph = helper.make_graph(
        nodes,
        "linear",
        [tensor(input_name, length), tensor(MASK, actions)],
        [tensor(LOGITS, actions), tensor(VALUE, 1)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def evaluation_row(game: Game) -> dict[str, Any]:
    """Return a made-up row of an evaluation with every field."""
    seat = {"seat": 0, "games": 6, "win_share": 0.5, "interval": [0.1, 0.9], "mean_score": 9.5}
    return {
        "game": game.name, "rules_version": game.version, "options": game.default_options(), "num_players": 2,
        "agent": "tiny", "opponent": "random", "deals": 6, "games": 12, "seats_rotated": True, "win_share": 0.5,
        "interval": [0.2, 0.8], "fair_share": 0.5, "wins": 0.5, "shared_wins": 0.0, "losses": 0.5, "truncated": 0.0,
        "mean_score": 9.5, "opponents_mean_score": 9.0, "margin": 0.5, "margin_interval": [-1.0, 2.0],
        "per_seat": [seat, {**seat, "seat": 1}], "seed": 0, "deals_hash": "0" * 16, "date": "2026-01-01T00:00:00+00:00",
        "versions": {}, "command": "python -m training.evaluate",
    }  # fmt: skip


def manifest(game: Game, model: bytes) -> Manifest:
    """Return a manifest for the linear model."""
    states = started(game, list(game.table_sizes), len(game.table_sizes))
    observation, mask = loops.observed(game, states)
    logits, value = answers(game, observation, mask)
    rows = zip(observation.tolist(), mask.tolist(), logits.tolist(), value.tolist(), strict=True)
    return {
        **interface(game),
        "schema": SCHEMA,
        "name": "tiny",
        "created": "2026-01-01T00:00:00+00:00",
        "authors": ["nobody"],
        "licence": "MIT",
        "description": "a linear model that was never trained",
        "onnx": {
            "file": "agent.onnx",
            "sha256": hashlib.sha256(model).hexdigest(),
            "bytes": len(model),
            "opset": OPSET,
            "ir_version": IR_VERSION,
            "exporter": "onnx.helper",
            "producer": "the tests of ice_envs",
        },
        "options": game.default_options(),
        "seats": list(game.table_sizes),
        "training": {},
        "evaluation": [evaluation_row(game)],
        "parity": {
            "vectors": [dict(zip((OBSERVATION, "mask", LOGITS, VALUE), row, strict=True)) for row in rows],
            "tolerance": 1e-4,
        },
        "limits": ["plays badly"],
    }


def export(folder: Path, game: Game, model: bytes | None = None, /, **changes: Any) -> Path:
    """Write model and manifest into `folder` and return the manifest's path.

    Changes name fields by path, `observation__shape=…`; they are written as they are, right or wrong.
    """
    model = model_bytes(game) if model is None else model
    content: Any = manifest(game, model)
    for name, value in changes.items():
        *parents, last = name.split("__")
        place = content
        for parent in parents:
            place = place[parent]
        place[last] = value
    (folder / "agent.onnx").write_bytes(model)
    write_json(folder / "agent.json", content)
    return folder / "agent.json"

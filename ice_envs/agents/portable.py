"""Agents from files: an ONNX model and its manifest, played with this package's base and onnxruntime, without torch.

The loader stops at the first thing that does not fit, in the order: manifest, its schema, game and rules version,
the meaning of observation and actions, the tables, the model's hash, the model, its inputs and outputs, its answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.agents.agent import Agent, Move
from ice_envs.agents.manifest import LOGITS, VALUE, Interface, Manifest, Shape, interface, read_manifest
from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.errors import IceError, IllegalAction
from ice_envs.files import reason
from ice_envs.games import find_game

CHUNK = 4096
_ERRORS_ONLY = 3
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Answer(Move):
    """The move of a model, with what else the model says of the position.

    `value` is that of the seat to move, in the units that the manifest tells; `probabilities` are those of the legal
    actions, by index, the move's own being the highest.
    """

    value: float
    probabilities: dict[int, float]


class PortableAgent(Agent):
    """Plays the most probable legal action of an exported model; of equals, the one with the lowest index.

    `manifest` is what the file says of itself. Made by `load_portable`.
    """

    def __init__(self, manifest: Manifest, game: Game, session: Any) -> None:
        self.name = manifest["name"]
        self.game: Game = game
        self.manifest = manifest
        self._session = session

    def choose(self, states: States) -> NDArray[np.int64]:
        """Return the model's action (N,) for each of N games, none of them over."""
        self.check(states)
        actions = np.empty(len(states), np.int64)
        for first in range(0, len(states), CHUNK):
            actions[first : first + CHUNK] = self._weigh(states[first : first + CHUNK])[0]
        return actions

    def read(self, view: Mapping[str, Any]) -> States:
        """Return a game (1,) that agrees with a JSON view; raise IceError also for a table that is not the agent's."""
        states = super().read(view)
        self.check(states)
        return states

    def moves(self, states: States) -> list[Move]:
        """Return the `Answer` for each of N games of the agent's, none of them over."""
        answers: list[Move] = []
        actions, masks, all_logits, values = self._weigh(states)
        if not (np.isfinite(all_logits).all() and np.isfinite(values).all()):
            raise IceError(f"the model of agent {self.name!r} answered with numbers that are not finite")
        for action, mask, logits, value in zip(actions, masks, all_logits, values, strict=True):
            legal = np.flatnonzero(mask)
            weights = np.exp(logits[legal].astype(np.float64) - logits[action])
            shares = (weights / weights.sum()).tolist()
            labels = self.game.labels[action], self.game.labels_ja[action]
            answers.append(Answer(int(action), *labels, float(value), dict(zip(legal.tolist(), shares, strict=True))))
        return answers

    def check(self, states: States) -> None:
        """Raise IceError for a table size the agent was not trained for, or other data, such as another deck."""
        for table_size in np.unique(states["num_players"]):
            if table_size not in self.manifest["seats"]:
                raise IceError(f"agent {self.name!r} plays with {self.manifest['seats']} seats, not with {table_size}")
        field = self.game.data_field
        if field is None:
            return
        for found in np.unique(states[field]):
            if f"{found:016x}" != self.manifest["data_hash"]:
                raise IceError(
                    f"agent {self.name!r} was trained with {field} {self.manifest['data_hash']}, and cannot play with "
                    f"{field} {found:016x}: its observations and actions would mean other things"
                )

    def answer(self, observation: NDArray[Any], mask: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return masked logits (N, A) and values (N,) of observations (N, L) and masks of legal actions (N, A)."""
        inputs = {
            self.manifest["observation"]["input"]: observation.astype(np.float32),
            self.manifest["mask"]["input"]: mask.astype(np.float32),
        }
        logits, value = self._session.run([LOGITS, VALUE], inputs)
        return logits, value[:, 0]

    def _weigh(self, states: States) -> tuple[NDArray[np.int64], NDArray[np.int8], Floats, Floats]:
        """Return actions (N,), masks (N, A), masked logits (N, A) and values (N,)."""
        observation, mask = loops.observed(self.game, states)
        if not mask.any(axis=1).all():
            raise IceError(f"agent {self.name!r} was asked for an action in a game that is over")
        logits, value = self.answer(observation, mask)
        actions = logits.argmax(axis=1)
        wrong = np.flatnonzero(mask[np.arange(len(states)), actions] == 0)
        if len(wrong):
            why = loops.why_illegal(self.game, states[wrong[:1]], int(actions[wrong[0]]))
            raise IllegalAction(f"the model of agent {self.name!r} chose an illegal action: {why}")
        return actions, mask, logits, value


def load_portable(path: Path, game: Game | None = None, num_threads: int = 1) -> PortableAgent:
    """Return the agent whose manifest is at `path`.

    Args:
        path: the manifest, `agent.json`; the model lies in the same folder.
        game: refuse an agent of another game.
        num_threads: threads within one run of the model. Only with 1 are its answers the same on every machine.

    Raises IceError, in one sentence, if anything is missing, damaged or does not fit this package.
    """
    manifest = read_manifest(path)
    own_game = _check_game(path, manifest, game)
    _check_tables(path, manifest, own_game)
    model = _read_model(path, manifest)
    file = path.with_name(manifest["onnx"]["file"])
    agent = PortableAgent(manifest, own_game, _open_session(file, model, num_threads))
    _check_graph(file, manifest, agent._session)
    _check_parity(file, agent)
    return agent


def _check_game(path: Path, manifest: Manifest, wanted: Game | None) -> Game:
    """Return the manifest's game; raise IceError if it is not the one wanted, or not as this package has it."""
    try:
        game = wanted if wanted and wanted.name == manifest["game"] else find_game(manifest["game"])
    except IceError as error:
        raise IceError(f"{path}: {error}") from error
    if wanted and wanted.name != game.name:
        raise IceError(f"{path} plays {game.name}, not {wanted.name}")
    ours = interface(game)
    fields = [
        ("rules version", manifest["rules_version"], ours["rules_version"]),
        ("observation layout", manifest["observation"]["layout_hash"], ours["observation"]["layout_hash"]),
        ("action labels", manifest["actions"]["labels_hash"], ours["actions"]["labels_hash"]),
        ("observation shape", manifest["observation"]["shape"], ours["observation"]["shape"]),
        ("mask shape", manifest["mask"]["shape"], ours["mask"]["shape"]),
        ("outputs", _outputs(manifest), _outputs(ours)),
    ]
    for what, theirs, here in fields:
        if theirs != here:
            raise IceError(f"{path} was made for {what} {theirs}, but {game.name} here has {here}")
    if game.data_field is not None and "data_hash" not in manifest:
        raise IceError(f"{path} lacks 'data_hash', which tells with which data of {game.name} the agent was trained")
    if manifest["recurrent"]:
        raise IceError(f"{path} describes a recurrent model, which this package cannot play")
    return game


def _check_tables(path: Path, manifest: Manifest, game: Game) -> None:
    """Raise IceError unless the game has the manifest's table sizes, one or more, with its options."""
    if not manifest["seats"]:
        raise IceError(f"{path} names no table size in 'seats'")
    try:
        for table_size in set(manifest["seats"]):
            game.check_options(table_size, manifest["options"])
    except IceError as error:
        raise IceError(f"{path}: {error}") from error


def _outputs(part: Interface) -> list[tuple[str, Shape]]:
    return [(output["name"], output["shape"]) for output in part["outputs"]]


def _read_model(path: Path, manifest: Manifest) -> bytes:
    """Return the model's bytes, whose hash is the manifest's."""
    name = manifest["onnx"]["file"]
    if Path(name).name != name or not name:
        raise IceError(f"{path} names the model {name!r}, which must be a file in the same folder")
    try:
        model = path.with_name(name).read_bytes()
    except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
        raise IceError(f"cannot read {path.with_name(name)}, the model of {path}: {reason(error)}") from error
    digest = hashlib.sha256(model).hexdigest()
    if digest != manifest["onnx"]["sha256"]:
        raise IceError(f"{path.with_name(name)} has sha256 {digest}, but {path} says {manifest['onnx']['sha256']}")
    return model


def _open_session(file: Path, model: bytes, num_threads: int) -> Any:
    try:
        import onnxruntime  # an optional extra
    except ImportError as error:
        raise IceError(f'{file} needs onnxruntime to be played: pip install "ice_envs[agents]"') from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = num_threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no base class
        raise IceError(f"{file} is not a model that onnxruntime can open: {' '.join(str(error).split())}") from error


def _check_graph(file: Path, manifest: Manifest, session: Any) -> None:
    """Raise IceError unless the graph's inputs and outputs are those that the manifest describes."""
    observation, mask = manifest["observation"], manifest["mask"]
    described = [
        ("input", observation["input"], observation["shape"]),
        ("input", mask["input"], mask["shape"]),
        *(("output", name, shape) for name, shape in _outputs(manifest)),
    ]
    nodes = {"input": session.get_inputs(), "output": session.get_outputs()}
    found = sorted(f"{kind} {node.name} {node.type} {_shape(node)}" for kind in nodes for node in nodes[kind])
    wanted = sorted(f"{kind} {name} tensor(float) {shape}" for kind, name, shape in described)
    if found != wanted:
        raise IceError(f"{file} has {', '.join(found)}, but its manifest describes {', '.join(wanted)}")


def _shape(node: Any) -> Shape:
    """Return a node's shape with a first axis of any size called `batch`, as manifests do."""
    free_axis = node.shape and not isinstance(node.shape[0], int)
    return ["batch", *node.shape[1:]] if free_axis else list(node.shape)


def _check_parity(file: Path, agent: PortableAgent) -> None:
    """Raise IceError unless the model answers the manifest's positions as it did when it was exported."""
    parity, fill = agent.manifest["parity"], agent.manifest["mask"]["fill"]
    try:
        observation = _rows([vector["observation"] for vector in parity["vectors"]], agent.game.layout.size)
        mask = _rows([vector["mask"] for vector in parity["vectors"]], agent.game.num_actions)
        logits = _rows([vector["masked_logits"] for vector in parity["vectors"]], agent.game.num_actions)
        found_logits, found_value = agent.answer(observation, mask)
    except Exception as error:  # onnxruntime's errors share no base class
        raise IceError(f"{file} cannot be run on its parity vectors: {' '.join(str(error).split())}") from error
    value = [vector["value"] for vector in parity["vectors"]]
    gap = max(np.abs(found_logits - logits)[mask == 1].max(initial=0), np.abs(found_value - value).max())
    if not gap <= parity["tolerance"]:  # a gap of NaN fails too
        raise IceError(f"{file} is {gap:.2g} off on its parity vectors, where {parity['tolerance']} is allowed")
    if not np.isfinite(found_logits).all():
        raise IceError(f"{file} answers with numbers that are not finite on its parity vectors")
    if found_logits[mask == 0].max(initial=fill) > fill / 2:
        raise IceError(f"{file} does not mask illegal actions: it gives some more than {fill / 2:g}")


def _rows(rows: list[Any], length: int) -> NDArray[Any]:
    """Return rows of numbers as an array (k, length), k at least 1; raise IceError if they are not that."""
    if not rows or any(len(row) != length for row in rows):
        raise IceError(f"there must be one or more rows of {length} numbers")
    return np.array(rows)

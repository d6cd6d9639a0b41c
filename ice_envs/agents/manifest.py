"""The manifest of a portable agent: the JSON file beside its `.onnx` file, for readers and writers alike.

Nothing here needs more than the standard library, so a front end in another language can follow it line by line.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

from ice_envs.engine.game import Game
from ice_envs.errors import IceError
from ice_envs.files import read_json, write_json

SCHEMA = "ice-agent/1"
OBSERVATION, MASK, LOGITS, VALUE = "observation", "action_mask", "masked_logits", "value"
MASK_FILL = -1e9

ResultsPart = Literal["evaluation", "challengers", "exploitability"]
"""The parts of a manifest that hold results: the agent's own, and those of others against it."""
Shape = list[int | str]
"""Sizes of a tensor's axes; the first is the word `batch`."""


class OnnxFile(TypedDict):
    """The model file: its name (beside the manifest), what it must hash to, and what wrote it."""

    file: str
    sha256: str
    bytes: int
    opset: int
    ir_version: int
    exporter: str
    producer: str


class ObservationSlice(TypedDict):
    """Cells `start` to `stop` of the observation, reshaped to `shape`, with their bounds and their meaning."""

    name: str
    start: int
    stop: int
    shape: list[int]
    low: int
    high: int
    meaning: str


class ObservationInput(TypedDict):
    """The input that takes the observation, raw: whatever scaling there is lies inside the graph."""

    input: str
    dtype: str
    shape: Shape
    layout_hash: str
    slices: list[ObservationSlice]
    perspective: str
    normalisation: str


class MaskInput(TypedDict):
    """The input that takes the mask of legal actions."""

    input: str
    dtype: str
    shape: Shape
    semantics: str
    inside_graph: bool
    fill: float


class Actions(TypedDict):
    """What each action means."""

    n: int
    labels: list[str]
    labels_hash: str


class Output(TypedDict):
    """One output of the graph."""

    name: str
    dtype: str
    shape: Shape
    meaning: str
    units: str


class Selection(TypedDict):
    """How an action is chosen from the masked logits, outside the graph."""

    default: str
    temperature: float
    tie_break: str


class SeatResult(TypedDict):
    """An agent's results in one seat."""

    seat: int
    games: int
    win_share: float
    interval: list[float]
    mean_score: float


class MoreOfEvaluation(TypedDict, total=False):
    """What not every row has.

    `handicap` is the agent's own, in games that have them, in place of what `options` says of its seat; `cpu` names the
    machine that played.
    """

    handicap: list[int]
    cpu: str


class EvaluationRow(MoreOfEvaluation):
    """An agent's results at one table size against one kind of opponent, the same deals replayed in every seat.

    A victory shared by k seats counts 1/k in `win_share`, whose fair value is 1/num_players. `wins`, `shared_wins`
    and `losses` are fractions of the games; `margin` is the agent's points minus the mean of the others'. Intervals
    are 95 % intervals of means over deals.
    """

    game: str
    rules_version: int
    options: dict[str, Any]
    num_players: int
    agent: str
    opponent: str
    deals: int
    games: int
    seats_rotated: bool
    win_share: float
    interval: list[float]
    fair_share: float
    wins: float
    shared_wins: float
    losses: float
    truncated: float
    mean_score: float
    opponents_mean_score: float
    margin: float
    margin_interval: list[float]
    per_seat: list[SeatResult]
    seed: int
    deals_hash: str
    date: str
    versions: dict[str, Any]
    command: str


class ExploitabilityRow(TypedDict):
    """What a response, trained against the agent in all other seats, wins at one table size: on fresh deals.

    What it wins over `fair_share` is a lower bound on what a best response would. `interval` is the 95 % interval of
    `win_share`. `minutes` and `decisions` are what the response learned for and from, `start` the run that it began
    with (null: none).
    """

    game: str
    rules_version: int
    options: dict[str, Any]
    num_players: int
    agent: str
    deals: int
    games: int
    win_share: float
    interval: list[float]
    fair_share: float
    minutes: float
    decisions: int
    start: str | None
    seed: int
    date: str
    versions: dict[str, Any]
    command: str


class ParityVector(TypedDict):
    """One position and what the model must answer; illegal actions' logits need only be very low."""

    observation: list[int]
    mask: list[int]
    masked_logits: list[float]
    value: float


class Parity(TypedDict):
    """Positions with which a port, or a freshly loaded model, tests itself; `tolerance` is absolute."""

    vectors: list[ParityVector]
    tolerance: float


class Data(TypedDict, total=False):
    """For games with data of the user's, such as a deck: a digest of the data without which the agent does not play."""

    data_hash: str


class Interface(Data):
    """What follows from the game alone: what goes into the model and what comes out."""

    game: str
    rules_version: int
    env_id: str
    observation: ObservationInput
    mask: MaskInput
    actions: Actions
    outputs: list[Output]
    selection: Selection
    recurrent: bool


class Challenged(TypedDict, total=False):
    """For agents that others were measured against: those others' results, each in one seat, the agent in all others.

    `challengers` were there before; `exploitability` is of responses that were trained against this agent alone.
    """

    challengers: list[EvaluationRow]
    exploitability: list[ExploitabilityRow]


class Manifest(Interface, Challenged):
    """The whole manifest, schema `ice-agent/1`. `seats` are the table sizes that the agent may play."""

    schema: str
    name: str
    created: str
    authors: list[str]
    licence: str
    description: str
    onnx: OnnxFile
    options: dict[str, Any]
    seats: list[int]
    training: dict[str, Any]
    evaluation: list[EvaluationRow]
    parity: Parity
    limits: list[str]


VALUES = {
    "win": (
        "expected utility at the end of the game",
        "(n * win share - 1) / (n - 1): 1 wins alone, 0 is the fair share",
    ),
    "score": ("points still to be scored", "points"),
    "margin": ("points still to be scored, less the mean of the others'", "points"),
}
"""What the value says of the seat that observes, and its units, by the reward that it was trained for."""


def interface(game: Game, reward: str = "win", options: Mapping[str, Any] | None = None) -> Interface:
    """Return the part of a manifest that follows from the game, the reward and the options it was learned for."""
    value_meaning, value_units = VALUES[reward]
    length, actions = game.layout.size, game.num_actions
    part = Interface(
        game=game.name,
        rules_version=game.version,
        env_id=game.env_id,
        observation=ObservationInput(
            input=OBSERVATION,
            dtype="float32",
            shape=["batch", length],
            layout_hash=game.layout.hash(),
            slices=[ObservationSlice(**part) for part in game.layout.as_json()],  # type: ignore[typeddict-item]  # same keys
            perspective="own seat first, then clockwise",
            normalisation="inside the graph, from the bounds; feed the whole numbers as they are",
        ),
        mask=MaskInput(
            input=MASK,
            dtype="float32",
            shape=["batch", actions],
            semantics="1 = legal, 0 = illegal",
            inside_graph=True,
            fill=MASK_FILL,
        ),
        actions=Actions(n=actions, labels=list(game.labels), labels_hash=game.labels_hash),
        outputs=[
            Output(
                name=LOGITS,
                dtype="float32",
                shape=["batch", actions],
                meaning="unnormalised log-probabilities of the actions, illegal ones near the mask's fill",
                units="nats",
            ),
            Output(
                name=VALUE,
                dtype="float32",
                shape=["batch", 1],
                meaning=f"{value_meaning}, of the seat that observes",
                units=value_units,
            ),
        ],
        selection=Selection(default="argmax", temperature=1.0, tie_break="lowest index"),
        recurrent=False,
    )
    if data_hash := game.data_hash(options or {}):
        part["data_hash"] = data_hash
    return part


def read_manifest(path: str | Path) -> Manifest:
    """Return the manifest in a file; raise IceError, in one sentence, if it is missing, damaged or something else."""
    found = read_json(path)
    if not isinstance(found, Mapping) or not isinstance(found.get("schema"), str):
        raise IceError(f"{path} is not an agent manifest: it has no 'schema'")
    if found["schema"].split(".")[0] != SCHEMA:
        raise IceError(f"{path} has schema {found['schema']!r:.80}, but this package reads {SCHEMA!r}")
    try:
        check(found, Manifest)
    except IceError as error:
        raise IceError(f"{path} is not a whole agent manifest: {error}") from error
    return found  # type: ignore[return-value]  # just checked


def write_manifest(path: str | Path, manifest: Manifest) -> None:
    """Write a manifest, atomically.

    Raises IceError, and writes nothing, for a missing field or one of the wrong type, a number that is not finite,
    and an evaluation that is absent, counts no games or lacks an interval.
    """
    check(manifest, Manifest)
    if not manifest["evaluation"]:
        raise IceError("the manifest has no evaluation: evaluate the agent before publishing it")
    for row in [*manifest["evaluation"], *manifest.get("challengers", [])]:
        what = f"the evaluation of {row['agent']} against {row['opponent']} at {row['num_players']} seats"
        if row["games"] < 1:
            raise IceError(f"{what} counts {row['games']} games")
        for interval in (row["interval"], row["margin_interval"], *(seat["interval"] for seat in row["per_seat"])):
            _check_interval(interval, what)
    for found in manifest.get("exploitability", []):
        _check_interval(found["interval"], f"the exploitability at {found['num_players']} seats")
    write_json(path, {"schema": manifest["schema"], "name": manifest["name"], **manifest})  # these two first


def _check_interval(interval: list[float], what: str) -> None:
    if len(interval) != 2 or interval[0] > interval[1]:
        raise IceError(f"{what} has {interval} where an interval [low, high] belongs")


def add_results(path: str | Path, part: ResultsPart, rows: Sequence[Any]) -> None:
    """Write rows into one part of the manifest at `path`, atomically, in place of those that measured the same."""
    manifest = read_manifest(path)
    manifest[part] = merged(manifest.get(part, []), rows, part)
    write_manifest(path, manifest)


def merged(old: Sequence[Any], new: Sequence[Any], part: ResultsPart) -> list[Any]:
    """Return rows of one part of an agent's results, sorted: new ones in place of old ones that measured the same."""
    rows = {measured(row, part): row for row in [*old, *new]}
    return [rows[key] for key in sorted(rows)]


def measured(row: Mapping[str, Any], part: ResultsPart) -> tuple[str, int, tuple[int, ...]]:
    """Return what a row tells of: the agent on the other side (none if it was trained), table size and handicap."""
    other = {"evaluation": "opponent", "challengers": "agent", "exploitability": ""}[part]
    return row.get(other, ""), row["num_players"], tuple(row.get("handicap", ()))


def check(value: Any, kind: Any, where: str = "") -> None:
    """Raise IceError, naming the place, unless plain data has all the fields and types that `kind` asks for."""
    name = where or "the manifest"
    if is_typeddict(kind):
        _check_type(value, Mapping, name, "an object")
        for key, field in get_type_hints(kind).items():
            if key not in value and key not in kind.__required_keys__:
                continue
            if key not in value:
                raise IceError(f"{name} lacks {key!r}")
            check(value[key], field, f"{where}.{key}" if where else key)
    elif get_origin(kind) is list:
        _check_type(value, list, name, "a list")
        for i, item in enumerate(value):
            check(item, get_args(kind)[0], f"{where}[{i}]")
    elif get_origin(kind) is dict:
        _check_type(value, Mapping, name, "an object")
    elif kind is float:
        _check_type(value, (int, float), name, "a number")
        if not -sys.float_info.max <= value <= sys.float_info.max:  # NaN, infinity, and whole numbers beyond
            raise IceError(f"{name} is {value!r:.60}, not a finite number")
    else:
        types = get_args(kind) if isinstance(kind, UnionType) else (kind,)
        _check_type(value, types, name, " or ".join(_TYPE_NAMES[part] for part in types))


_TYPE_NAMES = {int: "a whole number", float: "a number", str: "text", bool: "true or false", type(None): "null"}


def _check_type(value: Any, types: Any, name: str, wanted: str) -> None:
    misplaced_bool = isinstance(value, bool) and types != (bool,)
    if misplaced_bool or not isinstance(value, types):
        raise IceError(f"{name} must be {wanted}, not {value!r:.60}")

"""One position, four ways, one answer; games driven through JSON views alone; and parity.json, schemas and cards."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from ice_envs import find_game, games
from ice_envs.agents.manifest import check
from ice_envs.agents.portable import PortableAgent, load_portable
from ice_envs.engine import loops
from ice_envs.engine.game import Game, States, apply
from ice_envs.files import read_json, write_json
from ice_envs.serve.app import Limits, application
from tests import portable_agents
from tests.front_ends import EXAMPLES, PUBLISHED, agents_folder, export_new, node, random_positions, views_of
from tests.helpers import observations, started
from tests.twins.dokitto import FLAVORS, FLAVORS_IN_PLAY, HAND_SIZE, HIGHEST_NUMBER, Card, Dokitto, Move
from training.benchmark_agents import Client, request, served
from training.network import ActorCritic
from training.parity import POSITIONS, ParityFile, ParityPosition, parity_file

COUNT = 1000
CLIENTS = 8
CLOSE = 1e-5
AMBIGUOUS = 1e-4


class Made(NamedTuple):
    """An exported network, and a thousand positions of its game."""

    game: Game
    network: ActorCritic
    folder: Path
    states: States
    observation: Any
    mask: Any


@pytest.fixture(scope="module", params=games())
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    game, folder = find_game(request.param), tmp_path_factory.mktemp(request.param)
    network = export_new(game, folder)
    states = random_positions(game, COUNT)
    return Made(game, network, folder, states, *loops.observed(game, states))


# ---- the same position, four ways ----


def check_answers(made: Made, actions: Any, logits: Any) -> None:
    """Assert that actions and legal actions' logits (up to what a row has in common) are the network's."""
    legal = made.mask == 1
    by_torch = np.where(legal, made.network.answer(made.observation, made.mask)[0].numpy(), -np.inf)
    second, first = np.sort(by_torch, axis=1)[:, -2:].T
    clear = first - second > AMBIGUOUS
    assert clear.mean() > 0.99, "the network gives many actions the same score: nothing is proved"
    assert np.ptp(by_torch[legal]) > 2
    np.testing.assert_array_equal(np.asarray(actions)[clear], by_torch.argmax(axis=1)[clear])
    found = np.where(legal, logits, 0)
    np.testing.assert_allclose(found, np.where(legal, by_torch, 0), atol=CLOSE, rtol=0)


def test_onnxruntime_answers_as_torch(made: Made):
    agent = load_portable(made.folder / "agent.json")
    check_answers(made, agent.choose(made.states), agent.answer(made.observation, made.mask)[0])


def test_the_service_answers_as_torch(made: Made):
    requests = [request(made.game.name, view) for view in views_of(made.game, made.states)]

    async def answers(port: int) -> list[bytes]:
        found: list[bytes] = [b""] * COUNT

        async def ask(first: int) -> None:
            client = Client(*await asyncio.open_connection("127.0.0.1", port))
            for i in range(first, COUNT, CLIENTS):
                found[i] = await client.ask(requests[i])
            client.close()

        await asyncio.gather(*(ask(first) for first in range(CLIENTS)))
        return found

    with served(made.folder) as port:
        told = [json.loads(answer) for answer in asyncio.run(answers(port))]
    # probabilities are the logits less a number for each position: the one by which the network's differ, too
    logs = np.full(made.mask.shape, np.nan)
    for row, answer in zip(logs, told, strict=True):
        for part in answer["probabilities"]:
            row[part["action"]] = np.log(part["probability"])
    by_torch, value = (part.numpy() for part in made.network.answer(made.observation, made.mask))
    legal = made.mask == 1
    assert (np.isfinite(logs) == legal).all()
    norm = np.log(np.where(legal, np.exp(by_torch.astype(float)), 0).sum(axis=1, keepdims=True))
    check_answers(made, [answer["action"] for answer in told], logs + norm)
    np.testing.assert_allclose([answer["value"] for answer in told], value, atol=CLOSE, rtol=0)


@pytest.mark.node
def test_node_answers_as_torch(made: Made):
    rows = zip(made.observation.tolist(), made.mask.tolist(), strict=True)
    lines = "".join(json.dumps({"observation": o, "mask": m}) + "\n" for o, m in rows)
    words = [node(), str(EXAMPLES / "node" / "answer.js"), str(made.folder)]
    done = subprocess.run(words, input=lines, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    logits = np.zeros(made.mask.shape)
    for row, mask, answer in zip(logits, made.mask, told, strict=True):
        row[mask == 1] = answer["logits"]
    check_answers(made, [answer["action"] for answer in told], logits)


def test_a_wrong_answer_would_be_noticed(made: Made):
    agent = load_portable(made.folder / "agent.json")
    actions, logits = agent.choose(made.states), agent.answer(made.observation, made.mask)[0]
    with pytest.raises(AssertionError, match="Not equal"):
        check_answers(made, actions, logits + 2 * CLOSE)
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        check_answers(made, np.roll(actions, 1), logits)


# ---- parity.json ----


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published agents, tiny ones in place of those that are not there yet."""
    return agents_folder(tmp_path_factory.mktemp("agents"))


def replay(agent: PortableAgent, file: ParityFile) -> None:
    """Assert that an agent answers the positions of parity.json, seen as views and as arrays."""
    game = agent.game
    positions = file["positions"]
    observation = np.array([position["observation"] for position in positions])
    mask = np.array([position["mask"] for position in positions])
    states = np.concatenate([agent.read(position["view"]) for position in positions])
    for seen, told in zip(observations(game, states, states["to_move"]), (observation, mask), strict=True):
        np.testing.assert_array_equal(seen, told)
    logits, value = agent.answer(observation, mask)
    wanted = np.array([position["masked_logits"] for position in positions])
    assert np.abs(logits - wanted)[mask == 1].max() <= file["tolerance"]
    assert np.abs(value - [position["value"] for position in positions]).max() <= file["tolerance"]
    assert [agent.act(position["view"]).action for position in positions] == [p["action"] for p in positions]


@pytest.mark.parametrize("name", games())
def test_every_agent_answers_its_parity_file(name: str, folders: Path):
    file: ParityFile = read_json(folders / name / "parity.json")
    agent = load_portable(folders / name / "agent.json")
    assert (file["sha256"], file["game"]) == (agent.manifest["onnx"]["sha256"], name)
    assert (folders / name / "agent.onnx").stat().st_size < 8_000_000
    replay(agent, file)


def test_a_parity_file_has_64_positions_of_all_tables_and_phases(made: Made):
    file: ParityFile = read_json(made.folder / "parity.json")
    check(file, ParityFile)
    replay(load_portable(made.folder / "agent.json"), file)
    positions: list[ParityPosition] = file["positions"]
    validator = Draft202012Validator(made.game.view_schema)
    assert all(validator.is_valid(position["view"]) for position in positions)
    assert all(sum(position["mask"]) > 1 for position in positions)
    assert len({json.dumps(position["view"]) for position in positions}) == len(positions) == POSITIONS
    sizes = [position["view"]["num_players"] for position in positions]
    assert set(sizes) == set(made.game.table_sizes)
    assert min(map(sizes.count, sizes)) >= POSITIONS / len(set(sizes)) - 2
    phases = made.game.view_schema["properties"].get("phase", {"enum": [None]})["enum"]
    assert {position["view"].get("phase") for position in positions} == set(phases)


def test_the_same_network_has_the_same_parity_file(made: Made):
    manifest = load_portable(made.folder / "agent.json").manifest
    assert parity_file(made.network, made.game, manifest) == read_json(made.folder / "parity.json")


# ---- a program that holds its own state ----


class Shuffled:
    """A front end's own chance."""

    def __init__(self, num_players: int, rng: random.Random) -> None:
        self._num_players, self._rng = num_players, rng

    def first_leader(self) -> int:
        return self._rng.randrange(self._num_players)

    random_leader = first_leader

    def deal(self) -> tuple[list[set[Card]], list[list[bool]]]:
        flavors = range(FLAVORS_IN_PLAY[self._num_players])
        deck: list[Card] = [(flavor, number) for flavor in flavors for number in range(1, HIGHEST_NUMBER + 1)]
        self._rng.shuffle(deck)
        size = HAND_SIZE[self._num_players]
        hands = [set(deck[seat * size : (seat + 1) * size]) for seat in range(self._num_players)]
        stars = [[place == star for place in range(3)] for star in (self._rng.randrange(3) for _ in flavors)]
        return hands, stars


def view_of(table: Dokitto) -> dict[str, Any]:
    """Return what the seat to move knows, written down by a program that shares no code with the package."""
    in_play = FLAVORS[: len(table.tiles)]
    view: dict[str, Any] = {
        "game": "dokitto",
        "version": 0,
        "num_players": table.num_players,
        "options": {},
        "seat": table.to_move,
        "round": table.round,
        "first_leader": table.first_leader,
        "hand": [{"flavor": FLAVORS[flavor], "number": number} for flavor, number in table.hands[table.to_move or 0]],
        "played": [
            {"seat": seat, "flavor": FLAVORS[flavor], "number": number, "trick": trick + 1}
            for seat, (flavor, number), trick in table.played
        ],
        "tiles": dict(zip(in_play, table.tiles, strict=True)),
        "toppings": [FLAVORS[flavor] for flavor in table.toppings],
        "cones": [
            {"tiles": [FLAVORS[flavor] for flavor in tiles], "toppings": [FLAVORS[flavor] for flavor in toppings]}
            for tiles, toppings in zip(table.cones, table.cone_toppings, strict=True)
        ],
        "totals": table.totals,
        "phase": "take_tile" if table.tile_choices else "play",
        "to_move": table.to_move,
        "over": False,
        "truncated": False,
    }
    return view


def moves() -> Iterator[tuple[str, Move]]:
    """Yield every label with what it means to the twin."""
    for flavor, name in enumerate(FLAVORS):
        yield f"take a {name} tile", ("take", flavor)
        for number in range(1, HIGHEST_NUMBER + 1):
            yield f"play {name} {number}", ("play", flavor, number)


@pytest.mark.parametrize("num_players", find_game("dokitto").table_sizes)
def test_a_program_with_its_own_rules_plays_whole_games_over_http(num_players: int, folders: Path):
    agent = load_portable(folders / "dokitto" / "agent.json")
    meaning = dict(moves())
    table = Dokitto(num_players, Shuffled(num_players, random.Random(num_players)))
    asked = 0
    with TestClient(application([agent], Limits())) as client:
        while not table.over:
            view = view_of(table)
            answer = client.post("/games/dokitto/move", json=view)
            assert answer.status_code == 200, answer.text
            told = answer.json()
            assert {meaning[part["label"]] for part in told["probabilities"]} == table.legal()
            assert told["label"] == agent.act(view).label
            table.play(meaning[told["label"]])
            asked += 1
    assert asked > 6 * num_players
    assert sum(table.win_shares()) == 1


@pytest.mark.parametrize("name", games())
def test_a_game_of_every_kind_is_played_over_http_to_its_end(name: str, folders: Path):
    agent = load_portable(folders / name / "agent.json")
    seats = max(agent.manifest["seats"])
    states = started(agent.game, seats, seed=5)
    seen = set()
    with TestClient(application([agent], Limits())) as client:
        while not states[0].over:
            (view,) = views_of(agent.game, states)
            told = client.post(f"/games/{name}/move", json=view).json()
            assert told["action"] == agent.choose(states)[0], told
            seen.add(view["seat"])
            apply(states[0], told["action"])
    assert seen == set(range(seats))


# ---- the examples ----


@pytest.mark.node
def test_node_replays_every_agents_parity_file(folders: Path):
    words = [node(), str(EXAMPLES / "node" / "check.js"), *(str(folders / name) for name in games())]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [head.partition(",")[0] for head in heads] == [f"{n}: {POSITIONS} positions answered alike" for n in games()]
    first = find_game("dokitto").labels[read_json(folders / "dokitto" / "parity.json")["positions"][0]["action"]]
    assert f"  {first} (" in done.stdout


def changed(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    """Return what writes a manifest anew, with a change."""

    def write(folder: Path) -> None:
        manifest = read_json(folder / "agent.json")
        change(manifest)
        write_json(folder / "agent.json", manifest)

    return write


def cut_model(folder: Path) -> None:
    """Write the first half of the model, and its hash into the manifest."""
    model = (folder / "agent.onnx").read_bytes()
    half = model[: len(model) // 2]
    (folder / "agent.onnx").write_bytes(half)
    changed(lambda manifest: manifest["onnx"].update(sha256=hashlib.sha256(half).hexdigest()))(folder)


WRONG: dict[str, dict[str, Any] | Callable[[Path], None]] = {
    "agent.json is not the manifest of an agent": lambda folder: write_json(folder / "agent.json", None),
    "agent.json lacks observation.input": changed(lambda manifest: manifest.pop("observation")),
    "agent.json lacks parity.vectors": {"parity__vectors": [{"observation": [0], "mask": [1]}]},
    "agent.json lacks outputs": {"outputs": []},
    "this front end does not know the game constructor": {"game": "constructor"},
    "names the model ../../../etc/hostname, which must be a file in the same folder": {
        "onnx__file": "../../../etc/hostname"
    },
    "names the model .., which must be": {"onnx__file": ".."},
    "agent.onnx is not a model that onnxruntime can open": cut_model,
    "made for data beef, but this front end for ": {"data_hash": "beef"},
    "agent.json has schema ice-agent/2, but this front end reads ice-agent/1": {"schema": "ice-agent/2"},
    "this front end does not know the game chess": {"game": "chess"},
    "made for rules version 7, but this front end for 0": {"rules_version": 7},
    "made for observation layout beef, but": {"observation__layout_hash": "beef"},
    "made for action labels beef, but": {"actions__labels_hash": "beef"},
    "agent.onnx has SHA-256 ": {"onnx__sha256": "beef"},
    "the model has inputs ": {"observation__input": "obs"},
    "off on its parity vectors": {"parity__tolerance": 1e-12},
    "no such file": {"onnx__file": "other.onnx"},
}


def complaint(program: str, *words: str, typed: str = "") -> str:
    """Return the one line with which a program of the examples refuses its input."""
    command = [node(), str(EXAMPLES / "node" / program), *words]
    done = subprocess.run(command, input=typed, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    return done.stderr


@pytest.mark.node
@pytest.mark.parametrize("sentence", WRONG)
def test_node_refuses_what_does_not_fit_in_one_sentence(sentence: str, tmp_path: Path):
    wrong = WRONG[sentence]
    game = find_game("ice_split" if "made for data" in sentence else "dokitto")  # the game whose deck may be another
    portable_agents.export(tmp_path, game, **(wrong if isinstance(wrong, dict) else {}))
    if callable(wrong):
        wrong(tmp_path)
    for program in ("check.js", "answer.js"):
        assert sentence in complaint(program, str(tmp_path))


@pytest.mark.node
def test_node_refuses_what_is_no_position_in_one_sentence(tmp_path: Path):
    path = portable_agents.export(tmp_path, find_game("dokitto"))
    assert "cannot read parity.json" in complaint("check.js", str(tmp_path))
    for content, sentence in ((None, "has schema undefined"), ({"schema": "ice-parity/1"}, "parity.json lacks sha256")):
        write_json(tmp_path / "parity.json", content)
        assert sentence in complaint("check.js", str(tmp_path))
    vector = read_json(path)["parity"]["vectors"][0]
    for line, sentence in (
        ("{", "line 1 is not JSON"),
        ("null", "line 1 lacks observation"),
        (json.dumps({**vector, "mask": "all"}), "line 1 lacks mask"),
        (json.dumps({**vector, "mask": [1]}), "line 1 has a row of 1 numbers, not "),
        (json.dumps({**vector, "mask": [0] * len(vector["mask"])}), "no action is legal"),
    ):
        assert sentence in complaint("answer.js", str(tmp_path), typed=f"{line}\n")
    for program in ("check.js", "answer.js"):
        assert "such as checkpoints/dokitto" in complaint(program)


def test_the_lock_file_names_no_registry_and_the_folders_are_the_published_ones(folders: Path):
    lock = (EXAMPLES / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert "registry" not in lock.lower()
    for name in games():
        if (PUBLISHED / name / "agent.json").is_file():
            assert (folders / name / "agent.json").read_bytes() == (PUBLISHED / name / "agent.json").read_bytes()

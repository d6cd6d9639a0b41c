"""A thousand malformed requests and hundreds of damaged files: each is refused in a sentence, or answered legally."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
from starlette.testclient import TestClient

from ice_envs import IceError, agents, find_game, games
from ice_envs.serve.app import Limits, application
from ice_envs.serve.table import LONGEST_SENTENCE, NotJson, plain
from tests import portable_agents
from tests.front_ends import random_positions, views_of
from tests.helpers import masks, started
from tests.test_serve import GAME, PROCESS_BODY_BYTES, folder, process  # noqa: F401  # fixtures

REQUESTS_EACH = 300
PROCESS_REQUESTS = 300
BODY_BYTES = 30_000
JUNK: list[Any] = [
    *(None, True, False, -1, 0, 1, 3, 99, 2**31, 2**63, 2**64, 10**400, 0.5, 1e308, float("nan"), float("inf")),
    *("", "dokitto", "play", "\ud800", "a" * 500, [], {}, [[]], [None], {"": {}}, {"seat": 0}),
]
Path_ = tuple[Any, ...]


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the path of everything in plain data."""
    if path:
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*path, key))


def inside(value: Any, path: Path_) -> Any:
    for step in path:
        value = value[step]
    return value


def spoil(data: Any, rng: np.random.Generator, junk: list[Any] = JUNK) -> None:
    """Change one thing somewhere: other data, a neighbor's, none, twice the same, or one more."""
    found = list(places(data))
    *parents, last = found[rng.integers(len(found))]
    place = inside(data, tuple(parents))
    match rng.integers(5):
        case 0 | 1:
            place[last] = deepcopy(junk[rng.integers(len(junk))])
        case 2:
            place[last] = deepcopy(inside(data, found[rng.integers(len(found))]))
        case 3:
            del place[last]
        case _ if isinstance(place, list):
            place.insert(int(rng.integers(len(place) + 1)), deepcopy(place[last]))
        case _:
            place[f"{last}s"] = 0


def bodies(view: dict[str, Any], rng: np.random.Generator) -> Iterator[bytes]:
    """Yield hostile bodies without end: views with some changes, cut off, deeply nested, very long, or random bytes."""
    while True:
        changed = deepcopy(view)
        for _ in range(rng.integers(1, 4)):
            spoil(changed, rng)
        text = json.dumps(changed).encode()
        match rng.integers(8):
            case 0:
                yield text[: rng.integers(len(text))]
            case 1:
                at = rng.integers(len(text))
                yield text[:at] + rng.bytes(3) + text[at + 1 :]
            case 2:
                depth = int(rng.integers(1, 6000))
                yield text.replace(b"[]", b"[" * depth + b"]" * depth, 1)
            case 3 if rng.random() < 0.2:
                yield text + b" " * BODY_BYTES
            case _:
                yield text


@pytest.mark.parametrize("name", games())
def test_hostile_requests_are_refused_or_answered_legally(name: str, tmp_path: Path):
    game = find_game(name)
    agent = agents.load(portable_agents.export(tmp_path, game))
    rng = np.random.default_rng(7)
    views = views_of(game, random_positions(game, 40))
    statuses = []
    with TestClient(application([agent], Limits(BODY_BYTES)), raise_server_exceptions=False) as client:  # type: ignore[list-item]
        for i in range(REQUESTS_EACH):
            body = next(bodies(views[i % len(views)], rng))
            answer = client.post(f"/games/{name}/move", content=body)
            statuses.append(answer.status_code)
            told = answer.json()
            if answer.status_code == 200:
                assert masks(game, agent.read(plain(body)))[0, told["action"]] == 1
            else:
                assert list(told) == ["detail"]
                assert "Traceback" not in told["detail"]
                assert "\n" not in told["detail"]
                assert len(told["detail"]) < 600, told["detail"]
        assert client.post(f"/games/{name}/move", json=views[0]).status_code == 200
    assert set(statuses) <= {200, 400, 413, 422}
    assert all(statuses.count(status) for status in (200, 400, 413, 422))
    assert statuses.count(422) > REQUESTS_EACH / 2


@pytest.mark.parametrize("name", games())
def test_no_sentence_repeats_much_of_a_request(name: str, tmp_path: Path):
    """Long, unprintable or huge, anywhere in a view: as a value and as the name of a field.

    What a front end need not send, such as the legal actions, is not read, and such a view is answered.
    """
    game = find_game(name)
    agent = agents.load(portable_agents.export(tmp_path, game))
    (view,) = views_of(game, started(game, max(game.table_sizes)))
    statuses = []
    with TestClient(application([agent], Limits()), raise_server_exceptions=False) as client:  # type: ignore[list-item]
        kinds = {tuple("" if isinstance(step, int) else step for step in path): path for path in places(view)}
        for path in kinds.values():
            for junk in ("\ud800\n" + "a" * 20_000, 10**4000):
                changed = deepcopy(view)
                *parents, last = path
                inside(changed, tuple(parents))[last] = junk
                statuses.append(checked_status(client.post(f"/games/{name}/move", content=json.dumps(changed))))
            if isinstance(inside(view, path), dict):
                changed = deepcopy(view)
                inside(changed, path)["\ud800\n" + "a" * 20_000] = 0
                statuses.append(checked_status(client.post(f"/games/{name}/move", content=json.dumps(changed))))
    assert set(statuses) == {200, 422}
    assert statuses.count(422) > len(statuses) / 2


def checked_status(answer: Any) -> int:
    """Return the status of an answer; if it is a refusal, assert that it is one short sentence."""
    if answer.status_code != 200:
        told = answer.json()["detail"]
        assert told.isprintable()
        assert len(told) <= LONGEST_SENTENCE
    return answer.status_code


def test_the_process_survives_hostile_requests(process: tuple[subprocess.Popen[str], int]):  # noqa: F811  # the fixture
    started, port = process
    rng = np.random.default_rng(17)
    views = views_of(GAME, random_positions(GAME, 40))
    url = f"http://127.0.0.1:{port}/games/dokitto/move"
    statuses = []
    with httpx.Client(timeout=60) as client:
        for i in range(PROCESS_REQUESTS):
            body = next(bodies(views[i % len(views)], rng))
            if len(body) <= PROCESS_BODY_BYTES:  # what is longer is answered before it is read: see tests/test_serve.py
                statuses.append(client.post(url, content=body).status_code)
        assert {200, 400, 422} <= set(statuses) <= {200, 400, 422, 503}  # 503: the machine is busy
        assert len(statuses) > PROCESS_REQUESTS / 2
        assert client.post(url, json=views[0]).status_code == 200
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out, err.splitlines()[-1]) == (130, "", "Stopped.")
    assert "Traceback" not in err


def test_no_json_that_parses_is_misread():
    for text in ("[1, 2.5, null, true]", '{"a": {"b": "ü"}}'):
        assert plain(text.encode()) == json.loads(text)
    with pytest.raises(NotJson):
        plain(b"[1,]")
    with pytest.raises(IceError, match="the field 'b' is there twice"):
        plain(b'[{"a": {"b": 1, "c": 2, "b": 1}}]')


# ---- files ----

NAMES = ["../agent.onnx", "/etc/passwd", "a\0b", "agent.json", "nowhere.onnx", "ice-agent/9", "ice-agent/1.9"]

MANIFEST_JUNK = [
    *JUNK,
    "../agent.onnx",
    "/etc/passwd",
    "a\0b",
    "agent.json",
    "nowhere.onnx",
    ["batch", 5],
    "ice-agent/9",
]


def is_refused_or_plays(path: Path) -> bool:
    """Return whether loading is refused in one sentence; otherwise let the agent play."""
    try:
        agent = agents.load(path)
    except IceError as error:
        return "\n" not in str(error)
    assert agent.game is not None
    states = started(agent.game, list(agent.game.table_sizes), 8)
    try:
        actions = agent.choose(states)
    except IceError:
        return True  # it may say that it plays fewer tables
    assert masks(agent.game, states)[np.arange(len(states)), actions].all()
    return False


@pytest.mark.parametrize("name", games())
def test_hostile_manifests_are_refused_or_play_legally(name: str, tmp_path: Path):
    path = portable_agents.export(tmp_path, find_game(name))
    good = json.loads(path.read_text())
    for rows in (good["observation"]["slices"], good["actions"]["labels"]):
        del rows[3:]  # long lists would take most of the changes
    rng = np.random.default_rng(8)
    refused = 0
    for _ in range(120):
        spoiled = deepcopy(good)
        spoil(spoiled, rng, [*JUNK, *NAMES, ["batch", 5]])
        path.write_text(json.dumps(spoiled))
        refused += is_refused_or_plays(path)
    assert refused > 60
    for text in ("[" * 100_000, '{"schema": "ice-agent/1", "onnx": ' + "9" * 10_000 + "}", "\x00", ""):
        path.write_text(text)
        assert is_refused_or_plays(path)


@pytest.mark.parametrize("name", games())
def test_hostile_options_are_refused_when_the_agent_is_loaded(name: str, tmp_path: Path):
    game = find_game(name)
    path = portable_agents.export(tmp_path, game)
    good = json.loads(path.read_text())
    for rows in (good["observation"]["slices"], good["actions"]["labels"]):
        del rows[3:]  # to be read faster
    own = game.default_options()
    for option in [*own, "num_players", "seed", "reward", "self", ""]:
        for junk in [*JUNK, *NAMES, [[0, 99]], [{}] * 63]:
            path.write_text(json.dumps({**good, "options": {option: junk}}))
            assert is_refused_or_plays(path) or option in own


def test_damaged_models_are_refused(tmp_path: Path):
    game = find_game("dokitto")
    model = portable_agents.model_bytes(game)
    rng = np.random.default_rng(9)
    for size in [0, 1, 10, *rng.integers(len(model), size=20)]:
        path = portable_agents.export(tmp_path, game)
        path.with_name("agent.onnx").write_bytes(model[:size])
        with pytest.raises(IceError, match="has sha256"):
            agents.load(path)
        manifest = json.loads(path.read_text())
        manifest["onnx"]["sha256"] = hashlib.sha256(model[:size]).hexdigest()
        path.write_text(json.dumps(manifest))
        with pytest.raises(IceError, match=r"is not a model|parity vectors|but its manifest describes"):
            agents.load(path)


def test_a_model_that_reaches_for_other_files_is_refused(tmp_path: Path):
    """Weights outside of the model, in any file of the reader's, are not fetched."""
    import onnx
    from onnx.external_data_helper import set_external_data

    game = find_game("dokitto")
    model = onnx.load_model_from_string(portable_agents.model_bytes(game))
    tensor = next(part for part in model.graph.initializer if part.name == "weights")
    (tmp_path / "secret").write_bytes(tensor.raw_data)
    set_external_data(tensor, location="../secret")
    tensor.ClearField("raw_data")
    (tmp_path / "agent").mkdir()
    path = portable_agents.export(tmp_path / "agent", game, model.SerializeToString())
    with pytest.raises(IceError, match="is not a model that onnxruntime can open"):
        agents.load(path)

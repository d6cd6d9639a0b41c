"""The HTTP service: answers, refusals, limits, and what it says when it cannot start."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from ice_envs import find_game, games
from ice_envs.agents.portable import PortableAgent, load_portable
from ice_envs.games.ice_split.deck import deck_rows, reconstruction
from ice_envs.serve import __main__ as command
from ice_envs.serve.app import Limits, application
from ice_envs.serve.openapi import REFUSALS, move_schema
from ice_envs.serve.table import Table
from tests import portable_agents
from tests.front_ends import random_positions, views_of
from tests.helpers import started
from tests.views import set_to

GAME = find_game("dokitto")
LONG = "a" * 15_000
PROCESS_BODY_BYTES = 9000
STATUSES = ("400", "404", "405", "413", "422", "500", "503")
"""What a refusal may have: the tests of refusals below have all of them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny agents of all games."""
    place = tmp_path_factory.mktemp("agents")
    for name in games():
        (place / name).mkdir()
        portable_agents.export(place / name, find_game(name))
    return place


@pytest.fixture(scope="module")
def agents(folder: Path) -> dict[str, PortableAgent]:
    return {agent.game.name: agent for agent in command.find_agents(folder)}


@pytest.fixture(scope="module")
def client(agents: dict[str, PortableAgent]) -> Iterator[TestClient]:
    app = application(list(agents.values()), Limits(20_000, 30, 64))
    for table in app.state.tables:
        table.warm_up()
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def ask(client: TestClient, view: Any, name: str = "dokitto") -> httpx.Response:
    return client.post(f"/games/{name}/move", content=view if isinstance(view, bytes) else json.dumps(view))


def a_view(moves: int = 3) -> dict[str, Any]:
    return views_of(GAME, random_positions(GAME, 1, seed=moves))[0]


# ---- answers ----


@pytest.mark.parametrize("name", games())
def test_a_view_is_answered_as_the_agent_answers_it(name: str, client: TestClient, agents: dict[str, PortableAgent]):
    game, agent = find_game(name), agents[name]
    validator = Draft202012Validator(move_schema(game))
    for view in views_of(game, random_positions(game, 12)):
        response = ask(client, view, name)
        answer, move = response.json(), agent.act(view)
        assert response.status_code == 200
        assert list(validator.iter_errors(answer)) == []
        assert (answer["action"], answer["label"], answer["label_ja"]) == (move.action, move.label, move.label_ja)
        ranked = answer["probabilities"]
        legal = {legal["action"] for legal in view["legal_actions"]}
        assert {part["action"] for part in ranked} == legal
        assert ranked[0]["action"] == move.action
        found = [part["probability"] for part in ranked]
        assert found == sorted(found, reverse=True)
        assert sum(found) == pytest.approx(1)
        assert answer["value"] == pytest.approx(move.value)


def test_probabilities_are_those_of_the_logits(agents: dict[str, PortableAgent]):
    states = random_positions(GAME, 40)
    agent = agents["dokitto"]
    for state, move in zip(states, agent.moves(states), strict=True):
        (_, mask, logits, value) = (part[0] for part in agent._weigh(np.array([state], GAME.dtype)))
        weights = np.exp(logits[mask == 1].astype(float))
        assert list(move.probabilities) == np.flatnonzero(mask).tolist()
        np.testing.assert_allclose(list(move.probabilities.values()), weights / weights.sum(), rtol=1e-5)
        assert move.value == pytest.approx(value)


def test_what_is_served_is_told(client: TestClient, agents: dict[str, PortableAgent]):
    told = client.get("/games").json()
    document = client.get("/openapi.json").json()
    schema = document["paths"]["/games"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert list(Draft202012Validator(schema).iter_errors(told)) == []
    assert {entry["game"] for entry in told} == set(games())
    for entry in told:
        game = find_game(entry["game"])
        assert (entry["title"], entry["title_ja"], entry["version"]) == (game.title, game.title_ja, game.version)
        assert entry["seats"] == list(game.table_sizes)
        assert client.get(entry["view_schema"]).json() == game.view_schema
        assert ask(client, views_of(game, random_positions(game, 1))[0], game.name).status_code == 200


def test_the_openapi_document_has_the_games_own_schemas(client: TestClient):
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    for name in games():
        assert document["components"]["schemas"][f"{name}_view"] == find_game(name).view_schema
        operation = document["paths"][f"/games/{name}/move"]["post"]
        assert set(operation["responses"]) == {"200", *STATUSES}
        body = operation["requestBody"]["content"]["application/json"]
        assert ask(client, body["example"], name).status_code == 200
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert references == set(document["components"]["schemas"])


def test_the_page_of_front_ends_tells_the_same_refusals():
    text = (Path(__file__).parent.parent / "docs" / "front_ends.md").read_text(encoding="utf-8")
    assert tuple(re.findall(r"^\| (\d{3}) \|", text, re.MULTILINE)) == STATUSES == tuple(REFUSALS)


def test_the_page_for_people_needs_nothing_from_elsewhere(client: TestClient):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert re.findall(r"https?://|\bsrc=|@import|url\(", page.text) == []
    assert all(f"/games/{name}/move" in page.text for name in games())


def test_only_named_origins_may_ask_from_a_browser(agents: dict[str, PortableAgent]):
    app = application(list(agents.values()), Limits(), ["https://ice.example"])
    with TestClient(app) as client:
        for origin, allowed in (("https://ice.example", "https://ice.example"), ("https://other.example", None)):
            answer = client.get("/games", headers={"Origin": origin})
            assert answer.headers.get("access-control-allow-origin") == allowed


def test_an_application_can_be_started_again(folder: Path):
    app = application([load_portable(folder / "dokitto" / "agent.json")], Limits())
    for _ in range(2):
        with TestClient(app) as client:
            assert ask(client, a_view()).status_code == 200


# ---- refusals ----


def twice(view: dict[str, Any]) -> None:
    view["hand"][1] = view["hand"][0]


def too_many(view: dict[str, Any]) -> None:
    held = {(card["flavor"], card["number"]) for card in view["hand"] + view["played"]}
    view["hand"].append(next({"flavor": "grape", "number": n} for n in range(1, 14) if ("grape", n) not in held))


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "the view has no field 'hnad' (did you mean 'hand'?)": set_to("hnad", value=[]),
    "hand[1] is": twice,
    "hand has": too_many,
    "version is 1, but this is version 0 of dokitto": set_to("version", value=1),
    "num_players must be from 2 to 5, not 6": set_to("num_players", value=6),
    "totals[0] must be a whole number": set_to("totals", value=[1.5, 0, 0, 0]),
    "unknown flavor in hand[0]: 'mint'": set_to("hand", 0, "flavor", value="mint"),
    "options has no field 'tie'": set_to("options", "tie", value="last"),
    "stars_per_flavor must be from 0 to 3": set_to("options", "stars_per_flavor", value=10**30),
    "but the view is of 'kawaii'": set_to("game", value="kawaii"),
    "but the view is of 'a\\nb'": set_to("game", value="a\nb"),
    "but the view is of '\\ud800'": set_to("game", value="\ud800"),
    f"but the view is of '{'a' * 79}": set_to("game", value=LONG),
    f"version is '{'a' * 79}, but": set_to("version", value=LONG),
    f"the view has no field '{'a' * 79} (": set_to(LONG, value=0),
    f"num_players must be from 2 to 5, not {10**79}"[:-1]: set_to("num_players", value=10**4000),
    "over is true": set_to("over", value=True),
}


@pytest.fixture(scope="module")
def first_view() -> dict[str, Any]:
    """What the first seat of a table of four knows before it plays."""
    return next(
        view
        for view in views_of(GAME, random_positions(GAME, 400))
        if view["num_players"] == 4 and view["played"] == []
    )


@pytest.mark.parametrize("sentence", CHANGES)
def test_a_view_that_cannot_occur_is_refused_with_the_field(
    sentence: str, client: TestClient, first_view: dict[str, Any]
):
    wrong = json.loads(json.dumps(first_view))
    CHANGES[sentence](wrong)
    refused(ask(client, wrong), 422, sentence)


def refused(response: httpx.Response, status: int, sentence: str) -> None:
    """Assert that a response is one sentence with this status."""
    assert response.status_code == status, response.text
    assert list(response.json()) == ["detail"]
    assert sentence in response.json()["detail"]
    assert "\n" not in response.json()["detail"]
    assert len(response.json()["detail"]) <= 500


def test_a_seat_that_is_not_to_move_is_refused(client: TestClient):
    state = random_positions(GAME, 1)[0]
    waiting = (int(state.to_move) + 1) % int(state.num_players)
    refused(ask(client, GAME.to_view(state, waiting)), 422, f"the view is seat {waiting}'s")


def test_a_table_that_the_agent_does_not_play_is_refused(tmp_path: Path):
    agent = load_portable(portable_agents.export(tmp_path, GAME, seats=[3]))
    with TestClient(application([agent], Limits())) as client:
        statuses = {view["num_players"]: ask(client, view) for view in views_of(GAME, random_positions(GAME, 60))}
    assert {size: answer.status_code for size, answer in statuses.items()} == {2: 422, 3: 200, 4: 422, 5: 422}
    refused(statuses[4], 422, "plays with [3] seats, not with 4")


def test_a_deck_that_the_agent_was_not_trained_with_is_refused_with_both_digests(client: TestClient):
    game = find_game("ice_split")
    rows = deck_rows(reconstruction())
    rows[0]["flavor"], rows[1]["flavor"] = rows[1]["flavor"], rows[0]["flavor"]
    (view,) = views_of(game, started(game, 3, deck=rows))
    ours, theirs = game.data_hash({}), game.data_hash({"deck": rows})
    sentence = f"was trained with deck_hash {ours}, and cannot play with deck_hash {theirs}"
    refused(ask(client, view, "ice_split"), 422, sentence)


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"", 400, "the body is not JSON"),
        (b"{", 400, "the body is not JSON"),
        (b"\xff\xfe", 400, "the body is not UTF-8"),
        (b'{"game": NaN}', 400, "it has NaN, which is no number"),
        (b'{"seed": -Infinity}', 400, "it has -Infinity"),
        (b"[" * 9000, 400, "the body is "),
        (b'{"a":' * 3000 + b"1" + b"}" * 3000, 400, "the body is nested too deeply"),
        (b'{"seed": ' + b"9" * 6000 + b"}", 400, "the body is not JSON"),
        (b" " * 20_001, 413, "the body is longer than 20000 bytes"),
        (b"[]", 422, "a view is a JSON object"),
        (b'"view"', 422, "a view is a JSON object"),
        (b"{}", 422, "'game'"),
        (b'{"game": ["dokitto"]}', 422, "but the view is of ['dokitto']"),
        (b'{"game": "dokitto"}', 422, "the view lacks the field 'version'"),
        (b'{"game": "kawaii", "hand": [], "game": "dokitto"}', 422, "the field 'game' is there twice in one object"),
        (b'{"options": {"tie": 1, "t\\u0069e": 1}}', 422, "the field 'tie' is there twice"),
    ],
)
def test_a_body_that_is_no_view_is_refused(body: bytes, status: int, sentence: str, client: TestClient):
    refused(ask(client, body), status, sentence)
    assert ask(client, a_view()).status_code == 200


def test_other_paths_and_verbs_are_refused_in_the_same_form(client: TestClient):
    refused(client.post("/games/dokito/move"), 404, "no agent plays 'dokito' (did you mean 'dokitto'?)")
    refused(client.get("/games/dokitto/move"), 405, "Method Not Allowed")
    refused(client.get("/nothing"), 404, "Not Found")


# ---- limits, and requests that wait together ----


def together(app: Any, views: list[Any]) -> list[httpx.Response]:
    """Ask for all of it at the same time."""

    async def gathered() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://x") as client,
        ):
            asked = (client.post("/games/dokitto/move", content=json.dumps(view)) for view in views)
            return await asyncio.gather(*asked)

    return asyncio.run(gathered())


def test_requests_that_wait_are_answered_together_each_for_itself(folder: Path):
    agent = load_portable(folder / "dokitto" / "agent.json")
    views: list[Any] = views_of(GAME, random_positions(GAME, 48))
    alone = [agent.act(view).action for view in views]
    runs, original = [], agent.answer
    agent.answer = lambda observation, mask: runs.append(len(mask)) or original(observation, mask)  # type: ignore[func-returns-value,method-assign]
    views[7] = {"game": "dokitto"}
    responses = together(application([agent], Limits()), views)
    assert [r.status_code for r in responses] == [200] * 7 + [422] + [200] * 40
    assert [r.json().get("action") for r in responses] == [*alone[:7], None, *alone[8:]]
    assert sum(runs) == 47
    assert len(runs) < 10


def test_too_many_requests_and_late_answers_are_turned_away(folder: Path, monkeypatch: pytest.MonkeyPatch):
    original = Table.replies
    monkeypatch.setattr(Table, "replies", lambda self, bodies: time.sleep(0.3) or original(self, bodies))
    agent, view = load_portable(folder / "dokitto" / "agent.json"), a_view()
    statuses = sorted(r.status_code for r in together(application([agent], Limits(requests=3)), [view] * 5))
    assert statuses == [200, 200, 200, 503, 503]
    (late,) = together(application([agent], Limits(seconds=0.05)), [view])
    refused(late, 503, "there was no answer within 0.05 seconds")
    assert late.headers["retry-after"] == "1"


def test_a_model_that_fails_is_told_without_details(folder: Path, caplog: pytest.LogCaptureFixture):
    agent = load_portable(folder / "dokitto" / "agent.json")
    nan = np.full((1, GAME.num_actions), np.nan, np.float32)
    agent.answer = lambda observation, mask: (nan, np.zeros(1, np.float32))  # type: ignore[method-assign]
    with TestClient(application([agent], Limits())) as client:
        refused(ask(client, a_view()), 500, "the agent has failed to answer")
    assert "the model could not be run" in caplog.text


def test_an_error_of_ours_is_told_without_details(client: TestClient, monkeypatch: pytest.MonkeyPatch):
    def broken(self: PortableAgent, view: Any) -> Any:
        raise KeyError("secret")

    monkeypatch.setattr(PortableAgent, "read", broken)
    refused(ask(client, a_view()), 500, "the service has failed to read this view")
    monkeypatch.undo()
    assert ask(client, a_view()).status_code == 200


# ---- the command ----


def exits(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        command.main(words)
    return stop.value.code  # type: ignore[return-value]


BROKEN: dict[str, dict[str, Any]] = {
    "broken": {"rules_version": 9},
    "players": {"options": {"num_players": 2}},
    "seed": {"options": {"seed": 1}},
    "value": {"options": {"target_score": "ten"}},
    "large": {"seats": [3, 6]},
    "no_seats": {"seats": []},
}


def test_bad_words_are_one_sentence(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "empty").mkdir()
    for place in ("a", "b"):
        (tmp_path / "both" / place).mkdir(parents=True)
        portable_agents.export(tmp_path / "both" / place, GAME)
    for place, change in BROKEN.items():
        (tmp_path / place).mkdir()
        portable_agents.export(tmp_path / place, GAME, **change)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for words, sentence in (
            (("--agents", str(tmp_path / "nowhere")), f"there is no file or folder {tmp_path / 'nowhere'}"),
            (("--agents", str(tmp_path / "empty")), f"there is no agent.json in {tmp_path / 'empty'}"),
            (("--agents", str(tmp_path / "both")), "both play dokitto: serve one of them"),
            (("--agents", str(tmp_path / "broken")), "was made for rules version 9, but dokitto here has 0"),
            (("--agents", str(tmp_path / "players")), "dokitto has no option 'num_players'"),
            (("--agents", str(tmp_path / "seed")), "dokitto has no option 'seed'"),
            (("--agents", str(tmp_path / "value")), "target_score must be"),
            (("--agents", str(tmp_path / "large")), "dokitto is played by 2 to 5 seats, not 6"),
            (("--agents", str(tmp_path / "no_seats")), "names no table size in 'seats'"),
            (("--agents", str(folder), "--port", port), f"cannot listen at 127.0.0.1, port {port}: Address already"),
            (("--agents", str(folder), "--host", "no.such.host.invalid"), "cannot listen at no.such.host.invalid"),
            (("--prot", "1"), "unknown flag --prot (did you mean '--port'?)"),
            (("--port", "x"), "argument --port: invalid int value: 'x'"),
            (("--port", "99999"), "port must be from 0 to 65535, not 99999"),
            (("--seconds", "0"), "seconds must be from 1"),
        ):
            assert exits(*words) == 2
            out, err = capsys.readouterr()
            assert (out, err.count("\n")) == ("", 1)
            assert sentence in err


def test_missing_packages_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert exits("--agents", str(folder)) == 2
    assert capsys.readouterr().err == 'the service needs more packages: pip install "ice_envs[serve]"\n'


def test_an_agent_or_its_folder_may_be_named(folder: Path):
    for path in (folder / "kawaii" / "agent.json", folder / "kawaii"):
        assert [agent.game.name for agent in command.find_agents(path)] == ["kawaii"]


def test_runs_beside_the_agents_are_not_served(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run = tmp_path / "checkpoints" / "dokitto" / "runs" / "first"
    shutil.copytree(folder / "dokitto", run)
    assert exits("--agents", str(tmp_path / "checkpoints")) == 2
    assert f"there is no agent.json in {tmp_path / 'checkpoints'}" in capsys.readouterr().err
    shutil.copytree(folder / "kawaii", tmp_path / "checkpoints" / "kawaii")
    assert [agent.game.name for agent in command.find_agents(tmp_path / "checkpoints")] == ["kawaii"]
    shutil.copytree(run, tmp_path / "checkpoints" / "dokitto", dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "checkpoints" / "kawaii")
    for path in (tmp_path / "checkpoints", tmp_path / "checkpoints" / "dokitto"):
        assert [agent.game.name for agent in command.find_agents(path)] == ["dokitto"]


@pytest.fixture
def process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The service of one agent as a user starts it, with a second for each answer; and its port."""
    words = [
        "--agents",
        str(folder / "dokitto"),
        "--port",
        "0",
        "--seconds",
        "1",
        "--body_bytes",
        str(PROCESS_BODY_BYTES),
    ]
    started = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "ice_envs.serve", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    assert started.stdout is not None
    told = started.stdout.readline()
    assert re.match(r"Serving dokitto at http://127\.0\.0\.1:\d+ \(that page tells how\); Ctrl-C stops\.\n", told), told
    yield started, int(re.findall(r":(\d+)", told)[0])
    started.kill()
    started.communicate()


def spoken(port: int, sent: bytes) -> bytes:
    """Return all that the service says before it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(sent)
        parts = []
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def test_the_process_answers_keeps_its_limits_and_stops_at_ctrl_c(process: tuple[subprocess.Popen[str], int]):
    started, port = process
    url = f"http://127.0.0.1:{port}/games/dokitto/move"
    head = b"POST /games/dokitto/move HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
    assert httpx.post(url, json=a_view()).status_code == 200
    assert b" 503 " in spoken(port, head % 100 + b'{"game"')  # the rest of the body never comes
    assert b" 413 " in spoken(port, head % 50_000 + b" " * 20_000)
    assert b" 400 " in spoken(port, b"no HTTP at all\r\n\r\n")
    assert httpx.post(url, json=a_view()).status_code == 200
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out, err.splitlines()[-1]) == (130, "", "Stopped.")
    assert "Traceback" not in err


def test_connections_that_never_ask_are_closed(process: tuple[subprocess.Popen[str], int]):
    """Silent ones, and those whose head never ends however its bytes come, also the second one on a connection."""
    started, port = process
    head = b"GET /games HTTP/1.1\r\nHost: x\r\n"
    with ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30)) for _ in range(40)]
        for connection in idle[10:20]:
            connection.sendall(head)
        for connection in idle[20:]:
            connection.sendall(head + b"\r\n")
            assert answered(connection) == 200
        for connection in idle[20:30]:
            connection.sendall(head)
        begun = time.monotonic()
        while time.monotonic() < begun + 1.5:
            for connection in idle[10:15]:
                with suppress(OSError):  # the service may have hung up
                    connection.sendall(b"X-Slow: 1\r\n")
            time.sleep(0.1)
        assert [closed(connection) for connection in idle[:30]] == [True] * 30
        assert time.monotonic() < begun + 15
        for connection in idle[30:]:  # these have asked and may ask again
            connection.sendall(head + b"\r\n")
            assert answered(connection) == 200
    started.send_signal(signal.SIGINT)
    assert "Traceback" not in started.communicate(timeout=30)[1]


def answered(connection: socket.socket) -> int:
    """Read a whole answer; return its status."""
    with HTTPResponse(connection) as answer:
        answer.begin()
        answer.read()
        return answer.status


def closed(connection: socket.socket) -> bool:
    """Return whether the other side has closed a connection; wait for it."""
    try:
        return connection.recv(65_536) == b""
    except ConnectionResetError:
        return True

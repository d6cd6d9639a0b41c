"""The benchmark's section on portable agents: a move from a JSON view in this process, and from the HTTP service."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ice_envs.agents import Agent, load
from ice_envs.engine import loops
from ice_envs.engine.batch import Batch
from ice_envs.errors import IceError
from training import command_line
from training.benchmark_games import SECONDS, Bench, Measurement
from training.docs_agents import manifest_path
from training.evaluate import evaluate
from training.export import export
from training.network import ActorCritic, NetworkAgent, new_model
from training.run import TrainSettings
from training.run_folder import Origin

MEGABYTES = "MB"
CLIENTS = 32
GAMES, DECISIONS_APART = 16, 5
"""Views come from so many games, at every so many decisions."""
ROUNDS = 8


def agents(bench: Bench) -> list[Measurement]:
    """Measure the game's published agent, or a network of the same size that has learned nothing, if there is none."""
    with TemporaryDirectory() as folder:
        path = manifest_path(bench.game.name)
        published = path.is_file()
        if not published:
            path = untrained(bench, Path(folder))
        agent, views, repeats = load(path, bench.game), some_views(bench), bench.effort.repeats
        (alone,) = bench.in_turn("moves in this process", [partial(seconds_to_act, agent, views)], repeats)
        bodies = [request(bench.game.name, view) for view in views]
        with served(path) as port:
            samples = [partial(round_trip, port, bodies), partial(moves_together, port, bodies, bench.effort.seconds)]
            trips, together = bench.in_turn("moves over HTTP", samples, repeats)
        settings = bench.settings(agent="published" if published else "untrained")
        return [
            Measurement("one move from a JSON view", SECONDS, alone, settings),
            Measurement("one move over HTTP, there and back", SECONDS, trips, settings),
            Measurement(f"over HTTP, {CLIENTS} clients at once", "moves/s", together, settings),
            Measurement("model file", MEGABYTES, [path.with_name("agent.onnx").stat().st_size / 1e6], settings),
        ]


def untrained(bench: Bench, folder: Path) -> Path:
    """Export a network of the game's default size into `folder`; return its manifest."""
    game = bench.game
    words = ["--env", game.name]
    settings = command_line.read_settings(TrainSettings, "training.benchmark", words, game_defaults=True)
    network = ActorCritic(new_model(game, settings.shape, settings.learning_rate, bench.seed, "cpu").policy)
    origin = Origin(
        algorithm="none", decisions=0, seconds=0.0, seed=bench.seed, num_players=list(game.table_sizes), options={},
        reward=settings.reward, settings="", command="", machine="", versions=command_line.versions(), commits=[],
    )  # fmt: skip
    player, opponent = NetworkAgent(network, game), load("random", game)
    rows = [evaluate(player, opponent, game, size, 2 * size) for size in game.table_sizes]
    return export(network, game, folder, "untrained", origin, rows)


def some_views(bench: Bench) -> list[dict[str, Any]]:
    """Return views of seats to move from some games played at random."""
    batch = Batch(bench.game, GAMES, bench.seed, bench.num_players)
    actions, views = np.zeros(GAMES, np.int64), []
    for decision in range(DECISIONS_APART * ROUNDS):
        if decision % DECISIONS_APART == 0:
            views += [bench.game.to_view(state, int(state.to_move)) for state in batch.states]
        loops.random_actions(batch.observe()[1], np.uint64(decision), actions)
        batch.step(actions)
    return views


def seconds_to_act(agent: Agent, views: Sequence[dict[str, Any]]) -> float:
    """Return the median time of a move."""
    times = []
    for view in views:
        began = time.perf_counter()
        agent.act(view)
        times.append(time.perf_counter() - began)
    return median(times)


# ---- the service and its clients ----


@contextmanager
def served(path: Path) -> Iterator[int]:
    """Run the service of one agent in a process of its own; yield its port."""
    command = [sys.executable, "-m", "ice_envs.serve", "--agents", str(path), "--port", "0"]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert service.stdout is not None
    try:
        told = service.stdout.readline()
        if "http://" not in told:
            raise IceError(f"the service did not start: {' '.join(command[1:])} tells why")
        yield int(told.partition("http://")[2].split()[0].rpartition(":")[2])
    finally:
        service.terminate()
        service.wait()
        service.stdout.close()


def request(name: str, view: dict[str, Any]) -> bytes:
    """Return the HTTP request that asks for a move."""
    body = json.dumps(view).encode()
    return f"POST /games/{name}/move HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


class Client:
    """A connection to the service that is kept open; as thin as can be, for it shares the processor."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, asked: bytes) -> bytes:
        """Send a request and return the body of the answer; raise IceError if that is not a move."""
        self._writer.write(asked)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
        body = await self._reader.readexactly(length)
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise IceError(f"the service refused a view: {body.decode()}")
        return body

    async def ask_for(self, seconds: float, requests: Sequence[bytes], first: int) -> int:
        """Ask without a pause; return the number of answers."""
        end, count = time.perf_counter() + seconds, 0
        while time.perf_counter() < end:
            await self.ask(requests[(first + count) % len(requests)])
            count += 1
        return count

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


async def _connected(port: int, count: int) -> list[Client]:
    return [Client(*await asyncio.open_connection("127.0.0.1", port)) for _ in range(count)]


def round_trip(port: int, requests: Sequence[bytes]) -> float:
    """Return the median time from a request to its answer, one at a time."""

    async def measure() -> float:
        (client,) = await _connected(port, 1)
        times = []
        for asked in requests:
            began = time.perf_counter()
            await client.ask(asked)
            times.append(time.perf_counter() - began)
        client.close()
        return median(times)

    return asyncio.run(measure())


def moves_together(port: int, requests: Sequence[bytes], seconds: float) -> float:
    """Return the moves a second that `CLIENTS` connections get together."""

    async def measure() -> float:
        clients = await _connected(port, CLIENTS)
        began = time.perf_counter()
        counts = await asyncio.gather(*(client.ask_for(seconds, requests, 7 * i) for i, client in enumerate(clients)))
        elapsed = time.perf_counter() - began
        for client in clients:
            client.close()
        return sum(counts) / elapsed

    return asyncio.run(measure())

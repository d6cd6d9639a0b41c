"""docs/front_ends.md: what it tells a stranger to type does what it says."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ice_envs import find_game
from ice_envs.files import read_json
from tests.front_ends import EXAMPLES, ROOT, agents_folder, node
from tests.test_browser import browser, open_page, page  # noqa: F401  # fixtures
from tests.test_docs import fenced, run

PAGE = (ROOT / "docs" / "front_ends.md").read_text(encoding="utf-8")
GAME = find_game("dokitto")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def commands(title: str) -> list[str]:
    """Return the lines of commands in a section, in order, but what installs packages."""
    lines = [line for block in fenced(section(title), "bash") for line in block.splitlines()]
    assert all(line.startswith(("pip install -e ", "npm ci --prefix examples")) for line in lines if "install" in line)
    return [line for line in lines if not line.startswith(("pip ", "npm "))]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like the repository's, with an agent for every game."""
    place = tmp_path_factory.mktemp("repository")
    agents_folder(place / "checkpoints")
    (place / "examples").symlink_to(EXAMPLES)
    return place


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@contextmanager
def running(command: str, place: Path, port: int) -> Iterator[None]:
    """Run a server until its port answers, and then as long as it is needed."""
    words = command.replace("python ", f"exec {sys.executable} ", 1)
    started = subprocess.Popen(["bash", "-c", words], cwd=place, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        for _ in range(1200):
            assert started.poll() is None, command
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield
    finally:
        started.terminate()
        started.wait()


def first_label(place: Path) -> str:
    return GAME.labels[read_json(place / "checkpoints" / "dokitto" / "parity.json")["positions"][0]["action"]]


def test_python_tells_a_move(place: Path):
    (snippet,) = fenced(section("Python"), "python")
    told = run(sys.executable, "-W", "error", "-c", snippet, place=place).splitlines()
    assert told[0].startswith(first_label(place))
    assert all(re.match(r"[01]\.\d\d \w+", line) for line in told[1:])
    assert len(told) > 2


def test_the_service_tells_a_move(place: Path):
    serve, *asks = commands("HTTP")
    port = free_port()
    with running(f"{serve} --port {port}", place, port):
        listed, answered = parts(run("bash", "-euc", "\n".join(asks).replace("8000", str(port)), place=place))
    assert {entry["game"] for entry in listed} >= {"dokitto", "kawaii"}
    assert answered["label"] == first_label(place)
    for word in ("action", "label", "label_ja", "value", "probabilities"):
        assert f"`{word}`" in section("HTTP")
        assert word in answered


def parts(told: str) -> tuple[list[dict[str, str]], dict[str, str]]:
    """Return the two pieces of JSON that were printed one behind the other."""
    decoder = json.JSONDecoder()
    first, end = decoder.raw_decode(told)
    return first, json.loads(told[end:])


def test_the_service_has_the_defaults_that_are_told():
    from ice_envs.serve.__main__ import read_arguments

    chosen = read_arguments([])
    assert (chosen.host, chosen.port) == ("127.0.0.1", 8000)
    for flag in re.findall(r"`--(\w+)`", section("HTTP")):
        assert hasattr(chosen, flag), flag


@pytest.mark.node
def test_node_tells_moves(place: Path):
    assert node()
    (command,) = commands("Node")
    told = run("bash", "-euc", command, place=place)
    assert f"  {first_label(place)} (" in told
    assert "kawaii: 64 positions answered alike" in told


@pytest.mark.browser
def test_the_page_opens_where_it_is_told(place: Path, page):  # noqa: F811  # the fixture
    (command,) = commands("Browser")
    port = free_port()
    (address,) = re.findall(r"`(http://127\.0\.0\.1:8080/.*?)`", section("Browser"))
    with running(command.replace("8080", str(port)), place, port):
        assert open_page(page, address.replace("8080", str(port))).startswith("64 positions answered")


def test_the_files_that_are_named_are_there():
    for path in re.findall(r"`(examples/[\w./]+)`", PAGE):
        assert (ROOT / path).exists(), path

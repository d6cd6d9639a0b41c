"""The page in examples/browser, in a real browser: it checks and plays every agent, and draws its positions."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ice_envs import find_game, games
from ice_envs.agents.portable import load_portable
from ice_envs.files import read_json
from tests import portable_agents
from tests.front_ends import EXAMPLES, agents_folder, tiny_agent
from training.parity import POSITIONS

pytestmark = pytest.mark.browser
CLOSE = 1e-4
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),  # nothing outside of this machine is asked
)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that keeps no log."""

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A server of the examples, the published agents (tiny ones until they are there), and broken ones."""
    assert (EXAMPLES / "node_modules").is_dir(), "run `npm ci` in examples/ first"
    place = tmp_path_factory.mktemp("site")
    (place / "examples").symlink_to(EXAMPLES)
    agents_folder(place / "checkpoints")
    (place / "broken" / "dokitto").mkdir(parents=True)
    portable_agents.export(place / "broken" / "dokitto", find_game("dokitto"), onnx__sha256="beef")
    (place / "empty").mkdir()
    (place / "one" / "kawaii").mkdir(parents=True)
    tiny_agent(find_game("kawaii"), place / "one" / "kawaii")
    (place / "one" / "dokitto" / "runs" / "first").mkdir(parents=True)
    tiny_agent(find_game("dokitto"), place / "one" / "dokitto" / "runs" / "first")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=place)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/examples/browser/", place
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert path, f"these tests need a browser: install one of {', '.join(BROWSERS)}"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that asks nobody but our server, and whose console says nothing but which games have no agent."""
    opened = browser.new_page(viewport={"width": 1320, "height": 820})
    said: list[str] = []
    asked: list[str] = []
    opened.on("console", lambda message: said.append(f"{message.text} {message.location['url']}"))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    yield opened
    opened.close()
    assert [words for words in said if not re.search(r"status of 404 .*/agent\.json$", words)] == []
    assert [url for url in asked if not url.startswith(("http://127.0.0.1:", "data:", "blob:http://127.0.0.1:"))] == []


def open_page(page: Any, url: str) -> str:
    """Go to a page and return what it says when it is ready."""
    page.goto(url)
    page.wait_for_selector("#state.good, #state.bad", timeout=120_000)
    return str(page.inner_text("#state"))


@pytest.mark.parametrize("name", games())
def test_every_agent_replays_its_parity_file_and_shows_its_moves(name: str, page: Any, site: tuple[str, Path]):
    url, place = site
    game, positions = find_game(name), read_json(place / "checkpoints" / name / "parity.json")["positions"]
    agent = load_portable(place / "checkpoints" / name / "agent.json")
    told = open_page(page, f"{url}?game={name}")
    assert told.startswith(f"{POSITIONS} positions answered as by the network that was trained"), told
    for index, position in enumerate(positions[:12]):
        if index:
            page.click("#on")
        page.wait_for_function(f"document.querySelector('#number').textContent === '{index + 1} of {len(positions)}'")
        page.wait_for_function(f"document.querySelector('#choice').textContent === {game.labels[position['action']]!r}")
        assert page.inner_text("#choice_ja") == game.labels_ja[position["action"]]
        shown = page.locator("#actions li")
        legal = [game.labels[action] for action, mask in enumerate(position["mask"]) if mask]
        assert shown.count() == len(legal)
        labels = shown.locator("span:first-child").all_inner_texts()
        assert sorted(labels) == sorted(legal)
        wanted = {game.labels[action]: share for action, share in agent.act(position["view"]).probabilities.items()}
        check_percentages(labels, shown.locator("span:nth-child(2)").all_inner_texts(), wanted)
        check_scene(page, position["view"])


def check_percentages(labels: list[str], texts: list[str], wanted: dict[str, float]) -> None:
    """Assert that the page shows each action's probability as Python has it, the most probable action first."""
    shares = [wanted[label] for label in labels]
    assert shares == pytest.approx(sorted(shares, reverse=True), abs=CLOSE)
    for share, text in zip(shares, texts, strict=True):
        assert text in {percent(max(share - CLOSE, 0)), percent(share), percent(share + CLOSE)}, (text, share)


def percent(share: float) -> str:
    """Return a probability as the page writes it."""
    return "<1 %" if 0 < share < 0.005 else f"{int(100 * share + 0.5)} %"


def check_scene(page: Any, view: dict[str, Any]) -> None:
    """Assert that the drawing shows every seat, and nothing outside of its frame or of no number."""
    scene = page.locator("#scene svg")
    words = scene.inner_html()
    assert "NaN" not in words
    assert "undefined" not in words
    for seat in range(view["num_players"]):
        assert f">Seat {seat}{' (you)' if seat == view['seat'] else ''}<" in words
    outside = scene.evaluate(
        """svg => { const frame = svg.getBoundingClientRect();
        const isOut = box => box.left < frame.left - 1 || box.right > frame.right + 1
            || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
        return [...svg.querySelectorAll("text, rect, circle, polygon, path")]
            .filter(part => isOut(part.getBoundingClientRect())).map(part => part.outerHTML); }"""
    )
    assert outside == []


def test_games_and_positions_can_be_chosen(page: Any, site: tuple[str, Path]):
    open_page(page, f"{site[0]}?game=dokitto&position=5")
    assert page.inner_text("#number") == f"6 of {POSITIONS}"
    page.click("#back")
    page.wait_for_function(f"document.querySelector('#number').textContent === '5 of {POSITIONS}'")
    page.click("text=Kawaii")
    page.wait_for_function("document.querySelector('#scene svg').getAttribute('aria-label').startsWith('Kawaii')")
    page.wait_for_selector("#state.good")


def test_an_agent_that_does_not_fit_is_refused_in_a_sentence(page: Any, site: tuple[str, Path]):
    told = open_page(page, f"{site[0]}?game=dokitto&agents=../../broken")
    assert told.startswith("agent.onnx has SHA-256 ")
    assert told.endswith("not beef")


def test_only_games_that_have_an_agent_are_offered(page: Any, site: tuple[str, Path]):
    assert open_page(page, f"{site[0]}?agents=../../one").startswith(f"{POSITIONS} positions answered")
    assert page.locator("#games button").all_inner_texts() == ["Kawaii"]
    assert "cannot read ../../one/dokitto/agent.json: 404" in open_page(
        page, f"{site[0]}?agents=../../one&game=dokitto"
    )
    assert open_page(page, f"{site[0]}?agents=../../empty").startswith("there is no agent in ../../empty: train one")

"""Options of the test run."""

import gc
import signal

import pytest

from ice_envs.engine import batch, crew

OBJECTS_BEFORE_COLLECTION = 100_000
"""The twins make and drop very many small lists; looking for cycles after every 700 takes a third of the time."""


def pytest_configure() -> None:
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION, 50, 50)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--lockstep-games",
        type=int,
        default=2000,
        help="games per table size that the compiled rules and the reference twin play in lockstep (default 2000)",
    )


@pytest.fixture
def lockstep_games(request: pytest.FixtureRequest) -> int:
    return request.config.getoption("--lockstep-games")


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a batch divide the smallest number of games among its threads."""
    monkeypatch.setattr(batch, "LEAST_GAMES", 1)
    monkeypatch.setattr(crew, "CHUNK", 2)


@pytest.fixture(autouse=True)
def ctrl_c_interrupts():
    """Let SIGINT raise KeyboardInterrupt: a shell starts what runs in its background with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

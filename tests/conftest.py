"""Options of the test run."""

import pytest


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

"""The golden playthroughs are what is played today; every game has one for each of its table sizes."""

from __future__ import annotations

import pytest

from tests.playthroughs import path, settings, transcript

LONGEST = 400
"""Lines that a card player may be asked to review."""


@pytest.mark.parametrize(("name", "num_players"), settings())
def test_playthrough(name: str, num_players: int):
    assert path(name, num_players).exists(), "no playthrough yet: python -m tests.playthroughs"
    golden = path(name, num_players).read_text(encoding="utf-8")
    assert golden.count("\n") < LONGEST
    assert transcript(name, num_players).splitlines() == golden.splitlines(), "see python -m tests.playthroughs"


def test_there_are_no_others():
    directory = path(*settings()[0]).parent
    assert {file.name for file in directory.glob("*.txt")} == {path(*setting).name for setting in settings()}

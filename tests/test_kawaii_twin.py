"""The comparison of Kawaii with its twin (`tests/test_twins.py`) notices wrong rules."""

from __future__ import annotations

from typing import Any

import pytest

from tests import kawaii_lockstep
from tests.kawaii_lockstep import GAME
from tests.lockstep import recorded, replay
from tests.twins import kawaii as twin_rules
from tests.twins.kawaii import CHERRY, SHOP, Card, Kawaii

MOSTLY_LATE = {"window_ticks": 1, "reaction_ticks": 30}
"""Options with which few reactions come in time: tokens last to the end of the round, and many points are equal."""


def check_that_lockstep_notices(num_players: int, difference: str, **options: Any) -> None:
    games = list(recorded(GAME, num_players, 50, 0, options))
    with pytest.raises(AssertionError, match=rf"{difference}: twin .* compiled"):
        print([replay(kawaii_lockstep, records, actions, options) for records, actions in games])


true_points = twin_rules.points


def three_shops_cost(cards: list[Card], flavor: int, shape: int) -> int:
    """Count the third closed shop like the others."""
    return true_points(cards, flavor, shape) - (6 if cards.count(SHOP) == 3 else 0)


def cherries_bring_two(cards: list[Card], flavor: int, shape: int) -> int:
    return true_points(cards, flavor, shape) + cards.count(CHERRY)


@pytest.mark.parametrize("num_players", GAME.table_sizes)
@pytest.mark.parametrize("wrong", [three_shops_cost, cherries_bring_two])
def test_points_counted_wrongly(wrong: Any, num_players: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(twin_rules, "points", wrong)
    check_that_lockstep_notices(num_players, "totals")


def last_starter_first(twin: Kawaii) -> int:
    """Let the last starter begin again if nobody has fewer points."""
    return min(twin._clockwise_from(twin.starter), key=lambda seat: twin.totals[seat])


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_a_tie_for_the_next_starter_settled_wrongly(num_players: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Kawaii, "_next_starter", last_starter_first)
    check_that_lockstep_notices(num_players, "starter", **MOSTLY_LATE)


def hurried_after_a_capture(twin: Kawaii) -> bool:
    return any(twin.reserves)


def hurried_after_the_last_flip(twin: Kawaii) -> bool:
    return not twin.stopped


@pytest.mark.parametrize("num_players", GAME.table_sizes)
@pytest.mark.parametrize("wrong", [hurried_after_a_capture, hurried_after_the_last_flip])
def test_a_window_that_hurries_wrongly(wrong: Any, num_players: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Kawaii, "_is_hurried", wrong)
    check_that_lockstep_notices(num_players, "tick", **MOSTLY_LATE)


def token_of_the_own_pile_returns(twin: Kawaii, seat: int, owner: int) -> None:
    true_capture(twin, seat, owner)
    twin.tokens[seat] += owner == seat


true_capture = Kawaii._capture


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_a_token_on_the_own_pile_that_returns(num_players: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Kawaii, "_capture", token_of_the_own_pile_returns)
    check_that_lockstep_notices(num_players, "tokens")

"""Equal agents with equal reactions win equally often in every seat; a handicap costs wins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ice_envs.engine import loops
from ice_envs.engine.game import apply, greedy, legal, start, win_share
from ice_envs.engine.generator import random_below
from ice_envs.engine.jit import compiled
from tests.helpers import started
from tests.kawaii_positions import GAME

GAMES = 100_000


@compiled
def random_choice(state: Any, mask: Any) -> int:
    """Choose any legal action."""
    legal(state, mask)
    chosen = random_below(state, mask.sum())
    for action in range(len(mask)):
        chosen -= mask[action]
        if chosen < 0:
            return action
    return 0


@compiled
def add_shares(states: Any, games: int, skilled: bool, mask: Any, shares: Any, total: Any) -> None:
    """Play games one after the other in `states[0]`; add the win shares of each seat to `total`."""
    state = states[0]
    for _ in range(games):
        start(state)
        while state.over == 0:
            apply(state, greedy(state) if skilled else random_choice(state, mask))
        win_share(state, shares)
        for seat in range(state.num_players):
            total[seat] += shares[seat]


def win_shares(num_players: int, games: int, skilled: bool, **options: Any) -> Any:
    shares, total = np.zeros((2, loops.MAX_SEATS))
    states = started(GAME, num_players, 1, seed=num_players, **options)
    add_shares(states, games, skilled, np.zeros(GAME.num_actions, np.int8), shares, total)
    return total[:num_players] / games


def margin(share: float, games: int) -> float:
    """Return four standard deviations of the mean of so many win shares, were they all 0 or 1."""
    return float(4 * np.sqrt(share * (1 - share) / games))


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_every_seat_wins_equally_often(num_players: int):
    shares = win_shares(num_players, GAMES, skilled=False)
    assert np.abs(shares - 1 / num_players).max() < margin(1 / num_players, GAMES)


@pytest.mark.parametrize("options", [{}, {"flipper_delay": 1}], ids=str)
@pytest.mark.parametrize("num_players", [3, 4, 5])
def test_every_seat_wins_equally_often_among_skilled_agents(num_players: int, options: dict[str, Any]):
    games = GAMES // 10
    shares = win_shares(num_players, games, skilled=True, **options)
    assert np.abs(shares - 1 / num_players).max() < margin(1 / num_players, games)


@pytest.mark.parametrize("seat", range(3))
def test_a_handicap_costs_wins_in_every_seat(seat: int):
    """The slower the seat, the less it wins: 0.33, 0.30, 0.23; what it loses the others share equally."""
    games, found = 10_000, []
    for handicap in ([0, 0], [1, 2], [100, 0]):
        handicaps = [handicap if other == seat else [0, 0] for other in range(3)]
        shares = win_shares(3, games, skilled=True, handicaps=handicaps)
        found.append(shares[seat])
        others = np.delete(shares, seat)
        assert abs(others[0] - others[1]) < 2 * margin(1 / 3, games)
    assert found[0] > found[1] + 0.01
    assert found[1] > found[2] + 0.03

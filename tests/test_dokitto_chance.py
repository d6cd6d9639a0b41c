"""What is drawn in Dokitto! Ice: deals, stars and leaders are uniform, and random games are as long as expected."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from tests.dokitto_positions import GAME, play, position
from tests.helpers import finished, started


def assert_uniform(counts: Iterable[int], expected: float):
    """Bound the chi-square statistic by its mean plus six standard deviations."""
    counts = np.asarray(counts, float)
    freedom = counts.size - 1
    assert ((counts - expected) ** 2 / expected).sum() < freedom + 6 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_the_deal_is_uniform(num_players: int):
    games = 6000
    table = started(GAME, num_players, games, seed=3)
    flavors = {2: 3, 3: 3, 4: 4, 5: 5}[num_players]
    hand_size = {2: 6, 3: 8, 4: 10, 5: 13}[num_players]
    bits = table["hands"][..., None] >> np.arange(13) & 1  # (games, seat, flavor, number)
    assert (bits.sum((2, 3))[:, :num_players] == hand_size).all()
    assert bits.sum(1).max() == 1
    assert not bits[:, num_players:].any()
    assert not bits[:, :, flavors:].any()
    for seat in range(num_players):
        assert_uniform(bits[:, seat, :flavors].sum(0).ravel(), games * hand_size / (13 * flavors))
    assert_uniform(np.bincount(table["first_leader"]), games / num_players)
    for flavor in range(flavors):
        assert_uniform(np.bincount(table["stars"][:, flavor])[[1, 2, 4]], games / 3)


def test_random_games_are_as_the_sheet_derives():
    """Rounds a game with random legal play: 5.2, 4.6, 4.3, 4.3; shared games 6 to 10 percent."""
    for num_players, rounds in zip(GAME.table_sizes, (5.2, 4.6, 4.3, 4.3), strict=True):
        final = finished(GAME, started(GAME, num_players, 4000), seed=1)
        assert abs(final["round_number"].mean() - rounds) < 0.2
        best = final["totals"].max(1, keepdims=True)
        shared = (final["totals"] == best).sum(1) > 1
        assert 0.05 < shared.mean() < 0.12


def test_option_next_leader_random_draws_every_seat():
    leaders = []
    for state in range(400):
        fields = {"rng": state}
        table = position("s5", "s6", "s7", "s12", lead=1, fields=fields, next_leader="random")
        leaders.append(int(play(table, "s6 s7 s12 s5")[0].first_leader))
    assert_uniform(np.bincount(leaders, minlength=4), 400 / 4)

"""The draws of chance of Kawaii: the deal, reactions, clashes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from ice_envs.games.kawaii.cards import COPIES, NUM_CARDS
from tests.helpers import finished, started
from tests.kawaii_positions import GAME, play, window


def assert_uniform(counts: Iterable[int], expected: float):
    """Bound the chi-square statistic by its mean plus six standard deviations."""
    counts = np.asarray(counts, float)
    freedom = counts.size - 1
    assert ((counts - expected) ** 2 / expected).sum() < freedom + 6 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_the_deal_is_uniform(num_players: int):
    games = 6000
    table = started(GAME, num_players, games, seed=3, flipper_delay=0)
    assert (np.sort(table["deck"]) == np.repeat(np.arange(27), COPIES)).all()
    for place in (0, 30, NUM_CARDS - 1):
        counts = np.bincount(table["deck"][:, place], minlength=27) / COPIES
        assert_uniform(counts, games / NUM_CARDS)
    assert_uniform(np.bincount(table["starter"], minlength=num_players), games / num_players)
    pairs = table["favorite_flavor"] * 5 + table["favorite_shape"]
    for seat in range(num_players):
        assert_uniform(np.bincount(pairs[:, seat], minlength=25), games / 25)
    for name in ("favorite_flavor", "favorite_shape"):
        dealt = np.sort(table[name][:, :num_players])
        assert (np.diff(dealt) > 0).all(), "two seats like the same"
        assert not table[name][:, num_players:].any()


def test_the_first_seats_from_the_starter_get_one_more():
    for num_players, sizes in {2: (28, 27), 3: (19, 18, 18), 4: (14, 14, 14, 13), 5: (11,) * 5}.items():
        table = started(GAME, num_players, 200, seed=1)
        seats = (table["starter"][:, None] + np.arange(num_players)) % num_players
        flipped = table["heights"]
        dealt = np.take_along_axis(table["reserves"] + flipped, seats.astype(int), 1)
        assert (dealt == sizes).all()


def test_reactions_are_uniform_in_each_seats_range():
    games, options = 5000, {"handicaps": [[0, 0], [4, 0], [1, 2], [0, 1]], "flipper_delay": 3}
    table = started(GAME, 4, games, seed=2, window_ticks=30, **options)
    for seat, (shift, width) in enumerate([(0, 3), (4, 3), (1, 5), (0, 4)]):
        delayed = table["flipper"] == seat
        for delay, rows in ((0, ~delayed), (3, delayed)):
            counts = np.bincount(table["reactions"][rows, seat])[shift + delay :]
            assert len(counts) == width
            assert_uniform(counts, rows.sum() / width)


@pytest.mark.parametrize("claimants", [2, 3, 5])
def test_clashes_are_fair(claimants: int):
    winners, games = [], 400
    for seed in range(games):
        piles = ["s1 s2", *[""] * 4]
        states = window(*piles, flipper=4, left="c1 c2", fields={"rng": seed}, reaction_ticks=1)
        for seat in range(5):
            play(states, 1 << (-seat % 5) if seat < claimants else 0)
        winners.append(int(states["taken_by"][0, 0]))
    assert_uniform(np.bincount(winners, minlength=claimants), games / claimants)


def test_random_games_end_early():
    """Random play slaps nearly everything, so the tokens are soon out of the game."""
    for num_players, decisions in zip(GAME.table_sizes, (53, 165, 301, 408), strict=True):
        final = finished(GAME, started(GAME, num_players, 2000), seed=1)
        assert (final["round_number"] == 3).all()
        assert abs(final["decisions"].mean() / decisions - 1) < 0.1

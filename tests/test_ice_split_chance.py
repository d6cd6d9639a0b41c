"""What is drawn in Ice Split: deals, open cards, the deck's order and the first seat are uniform."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from tests.helpers import finished, results, started
from tests.ice_split_positions import GAME

GAMES = 6000


def assert_uniform(counts: Iterable[int], expected: float):
    """Bound the chi-square statistic by its mean plus six standard deviations."""
    counts = np.asarray(counts, float)
    freedom = counts.size - 1
    assert ((counts - expected) ** 2 / expected).sum() < freedom + 6 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_the_deal_is_uniform(num_players: int):
    table = started(GAME, num_players, GAMES, seed=3)
    bits = table["hands"][:, :num_players, None] >> np.arange(63) & 1
    market = table["market"][:, None] >> np.arange(63) & 1
    size = 63 - 4 * num_players - 4
    assert (bits.sum(2) == 4).all()
    assert (market.sum(1) == 4).all()
    assert (table["deck_size"] == size).all()
    assert np.array_equal(table["public"], table["market"])
    in_deck = np.zeros((GAMES, 63), int)
    np.put_along_axis(in_deck, table["deck"][:, :size].astype(int), 1, axis=1)
    assert (bits.sum(1) + market + in_deck == 1).all()
    assert not table["deck"][:, size:].any()
    for seat in range(num_players):
        assert_uniform(bits[:, seat].sum(0), GAMES * 4 / 63)
    assert_uniform(market.sum(0), GAMES * 4 / 63)
    for place in (0, 1, size // 2, size - 1):
        assert_uniform(np.bincount(table["deck"][:, place], minlength=63), GAMES / 63)
    assert_uniform(np.bincount(table["first_seat"]), GAMES / num_players)


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_random_games_are_as_the_sheet_derives(num_players: int):
    """Random play scores about 4.5 to 5 points; each game is as long."""
    final = finished(GAME, started(GAME, num_players, 4000), seed=1)
    points = results(final)[0][:, :num_players]
    assert 4.3 < points.mean() < 5.4
    assert (final["decisions"] == 24 * num_players).all()
    assert (final["decisions"] == GAME.longest_game(num_players, GAME.make_options({}))).all()
    assert (final["deck_size"] == {2: 29, 3: 14, 4: 0}[num_players]).all()


def test_equal_decks_of_cards_are_drawn_in_every_order():
    """The card on top is independent of the first hand: neighbors in the shuffle are, too."""
    table = started(GAME, 2, 40_000, seed=5)
    size = int(table["deck_size"][0])
    top, second = table["deck"][:, size - 1].astype(int), table["deck"][:, size - 2].astype(int)
    following = np.bincount((second - top) % 63, minlength=63)
    assert following[0] == 0
    assert_uniform(following[1:], 40_000 / 62)

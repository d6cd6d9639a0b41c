"""What is drawn in Nokosu Dice: deals, dice and dealers are uniform, and random games are as the sheet derives."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from ice_envs.engine.loops import random_actions
from tests.helpers import apply_games, masks, started
from tests.nokosu_dice_positions import GAME

NO_CALL = GAME.num_actions - 1


def assert_uniform(counts: Iterable[int], expected: float):
    """Bound the chi-square statistic by its mean plus six standard deviations."""
    counts = np.asarray(counts, float)
    freedom = counts.size - 1
    assert ((counts - expected) ** 2 / expected).sum() < freedom + 6 * np.sqrt(2 * freedom)


@pytest.mark.parametrize(
    ("num_players", "colors", "numbers", "dice"), [(3, 4, 7, (4, 1, 10, 3)), (4, 5, 8, (5, 2, 13, 4))]
)
def test_deal_and_dice_are_uniform(num_players: int, colors: int, numbers: int, dice: tuple[int, ...]):
    """`dice`: of each color, a seat's own, in the middle, left in the bag."""
    games = 4000
    table = started(GAME, num_players, games, seed=3)
    of_color, own, middle, left = dice
    hand_size = {3: 9, 4: 10}[num_players]
    cards = (table["hands"][..., None] >> np.arange(40) & 1).reshape(games, 4, 5, 8)
    assert (cards.sum((2, 3))[:, :num_players] == hand_size).all()
    assert cards.sum(1).max() == 1
    assert not cards[:, :, colors:].any()
    assert not cards[..., numbers:].any()
    for seat in range(num_players):
        counts = cards[:, seat, :colors, :numbers].sum(0).ravel()
        assert_uniform(counts, games * hand_size / (colors * numbers))
    kinds = table["dice"].sum(1) + table["pool"]
    assert (table["dice"].sum(2)[:, :num_players] == own).all()
    assert (table["pool"].sum(1) == middle).all()
    assert (table["bag"].sum(1) == left).all()
    in_play = kinds.reshape(games, 5, 6).sum(2) + table["bag"]
    assert (in_play == [of_color] * colors + [0] * (5 - colors)).all()
    rolled = num_players * own + middle
    assert_uniform(kinds.reshape(games, 5, 6).sum(0)[:colors].ravel(), games * rolled / (6 * colors))
    assert_uniform(np.bincount(table["dealer"]), games / num_players)


def test_a_seat_gets_each_color_as_often_as_the_middle():
    table = started(GAME, 4, 4000, seed=4)
    for kinds, count in [(table["dice"][:, seat], 2) for seat in range(4)] + [(table["pool"], 13)]:
        assert_uniform(kinds.reshape(-1, 5, 6).sum((0, 2)), 4000 * count / 5)


def test_random_games_are_as_the_sheet_derives():
    """Without zero calls 0, 1, 2, 3, 4 of four random seats hit in 51, 37, 11, 1, 0 % of the rounds."""
    games = 4000
    states = started(GAME, 4, games, seed=5)
    actions, choices, moves, hits = np.zeros(games, np.int64), 0, 0, np.zeros(5)
    for seed in np.random.default_rng(5).integers(2**64, size=18 * 4, dtype=np.uint64):
        mask = masks(GAME, states)
        random_actions(mask, seed, actions)
        actions[mask[:, NO_CALL] == 1] = NO_CALL
        playing = states["phase"] == 2
        choices, moves = choices + mask[playing].sum(), moves + playing.sum()
        apply_games(states, actions)
    hits += np.bincount((states["totals"] >= 10).sum(1), minlength=5)
    assert (states["round_number"] == 2).all()
    assert np.abs(hits / games - [0.51, 0.37, 0.11, 0.01, 0]).max() < 0.03
    assert abs(choices / moves - 4.4) < 0.1

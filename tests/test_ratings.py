"""Ratings: strengths that are known are found again, ties count half, and no agent is too good or too bad for them."""

from __future__ import annotations

import numpy as np
import pytest

from training.lineups import lineups
from training.ratings import ELO, rate

NAMES = ["a", "b", "c"]
STRENGTHS = np.array([4.0, 2.0, 1.0])
SEED = np.random.SeedSequence(5)


@pytest.fixture(autouse=True)
def fewer_draws(monkeypatch):
    monkeypatch.setattr("training.ratings.DRAWS", 200)


def expected(lineup, deals):
    """Return win shares (D, n) over n rotations that are exactly what Luce's model expects."""
    strengths = np.array([STRENGTHS[NAMES.index(name)] for name in lineup])
    return np.tile(len(lineup) * strengths / strengths.sum(), (deals, 1))


def drawn(lineup, deals, rng):
    """Return win shares (D, n) of games whose winners are drawn by Luce's model."""
    chances = expected(lineup, 1)[0] / len(lineup)
    return rng.multinomial(len(lineup), chances, size=deals).astype(float)


@pytest.mark.parametrize("num_players", [2, 3, 4, 5])
def test_strengths_behind_the_win_shares_are_found_again(num_players):
    won = {lineup: expected(lineup, 4000) for lineup in lineups(NAMES, num_players)}
    found = rate(won, NAMES, SEED)
    assert found.rating == pytest.approx(ELO * np.log(STRENGTHS / STRENGTHS.mean()), abs=0.5)
    assert (found.interval[:, 0] <= found.rating).all()
    assert (found.interval[:, 1] >= found.rating).all()


def test_intervals_hold_the_true_rating_about_nineteen_times_in_twenty():
    rng, truth = np.random.default_rng(1), ELO * np.log(STRENGTHS / STRENGTHS.mean())
    held = []
    for seed in range(25):
        won = {lineup: drawn(lineup, 150, rng) for lineup in lineups(NAMES, 4)}
        low, high = rate(won, NAMES, np.random.SeedSequence(seed)).interval.T
        held += list((low <= truth) & (truth <= high))
    assert 0.88 <= np.mean(held) < 1


def test_a_shared_victory_is_a_draw():
    shared = rate({("a", "b"): np.ones((10, 2))}, ["a", "b"], SEED)
    halves = rate({("a", "b"): np.tile([[2.0, 0.0], [0.0, 2.0]], (5, 1))}, ["a", "b"], SEED)
    assert shared.rating == pytest.approx([0, 0])
    assert halves.rating == pytest.approx([0, 0])
    assert shared.interval == pytest.approx(np.zeros((2, 2)))
    assert (halves.interval[:, 0] < -20).all()


def test_an_agent_that_never_wins_has_a_finite_rating_and_leaves_the_others_theirs():
    won = {
        ("a", "b"): np.tile([[1.5, 0.5], [1.0, 1.0]], (100, 1)),
        ("a", "z"): np.tile([2.0, 0.0], (200, 1)),
        ("b", "z"): np.tile([2.0, 0.0], (200, 1)),
    }
    with_loser, alone = rate(won, ["a", "b", "z"], SEED), rate({("a", "b"): won["a", "b"]}, ["a", "b"], SEED)
    assert np.isfinite(with_loser.rating).all()
    assert np.diff(with_loser.interval[2])[0] > 200
    assert with_loser.rating[0] - with_loser.rating[1] == pytest.approx(alone.rating[0] - alone.rating[1], abs=1)
    assert np.diff(with_loser.interval[:2])[:, 0] == pytest.approx(np.diff(alone.interval)[:, 0], rel=0.2)


def test_the_order_of_tables_and_the_seed_are_all_that_there_is():
    rng = np.random.default_rng(2)
    won = {lineup: drawn(lineup, 50, rng) for lineup in lineups(NAMES, 3)}
    first, again = rate(won, NAMES, SEED), rate(dict(reversed(won.items())), NAMES, np.random.SeedSequence(5))
    assert [part.tobytes() for part in first] == [part.tobytes() for part in again]
    assert (rate(won, NAMES, np.random.SeedSequence(6)).interval != first.interval).any()

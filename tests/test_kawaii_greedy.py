"""The heuristic baseline of Kawaii: how well it plays, what it reads, what it does where one choice is plain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ice_envs.engine import loops
from ice_envs.engine.game import States
from tests import kawaii_positions
from tests.helpers import apply_games, greedy_choices, masks, results, started
from tests.kawaii_positions import GAME, HIDDEN, OPTION_SETS, window
from tests.rooms import positions_to_move

GAMES = 1000
LATER = "s2 c3 v1 m1 " * 10
"""Cards enough that the round has hardly begun."""


def choice(states: States) -> int:
    return int(greedy_choices(states)[0])


# ---- strength ----


def win_share(num_players: int, passing: float, **options: Any) -> float:
    """Return the share of games that greedy wins against opponents that pass at random, or take anything.

    `passing` is how often they let it pass.
    """
    states = started(GAME, num_players, GAMES, seed=num_players, **options)
    agent, rng = np.arange(GAMES) % num_players, np.random.default_rng(num_players)
    actions, total = np.zeros(GAMES, np.int64), 0.0
    for seed in rng.integers(2**64, size=10_000, dtype=np.uint64):
        loops.random_actions(masks(GAME, states), seed, actions)
        actions[rng.random(len(actions)) < passing] = 0
        actions = np.where(states["to_move"] == agent, greedy_choices(states), actions)
        apply_games(states, actions)
        over = states["over"] != 0
        total += results(states[over])[1][np.arange(over.sum()), agent[over]].sum()
        states, agent, actions = states[~over], agent[~over], actions[~over]
        if not len(states):
            return total / GAMES
    raise AssertionError("a game did not end")


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_beats_random_clearly(num_players: int):
    """Expected 1.00; the fair share is 0.5, 0.33, 0.25, 0.2. Random play slaps far too much."""
    assert win_share(num_players, passing=0) > 0.97


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_beats_random_play_that_mostly_passes(num_players: int):
    assert win_share(num_players, passing=0.95) > 0.8


@pytest.mark.parametrize("options", OPTION_SETS[1:], ids=str)
def test_beats_random_under_other_options(options: dict[str, Any]):
    assert win_share(3, passing=0, **options) > 0.85


# ---- what it reads ----


@pytest.fixture(scope="module", params=GAME.table_sizes)
def positions(request: pytest.FixtureRequest) -> States:
    return positions_to_move(kawaii_positions, request.param)


def test_reads_nothing_hidden(positions: States):
    """Nonsense in every field that is hidden from the seat to move leaves the choice as it is."""
    rng = np.random.default_rng(0)
    nonsense = positions.copy()
    own = np.arange(len(positions)), positions["to_move"]
    for name in HIDDEN - {"piles", "captured", "left", "rng"}:
        nonsense[name] = rng.integers(5, size=positions[name].shape)
    for name in ("favorite_flavor", "favorite_shape"):
        nonsense[name][own] = positions[name][own]
    assert np.array_equal(greedy_choices(nonsense), greedy_choices(positions))


# ---- plain choices ----


def test_takes_a_pile_full_of_favorites_at_once():
    assert choice(window("c3", "s1 s1 s2 s3 s4 c1", flipper=1, left=LATER)) == 0b10


def test_lets_worthless_piles_pass():
    assert choice(window("c3", "c2 v3 X", "m4", flipper=2, left="s1 s2")) == 0


def test_spends_tokens_before_the_end():
    """Three points are not worth a token while many cards are to come, but they are at the end."""
    early = window("c3", "s2 c1 s3", flipper=1, left=LATER)
    late = window("c3", "s2 c1 s3", flipper=1)
    assert (choice(early), choice(late)) == (0, 0b10)


def test_takes_two_piles_with_two_tokens_but_not_with_one():
    piles = ("c3", "s1 s1 s2 s3", "s4 s4 s5 c1")
    assert choice(window(*piles, flipper=2)) == 0b110
    assert choice(window(*piles, tokens=(1, 2, 2), flipper=2)) == 0b010


def test_the_own_pile_is_dearer():
    """The same two points: a token spent on the own pile is lost, on another one it is lent."""
    own, other = (window(*piles, flipper=1, left="v2 v4 " * 4) for piles in (("s2 c1", "c3"), ("c3", "s2 c1")))
    assert (choice(own), choice(other)) == (0, 0b10)


def test_counts_closed_shops():
    """The third shop brings four points more than the two cost; the first one costs one."""
    assert choice(window("c3", "X", captured=("X X",), flipper=1)) == 0b10
    assert choice(window("c3", "X s1", flipper=1)) == 0


def test_with_memory_it_counts_on_covered_cards():
    tall = " ".join(["c2"] * 2 + ["v3"] * 2 + ["m4"] * 2 + ["b5"] * 2 + ["c3", "c4", "s2", "s1"])
    assert choice(window("c3", tall, flipper=1, memory=True)) == 0b10

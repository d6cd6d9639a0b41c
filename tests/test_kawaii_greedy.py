"""The heuristic baseline of Kawaii: how well it plays, what it reads, what it does where one choice is plain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ice_envs.engine import loops
from ice_envs.engine.game import States
from tests import kawaii_positions
from tests.helpers import apply_games, greedy_choices, masks, results, started
from tests.kawaii_positions import GAME, HIDDEN, OPTION_SETS, window
from tests.rooms import positions_to_move

GAMES = 1000
SOME = range(2, 8)
"""Points that somebody simple may find enough for a token."""
BEST = "s1 s1 s2 s3 s4 s5 c1 v1"
"""Ten points to the seat to move."""
LATER = "s2 c3 v1 m1 " * 10
"""Cards enough that the round has hardly begun."""


def choice(states: States) -> int:
    return int(greedy_choices(states)[0])


# ---- strength ----


Choices = Callable[[States], NDArray[np.int64]]


def win_share(num_players: int, agent: Choices, others: Choices, **options: Any) -> float:
    """Return the share of games that an agent wins in every seat in turn, all other seats choosing like `others`."""
    states = started(GAME, num_players, GAMES, seed=num_players, **options)
    seats, total = np.arange(GAMES) % num_players, 0.0
    for _ in range(10_000):
        apply_games(states, np.where(states["to_move"] == seats, agent(states), others(states)))
        over = states["over"] != 0
        total += results(states[over])[1][np.arange(over.sum()), seats[over]].sum()
        states, seats = states[~over], seats[~over]
        if not len(states):
            return total / GAMES
    raise AssertionError("a game did not end")


def at_random(passing: float) -> Choices:
    """Return who lets it pass so often, and else takes anything."""
    rng = np.random.default_rng(0)

    def choices(states: States) -> NDArray[np.int64]:
        actions = np.zeros(len(states), np.int64)
        loops.random_actions(masks(GAME, states), rng.integers(2**64, dtype=np.uint64), actions)
        actions[rng.random(len(actions)) < passing] = 0
        return actions

    return choices


def waiting(states: States) -> NDArray[np.int64]:
    """Let all pass until the last card is flipped."""
    return np.where(states["reserves"].any(axis=1), 0, greedy_choices(states))


def taking(points: int) -> Choices:
    """Return who takes the best pile if it brings so many points."""

    def choices(states: States) -> NDArray[np.int64]:
        observation = np.zeros((len(states), GAME.layout.size), np.uint8)
        loops.observe_games(states, observation, masks(GAME, states), np.zeros(len(states), np.int64))
        values = GAME.layout.views(observation)["pile_value"].astype(np.int64) - 2
        return np.where(values.max(axis=1) >= points, 1 << values.argmax(axis=1), 0)

    return choices


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_beats_random_clearly(num_players: int):
    """Expected 1.00; the fair share is 0.5, 0.33, 0.25, 0.2. Random play slaps far too much."""
    assert win_share(num_players, greedy_choices, at_random(passing=0)) > 0.97


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_beats_random_play_that_mostly_passes(num_players: int):
    assert win_share(num_players, greedy_choices, at_random(passing=0.95)) > 0.8


@pytest.mark.parametrize("options", OPTION_SETS[1:], ids=str)
def test_beats_random_under_other_options(options: dict[str, Any]):
    assert win_share(3, greedy_choices, at_random(passing=0), **options) > 0.85


@pytest.mark.parametrize("num_players", GAME.table_sizes)
@pytest.mark.parametrize("simple", [waiting, *map(taking, SOME)], ids=["waiting", *map(str, SOME)])
def test_nothing_simple_beats_it(simple: Choices, num_players: int):
    """Expected at most 0.64 of the fair share, by whoever takes what brings 3 points at four seats."""
    assert win_share(num_players, simple, greedy_choices) < 0.8 / num_players


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
    assert choice(window("c3", BEST, flipper=1, left=LATER)) == 0b10


def test_lets_worthless_piles_pass():
    assert choice(window("c3", "c2 v3 X", "m4", flipper=2, left="s1 s2")) == 0


def test_waits_for_the_end_while_nobody_else_has_a_token():
    early, late = (window("c3", BEST, tokens=(2, 0), flipper=1, left=left) for left in (LATER, ""))
    assert (choice(early), choice(late)) == (0, 0b10)


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
    own, other = (window(*piles, flipper=1, left="v2 v4 " * 2) for piles in (("s2 c1", "c3"), ("c3", "s2 c1")))
    assert (choice(own), choice(other)) == (0, 0b10)


def test_counts_closed_shops():
    """The third shop brings four points more than the two cost; the first one costs one."""
    assert choice(window("c3", "X", captured=("X X",), flipper=1)) == 0b10
    assert choice(window("c3", "X s1", flipper=1)) == 0


def test_with_memory_it_counts_on_covered_cards():
    tall = " ".join(["c2"] * 2 + ["v3"] * 2 + ["m4"] * 2 + ["b5"] * 2 + ["c3", "c4", "s2", "s1"])
    assert choice(window("c3", tall, flipper=1, memory=True)) == 0b10

"""The heuristic baseline of Dokitto! Ice: how well it plays, what it reads, what it does where one move is plain."""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

from ice_envs.engine import loops
from ice_envs.engine.game import States
from ice_envs.games.dokitto.rules import CONE_SIZE
from tests import dokitto_positions
from tests.dokitto_positions import GAME, action_code, play, position
from tests.helpers import apply_games, greedy_choices, masks, results, started
from tests.rooms import positions_to_move

GREEDY = sys.modules["ice_envs.games.dokitto.greedy"]  # the package's attribute of that name is the function
GAMES = 3000


def choice(states: States) -> str:
    return action_code(int(greedy_choices(states)[0]))


# ---- strength ----


def win_share(num_players: int, **options: Any) -> float:
    """Return the share of games that greedy wins against random opponents, sitting in every seat equally often."""
    states = started(GAME, num_players, GAMES, seed=num_players, **options)
    agent = np.arange(GAMES) % num_players
    actions, total = np.zeros(GAMES, np.int64), 0.0
    for seed in np.random.default_rng(num_players).integers(2**64, size=10_000, dtype=np.uint64):
        loops.random_actions(masks(GAME, states), seed, actions)
        actions = np.where(states["to_move"] == agent, greedy_choices(states), actions)
        apply_games(states, actions)
        over = states["over"] != 0
        total += results(states[over])[1][np.arange(over.sum()), agent[over]].sum()
        states, agent, actions = states[~over], agent[~over], actions[~over]
        if not len(states):
            return total / GAMES
    raise AssertionError("a game did not end")


@pytest.mark.parametrize(("num_players", "least"), [(2, 0.78), (3, 0.56), (4, 0.52), (5, 0.55)])
def test_beats_random_clearly(num_players: int, least: float):
    """Expected 0.82, 0.61, 0.57, 0.61, each ± 0.01; the fair share is 0.5, 0.33, 0.25, 0.2."""
    assert win_share(num_players) > least


@pytest.mark.parametrize(
    "options", [{"stars_per_flavor": 0}, {"stars_per_flavor": 3}, {"low_win_tile": "winning_card"}]
)
def test_beats_random_under_other_options(options: dict[str, Any]):
    assert win_share(4, **options) > 0.45


# ---- what it reads ----


@pytest.fixture(scope="module", params=GAME.table_sizes)
def positions(request: pytest.FixtureRequest) -> States:
    return positions_to_move(dokitto_positions, request.param)


def test_reads_nothing_hidden(positions: States):
    """Nonsense in every field that is hidden from the seat to move leaves the choice as it is."""
    rng = np.random.default_rng(0)
    nonsense = positions.copy()
    for name in ("rng", "deck", "stars", "hands"):
        high = np.iinfo(positions[name].dtype).max
        nonsense[name] = rng.integers(high, size=positions[name].shape, dtype=positions[name].dtype)
    own = np.arange(len(positions)), positions["to_move"]
    nonsense["hands"][own] = positions["hands"][own]
    assert np.array_equal(greedy_choices(nonsense), greedy_choices(positions))


# ---- plain moves ----


def test_the_last_seat_with_three_tiles_ducks_a_high_trick():
    states = position("s9 c5", "s3 s12", cones="m/s*cc")
    assert choice(play(states, "s9")) == "s3"


def test_the_last_seat_with_three_tiles_ducks_a_mixed_trick():
    states = position("s9 m1", "c5 s8", "c3 c12", cones="m/m/s*cc")
    assert choice(play(states, "s9 s8")) == "c12"


def test_the_last_seat_lets_a_full_cone_win():
    """Playing low makes player_0, with three tiles, take the trick: the round ends with player_1's points."""
    states = position("s9 c5 m3 m7", "s3 s12 m1 m2", cones="ccm/s*s")
    assert choice(play(states, "s9")) == "s3"


def test_the_last_seat_takes_a_tile_while_its_cone_has_room():
    states = position("s9 c5", "s3 s12", cones="cc/m")
    assert choice(play(states, "s9")) == "s12"


def test_the_last_seat_wins_a_tie_of_lowest_numbers():
    states = position("s5 s1", "c3 c2", "m3 c12", cones="s/m/c")
    assert choice(play(states, "s5 c3")) == "m3"


def test_takes_the_tile_that_is_likeliest_to_bring_a_topping():
    """Of strawberry two tiles are left with the topping there, of chocolate three; matcha's topping is gone."""
    states = position("s5 s1", "c4 c2", "m3 m2", cones="s/m*m/")
    assert choice(play(states, "s5 c4 m3")) == "+s"


@pytest.mark.parametrize(("cones", "card"), [("m/c*/s", "m2"), ("c/m*/s", "c4")])
def test_plays_for_the_topping_if_the_winning_card_names_the_tile(cones: str, card: str):
    """Both cards win the trick; the other's topping is gone."""
    states = position("s5 s1", "m4 m1", "c4 m2", cones=cones, low_win_tile="winning_card")
    assert choice(play(states, "s5 m4")) == card


# ---- what it hopes for ----


@pytest.mark.parametrize(("num_players", "left"), [(2, 4), (3, 4), (4, 3)])
def test_prospects_agree_with_playing_out_all_winners(num_players: int, left: int):
    table = GREEDY._prospects(num_players)[left]
    for code in range(0, len(table), 3):
        cones = [code // 4**seat % 4 for seat in range(num_players)]
        further = kept = 0
        for winners in product(range(num_players), repeat=left):
            tiles = list(cones)
            buster = take_turns(tiles, winners)
            further += (tiles[0] - cones[0]) * (buster != 0)
            kept += buster != 0
        assert table[code] == pytest.approx(np.array([further, kept]) / num_players**left, abs=1e-6)


def take_turns(tiles: list[int], winners: tuple[int, ...]) -> int | None:
    """Give a tile for each win until somebody would take the fourth; return who."""
    for winner in winners:
        if tiles[winner] == CONE_SIZE:
            return winner
        tiles[winner] += 1
    return None


def test_prospects_of_all_table_sizes_lie_behind_each_other():
    assert GREEDY._PROSPECTS.shape == (13, 4**2 + 4**3 + 4**4 + 4**5, 2)
    for num_players in GAME.table_sizes:
        cones = sum(3 << 2 * seat for seat in range(num_players - 1))  # only the last seat has room
        place = GREEDY.prospect_place(num_players, cones, num_players - 1)
        further, kept = GREEDY._PROSPECTS[1, place]
        assert (further, kept) == pytest.approx((1 / num_players, 1))

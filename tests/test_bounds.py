"""What a game declares about itself, against random games with all its options: thousands of Dokitto! Ice."""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pytest

from ice_envs import Batch, find_game
from ice_envs.engine import loops
from ice_envs.engine.game import Game
from tests import face_helpers
from tests.dokitto_positions import GAME, position
from tests.helpers import finished, observations, started
from tests.rooms import positions_of

VARIANTS: list[dict[str, Any]] = [
    {},
    {"stars_per_flavor": 3, "target_score": 30, "max_rounds": 100},
    {"next_leader": "rotate", "low_win_tile": "winning_card", "stars_per_flavor": 0, "max_rounds": 1},
    {"next_leader": "lowest", "stars_per_flavor": 2, "target_score": 1},
    {"next_leader": "random", "target_score": 20, "max_rounds": 3},
]
GAMES_EACH = 2000
GAMES_OF_ALL = 1000
"""Games of each game, divided among its option sets."""

CONSTANT = {
    "higher_unseen": "no card is higher than a 13",
    "lower_unseen": "no card is lower than a 1",
    "present": "a table has at least two seats",
}
"""Slices with cells that never change, and why."""


class Extremes(NamedTuple):
    """The least and the greatest value that each cell of the observation took."""

    low: Any
    high: Any

    def take_in(self, observation: Any) -> None:
        """Widen the range to these observations (N, L)."""
        np.minimum(self.low, observation.min(0), out=self.low)
        np.maximum(self.high, observation.max(0), out=self.high)


def nothing_yet(game: Game) -> Extremes:
    return Extremes(np.full(game.layout.size, 255, np.uint8), np.zeros(game.layout.size, np.uint8))


@pytest.fixture(scope="module")
def extremes() -> Extremes:
    """The extremes over all observations of seats to move, over ended games, and over one built position."""
    reached = nothing_yet(GAME)
    for seed, options in enumerate(VARIANTS):
        play_games(GAME, GAMES_EACH, seed, options, reached)
    last_round = position("s1 c1", "s2 c2", fields={"round_number": 100}, max_rounds=100)  # games never last so long
    reached.take_in(observations(GAME, last_round, [0])[0])
    return reached


def play_games(game: Game, games: int, seed: int, options: dict[str, Any], reached: Extremes) -> None:
    """Play games of all table sizes; take in what the seats to move observe, and at the end all seats."""
    play_a_batch(game, games, seed, options, reached)
    final = finished(game, started(game, list(game.table_sizes), games, seed, **options), seed)
    for seat in range(max(game.table_sizes)):
        present = final["num_players"] > seat
        reached.take_in(observations(game, final[present], np.full(present.sum(), seat))[0])


def play_a_batch(game: Game, games: int, seed: int, options: dict[str, Any], reached: Extremes) -> None:
    """Play until each place of a batch has ended a game; check the scores, the rewards and the lengths on the way."""
    batch = Batch(game, games, seed, game.table_sizes, reward="score", **options)
    sizes = batch.states["num_players"].copy()
    valid = game.make_options(options)
    low, high = np.array([game.score_range(int(size), valid) for size in sizes]).T
    longest = np.array([game.longest_game(int(size), valid) for size in sizes])
    points = np.zeros_like(batch.last_scores)
    ended, actions = np.zeros(games, np.bool_), np.zeros(games, np.int64)
    for step in count():
        observation, mask, _ = batch.observe()
        reached.take_in(observation)
        loops.random_actions(mask, np.uint64(step), actions)
        assert (batch.states["decisions"] < longest).all()
        reward, done = batch.step(actions)
        points += reward
        assert np.array_equal(points[done], batch.last_scores[done])
        assert (batch.last_scores[done] >= low[done, None]).all()
        assert (batch.last_scores[done] <= high[done, None]).all()
        points[done] = 0
        ended |= done
        if ended.all():
            return


def check_bounds(game: Game, reached: Extremes) -> None:
    for part in game.layout:
        cells = slice(part.start, part.stop)
        assert reached.low[cells].min() >= part.low, part.name
        assert reached.high[cells].max() <= part.high, part.name


def test_observations_stay_within_the_layouts_bounds(extremes: Extremes):
    check_bounds(GAME, extremes)


@face_helpers.games
def test_every_game_stays_within_its_bounds(name: str):
    """Observations, points and lengths of games with all options."""
    game, option_sets = find_game(name), positions_of(name).OPTION_SETS
    reached = nothing_yet(game)
    for seed, options in enumerate(option_sets):
        play_games(game, GAMES_OF_ALL // len(option_sets), seed, options, reached)
    check_bounds(game, reached)


def test_every_slice_reaches_its_bounds(extremes: Extremes):
    reached = {
        part.name: (int(extremes.low[part.start : part.stop].min()), int(extremes.high[part.start : part.stop].max()))
        for part in GAME.layout
    }
    assert reached == {part.name: (part.low, part.high) for part in GAME.layout}


def test_no_cell_is_constant_without_a_reason(extremes: Extremes):
    constant = extremes.low == extremes.high
    assert {part.name for part in GAME.layout if constant[part.start : part.stop].any()} == set(CONSTANT)
    by_name = GAME.layout.views(constant)
    assert np.array_equal(np.argwhere(by_name["higher_unseen"])[:, 1], [12] * 5)
    assert np.array_equal(np.argwhere(by_name["lower_unseen"])[:, 1], [0] * 5)
    assert by_name["present"].tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_scores_reach_the_declared_range(num_players: int):
    """From one point short of the target a full cone of starred flavors reaches the highest total there can be."""
    options = {"stars_per_flavor": 3, "target_score": 7}
    low, high = GAME.score_range(num_players, GAME.make_options(options))
    final = finished(GAME, started(GAME, num_players, 20_000, **options), seed=2)
    assert (final["totals"][:, :num_players].min(), final["totals"].max()) == (low, high)

"""The generator, the seed rule, and what every registered game must declare."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import ice_envs
from ice_envs import IceError, find_game, games
from ice_envs.engine import loops
from ice_envs.engine.bits import write_bits
from ice_envs.engine.game import HEADER, is_legal
from ice_envs.engine.generator import game_seeds, mix, random_below, random_for_row
from ice_envs.engine.jit import compiled
from tests.helpers import masks, random_play, started

GAMES = [find_game(name) for name in games()]

# ---- the generator ----


@compiled
def draw_many(states: Any, bound: int, out: Any) -> None:
    """Fill `out` with draws from the first game's generator."""
    for i in range(len(out)):
        out[i] = random_below(states[0], bound)


@compiled
def draw_row(seed: Any, row: int, bound: int) -> int:
    """Return one row's draw."""
    return random_for_row(seed, row, bound)


@compiled
def write_some_bits(bits: int, count: int, cells: Any, first: int) -> None:
    """Write bits into cells."""
    write_bits(bits, count, cells, first)


@compiled
def draw_rows(seeds: Any, bound: int, out: Any) -> None:
    """Fill `out` (seeds, rows) with each row's draw."""
    for i in range(out.shape[0]):
        for row in range(out.shape[1]):
            out[i, row] = random_for_row(seeds[i], row, bound)


@compiled
def write_allowed(states: Any, allowed: Any) -> None:
    """Write for each action whether it alone is told to be legal: (N, A) int8."""
    for i in range(len(states)):
        for action in range(allowed.shape[1]):
            allowed[i, action] = is_legal(states[i], action)


@compiled
def mix_all(words: Any) -> None:
    """Hash each word in place."""
    for i in range(len(words)):
        words[i] = mix(words[i])


def draws(seed: int, bound: int, count: int) -> Any:
    state, out = started(GAMES[0], 2), np.zeros(count, np.int64)
    state["rng"] = seed
    draw_many(state, bound, out)
    return out


def chi_square_excess(counts: Any) -> float:
    """Return how many standard deviations the chi-square statistic of equal chances lies above its mean."""
    counts = np.asarray(counts, float).ravel()
    freedom = counts.size - 1
    statistic = ((counts - counts.mean()) ** 2 / counts.mean()).sum()
    return (statistic - freedom) / np.sqrt(2 * freedom)


def test_mix_gives_the_published_outputs_of_splitmix64():
    gamma = 0x9E3779B97F4A7C15
    words = np.array([(1234567 + k * gamma) % 2**64 for k in range(1, 6)], np.uint64)
    mix_all(words)
    assert words.tolist() == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 6, 13, 39, 65, 1000])
def test_draws_below_a_bound_are_uniform(bound: int):
    found = draws(1, bound, 200_000)
    assert (found.min(), found.max()) == (0, bound - 1)
    if bound > 1:
        assert abs(chi_square_excess(np.bincount(found, minlength=bound))) < 5


def test_successive_draws_are_independent():
    found = draws(2, 13, 200_000)
    for lag in (1, 2, 5):
        pairs = np.bincount(found[:-lag] * 13 + found[lag:], minlength=169)
        assert abs(chi_square_excess(pairs)) < 5


def test_draws_of_neighboring_generators_are_independent():
    """Generators are set from outside, so states 0, 1, 2, … must do."""
    first = np.array([draws(state, 13, 2) for state in range(20_000)])
    assert abs(chi_square_excess(np.bincount(first[:, 0] * 13 + first[:, 1], minlength=169))) < 5
    assert abs(chi_square_excess(np.bincount(first[:-1, 0] * 13 + first[1:, 0], minlength=169))) < 5


def test_draws_of_rows_are_uniform_over_rows_and_over_seeds():
    out = np.zeros((2000, 200), np.int64)
    draw_rows(np.arange(2000, dtype=np.uint64), 7, out)
    for row in out[:20]:
        assert abs(chi_square_excess(np.bincount(row, minlength=7))) < 5
    for column in out.T[:20]:
        assert abs(chi_square_excess(np.bincount(column, minlength=7))) < 5
    assert abs(chi_square_excess(np.bincount(out.ravel(), minlength=7))) < 5


def test_random_actions_are_legal_and_uniform():
    mask = np.zeros((60_000, 6), np.int8)
    mask[:, [1, 2, 4]] = 1
    actions = np.zeros(len(mask), np.int64)
    loops.random_actions(mask, np.uint64(3), actions)
    counts = np.bincount(actions, minlength=6)
    assert counts[[0, 3, 5]].tolist() == [0, 0, 0]
    assert abs(chi_square_excess(counts[[1, 2, 4]])) < 5


@pytest.mark.parametrize("num_actions", [1, 2, 7, 8, 9, 32, 70])
def test_random_actions_are_drawn_from_all_parts_of_a_mask(num_actions: int):
    """Each row's draw is a number below the count of its legal actions: the one of that rank is taken."""
    rows = 4000
    mask = np.random.default_rng(num_actions).integers(2, size=(rows, num_actions)).astype(np.int8)
    mask[:, num_actions // 2] = 1
    actions = np.zeros(rows, np.int64)
    loops.random_actions(mask, np.uint64(3), actions)
    chosen = [np.flatnonzero(row)[draw_row(np.uint64(3), i, row.sum())] for i, row in enumerate(mask)]
    assert actions.tolist() == chosen
    assert set(chosen) == set(range(num_actions))
    assert [loops.random_action.py_func(mask[i], np.uint64(3), i) for i in range(100)] == chosen[:100]  # plain Python


# ---- cells ----


@pytest.mark.parametrize("count", [8, 9, 13, 16, 25, 52, 63])
@pytest.mark.parametrize("run", [write_some_bits, write_bits.py_func], ids=["compiled", "plain"])
def test_bits_are_written_into_cells_and_beside_them_nothing(run: Any, count: int):
    for bits in (0, 1, (1 << count) - 1, 0x5A3C_9F17_E264_81B7 & ((1 << count) - 1), 1 << (count - 1)):
        for kind in (np.uint8, np.int8):
            cells = np.full(80, 7, kind)
            run(np.int64(bits), count, cells, 5)
            assert cells[5 : 5 + count].tolist() == [bits >> place & 1 for place in range(count)]
            assert (cells[:5] == 7).all()
            assert (cells[5 + count :] == 7).all()


# ---- seeds ----


def test_a_longer_batch_begins_with_the_games_of_a_shorter_one():
    assert np.array_equal(game_seeds(5, 100)[:7], game_seeds(5, 7))
    assert len(set(game_seeds(5, 100).tolist())) == 100


def test_a_seed_sequence_is_taken_as_it_is():
    assert np.array_equal(game_seeds(np.random.SeedSequence(5), 9), game_seeds(5, 9))
    assert not np.array_equal(game_seeds(np.random.SeedSequence(5).spawn(1)[0], 9), game_seeds(5, 9))


def test_no_seed_takes_entropy_from_the_system():
    assert not np.array_equal(game_seeds(None, 9), game_seeds(None, 9))


def test_runs_with_adjacent_seeds_share_no_generator():
    words = np.concatenate([game_seeds(seed, 4096) for seed in range(16)])
    assert len(np.unique(words)) == len(words)


# ---- the contract ----


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
class TestContract:
    def test_labels_are_distinct(self, game: Any):
        assert len(set(game.labels)) == len(set(game.labels_ja)) == len(game.labels_ja) == game.num_actions

    def test_records_begin_with_the_common_header(self, game: Any):
        names = [name for name, *_ in HEADER]
        assert [name for name in game.dtype.names if not name.startswith("gap_")][: len(names)] == names

    def test_every_byte_of_a_record_belongs_to_a_field(self, game: Any):
        """NumPy copies fields: bytes outside of them would be anything in a copy."""
        assert sum(game.dtype.fields[name][0].itemsize for name in game.dtype.names) == game.dtype.itemsize
        states = started(game, list(game.table_sizes), 64)
        assert states.copy().tobytes() == states.tobytes()

    def test_every_option_has_a_default_and_is_described(self, game: Any):
        defaults = game.default_options()
        assert defaults.keys() == {field.name for field in fields(game.options_type)}
        assert game.make_options(defaults) == game.options_type()

    @pytest.mark.parametrize("size", [0, 1, 6, -2, 2.5, "3", True, None])
    def test_other_table_sizes_are_refused(self, game: Any, size: Any):
        with pytest.raises(IceError, match=rf"{game.name} is played by \d to \d seats, not"):
            game.check_table(size)

    def test_is_legal_agrees_with_the_mask(self, game: Any):
        """At every move of whole games, ended ones included."""
        for states, _ in random_play(game, started(game, list(game.table_sizes), 40), seed=1):
            allowed = np.zeros((len(states), game.num_actions), np.int8)
            write_allowed(states, allowed)
            assert np.array_equal(allowed, masks(game, states))

    def test_games_travel_as_their_name(self, game: Any):
        assert pickle.loads(pickle.dumps(game)) is game
        assert copy.deepcopy(game) is game


def test_every_game_is_found_by_its_name():
    assert [find_game(name).name for name in ice_envs.games()] == list(ice_envs.games())
    assert find_game(GAMES[0]) is GAMES[0]


def test_an_unknown_game_is_answered_with_the_nearest_name():
    with pytest.raises(IceError) as caught:
        find_game("dokito")
    assert str(caught.value) == "unknown game 'dokito' (did you mean 'dokitto'?)"


# ---- rewards ----


@pytest.mark.parametrize(
    ("shares", "utilities"),
    [
        ([1, 0], [1, -1]),
        ([0.5, 0.5], [0, 0]),
        ([1, 0, 0], [1, -0.5, -0.5]),
        ([0.5, 0.5, 0], [0.25, 0.25, -0.5]),
        ([0, 0, 0, 1], [-1 / 3, -1 / 3, -1 / 3, 1]),
        ([0.2] * 5, [0] * 5),
    ],
)
def test_win_reward_is_the_zero_sum_utility_of_the_share(shares: list[float], utilities: list[float]):
    assert rewards(0, [0] * len(shares), shares, True) == pytest.approx(utilities)
    assert rewards(0, [0] * len(shares), shares, False) == [0] * len(shares)


@pytest.mark.parametrize("over", [True, False])
def test_score_and_margin_rewards_are_of_the_points_gained(over: bool):
    assert rewards(1, [2, 0, 4], [0, 0, 1], over) == [2, 0, 4]
    assert rewards(2, [2, 0, 4], [0, 0, 1], over) == [0, -3, 3]
    assert rewards(2, [5, 1], [1, 0], over) == [4, -4]


def rewards(kind: int, gained: list[float], shares: list[float], over: bool) -> list[float]:
    reward = np.zeros(len(gained))
    loops.write_reward(kind, len(gained), np.array(gained, float), np.array(shares, float), over, reward)
    return reward.tolist()

"""Flat Monte-Carlo: its gains against slow ones and exact ones, and that they rest on nothing hidden."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from ice_envs.engine.batch import Batch
from ice_envs.engine.generator import game_seeds
from ice_envs.engine.loops import greedy_actions
from ice_envs.engine.playouts import action_values
from tests import dokitto_positions
from tests.dokitto_positions import GAME, PHASES
from tests.helpers import apply_games, determinized, masks, results
from tests.rooms import random_states
from tests.toy_game import KEEP, KEEP_OR_SWAP, NUM_CARDS, SWAP
from training.teacher import TeacherSettings, playouts_at, search_gains

SEED = 0x0123456789ABCDEF
WORD = 1 << 64


def gains(game, states, playouts=4, skilled=2, win_bonus=4.0, seed=SEED, first_row=0):
    values = np.full((len(states), game.num_actions), np.nan, np.float32)
    scratch = np.zeros(2, game.dtype)
    action_values(states, playouts, skilled, win_bonus, np.uint64(seed), scratch, first_row, values)
    return values


@pytest.fixture(scope="module")
def states():
    """Positions of all phases and table sizes, a good part of them near a game's end."""
    parts = [part[:8] for size in GAME.table_sizes for part in random_states(dokitto_positions, size, 8, size).values()]
    return np.concatenate(parts)


# one position at a time, in plain Python


def mixed(word):
    """The finalizer of SplitMix64."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def drawn(state, bound):
    """Draw from the generator of a game (1,)."""
    word = (int(state["rng"][0]) + 0x9E3779B97F4A7C15) % WORD
    state["rng"] = word
    return (mixed(word) >> 32) * bound >> 32


def lead(state, seat, win_bonus):
    size = int(state["num_players"][0])
    points, shares = (part[0, :size] for part in results(state))
    others = np.delete(points, seat)
    bonus = win_bonus * (size * shares[seat] - 1) / (size - 1) if state["over"][0] else 0
    return points[seat] - others.mean() + bonus


def greedy_action(state):
    action = np.zeros(1, np.int64)
    greedy_actions(state, action)
    return action


def played_on(game, state, action, skilled):
    """Return a game (1,) after an action and all that follows until the round's end."""
    state = state.copy()
    begun = int(state["round_number"][0])
    apply_games(state, np.array([action]))
    while not state["over"][0] and state["round_number"][0] == begun:
        if skilled:
            apply_games(state, greedy_action(state))
        else:
            legal = np.flatnonzero(masks(game, state)[0])
            apply_games(state, legal[[drawn(state, len(legal))]])
    return state


def slow_gains(game, states, playouts, skilled, win_bonus, seed, first_row):
    values = np.zeros((len(states), game.num_actions))
    for i in range(len(states)):
        state = states[i : i + 1]
        seat = int(state["to_move"][0])
        before = lead(state, seat, win_bonus)
        stream = mixed((seed + first_row + i) % WORD)
        for playout in range(playouts):
            imagined = determinized(state, [seat], [mixed((stream + playout) % WORD)])
            for action in np.flatnonzero(masks(game, state)[0]):
                final = played_on(game, imagined, action, playout < skilled)
                values[i, action] += (lead(final, seat, win_bonus) - before) / playouts
    return values


@pytest.mark.parametrize(("playouts", "skilled", "win_bonus"), [(3, 0, 4.0), (2, 2, 0.0), (3, 1, 2.5)])
def test_gains_agree_with_slow_ones(states, playouts, skilled, win_bonus):
    arguments = (playouts, skilled, win_bonus, SEED, 11)
    expected = slow_gains(GAME, states, *arguments)
    assert (expected != 0).sum() > 200
    np.testing.assert_allclose(gains(GAME, states, *arguments), expected, atol=1e-4)


# the toy game, whose gains can be worked out


def card_after(card, skilled, turns):
    """Return the probabilities (NUM_CARDS,) of a seat's card after some turns; `card` None: not seen yet."""
    chance = np.full(NUM_CARDS, 1 / NUM_CARDS) if card is None else np.eye(NUM_CARDS)[card]
    swapped = np.array([1.0, 0, 0]) if skilled else np.full(NUM_CARDS, 0.5)
    for _ in range(turns):
        chance = chance * (1 - swapped) + (chance @ swapped) / NUM_CARDS
    return chance


@pytest.mark.parametrize("skilled", [False, True])
@pytest.mark.parametrize("win_bonus", [0.0, 3.0])
def test_gains_of_the_toy_game_are_the_expected_ones(skilled, win_bonus):
    tables = Batch(KEEP_OR_SWAP, 40, seed=0).states
    tables = np.array([tables[tables["cards"][:, 0] == card][0] for card in range(NUM_CARDS)], KEEP_OR_SWAP.dtype)
    playouts = 20_000
    found = gains(KEEP_OR_SWAP, tables, playouts, playouts * skilled, win_bonus)
    expected = np.zeros((NUM_CARDS, 2))
    others = card_after(None, skilled, turns=2)
    for card, action in product(range(NUM_CARDS), (KEEP, SWAP)):
        own = card_after(None if action == SWAP else card, skilled, turns=1)
        for mine, theirs in product(range(NUM_CARDS), repeat=2):
            worth = mine - theirs + win_bonus * np.sign(mine - theirs)
            expected[card, action] += own[mine] * others[theirs] * worth
    np.testing.assert_allclose(found, expected, atol=5 * (2 + win_bonus) / playouts**0.5)


# what gains depend on


def test_gains_are_the_same_for_any_slicing(states):
    whole = gains(GAME, states)
    edges = [0, 1, 2, 50, 51, len(states)]
    parts = [gains(GAME, states[first:stop], first_row=first) for first, stop in pairwise(edges)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    sequence = np.random.SeedSequence(5)
    one, two, many = (search_gains(GAME, states, TeacherSettings(), sequence, threads) for threads in (1, 2, 200))
    assert one.tobytes() == two.tobytes() == many.tobytes()


def test_smaller_tables_get_more_playouts_in_the_same_time():
    assert [playouts_at(GAME, size, 6) for size in GAME.table_sizes] == [26, 15, 9, 6]


def test_seeds_and_rows_draw_their_own_futures(states):
    twice = np.repeat(states[masks(GAME, states).sum(axis=1) > 3][:1], 2)
    first, second = gains(GAME, twice, skilled=0)
    assert not np.array_equal(first, second)
    assert not np.array_equal(gains(GAME, twice, skilled=0, seed=SEED + 1)[1], second)
    np.testing.assert_array_equal(gains(GAME, twice, skilled=0)[1], second)


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_gains_rest_on_nothing_hidden(num_players):
    found = random_states(dokitto_positions, num_players, 100, seed=num_players + 10)
    states = np.concatenate([found[phase] for phase in PHASES if phase != "over"])
    hidden = determinized(states, states["to_move"], game_seeds(99, len(states)))
    assert (hidden["hands"] != states["hands"]).any(axis=(1, 2)).mean() > 0.6
    assert gains(GAME, hidden).tobytes() == gains(GAME, states).tobytes()


def test_illegal_actions_and_games_that_are_over_gain_nothing(states):
    found, legal = gains(GAME, states), masks(GAME, states)
    assert np.isfinite(found).all()
    assert (found[legal == 0] == 0).all()
    assert (found[legal == 1] != 0).mean() > 0.5
    assert (states["over"] == 1).sum() >= 8


def test_positions_are_left_as_they_are(states):
    before = states.copy()
    gains(GAME, states)
    assert states.tobytes() == before.tobytes()

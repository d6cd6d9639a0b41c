"""Determinizations agree with what the seat knows, play on legally, and see nothing hidden."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from ice_envs.engine.game import States
from ice_envs.engine.generator import game_seeds
from tests.face_helpers import TABLES
from tests.helpers import determinized, finished, results
from tests.rooms import from_every_seat, positions_of
from tests.test_hidden_information import shuffled


class Positions(NamedTuple):
    """Positions of all phases of one game and table size, each paired with every seat of its table."""

    room: Any
    states: States
    seats: Any


@pytest.fixture(scope="module", params=TABLES, ids=lambda table: f"{table[0]}-{table[1]}")
def positions(request: pytest.FixtureRequest) -> Positions:
    name, size = request.param
    room = positions_of(name)
    states, seats = from_every_seat(room, size, 250)
    assert len(states) == 250 * len(room.PHASES) * size
    return Positions(room, states, seats)


def test_all_that_is_known_stays(positions: Positions):
    room, states, seats = positions
    drawn = determinized(states, seats, game_seeds(1, len(states)))
    for name in set(room.GAME.dtype.names) - room.HIDDEN:
        assert np.array_equal(drawn[name], states[name]), name


def test_plays_on_legally_to_the_end(positions: Positions):
    room, states, seats = positions
    drawn = determinized(states, seats, game_seeds(3, len(states)))
    final = finished(room.GAME, drawn, seed=1)  # asserts that there is always something legal to play
    assert final["over"].all()
    scores, _ = results(final)
    bounds = [room.GAME.score_range(int(state.num_players), options_of(room.GAME, state)) for state in final]
    low, high = np.array(bounds).T
    present = np.arange(scores.shape[1]) < final["num_players"][:, None]
    assert ((scores >= low[:, None]) & (scores <= high[:, None]))[present].all()


def options_of(game: Any, state: Any) -> Any:
    """Read the options back from a record."""
    return game.make_options(game.to_view(state, 0)["options"])


def test_one_seed_one_result(positions: Positions):
    room, states, seats = positions
    seeds = game_seeds(4, len(states))
    assert determinized(states, seats, seeds).tobytes() == determinized(states, seats, seeds).tobytes()
    others = determinized(states, seats, seeds + np.uint64(1))
    drawn = determinized(states, seats, seeds)
    changed = [(others[name] != drawn[name]).reshape(len(states), -1).any(axis=1) for name in room.SECRETS]
    assert np.any(changed, axis=0)[states["over"] == 0].mean() > 0.6


def test_is_blind_to_the_true_hidden_cards(positions: Positions):
    """Two truths that the seat cannot tell apart give, from one seed, records that are equal in every byte."""
    room, states, seats = positions
    seeds = game_seeds(5, len(states))
    truths = shuffled(room, states, seats, seed=6)
    assert truths.tobytes() != states.tobytes()
    assert determinized(truths, seats, seeds).tobytes() == determinized(states, seats, seeds).tobytes()

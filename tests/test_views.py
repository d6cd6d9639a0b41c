"""Every game's views there and back, on random positions of all phases with all options; and its table as text."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from ice_envs.errors import IceError
from tests.face_helpers import TABLES
from tests.helpers import greedy_choices, observations
from tests.rooms import positions_of
from tests.views import PER_PHASE, ThereAndBack, there_and_back

IGNORED = {"legal_actions", "points"}
"""What a view tells a front end, and its reader works out anew."""


class Sent(NamedTuple):
    room: Any
    positions: ThereAndBack


@pytest.fixture(scope="module", params=TABLES, ids=lambda table: f"{table[0]}-{table[1]}")
def sent(request: pytest.FixtureRequest) -> Sent:
    name, num_players = request.param
    room = positions_of(name)
    return Sent(room, there_and_back(room, num_players))


def test_the_seat_observes_the_same(sent: Sent):
    game, (states, seats, rebuilt) = sent.room.GAME, sent.positions
    for before, after in zip(observations(game, states, seats), observations(game, rebuilt, seats), strict=True):
        assert before.tobytes() == after.tobytes()


def test_greedy_plays_the_same(sent: Sent):
    states, seats, rebuilt = sent.positions
    own = (states["to_move"] == seats) & (states["over"] == 0)
    assert own.sum() == (len(sent.room.PHASES) - 1) * PER_PHASE
    assert greedy_choices(states[own]).tolist() == greedy_choices(rebuilt[own]).tolist()


def test_the_view_of_the_rebuilt_game_is_the_same(sent: Sent):
    game = sent.room.GAME
    for state, seat, other in zip(*sent.positions, strict=True):
        assert game.to_view(state, seat) == game.to_view(other, seat)


def test_all_that_is_not_hidden_is_rebuilt(sent: Sent):
    states, _, rebuilt = sent.positions
    fields = set(states.dtype.names) - sent.room.HIDDEN - {"decisions"}  # those of earlier rounds are not in the view
    assert {name for name in fields if not np.array_equal(states[name], rebuilt[name])} == set()


def test_the_text_fits_100_columns(sent: Sent):
    game, (states, seats, _) = sent.room.GAME, sent.positions
    for state, seat in zip(states, seats.tolist(), strict=True):
        for text in (game.to_text(state, seat), game.to_text(state, None)):
            assert max(map(len, text.splitlines())) <= 100


def test_a_text_without_end_is_refused_in_one_short_sentence(sent: Sent):
    game, (states, seats, _) = sent.room.GAME, sent.positions
    for of_phase in range(0, len(states), len(states) // len(sent.room.PHASES)):
        view = game.to_view(states[of_phase], int(seats[of_phase]))
        for field in view.keys() - IGNORED:
            with pytest.raises(IceError) as refusal:
                game.from_view({**view, field: "x" * 10_000})
            assert len(str(refusal.value)) < 500, field

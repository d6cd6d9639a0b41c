"""A search never reads what its seat cannot know: permute it, and choice, visits and values stay the same bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ice_envs import agents
from tests.face_helpers import TABLES
from tests.rooms import positions_of, random_states
from tests.test_hidden_information import REDRAWS, changed_fields

PER_PHASE = 40


@pytest.fixture(scope="module", params=TABLES, ids=lambda table: f"{table[0]}-{table[1]}")
def table(request: pytest.FixtureRequest) -> Any:
    """The game's room, and PER_PHASE positions of each phase in which somebody is to move."""
    name, num_players = request.param
    room = positions_of(name)
    found = random_states(room, num_players, PER_PHASE, seed=num_players + 20)
    return room, {phase: states for phase, states in found.items() if phase != "over"}


@REDRAWS
@pytest.mark.parametrize("spec", ["search:60", "search-flat:60"])
def test_choice_and_visits_rest_on_nothing_hidden(spec: str, redraw: Any, table: Any):
    room, by_phase = table
    for phase, states in by_phase.items():
        hidden = redraw(room, states, states["to_move"], 1)
        changed = np.any([changed_fields(states, hidden)[name] for name in room.SECRETS], axis=0)
        assert changed.mean() > 0.6, f"{phase}: hardly anything was hidden, so nothing is proved"
        before, after = (agents.load(spec, room.GAME, seed=1).search(found) for found in (states, hidden))
        for one, other in zip(before, after, strict=True):
            assert one.tobytes() == other.tobytes(), phase
        assert (before.visits.max(axis=1) > 1).any(), phase

"""Every game's greedy baseline, on random positions of all phases with all options."""

from __future__ import annotations

import numpy as np
import pytest

from ice_envs.agents.agent import game_of
from ice_envs.engine.game import States
from tests.face_helpers import TABLES
from tests.helpers import greedy_choices, masks
from tests.rooms import positions_of, positions_to_move


@pytest.fixture(scope="module", params=TABLES, ids=lambda table: f"{table[0]}-{table[1]}")
def positions(request: pytest.FixtureRequest) -> States:
    name, num_players = request.param
    return positions_to_move(positions_of(name), num_players)


def test_always_chooses_something_legal(positions: States):
    assert masks(game_of(positions), positions)[np.arange(len(positions)), greedy_choices(positions)].all()


def test_changes_nothing(positions: States):
    copies = positions.copy()
    greedy_choices(copies)
    assert copies.tobytes() == positions.tobytes()

"""What each game's own modules tell the tests that hold for every game.

`tests/<game>_positions.py` has GAME, OPTION_SETS, PHASES and `phases(states)`, HIDDEN and `shuffle_hidden`;
`tests/<game>_lockstep.py` has MOVES, NAMES, Dealer, `new_twin`, `twin_facts`, `record_facts` and RARE.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine.game import States
from tests.helpers import random_play, started


def positions_of(name: str) -> Any:
    """Return the game's module of positions."""
    return import_module(f"tests.{name}_positions")


def lockstep_of(name: str) -> Any:
    """Return the game's module that brings records and the twin into one form."""
    return import_module(f"tests.{name}_lockstep")


def random_states(room: Any, num_players: int, count: int, seed: int) -> dict[str, States]:
    """Return `count` positions of each phase, drawn at random from random games with all options.

    Args:
        room: the game's module of positions.
    """
    rng = np.random.default_rng(seed)
    per_option_set = -(-2 * count // len(room.OPTION_SETS))
    games = [started(room.GAME, num_players, per_option_set, seed, **options) for options in room.OPTION_SETS]
    first = np.concatenate(games)
    found = [first[rng.random(len(first)) < 0.5]]  # more of the beginning: some games have a phase only there
    for states, actions in random_play(room.GAME, first, seed):
        rare = (states["over"] > 0) | (states["decisions"] < num_players)
        found.append(states[(actions >= 0) & ((rng.random(len(states)) < 0.25) | rare)])
    positions = np.concatenate(found)
    phase = room.phases(positions)
    return {name: rng.choice(positions[phase == index], count, False) for index, name in enumerate(room.PHASES)}


def from_every_seat(room: Any, num_players: int, count: int) -> tuple[States, NDArray[np.int64]]:
    """Return `count` positions of each phase, each as often as the table has seats, and these seats."""
    states = np.concatenate(list(random_states(room, num_players, count, seed=10 + num_players).values()))
    return np.repeat(states, num_players), np.tile(np.arange(num_players), len(states))


def positions_to_move(room: Any, num_players: int) -> States:
    """Return positions, with all options, in which somebody is to move."""
    found = random_states(room, num_players, 500, seed=num_players)
    return np.concatenate([states for phase, states in found.items() if phase != "over"])

"""What the tests of the views share: positions sent through JSON and back, and changes that spoil a view."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ice_envs.engine.game import Game, States
from tests.rooms import random_states

PER_PHASE = 100


class ThereAndBack(NamedTuple):
    """Positions paired with every seat of their table, and what `from_view` made of their views."""

    states: States
    seats: Any
    rebuilt: States


def there_and_back(room: Any, num_players: int) -> ThereAndBack:
    """Send random positions of all phases, with all options, through JSON; `room`: the game's module of positions."""
    states = np.concatenate(list(random_states(room, num_players, PER_PHASE, seed=20 + num_players).values()))
    assert len(states) == len(room.PHASES) * PER_PHASE
    states, seats = np.repeat(states, num_players), np.tile(np.arange(num_players), len(states))
    rebuilt = [through_json(room.GAME, state, seat) for state, seat in zip(states, seats.tolist(), strict=True)]
    return ThereAndBack(states, seats, np.concatenate(rebuilt))


def through_json(game: Game, state: Any, seat: int) -> States:
    return game.from_view(json.loads(json.dumps(game.to_view(state, seat))))


def set_to(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change that sets what stands at a path into a view."""

    def change(view: dict[str, Any]) -> None:
        for step in path[:-1]:
            view = view[step]
        view[path[-1]] = value

    return change


def without(*path: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change that takes away what stands at a path into a view."""

    def change(view: dict[str, Any]) -> None:
        for step in path[:-1]:
            view = view[step]
        del view[path[-1]]

    return change

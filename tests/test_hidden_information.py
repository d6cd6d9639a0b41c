"""What a seat cannot know must not reach it: redraw all of it, and everything the seat is told stays byte-identical."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from ice_envs.engine import loops
from ice_envs.engine.game import States
from ice_envs.engine.generator import game_seeds
from tests import dokitto_positions
from tests.face_helpers import TABLES
from tests.helpers import determinized, observations
from tests.rooms import positions_of, random_states

PER_PHASE = 1000


class Positions(NamedTuple):
    """Positions of one game and table size, seen by each of their seats in turn."""

    room: Any
    by_phase: dict[str, tuple[States, Any]]


Channel = Callable[[Any, States, Any], list[Any]]
"""channel(game, states, seats): what seat `seats[i]` is told in game i, in a form that can be compared."""


# ---- two ways to exchange what a seat cannot know ----


def shuffled(room: Any, states: States, seats: Any, seed: int) -> States:
    """Exchange it by hand, without `determinize`."""
    copies, rng = states.copy(), np.random.default_rng(seed)
    for state, seat in zip(copies, seats, strict=True):
        room.shuffle_hidden(state, int(seat), rng)
    return copies


def redrawn(room: Any, states: States, seats: Any, seed: int) -> States:
    return determinized(states, seats, game_seeds(seed, len(states)))


REDRAWS = pytest.mark.parametrize("redraw", [redrawn, shuffled])


# ---- all that a seat is told ----


def observed(game: Any, states: States, seats: Any) -> list[Any]:
    observation, mask = observations(game, states, seats)
    return [(a.tobytes(), b.tobytes()) for a, b in zip(observation, mask, strict=True)]


def greedy_choice(game: Any, states: States, seats: Any) -> list[Any]:
    actions = np.full(len(states), -1)
    own = (states["to_move"] == seats) & (states["over"] == 0)
    chosen = np.zeros(own.sum(), np.int64)
    loops.greedy_actions(states[own], chosen)
    actions[own] = chosen
    return actions.tolist()


def viewed(game: Any, states: States, seats: Any) -> list[Any]:
    return [json.dumps(game.to_view(state, int(seat))) for state, seat in zip(states, seats, strict=True)]


def printed(game: Any, states: States, seats: Any) -> list[Any]:
    return [game.to_text(state, int(seat)) for state, seat in zip(states, seats, strict=True)]


CHANNELS: tuple[Channel, ...] = (observed, greedy_choice, viewed, printed)


def differences(channel: Channel, game: Any, states: States, hidden: States, seats: Any) -> int:
    """Return in how many games the seat is told another thing when what it cannot know is another."""
    pairs = zip(channel(game, states, seats), channel(game, hidden, seats), strict=True)
    return sum(before != after for before, after in pairs)


@pytest.fixture(scope="module", params=TABLES, ids=lambda table: f"{table[0]}-{table[1]}")
def positions(request: pytest.FixtureRequest) -> Positions:
    """PER_PHASE positions of each phase."""
    name, num_players = request.param
    room = positions_of(name)
    found = random_states(room, num_players, PER_PHASE, seed=num_players)
    assert {phase: len(states) for phase, states in found.items()} == dict.fromkeys(room.PHASES, PER_PHASE)
    return Positions(room, {phase: (states, np.arange(PER_PHASE) % num_players) for phase, states in found.items()})


def changed_fields(states: States, hidden: States) -> dict[str, Any]:
    """Return for each field of the record in which games it differs: (N,) bool."""
    return {
        name: (states[name] != hidden[name]).reshape(len(states), -1).any(axis=1) for name in states.dtype.names or ()
    }


@REDRAWS
def test_a_seat_is_told_nothing_hidden(redraw: Any, positions: Positions):
    room = positions.room
    for phase, (states, seats) in positions.by_phase.items():
        hidden = redraw(room, states, seats, 1)
        told = {channel.__name__: differences(channel, room.GAME, states, hidden, seats) for channel in CHANNELS}
        assert told == {"observed": 0, "greedy_choice": 0, "viewed": 0, "printed": 0}, phase


@REDRAWS
def test_hidden_parts_really_change(redraw: Any, positions: Positions):
    """Each hidden field differs in many positions, and in most positions of play something besides the generator."""
    room, seen = positions.room, set()
    for phase, (states, seats) in positions.by_phase.items():
        changed = changed_fields(states, redraw(room, states, seats, 1))
        seen |= {name for name, games in changed.items() if games.mean() > 0.02}
        assert {name for name, games in changed.items() if games.any()} <= room.HIDDEN
        if phase != "over":
            cards = np.any([changed[name] for name in room.SECRETS], axis=0)
            assert cards.mean() > 0.6, f"{phase}: hardly anything was hidden, so nothing is proved"
    assert seen == room.HIDDEN


def leak_of(name: str) -> Channel:
    """Observe honestly, and add a hidden field of the record."""

    def leaking(game: Any, states: States, seats: Any) -> list[Any]:
        return list(zip(observed(game, states, seats), states[name].tolist(), strict=True))

    return leaking


@REDRAWS
def test_a_leak_would_be_caught(redraw: Any, positions: Positions):
    room = positions.room
    most = dict.fromkeys(room.HIDDEN, 0)
    for states, seats in positions.by_phase.values():
        hidden = redraw(room, states, seats, 1)
        changed = changed_fields(states, hidden)
        for name in room.HIDDEN:
            found = differences(leak_of(name), room.GAME, states, hidden, seats)
            assert found == changed[name].sum(), f"each change of {name} is seen"
            most[name] = max(most[name], found)
    assert min(most.values()) > 20, most


@REDRAWS
def test_a_finished_round_of_dokitto_hides_the_cards_aside(redraw: Any):
    states = random_states(dokitto_positions, 4, PER_PHASE, seed=4)["over"]
    hidden = redraw(dokitto_positions, states, np.arange(PER_PHASE) % 4, 1)
    assert changed_fields(states, hidden)["hands"].mean() > 0.1


@pytest.mark.parametrize("num_players", dokitto_positions.GAME.table_sizes)
def test_the_smallest_leak_would_be_caught(num_players: int):
    """One bit: whether the next seat holds strawberry 1."""

    def leaking(game: Any, states: States, seats: Any) -> list[Any]:
        following = (seats + 1) % states["num_players"]
        bits = states["hands"][np.arange(len(states)), following, 0] & 1
        return list(zip(observed(game, states, seats), bits.tolist(), strict=True))

    states = random_states(dokitto_positions, num_players, 1000, seed=1)["lead"]
    seats = np.arange(1000) % num_players
    hidden = redrawn(dokitto_positions, states, seats, 1)
    assert differences(leaking, dokitto_positions.GAME, states, hidden, seats) > 0

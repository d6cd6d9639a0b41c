"""What a seat cannot know must not reach it: redraw all of it, and everything the seat is told stays byte-identical."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from ice_envs.engine import loops
from ice_envs.engine.game import States
from ice_envs.engine.generator import game_seeds
from ice_envs.games.dokitto.rules import NUM_CARDS, NUM_NUMBERS, TILES_PER_FLAVOR
from tests.dokitto_positions import GAME, PHASES, random_states
from tests.helpers import determinized, observations

PER_PHASE = 1000
Channel = Callable[[States, Any], list[Any]]
"""channel(states, seats): what seat `seats[i]` is told in game i, in a form that can be compared."""


# ---- the hidden parts exchanged by hand, without `determinize` ----


def shuffle_hidden(state: Any, seat: int, rng: np.random.Generator) -> None:
    """Exchange unseen cards between the other hands and the cards aside, respecting voids; hide the stars anew."""
    seats, cards = int(state.num_players), range(state.num_flavors * NUM_NUMBERS)
    flavors = range(state.num_flavors)
    hands, played_by = state.hands.tolist(), state.played_by.tolist()
    holder_of = {card: seats for card in cards if not played_by[card]}  # `seats` stands for the cards aside
    for holder, card in product(range(seats), cards):
        if hands[holder][card // NUM_NUMBERS] >> card % NUM_NUMBERS & 1:
            holder_of[card] = holder
    hidden = [card for card, holder in holder_of.items() if holder != seat]
    holders = [holder_of[card] for card in hidden]
    voids = [*state.voids[:seats].tolist(), 0]
    for a, b in rng.integers(len(hidden), size=(len(hidden), 2)).tolist():
        if not (voids[holders[b]] >> hidden[a] // NUM_NUMBERS | voids[holders[a]] >> hidden[b] // NUM_NUMBERS) & 1:
            holders[a], holders[b] = holders[b], holders[a]
    for other in range(seats):
        if other != seat:
            state.hands[other] = 0
    for card, holder in zip(hidden, holders, strict=True):
        if holder < seats:
            state.hands[holder, card // NUM_NUMBERS] |= 1 << card % NUM_NUMBERS
    for flavor in flavors:
        drawn = TILES_PER_FLAVOR - int(state.tiles[flavor])
        stars = [int(state.stars[flavor]) >> place & 1 for place in range(TILES_PER_FLAVOR)]
        stars[drawn:] = rng.permutation(stars[drawn:]).tolist()
        state.stars[flavor] = sum(star << place for place, star in enumerate(stars))
    state.rng = rng.integers(2**64, dtype=np.uint64)
    state.deck[:] = rng.permutation(NUM_CARDS)


def shuffled(states: States, seats: Any, seed: int) -> States:
    copies, rng = states.copy(), np.random.default_rng(seed)
    for state, seat in zip(copies, seats, strict=True):
        shuffle_hidden(state, int(seat), rng)
    return copies


def redrawn(states: States, seats: Any, seed: int) -> States:
    return determinized(states, seats, game_seeds(seed, len(states)))


# ---- all that a seat is told ----


def observed(states: States, seats: Any) -> list[Any]:
    observation, mask = observations(GAME, states, seats)
    return [(a.tobytes(), b.tobytes()) for a, b in zip(observation, mask, strict=True)]


def greedy_choice(states: States, seats: Any) -> list[Any]:
    actions = np.full(len(states), -1)
    own = (states["to_move"] == seats) & (states["over"] == 0)
    chosen = np.zeros(own.sum(), np.int64)
    loops.greedy_actions(states[own], chosen)
    actions[own] = chosen
    return actions.tolist()


def viewed(states: States, seats: Any) -> list[Any]:
    return [json.dumps(GAME.to_view(state, int(seat))) for state, seat in zip(states, seats, strict=True)]


def printed(states: States, seats: Any) -> list[Any]:
    return [GAME.to_text(state, int(seat)) for state, seat in zip(states, seats, strict=True)]


CHANNELS: tuple[Channel, ...] = (observed, greedy_choice, viewed, printed)


def differences(channel: Channel, states: States, hidden: States, seats: Any) -> int:
    """Return in how many games the seat is told another thing when what it cannot know is another."""
    pairs = zip(channel(states, seats), channel(hidden, seats), strict=True)
    return sum(before != after for before, after in pairs)


@pytest.fixture(scope="module", params=GAME.table_sizes)
def positions(request: pytest.FixtureRequest) -> dict[str, tuple[States, Any]]:
    """PER_PHASE positions of each phase, seen by each of their seats in turn."""
    found = random_states(request.param, PER_PHASE, seed=request.param)
    assert {phase: len(states) for phase, states in found.items()} == dict.fromkeys(PHASES, PER_PHASE)
    return {phase: (states, np.arange(PER_PHASE) % request.param) for phase, states in found.items()}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("redraw", [redrawn, shuffled])
def test_a_seat_is_told_nothing_hidden(redraw: Any, phase: str, positions: dict[str, tuple[States, Any]]):
    states, seats = positions[phase]
    hidden = redraw(states, seats, 1)
    changed = (hidden["hands"] != states["hands"]).any((1, 2))
    assert changed.mean() > (0.1 if phase == "over" else 0.6), "hardly anything was hidden, so nothing is proved"
    told = {channel.__name__: differences(channel, states, hidden, seats) for channel in CHANNELS}
    assert told == {"observed": 0, "greedy_choice": 0, "viewed": 0, "printed": 0}


@pytest.mark.parametrize("redraw", [redrawn, shuffled])
def test_hidden_parts_really_change(redraw: Any, positions: dict[str, tuple[States, Any]]):
    """Each hidden field differs in many positions: the tests above would see it leak."""
    states, seats = positions["lead"]
    hidden = redraw(states, seats, 1)
    fields = {name for name in GAME.dtype.names if not np.array_equal(states[name], hidden[name])}
    assert fields == {"hands", "stars", "rng", "deck"}
    own = np.arange(len(states)), seats
    assert np.array_equal(states["hands"][own], hidden["hands"][own])


def leak_of(name: str) -> Channel:
    """Observe honestly, and add a hidden field of the record."""

    def leaking(states: States, seats: Any) -> list[Any]:
        return list(zip(observed(states, seats), states[name].tolist(), strict=True))

    return leaking


@pytest.mark.parametrize("redraw", [redrawn, shuffled])
@pytest.mark.parametrize("name", ["hands", "stars", "rng", "deck"])
def test_a_leak_would_be_caught(name: str, redraw: Any, positions: dict[str, tuple[States, Any]]):
    states, seats = (array[:200] for array in positions["follow"])
    assert differences(leak_of(name), states, redraw(states, seats, 1), seats) > 20


def test_the_smallest_leak_would_be_caught(positions: dict[str, tuple[States, Any]]):
    """One bit: whether the next seat holds strawberry 1."""

    def leaking(states: States, seats: Any) -> list[Any]:
        following = (seats + 1) % states["num_players"]
        bits = states["hands"][np.arange(len(states)), following, 0] & 1
        return list(zip(observed(states, seats), bits.tolist(), strict=True))

    states, seats = positions["lead"]
    assert differences(leaking, states, redrawn(states, seats, 1), seats) > 0

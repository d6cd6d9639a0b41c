"""One random game of Dokitto! Ice in words.

Hands, legal moves, points and observations are read from the compiled core. What a trick led to is told by the
reference twin, which plays along and is compared with the core after every move.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from textwrap import indent
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import States
from ice_envs.games.dokitto.rules import FLAVORS, TAKE_TILE
from tests import dokitto_lockstep
from tests.dokitto_lockstep import CARDS
from tests.dokitto_positions import GAME, shares, tiles, totals
from tests.helpers import apply_games, masks, observations, started
from tests.lockstep import lockstep
from tests.twins.dokitto import Dokitto

OPTIONS: dict[str, Any] = {"target_score": 6}
SEEDS = {2: 32, 3: 118, 4: 9, 5: 11}
"""Seeds of games in which much happens."""


def transcript(num_players: int) -> str:
    """Play one game by random legal moves and tell it."""
    records, actions = played(num_players)
    twins = lockstep(dokitto_lockstep, records, actions, OPTIONS)
    lines = [*header(num_players)]
    told = 0
    for move, twin in enumerate(twins):
        if move:
            lines += [decision(records[move - 1 : move + 1], actions[move - 1])]
            lines += [f"    {line}" for event in twin.log[told:] for line in EVENTS[str(event[0])](*event[1:])]
            told = len(twin.log)
        lines += opening(records, move, twin)
    return "\n".join([*lines, *ending(records[-1:])]) + "\n"


def played(num_players: int) -> tuple[States, list[int]]:
    """Play the game; return its records and the actions between them."""
    states = started(GAME, num_players, 1, SEEDS[num_players], **OPTIONS)
    records, actions, chosen = [states.copy()], [], np.zeros(1, np.int64)
    while not states[0].over:
        loops.random_actions(masks(GAME, states), np.uint64(len(actions)), chosen)
        apply_games(states, chosen)
        records.append(states.copy())
        actions.append(int(chosen[0]))
    return np.concatenate(records), actions


# ---- before a move ----


def header(num_players: int) -> list[str]:
    options = GAME.make_options(OPTIONS)
    low, high = GAME.score_range(num_players, options)
    return [
        f"{GAME.title} ({GAME.env_id}), {num_players} seats, seed {SEEDS[num_players]}, random legal moves",
        f"{options}",
        f"{GAME.num_actions} actions (labels {GAME.labels_hash}), "
        f"observations of {GAME.layout.size} cells (layout {GAME.layout.hash()})",
        f"scores from {low} to {high}, at most {GAME.longest_game(num_players, options)} decisions",
        "After each move in brackets: how many moves were legal, and a digest of what all seats observe then.",
    ]


def opening(records: States, move: int, twin: Dokitto) -> Iterator[str]:
    """Tell what begins at this point: a round, a trick; show the observation at two places of the game."""
    if twin.over:
        return
    if move == 0 or records[move].round_number != records[move - 1].round_number:
        yield from deal(records[move : move + 1], twin)
    if not twin.table:
        yield f"  Trick {twin.trick + 1}"
    first_choice = records["phase"].argmax()
    if move == 0 or (move == first_choice and records[move].phase == TAKE_TILE):
        mover = int(records[move].to_move)
        seen = observations(GAME, records[move : move + 1], [mover])[0][0]
        yield f"    player_{mover} observes:"
        yield indent(GAME.layout.describe(seen), "      ")


def deal(states: States, twin: Dokitto) -> Iterator[str]:
    """Tell who holds what, what is set aside, and where the stars are."""
    yield ""
    yield f"Round {twin.round}, led by player_{twin.first_leader}; points {totals(states)}"
    cards = {(flavor, number) for flavor, number in CARDS if flavor in twin.flavors}
    for seat, hand in enumerate(twin.hands):
        yield f"  player_{seat} holds {words(hand)}"
    yield f"  set aside: {words(cards.difference(*twin.hands)) or 'nothing'}"
    stars = [
        f"{FLAVORS[flavor]} {place + 1}"
        for flavor in sorted(twin.flavors)
        for place in range(3)
        if states[0].stars[flavor] >> place & 1
    ]
    yield f"  stars: {', '.join(stars)}"


def words(cards: set[tuple[int, int]]) -> str:
    """Name cards by flavor: `strawberry 1 5, grape 13`."""
    numbers = {flavor: [str(n) for f, n in sorted(cards) if f == flavor] for flavor in range(5)}
    return ", ".join(f"{FLAVORS[flavor]} {' '.join(found)}" for flavor, found in numbers.items() if found)


# ---- a move and what it led to ----


def decision(pair: States, action: int) -> str:
    """Tell a move, given the records before and after it."""
    before, after = pair[:1], pair[1:]
    seats = np.arange(int(after[0].num_players))
    seen, mask = observations(GAME, np.repeat(after, len(seats)), seats)
    digest = hashlib.sha256(seen.tobytes() + mask.tobytes()).hexdigest()[:8]
    return f"    player_{before[0].to_move}: {GAME.labels[action]}  [{masks(GAME, before).sum()}, {digest}]"


EVENTS: dict[str, Any] = {
    "high_win": lambda seat, flavor, number: [f"-> player_{seat} wins high with {FLAVORS[flavor]} {number}"],
    "low_win": lambda seat, flavor, number: [f"-> player_{seat} wins low with {FLAVORS[flavor]} {number}"],
    "last_of_equal_lowest": lambda: ["-> it was the last of the lowest numbers"],
    "sold_out_high": lambda: ["-> that flavor is sold out"],
    "tile": lambda seat, flavor: [f"-> player_{seat} takes a {FLAVORS[flavor]} tile"],
    "topping": lambda seat, flavor: [f"-> with the star: player_{seat} gets the {FLAVORS[flavor]} topping"],
    "bust": lambda seat: [f"-> player_{seat} would have to take a fourth tile: bust"],
    "round_over": lambda number, tricks: [f"-> round {number} is over after {tricks} tricks"],
}
"""Words for the twin's log."""


def ending(states: States) -> list[str]:
    state = states[0]
    cones = [" ".join(map(str, row)) for row in state.cones[: state.num_players].tolist()]
    return [
        "",
        f"The game is over{' (truncated)' if state.truncated else ''} after {state.decisions} decisions",
        f"points {totals(states)}, win shares {shares(states)}",
        f"cones by flavor: {'; '.join(cones)}; tiles left: {tiles(states)}",
    ]

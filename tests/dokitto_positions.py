"""Hand-built positions of Dokitto! Ice in a short notation, and plays from them.

A card is its flavor's first letter and its number: `s5` is strawberry 5. A cone is its tiles, `*` after one that
brought the topping: `s*cc`. Taking a tile is `+` and the letter: `+m`.
"""

from __future__ import annotations

from itertools import cycle, product
from typing import Any

import numpy as np

from ice_envs import find_game
from ice_envs.engine import loops
from ice_envs.engine.game import States
from ice_envs.games.dokitto.rules import (
    CONE_SIZE,
    FLAVORS,
    LOW_WIN_TILES,
    NEXT_LEADERS,
    NUM_CARDS,
    NUM_NUMBERS,
    TAKE_TILE,
    TILES_PER_FLAVOR,
)
from tests.helpers import apply_games, masks, results, started

GAME = find_game("dokitto")
PHASES = ("lead", "follow", "take a tile", "over")
HIDDEN = {"hands", "stars", "rng", "deck"}
"""Fields of the record of which a seat does not know all."""
SECRETS = {"hands"}
"""Of these, what is the game's: neither the generator nor scratch space."""
CODED_BY_KIND: set[str] = set()
"""Slices of the observation that tell a flavor by its number."""
TARGETS = cycle((10, 1, 10, 5, 10, 30, 10))
ROUNDS = cycle((50, 50, 1, 50, 3))
OPTION_SETS: list[dict[str, Any]] = [{}] + [
    {
        "next_leader": leader,
        "low_win_tile": tile,
        "stars_per_flavor": stars,
        "target_score": next(TARGETS),
        "max_rounds": next(ROUNDS),
    }
    for leader, tile, stars in product(NEXT_LEADERS, LOW_WIN_TILES, range(4))
]
"""The game as it comes in the box, then each combination of the three options that change a round."""
LETTERS = "".join(flavor[0] for flavor in FLAVORS)


def card_index(code: str) -> int:
    """Return the card's number, which is also the action of playing it."""
    return LETTERS.index(code[0]) * NUM_NUMBERS + int(code[1:]) - 1


def action_index(code: str) -> int:
    return NUM_CARDS + LETTERS.index(code[1]) if code[0] == "+" else card_index(code)


def action_code(action: int) -> str:
    if action >= NUM_CARDS:
        return "+" + LETTERS[action - NUM_CARDS]
    return f"{LETTERS[action // NUM_NUMBERS]}{action % NUM_NUMBERS + 1}"


def position(
    *hands: str,
    lead: int = 0,
    cones: str | None = None,
    stars: str = "",
    sold_out: str = "",
    totals: tuple[int, ...] | None = None,
    fields: dict[str, Any] | None = None,
    **options: Any,
) -> States:
    """Return one game at the beginning of a trick.

    Args:
        hands: each seat's cards; as many tricks are taken to be over as the hands lack cards.
        lead: the seat that leads the trick (and led the round).
        cones: the cones, separated by `/`.
        stars: where stars lie among a stack's three tiles, `s1 c3`; none of the others has any.
        sold_out: flavors of which no tile is left; of the others those on the cones are missing.
        totals: points of the rounds before.
        fields: fields of the record to overwrite.
    """
    states = started(GAME, len(hands), **options)
    state = states[0]
    state.hands[:] = 0
    for seat, hand in enumerate(hands):
        for card in map(card_index, hand.split()):
            state.hands[seat, card // NUM_NUMBERS] |= 1 << card % NUM_NUMBERS
    state.trick = state.hand_size - len(hands[0].split())
    state.leader = state.first_leader = state.to_move = lead
    state.stars[:] = 0
    for star in stars.split():
        state.stars[LETTERS.index(star[0])] |= 1 << int(star[1]) - 1
    fill_cones(state, cones.split("/") if cones else [])
    for flavor in sold_out:
        state.tiles[LETTERS.index(flavor)] = 0
    if totals is not None:
        state.totals[: len(totals)] = totals
    for name, value in (fields or {}).items():
        states[name] = value
    return states


def fill_cones(state: Any, cones: list[str]) -> None:
    for seat, cone in enumerate(cones):
        for place, letter in enumerate(cone):
            if letter == "*":
                bit = 1 << LETTERS.index(cone[place - 1])
                state.cone_toppings[seat] |= bit
                state.toppings ^= bit
            else:
                state.cones[seat, LETTERS.index(letter)] += 1
                state.tiles[LETTERS.index(letter)] -= 1
        state.cone_sizes[seat] = state.cones[seat].sum()
        assert state.cone_sizes[seat] <= CONE_SIZE


def play(states: States, codes: str) -> States:
    """Play the moves, each of which must be legal, and return the position (the same array)."""
    for code in codes.split():
        action = np.array([action_index(code)])
        wrong = loops.first_illegal(states, action, GAME.num_actions)
        assert wrong < 0, loops.why_illegal(GAME, states, int(action[0]))
        apply_games(states, action)
    return states


def legal_codes(states: States) -> str:
    """Return the legal moves in order."""
    return " ".join(action_code(int(action)) for action in np.flatnonzero(masks(GAME, states)[0]))


def cone(states: States, seat: int) -> str:
    """Return a seat's cone: tiles in order of the flavors, `*` after the flavors whose topping it has."""
    state = states[0]
    return "".join(
        letter * state.cones[seat, flavor] + "*" * int(state.cone_toppings[seat] >> flavor & 1)
        for flavor, letter in enumerate(LETTERS)
    )


def tiles(states: States) -> dict[str, int]:
    """Return how many tiles are left of each flavor in play."""
    flavors = int(states[0].num_flavors)
    return dict(zip(LETTERS[:flavors], states[0].tiles.tolist()[:flavors], strict=True))


def totals(states: States) -> list[int]:
    return states[0].totals[: states[0].num_players].tolist()


def shares(states: States) -> list[float]:
    return results(states)[1][0, : states[0].num_players].tolist()


def full_stacks(states: States) -> bool:
    """Return whether the round has just begun: all tiles and toppings on the side, nothing on the cones."""
    state = states[0]
    stocked = list(tiles(states).values()) == [TILES_PER_FLAVOR] * state.num_flavors
    return stocked and state.toppings == 2**state.num_flavors - 1 and not state.cone_sizes.any() and state.trick == 0


def phases(states: States) -> Any:
    """Return the index in PHASES of each game: (N,)."""
    playing = np.where(states["phase"] == TAKE_TILE, 2, states["trick_size"] > 0)
    return np.where(states["over"], 3, playing)


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

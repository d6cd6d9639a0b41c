"""Positions of Kawaii for the tests that hold for every game: phases, what is hidden, hand-built windows.

A card is its flavor's first letter and the number of its shape, `X` a closed shop and `*` a cherry, as in
`tests/kawaii_tables.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs import find_game
from ice_envs.engine.game import States
from ice_envs.engine.jit import compiled
from ice_envs.games.kawaii.cards import CHERRY, FLAVORS, NUM_CARDS, NUM_KINDS, NUM_SHAPES, SHOP
from ice_envs.games.kawaii.rules import go_on
from tests.helpers import apply_games, masks, started

GAME = find_game("kawaii")
PHASES = ("play runs on", "nothing hurries", "others have committed", "over")
"""The last one is the end; the third are all positions in which an earlier seat of the tick has made its choice."""
HIDDEN = {
    *("rng", "deck", "favorite_flavor", "favorite_shape", "reactions", "pending"),
    *("piles", "captured", "left"),  # with the option `memory`
}
"""Fields of the record of which some seat may not know all."""
SECRETS = {"deck", "favorite_flavor", "favorite_shape"}
"""Those that differ in most draws as long as the game is not over."""
OPTION_SETS: list[dict[str, Any]] = [
    {},
    {"window_ticks": 1, "reaction_ticks": 20, "memory": True},
    {"favorites": "whole_game"},
    {"window_ticks": 1, "reaction_ticks": 1},
    {"window_ticks": 1, "reaction_ticks": 30, "favorites": "whole_game", "memory": True},
    {"window_ticks": 5, "reaction_ticks": 4, "flipper_delay": 2},
    {"window_ticks": 2, "reaction_ticks": 2, "handicaps": [[0, 0], [1, 2]], "flipper_delay": 1, "memory": True},
    {"reaction_ticks": 2, "handicaps": [[100, 0], [0, 30]], "favorites": "whole_game"},
]
"""The game as it comes in the box, then combinations that cover every option.

Random play slaps nearly everything; where reactions mostly come too late, piles grow tall.
"""
LETTERS = "".join(flavor[0] for flavor in FLAVORS)


def kind_of(code: str) -> int:
    if code in "X*":
        return SHOP if code == "X" else CHERRY
    return LETTERS.index(code[0]) * NUM_SHAPES + int(code[1]) - 1


@compiled
def enter(states: Any) -> None:
    """Go on in one game from tick 0 of its window to the first decision."""
    go_on(states[0], 0)


def window(
    *piles: str,
    tokens: tuple[int, ...] | None = None,
    captured: tuple[str, ...] = (),
    likes: tuple[str, ...] = ("s1", "c2", "v3", "m4", "b5"),
    reactions: tuple[int, ...] | None = None,
    left: str = "",
    flipper: int = 0,
    fields: dict[str, Any] | None = None,
    **options: Any,
) -> States:
    """Return one game at the first decision of the window that a flip of `flipper` has opened.

    Args:
        piles: each seat's pile from the bottom; there are as many seats.
        tokens: of each seat, else two.
        captured: cards that the seats have taken.
        likes: each seat's favorite flavor and shape.
        reactions: of each seat, else all 0.
        left: cards to be flipped, clockwise from the left of the flipper; none: it is the last window.
        fields: fields of the record to overwrite.
    """
    seats = len(piles)
    states = started(GAME, seats, **options)
    state, cards = states[0], [kind_of(code) for code in left.split()]
    for name in ("piles", "heights", "captured", "reserves", "left", "claims", "pending"):
        state[name][:] = 0
    for seat, pile in enumerate(piles):
        for level, code in enumerate(pile.split()):
            state.piles[seat, level] = kind_of(code)
            state.heights[seat] += 1
        state.favorite_flavor[seat], state.favorite_shape[seat] = divmod(kind_of(likes[seat]), NUM_SHAPES)
    for seat, codes in enumerate(captured):
        for code in codes.split():
            state.captured[seat, kind_of(code)] += 1
    for place, kind in enumerate(cards):
        state.deck[NUM_CARDS - len(cards) + place] = kind
        state.left[kind] += 1
        state.reserves[(flipper + 1 + place) % seats] += 1
    state.filled = sum(1 << seat for seat, pile in enumerate(piles) if pile)
    state.tokens[:seats] = tokens or (2,) * seats
    state.reactions[:seats] = reactions or (0,) * seats
    state.flipper, state.after_capture = flipper, 0
    for name, value in (fields or {}).items():
        states[name] = value
    enter(states)
    return states


def play(states: States, *actions: int) -> States:
    """Play the actions, each of which must be legal, and return the position (the same array)."""
    for action in actions:
        assert masks(GAME, states)[0, action], (action, np.flatnonzero(masks(GAME, states)[0]))
        apply_games(states, np.array([action]))
    return states


def places_after_flipper(states: States) -> Any:
    """Return each seat's place among those asked in one tick: (N, MAX_PLAYERS)."""
    seats = np.arange(states["tokens"].shape[1])
    return (seats - states["flipper"][:, None] - 1) % states["num_players"][:, None]


def committed(states: States) -> Any:
    """Return who has made its choice in the present tick, which the others do not see: (N, MAX_PLAYERS) bool."""
    places = places_after_flipper(states)
    before = places < np.take_along_axis(places, states["to_move"][:, None].astype(int), 1)
    present = np.arange(places.shape[1]) < states["num_players"][:, None]
    now = (states["reactions"] == states["tick"][:, None]) & (states["tokens"] > 0)
    return before & present & now & (states["over"] == 0)[:, None]


def phases(states: States) -> Any:
    """Return the index in PHASES of each game: (N,)."""
    stopped = (states["after_capture"] != 0) | (states["reserves"].sum(1) == 0)
    playing = np.where(committed(states).any(1), 2, stopped)
    return np.where(states["over"], 3, playing)


# ---- what a seat cannot know, exchanged by hand ----


def shuffle_hidden(state: Any, seat: int, rng: np.random.Generator) -> None:
    """Exchange all that the seat cannot know: cards, the others' favorites, reactions and unseen commitments."""
    shuffle_cards(state, seat, rng)
    if not state.over:
        shuffle_favorites(state, seat, rng)
        shuffle_window(state, seat, rng)
    state.rng = rng.integers(2**64, dtype=np.uint64)


def shuffle_cards(state: Any, seat: int, rng: np.random.Generator) -> None:
    """Shuffle the reserves, with `memory` together with covered cards and the others' captures."""
    others = [other for other in range(state.num_players) if other != seat]
    to_flip = int(state.reserves.sum())
    hidden = state.deck[NUM_CARDS - to_flip :].tolist()
    covered = state.memory and not state.over
    if covered:
        for pile in range(state.num_players):
            hidden += state.piles[pile, : max(state.heights[pile] - 1, 0)].tolist()
        for other in others:
            hidden += np.repeat(np.arange(NUM_KINDS), state.captured[other]).tolist()
    hidden = rng.permutation(hidden).astype(int).tolist()
    state.deck[: NUM_CARDS - to_flip] = rng.integers(NUM_KINDS, size=NUM_CARDS - to_flip)
    state.deck[NUM_CARDS - to_flip :] = hidden[:to_flip]
    state.left[:] = np.bincount(hidden[:to_flip], minlength=NUM_KINDS)
    if covered:
        hidden = hidden[to_flip:]
        for pile in range(state.num_players):
            for level in range(state.heights[pile] - 1):
                state.piles[pile, level] = hidden.pop()
        for other in others:
            taken = [hidden.pop() for _ in range(state.captured[other].sum())]
            state.captured[other] = np.bincount(np.array(taken, int), minlength=NUM_KINDS)


def shuffle_favorites(state: Any, seat: int, rng: np.random.Generator) -> None:
    """Deal the others' favorites anew: until they agree with the points of earlier rounds."""
    seats, possible = int(state.num_players), state.possible.tolist()
    own = [int(state.favorite_flavor[seat]), int(state.favorite_shape[seat])]
    while True:
        deal = []
        for known in own:
            others = rng.permutation([value for value in range(5) if value != known]).tolist()
            deal.append([known if s == seat else others.pop() for s in range(seats)])
        if all(possible[s] >> deal[0][s] * NUM_SHAPES + deal[1][s] & 1 for s in range(seats)):
            state.favorite_flavor[:seats], state.favorite_shape[:seats] = deal
            return


def shuffle_window(state: Any, seat: int, rng: np.random.Generator) -> None:
    """Draw anew when the others react who have shown nothing, and what they have committed to unseen."""
    seats = int(state.num_players)
    hidden = [s for s in range(seats) if s not in (seat, state.to_move) and not state.claims[s]]
    for other in hidden:
        reaction = rng.integers(int(state.reaction_ticks) + int(state.widen[other])) + int(state.shift[other])
        delayed = other == state.flipper and not state.after_capture
        state.reactions[other] = reaction + (state.flipper_delay if delayed else 0)
        state.pending[other] = 0
    now = committed(np.asarray(state).reshape(1))[0]
    for other in hidden:
        if now[other]:
            sets = [piles for piles in range(32) if not piles & ~int(state.filled)]
            state.pending[other] = rng.choice([p for p in sets if p.bit_count() <= state.tokens[other]])


def kinds_on_the_table(states: States) -> Any:
    """Return how many cards of each kind a game has in all zones together: (NUM_KINDS,)."""
    state = states[0]
    count = state.left + state.captured.sum(0)
    for pile, height in zip(state.piles, state.heights, strict=True):
        count += np.bincount(pile[:height], minlength=NUM_KINDS).astype(count.dtype)
    return count

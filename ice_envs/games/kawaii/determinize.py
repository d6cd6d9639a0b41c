"""A random full state of Kawaii that agrees with what one seat knows."""

from __future__ import annotations

from typing import Any

from ice_envs.engine.bits import count_bits
from ice_envs.engine.generator import random_below
from ice_envs.engine.jit import compiled
from ice_envs.games.kawaii.cards import COPIES, NUM_CARDS, NUM_KINDS, NUM_SHAPES
from ice_envs.games.kawaii.rules import MAX_PLAYERS, exchange, shuffle_deck
from ice_envs.games.kawaii.window import drawn_reaction, has_committed


@compiled
def determinize(state: Any, seat: int, seed: Any) -> None:
    """Reseed the record and redraw all that the seat cannot know.

    That is the order of the reserves and the others' favorites, each deal that agrees being as likely; and of the
    window under way the others' reactions, drawn anew unless they have slapped something, and what those commit to
    that the present tick has asked before the seat to move: any legal set of piles. With the option `memory` covered
    cards and those that the others have captured are drawn among all cards that the seat does not see. When the game
    is over nothing but unflipped cards is hidden.
    """
    state.rng = seed
    redraw_cards(state, seat)
    if not state.over:
        redraw_favorites(state, seat)
        redraw_window(state, seat)


@compiled
def hides_cards(state: Any) -> bool:
    """Return whether covered cards and those captured by others cannot be seen."""
    return state.memory != 0 and state.over == 0


@compiled
def write_unseen(state: Any, seat: int, out: Any) -> None:
    """Write how many cards of each kind the seat does not see into `out` (at least NUM_KINDS,)."""
    if not hides_cards(state):
        for kind in range(NUM_KINDS):
            out[kind] = state.left[kind]
        return
    for kind in range(NUM_KINDS):
        out[kind] = COPIES[kind] - state.captured[seat, kind]
    for pile in range(state.num_players):
        if state.heights[pile]:
            out[state.piles[pile, state.heights[pile] - 1]] -= 1


@compiled
def redraw_cards(state: Any, seat: int) -> None:
    """Shuffle the cards that the seat does not see and lay them where it sees none: to the reserves the last ones."""
    write_unseen(state, seat, state.left)
    place = NUM_CARDS
    for kind in range(NUM_KINDS - 1, -1, -1):
        for _ in range(state.left[kind]):
            place -= 1
            state.deck[place] = kind
    state.deck[:place] = 0  # what has been flipped lies open or is forgotten
    shuffle_deck(state, place)
    if hides_cards(state):
        redraw_covered(state, seat, place)


@compiled
def redraw_covered(state: Any, seat: int, place: int) -> None:
    """Lay the unseen cards, from this place of the deck on, under the piles' top cards and to the others' captures."""
    first = place
    for pile in range(state.num_players):
        for level in range(state.heights[pile] - 1):
            state.piles[pile, level] = state.deck[place]
            place += 1
    for other in range(state.num_players):
        if other != seat:
            count = state.captured[other].sum()
            state.captured[other, :] = 0
            for _ in range(count):
                state.captured[other, state.deck[place]] += 1
                place += 1
    for used in range(first, place):
        state.left[state.deck[used]] -= 1
        state.deck[used] = 0


@compiled
def redraw_favorites(state: Any, seat: int) -> None:
    """Deal the others' favorites anew until the points that everybody has made so far allow them."""
    flavor, shape = state.favorite_flavor[seat], state.favorite_shape[seat]
    while True:
        redraw_around(state, state.favorite_flavor, seat, flavor)
        redraw_around(state, state.favorite_shape, seat, shape)
        if favorites_possible(state):
            return


@compiled
def redraw_around(state: Any, favorites: Any, seat: int, own: int) -> None:
    """Deal all seats but one different favorites; 0 to those that are not at the table."""
    for place in range(MAX_PLAYERS):
        favorites[place] = place
    exchange(favorites, 0, own)
    for place in range(1, state.num_players):
        exchange(favorites, place, place + random_below(state, MAX_PLAYERS - place))
    exchange(favorites, 0, seat)
    for place in range(state.num_players, MAX_PLAYERS):
        favorites[place] = 0


@compiled
def favorites_possible(state: Any) -> bool:
    """Return whether no seat has favorites that its points of earlier rounds exclude."""
    for seat in range(state.num_players):
        if not (state.possible[seat] >> (state.favorite_flavor[seat] * NUM_SHAPES + state.favorite_shape[seat])) & 1:
            return False
    return True


@compiled
def redraw_window(state: Any, seat: int) -> None:
    """Redraw the others' reactions and what they have committed to in the present tick."""
    for other in range(state.num_players):
        if other != seat and other != state.to_move and state.claims[other] == 0:
            state.reactions[other] = drawn_reaction(state, other)
            state.pending[other] = random_claim(state, other) if has_committed(state, other) else 0


@compiled
def random_claim(state: Any, seat: int) -> int:
    """Draw a set of piles (bits by owner) that the seat may slap, each as likely."""
    count, piles = 1, state.filled
    while piles:  # all sets of filled piles but the empty one
        count += count_bits(piles) <= state.tokens[seat]
        piles = (piles - 1) & state.filled
    chosen, piles = random_below(state, count), state.filled
    while piles:
        chosen -= count_bits(piles) <= state.tokens[seat]
        if chosen < 0:
            return piles
        piles = (piles - 1) & state.filled
    return 0

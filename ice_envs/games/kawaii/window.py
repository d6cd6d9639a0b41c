"""The grab window of Kawaii: real time as ticks.

A window opens after a flip, or after a window in which something was captured. Each seat has a reaction, the tick at
which it is asked which piles it slaps. Seats of one tick are asked one after the other, clockwise from the left of the
last flipper, and their claims wait unseen until the last of them has answered. Piles are named by their owners, sets of
piles are five bits. The functions here know no reserve, no score and no round.
"""

from __future__ import annotations

from typing import Any

from ice_envs.engine.bits import count_bits
from ice_envs.engine.generator import random_below
from ice_envs.engine.jit import compiled

_ALWAYS = 1 << 10
"""A tick after the slowest reaction."""


@compiled
def open_window(state: Any, after_capture: bool) -> None:
    """Open a window: every seat draws its reaction, a handicap and the flipper's delay included."""
    state.after_capture = after_capture
    for seat in range(state.num_players):
        state.claims[seat] = 0
        state.reactions[seat] = drawn_reaction(state, seat)


@compiled
def drawn_reaction(state: Any, seat: int) -> int:
    """Draw the tick of a seat in the window that is open."""
    reaction = state.shift[seat] + random_below(state, state.reaction_ticks + state.widen[seat])
    if seat == state.flipper and not state.after_capture:
        reaction += state.flipper_delay
    return reaction


@compiled
def place_in_order(state: Any, seat: int) -> int:
    """Return the seat's place among those asked in one tick: 0 is the seat to the left of the last flipper."""
    place = seat - state.flipper - 1
    return place + state.num_players if place < 0 else place


@compiled
def is_hurried(state: Any) -> bool:
    """Return whether play runs on, so that who is late misses the window: not after a capture or the last flip."""
    return not state.after_capture and state.reserves.any()


@compiled
def next_asked(state: Any, tick: int, place: int) -> int:
    """Return the seat asked first from this place of this tick on, −1 if nobody is asked in this window any more.

    Only a seat that holds a token is asked, and only if there is a pile to take.
    """
    if state.filled == 0:
        return -1
    first, earliest = -1, _ALWAYS * 8
    if is_hurried(state):
        earliest = state.window_ticks * 8
    since = tick * 8 + place
    for seat in range(state.num_players):
        moment = state.reactions[seat] * 8 + place_in_order(state, seat)
        if state.tokens[seat] > 0 and since <= moment < earliest:
            first, earliest = seat, moment
    return first


@compiled
def is_asked(state: Any, seat: int) -> bool:
    """Return whether the seat is asked in the present tick, before, after or together with the seat to move."""
    return state.over == 0 and state.reactions[seat] == state.tick and state.tokens[seat] > 0


@compiled
def has_committed(state: Any, seat: int) -> bool:
    """Return whether the seat has answered in the present tick, unseen by the others."""
    return is_asked(state, seat) and place_in_order(state, seat) < place_in_order(state, state.to_move)


@compiled
def settle(state: Any) -> bool:
    """Settle the claims of the present tick; return whether there were any.

    One claimant takes the pile, of several one by a fair draw; the others keep their tokens. Tokens won are there from
    the next tick on, since all claims were made before.
    """
    claimed = 0
    for seat in range(state.num_players):
        claimed |= state.pending[seat]
        state.claims[seat] |= state.pending[seat]
    if claimed == 0:
        return False
    state.taken_by[:] = -1
    for pile in range(state.num_players):
        if (claimed >> pile) & 1:
            take_pile(state, pile, pile_winner(state, pile))
    state.pending[:] = 0
    return True


@compiled
def pile_winner(state: Any, pile: int) -> int:
    """Return who of those that claim the pile takes it: each with the same chance."""
    claimants = 0
    for seat in range(state.num_players):
        claimants += (state.pending[seat] >> pile) & 1
    lucky = random_below(state, claimants) if claimants > 1 else 0
    for seat in range(state.num_players):
        lucky -= (state.pending[seat] >> pile) & 1
        if lucky < 0:
            return seat
    return -1


@compiled
def take_pile(state: Any, pile: int, winner: int) -> None:
    """Move a pile to the winner's captured cards; the token goes to the pile's owner, or out of the game."""
    state.taken_by[pile] = winner
    for place in range(state.heights[pile]):
        state.captured[winner, state.piles[pile, place]] += 1
        state.piles[pile, place] = 0
    state.heights[pile] = 0
    state.filled ^= 1 << pile
    state.tokens[winner] -= 1
    if pile != winner:
        state.tokens[pile] += 1


@compiled
def rotated(bits: int, steps: int, size: int) -> int:
    """Return a set of `size` seats (bits) with each seat moved `steps` (0 to size) places down, around the table."""
    return ((bits >> steps) | (bits << (size - steps))) & ((1 << size) - 1)


@compiled
def may_claim(state: Any, seat: int, piles: int) -> bool:
    """Return whether the seat may slap this set of piles (bits by owner): none is empty, and each costs a token."""
    return piles & ~state.filled == 0 and count_bits(piles) <= state.tokens[seat]


def asked_together(state: Any) -> tuple[int, ...]:
    """Return the seats asked in the present tick, from the seat to move on, in the order in which they answer."""
    order = [(int(state.to_move) + step) % int(state.num_players) for step in range(int(state.num_players))]
    first = place_in_order(state, int(state.to_move))
    return tuple(seat for seat in order if is_asked(state, seat) and place_in_order(state, seat) >= first)

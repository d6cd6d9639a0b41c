"""What games around a table share: where seats sit, seen from one of them, and who is ahead by points."""

from __future__ import annotations

from typing import Any

from ice_envs.engine.jit import compiled


@compiled
def relative(state: Any, seat: int, observer: int) -> Any:
    """Return how many places clockwise of the observer a seat sits."""
    places = seat - observer
    return places + state.num_players if places < 0 else places


@compiled
def lowest_after(state: Any, seat: int) -> Any:
    """Return the seat with the lowest of `state.totals`; of several the first one clockwise after `seat`."""
    lowest = (seat + 1) % state.num_players
    for step in range(2, state.num_players + 1):
        other = (seat + step) % state.num_players
        if state.totals[other] < state.totals[lowest]:
            lowest = other
    return lowest


@compiled
def share_win(num_players: int, points: Any, out: Any) -> None:
    """Write 1/k for each of the k seats with most points, 0 for the others, into `out` (num_players or more,).

    `out` may be `points` itself.
    """
    best, winners = points[0], 0
    for seat in range(num_players):
        if points[seat] > best:
            best, winners = points[seat], 0
        winners += points[seat] == best
    for seat in range(num_players):
        out[seat] = 1.0 / winners if points[seat] == best else 0.0

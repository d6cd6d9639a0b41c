"""The heuristic baseline of Kawaii. It reads only what the seat to move knows.

A pile is taken if it brings enough points. How many are enough falls as the reserves run out, since later piles may be
better. The own pile is dearer, as its token does not come round again, and so is that of a seat without a token, which
the token would arm. While nobody else holds a token there is no hurry, and everything passes until all cards are
flipped. Covered cards count as an average card.
"""

from __future__ import annotations

from math import inf
from typing import Any

from ice_envs.engine.jit import compiled
from ice_envs.games.kawaii.cards import NUM_CARDS, SHOP
from ice_envs.games.kawaii.determinize import hides_cards
from ice_envs.games.kawaii.observation import added_shop_points, card_points
from ice_envs.games.kawaii.rules import cards_left
from ice_envs.games.kawaii.window import rotated

_COVERED_CARD = 0.4
"""Points that a card brings on average."""
_LAST = 1.0
"""Points that a pile must bring more than when all cards are flipped: a token kept is a point."""
_EARLY = (0.0, 0.0, 10.0, 3.5, 3.0, 3.0)
"""How many more while all cards are still to be flipped, by the number of seats: few seats have tall piles."""
_OWN = 0.5
"""How many more if it is the own pile."""
_ARMS = 0.5
"""How many more if its owner has no token."""


@compiled
def greedy(state: Any) -> int:
    """Return the piles worth a token, the best first as far as the tokens reach."""
    seat = state.to_move
    enough = points_enough(state, seat)
    tokens, chosen = state.tokens[seat], 0
    while tokens > 0:
        best, best_gain = -1, 0.0
        for pile in range(state.num_players):
            if (state.filled & ~chosen) >> pile & 1:
                gain = pile_points(state, seat, pile) - enough
                gain -= _OWN * (pile == seat) + _ARMS * (state.tokens[pile] == 0)
                if gain > best_gain:
                    best, best_gain = pile, gain
        if best < 0:
            break
        chosen |= 1 << best
        tokens -= 1
    return rotated(chosen, seat, state.num_players)


@compiled
def points_enough(state: Any, seat: int) -> float:
    """Return how many points a pile must bring now, whoever owns it."""
    left = cards_left(state)
    for other in range(state.num_players):
        if other != seat and state.tokens[other] > 0:
            return _LAST + _EARLY[state.num_players] * left / NUM_CARDS
    return inf if left > 0 else _LAST


@compiled
def pile_points(state: Any, seat: int, pile: int) -> float:
    """Return the points that a pile would bring the seat now, as far as it sees its cards."""
    top = state.heights[pile] - 1
    first = top if hides_cards(state) else 0
    points, shops = _COVERED_CARD * first, 0
    for level in range(first, top + 1):
        card = state.piles[pile, level]
        if card == SHOP:
            shops += 1
        else:
            points += card_points(state, seat, card)
    return points + added_shop_points(state, seat, shops)

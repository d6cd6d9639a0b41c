"""Hidden hands drawn anew: what trick-taking games share when they redraw what a seat cannot know.

The record has a `deck` (cards), `voids` (seats; bit s: the seat has shown that it holds no card of suit s) and
`num_players`. The unseen cards lie at the front of the deck; `holders[place]` says who gets the card at each place,
`num_players` standing for cards that nobody holds; `suits[card]` is a card's suit.
"""

from __future__ import annotations

from typing import Any

from ice_envs.engine.generator import random_below
from ice_envs.engine.jit import compiled

_MIXING_PASSES = 4


@compiled
def deal_unseen(state: Any, suits: Any, holders: Any, unseen: int) -> None:
    """Shuffle the first `unseen` cards of the deck so that no holder gets a suit it has shown not to have.

    Without shown voids every deal is equally likely. With them, a random deal is mended by random exchanges that
    never add a conflict: a symmetric walk, so close to uniform over the deals that agree. (Where voids leave so few
    deals that no exchange of two cards leads from one to another, a small bias of the mending stays.)
    """
    for place in range(unseen):
        exchange(state, place, place + random_below(state, unseen - place))
    if not state.voids[: state.num_players].any():
        return
    remaining, passes = 1, 0
    while remaining or passes < _MIXING_PASSES:
        remaining = 0
        passes += 1
        for place in range(unseen):
            other = random_below(state, unseen)
            here, there = state.deck[place], state.deck[other]
            before = conflict(state, suits, holders[place], here) + conflict(state, suits, holders[other], there)
            after = conflict(state, suits, holders[place], there) + conflict(state, suits, holders[other], here)
            if after <= before:
                exchange(state, place, other)
        for place in range(unseen):
            remaining += conflict(state, suits, holders[place], state.deck[place])


@compiled
def exchange(state: Any, place: int, other: int) -> None:
    """Swap two cards of the deck."""
    card = state.deck[place]
    state.deck[place] = state.deck[other]
    state.deck[other] = card


@compiled
def conflict(state: Any, suits: Any, holder: int, card: int) -> int:
    """Return 1 if the holder has shown that it does not hold the card's suit."""
    if holder == state.num_players:
        return 0
    return (state.voids[holder] >> suits[card]) & 1

"""What the shared tests need to know of Nokosu Dice; hand-built positions are in `nokosu_dice_tables`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from ice_envs import find_game
from ice_envs.engine.game import States
from ice_envs.games.nokosu_dice.items import NUM_CARDS, SUITS
from ice_envs.games.nokosu_dice.rules import (
    BONUSES,
    CALL,
    DRAFT,
    NO_CALL,
    NOTHING_YET,
    TIES,
    ZERO_CALLS,
)
from ice_envs.games.nokosu_dice.setup import is_in_play

GAME = find_game("nokosu_dice")
PHASES = ("draft", "call", "lead", "follow", "over")
HIDDEN = {"hands", "commits", "rng", "deck"}
"""Fields of the record of which a seat does not know all."""
SECRETS = {"hands", "commits"}
"""Of these, what is the game's: neither the generator nor scratch space."""
CODED_BY_KIND = {"drafted", "returned", "own_secret", "played"}
"""Slices of the observation that tell a color by its number."""
OPTION_SETS: list[dict[str, Any]] = [
    {"zero_call": zero_call, "tie": tie, "bonus": bonus} for zero_call, tie, bonus in product(ZERO_CALLS, TIES, BONUSES)
]
"""The game as it comes in the box, then each other combination of the options."""


def phases(states: States) -> Any:
    """Return the index in PHASES of each game: (N,)."""
    playing = np.where(states["trick_size"] > 0, 3, 2)
    before = np.where(states["phase"] == DRAFT, 0, np.where(states["phase"] == CALL, 1, playing))
    return np.where(states["over"], 4, before)


def cards(bits: int) -> list[int]:
    return [card for card in range(NUM_CARDS) if bits >> card & 1]


def shuffle_hidden(state: Any, seat: int, rng: np.random.Generator) -> None:
    """Exchange unseen cards between other hands and the card left over, respecting voids; make secret calls anew."""
    seats, suits = int(state.num_players), SUITS[state.trump].tolist()
    hands = state.hands.tolist()
    holder_of = {card: seats for card in range(NUM_CARDS) if is_in_play(seats, card) and not state.played_by[card]}
    for holder in range(seats):
        holder_of |= dict.fromkeys(cards(hands[holder]), holder)  # `seats` stands for the card left over
    hidden = [card for card, holder in holder_of.items() if holder != seat]
    holders = [holder_of[card] for card in hidden]
    voids = [*state.voids[:seats].tolist(), 0]
    for a, b in rng.integers(max(len(hidden), 1), size=(2 * len(hidden), 2)).tolist():
        if not (voids[holders[b]] >> suits[hidden[a]] | voids[holders[a]] >> suits[hidden[b]]) & 1:
            holders[a], holders[b] = holders[b], holders[a]
    for other in range(seats):
        if other != seat:
            state.hands[other] = sum(1 << c for c, holder in zip(hidden, holders, strict=True) if holder == other)
            if state.commits[other] != NOTHING_YET:
                dice = [NUM_CARDS + kind for kind in np.flatnonzero(state.dice[other])]
                state.commits[other] = rng.choice([NO_CALL, *dice])
    state.rng = rng.integers(2**64, dtype=np.uint64)
    state.deck[:] = rng.permutation(NUM_CARDS)

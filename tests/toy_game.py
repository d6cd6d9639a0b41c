"""A game small enough to be solved by hand: keep your card or draw another one, twice; the higher card wins."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ice_envs.engine.game import Game, Rules, record_dtype, register_rules
from ice_envs.engine.generator import random_below
from ice_envs.engine.jit import compiled
from ice_envs.engine.layout import Layout
from ice_envs.engine.schema import ViewFields

KEEP, SWAP = 0, 1
NUM_CARDS = 3
"""A card is 0, 1 or 2, each equally likely at every draw."""
TURNS = 2
"""Turns of each of the two seats, seat 0 first. Nobody sees the other's card, nor whether it was swapped."""

# The compiled loops are cached by the record's type, so another version of these rules needs another type.
_VERSION = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
DTYPE = record_dtype([("cards", "i1", (2,)), (f"rules_{_VERSION}", "u1")])


@dataclass(frozen=True)
class KeepOrSwapOptions:
    pass


def configure(state: Any, num_players: int, options: KeepOrSwapOptions) -> None:
    pass


@compiled
def start(state: Any) -> None:
    state.decisions = 0
    state.to_move = 0
    state.over = 0
    for seat in range(2):
        state.cards[seat] = random_below(state, NUM_CARDS)


@compiled
def is_legal(state: Any, action: int) -> bool:
    return state.over == 0


@compiled
def legal(state: Any, mask: Any) -> None:
    mask[:] = is_legal(state, KEEP)


@compiled
def apply(state: Any, action: int) -> None:
    if action == SWAP:
        state.cards[state.to_move] = random_below(state, NUM_CARDS)
    state.decisions += 1
    state.to_move = 1 - state.to_move
    state.over = state.decisions == 2 * TURNS


@compiled
def observe(state: Any, seat: int, out: Any) -> None:
    out[state.cards[seat]] = 1
    out[NUM_CARDS] = state.decisions // 2


@compiled
def score(state: Any, out: Any) -> None:
    """A card counts when it is shown, at the end."""
    for seat in range(2):
        out[seat] = state.over * state.cards[seat]


@compiled
def win_share(state: Any, out: Any) -> None:
    for seat in range(2):
        own, other = state.cards[seat], state.cards[1 - seat]
        out[seat] = 1.0 if own > other else 0.5 if own == other else 0.0


@compiled
def determinize(state: Any, seat: int, seed: Any) -> None:
    state.rng = seed
    state.cards[1 - seat] = random_below(state, NUM_CARDS)


@compiled
def greedy(state: Any) -> int:
    """Keep all but the lowest card, which is too modest."""
    return SWAP if state.cards[state.to_move] == 0 else KEEP


KEEP_OR_SWAP = register_rules(
    Game(
        name="keep_or_swap",
        version=0,
        title="Keep or Swap",
        title_ja="Keep or Swap",
        table_sizes=(2,),
        options_type=KeepOrSwapOptions,
        dtype=DTYPE,
        layout=Layout([("card", (NUM_CARDS,), 0, 1, ""), ("turn", (1,), 0, TURNS, "")]),
        labels=("keep", "swap"),
        labels_ja=("keep", "swap"),
        rules=Rules(start, legal, is_legal, apply, observe, score, win_share, determinize, greedy),
        configure=configure,
        to_view=lambda state, seat: {"card": int(state.cards[seat])},
        from_view=lambda view: view,
        view_fields=ViewFields({}, {}, {}),
        to_text=lambda state, seat: f"seat {seat} holds {state.cards[seat]}",
        score_range=lambda num_players, options: (0, NUM_CARDS - 1),
        longest_game=lambda num_players, options: 2 * TURNS,
    )
)

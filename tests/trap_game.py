"""A game that needs a tree: the trap wins unless the other seat knows its one answer; the safe move always ties.

Seat 0 sets the trap or plays safe. After the trap seat 1 answers with one of three of the four numbers: one more, 0 or
3, is in its hidden hand. Number 1 is right, and wins for seat 1; all others lose. Played at random the trap wins two
games in three, played well it loses all.
"""

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

TRAP, SAFE = 4, 5
RIGHT = 1
ANYWAY = (1, 2)
"""Numbers that seat 1 may always answer with."""

# The compiled loops are cached by the record's type, so another version of these rules needs another type.
_VERSION = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
DTYPE = record_dtype([("extra", "i1"), ("winner", "i1"), (f"rules_{_VERSION}", "u1")])


@dataclass(frozen=True)
class TrapOptions:
    pass


def configure(state: Any, num_players: int, options: TrapOptions) -> None:
    pass


@compiled
def start(state: Any) -> None:
    state.decisions = 0
    state.to_move = 0
    state.over = 0
    state.winner = -1
    state.extra = 3 * random_below(state, 2)


@compiled
def is_legal(state: Any, action: int) -> bool:
    if state.over:
        return False
    if state.to_move == 0:
        return action >= TRAP
    return action == 1 or action == 2 or action == state.extra


@compiled
def legal(state: Any, mask: Any) -> None:
    for action in range(len(mask)):
        mask[action] = is_legal(state, action)


@compiled
def apply(state: Any, action: int) -> None:
    state.decisions += 1
    if action == TRAP:
        state.to_move = 1
        return
    state.over = 1
    if action != SAFE:
        state.winner = 1 if action == RIGHT else 0


@compiled
def observe(state: Any, seat: int, out: Any) -> None:
    out[0] = state.decisions
    out[1] = seat == 1 and state.extra == 3


@compiled
def score(state: Any, out: Any) -> None:
    for seat in range(2):
        out[seat] = state.winner == seat


@compiled
def win_share(state: Any, out: Any) -> None:
    for seat in range(2):
        out[seat] = 0.5 if state.winner < 0 else 1.0 if state.winner == seat else 0.0


@compiled
def determinize(state: Any, seat: int, seed: Any) -> None:
    state.rng = seed
    if seat == 0:
        state.extra = 3 * random_below(state, 2)


@compiled
def greedy(state: Any) -> int:
    """Walk into the trap, on either side."""
    return TRAP if state.to_move == 0 else 2


TRAP_GAME = register_rules(
    Game(
        name="trap",
        version=0,
        title="Trap",
        title_ja="Trap",
        table_sizes=(2,),
        options_type=TrapOptions,
        dtype=DTYPE,
        view_fields=ViewFields({}, {}, {}),
        layout=Layout([("decisions", (1,), 0, 2, ""), ("extra", (1,), 0, 1, "")]),
        labels=("answer 0", "answer 1", "answer 2", "answer 3", "set the trap", "play safe"),
        labels_ja=("answer 0", "answer 1", "answer 2", "answer 3", "set the trap", "play safe"),
        rules=Rules(start, legal, is_legal, apply, observe, score, win_share, determinize, greedy),
        configure=configure,
        to_view=lambda state, seat: {"seat": seat},
        from_view=lambda view: view,
        to_text=lambda state, seat: f"seat {state.to_move} to move",
        score_range=lambda num_players, options: (0, 1),
        longest_game=lambda num_players, options: 2,
    )
)

"""A game small enough to write out what every face must tell: each turn, take a point or none, until the time is up."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ice_envs.engine.game import Game, Rules, record_dtype, register_rules
from ice_envs.engine.jit import compiled
from ice_envs.engine.layout import Layout
from ice_envs.engine.schema import ViewFields

PASS, TAKE, NEVER = 0, 1, 2

# The compiled loops are cached by the record's type, so another version of these rules needs another type.
_VERSION = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
DTYPE = record_dtype([("points", "i4", (3,)), ("length", "i4"), ("cut", "u1"), (f"rules_{_VERSION}", "u1")])


@dataclass(frozen=True)
class ToyOptions:
    length: int = 4
    cut: bool = False


def configure(state: Any, num_players: int, options: ToyOptions) -> None:
    state.length, state.cut = options.length, options.cut


@compiled
def start(state: Any) -> None:
    state.decisions = 0
    state.to_move = 0
    state.over = 0
    state.truncated = 0
    state.points[:] = 0


@compiled
def is_legal(state: Any, action: int) -> bool:
    return state.over == 0 and action != NEVER


@compiled
def legal(state: Any, mask: Any) -> None:
    for action in range(3):
        mask[action] = is_legal(state, action)


@compiled
def apply(state: Any, action: int) -> None:
    state.points[state.to_move] += action
    state.decisions += 1
    state.to_move = (state.to_move + 1) % state.num_players
    state.over = state.decisions == state.length
    state.truncated = state.over * state.cut


@compiled
def observe(state: Any, seat: int, out: Any) -> None:
    out[0] = state.decisions
    out[1] = state.points[seat]
    out[2] = seat


@compiled
def score(state: Any, out: Any) -> None:
    for seat in range(state.num_players):
        out[seat] = state.points[seat]


@compiled
def win_share(state: Any, out: Any) -> None:
    best = state.points[: state.num_players].max()
    leaders = (state.points[: state.num_players] == best).sum()
    for seat in range(state.num_players):
        out[seat] = (1.0 / leaders) if state.points[seat] == best else 0.0


@compiled
def determinize(state: Any, seat: int, seed: Any) -> None:
    state.rng = seed


@compiled
def greedy(state: Any) -> int:
    return TAKE


TOY = register_rules(
    Game(
        name="toy",
        version=0,
        title="Toy",
        title_ja="Toy",
        table_sizes=(2, 3),
        options_type=ToyOptions,
        dtype=DTYPE,
        layout=Layout([("decisions", (1,), 0, 99, ""), ("points", (1,), 0, 99, ""), ("seat", (1,), 0, 2, "")]),
        labels=("pass", "take", "never"),
        labels_ja=("pass", "take", "never"),
        rules=Rules(start, legal, is_legal, apply, observe, score, win_share, determinize, greedy),
        configure=configure,
        to_view=lambda state, seat: {"points": int(state.points[seat])},
        from_view=lambda view: view,
        view_fields=ViewFields({}, {}, {}),
        to_text=lambda state, seat: f"seat {seat} sees {state.points[seat]} points after {state.decisions} decisions",
        score_range=lambda num_players, options: (0, options.length),
        longest_game=lambda num_players, options: options.length,
    )
)

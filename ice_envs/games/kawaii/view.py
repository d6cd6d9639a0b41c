"""What one seat of Kawaii knows, as plain JSON, both ways: for front ends that keep the rules themselves.

The fields are those of `schema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from ice_envs.engine.game import States
from ice_envs.engine.plain import legal_actions, plain_record
from ice_envs.errors import whole_number
from ice_envs.games import find_game
from ice_envs.games.kawaii.cards import FLAVORS, NAMES, NUM_ICES, NUM_SHAPES, SHAPES
from ice_envs.games.kawaii.reading import read_view
from ice_envs.games.kawaii.rules import FAVORITES
from ice_envs.games.kawaii.text import seen_captured, seen_favorites, seen_pile


def to_view(state: Any, seat: int) -> dict[str, Any]:
    """Return what `seat` knows of the game `state` (one record), as plain JSON data (see the module)."""
    game, table = find_game("kawaii"), plain_record(state)
    seat = whole_number("seat", seat, 0, table.num_players - 1)
    seats = range(table.num_players)
    view = {
        "game": game.name,
        "version": game.version,
        "num_players": table.num_players,
        "options": _options(table),
        "seat": seat,
        "round": table.round_number,
        "starter": table.starter,
        "totals": table.totals[: table.num_players],
        "favorites": [_favorites(table, owner, seat) for owner in seats],
        "tokens": table.tokens[: table.num_players],
        "reserves": table.reserves[: table.num_players],
        "piles": [_names(seen_pile(table, owner, seat)) for owner in seats],
        "captured": [_names(seen_captured(table, owner, seat)) for owner in seats],
        "flipper": table.flipper,
        "last_captures": [None if taker < 0 else taker for taker in table.taken_by[: table.num_players]],
        "after_capture": bool(table.after_capture),
        "tick": table.tick,
        "reactions": [_reaction(table, other, seat) for other in seats],
        "claims": [piles_of(table.claims[other]) for other in seats],
        "committed": piles_of(table.pending[seat]),
        "to_move": None if table.over else table.to_move,
        "over": bool(table.over),
    }
    if table.favorites and not table.memory:
        view["possible_favorites"] = [_possible(table.possible[owner]) for owner in seats]
    if seat == view["to_move"]:
        view["legal_actions"] = legal_actions(game, state)
    return view


def from_view(view: Mapping[str, Any]) -> States:
    """Return a game (one record, shape (1,)) that agrees with all the view's seat knows.

    What the seat cannot know is drawn by `determinize` from the view's "seed". `decisions` is 0. Raises IceError,
    naming the field and what is wrong with it, for a view that contradicts itself or the rules.
    """
    return read_view(view)


def piles_of(bits: int) -> list[int]:
    """Return a set of piles as the list of their owners."""
    return [owner for owner in range(bits.bit_length()) if bits >> owner & 1]


def _options(table: SimpleNamespace) -> dict[str, Any]:
    handicaps = [[shift, widen] for shift, widen in zip(table.shift, table.widen, strict=True)]
    while handicaps and handicaps[-1] == [0, 0]:
        handicaps.pop()
    return {
        "window_ticks": table.window_ticks,
        "reaction_ticks": table.reaction_ticks,
        "handicaps": handicaps,
        "flipper_delay": table.flipper_delay,
        "favorites": FAVORITES[table.favorites],
        "memory": bool(table.memory),
    }


def _favorites(table: SimpleNamespace, owner: int, seat: int) -> dict[str, str] | None:
    kind = seen_favorites(table, owner, seat)
    return None if kind is None else {"flavor": FLAVORS[kind // NUM_SHAPES], "shape": SHAPES[kind % NUM_SHAPES]}


def _names(cards: list[int | None]) -> list[str | None]:
    return [None if card is None else NAMES[card] for card in cards]


def _reaction(table: SimpleNamespace, other: int, seat: int) -> int | None:
    known = other in (seat, table.to_move) or table.claims[other]
    return table.reactions[other] if known and not table.over else None


def _possible(bits: int) -> list[str]:
    return [NAMES[kind] for kind in range(NUM_ICES) if bits >> kind & 1]

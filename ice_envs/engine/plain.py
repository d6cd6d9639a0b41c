"""Plain data, as JSON has it: records turned into it, and strict reading, whose errors name the place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import Game
from ice_envs.errors import IceError, choose, nearest, whole_number


def plain_record(state: Any) -> SimpleNamespace:
    """Return a copy of a record whose fields are Python's own numbers and lists: far faster to read one by one."""
    values = (value.tolist() if isinstance(value, np.ndarray) else value for value in state.item())
    return SimpleNamespace(**dict(zip(state.dtype.names, values, strict=True)))


def legal_actions(game: Game, state: Any) -> list[dict[str, Any]]:
    """Return the legal actions of the seat to move in a record, with their labels, as views list them."""
    mask = np.zeros((1, game.num_actions), np.int8)
    loops.legal_games(np.asarray(state).reshape(1), mask)
    legal = np.flatnonzero(mask[0]).tolist()
    return [{"action": a, "label": game.labels[a], "label_ja": game.labels_ja[a]} for a in legal]


def checked_fields(where: str, value: Any, required: Iterable[str], optional: Iterable[str] = ()) -> Mapping[str, Any]:
    """Return `value` if it is an object with these named fields; raise IceError for a missing or an unknown one."""
    if not isinstance(value, Mapping):
        raise IceError(f"{where} must be an object with named fields, not {value!r:.80}")
    names = [*required, *optional]
    for name in value:
        if name not in names:
            raise IceError(f"{where} has no field {name!r:.80}{nearest(name, names)}")
    for name in required:
        if name not in value:
            raise IceError(f"{where} lacks the field {name!r}")
    return value


def checked_view(game: Game, view: Any) -> tuple[int, Mapping[str, Any]]:
    """Return the table size and the options of a view that has all its fields and no others.

    Raises IceError, naming the field, also if it is of another game or version. Options are checked by name alone.
    """
    fields = game.view_schema["properties"]
    checked_fields("the view", view, game.view_schema["required"], fields)
    choose("game", view["game"], [game.name])
    if view["version"] != game.version or isinstance(view["version"], bool):
        raise IceError(f"version is {view['version']!r:.80}, but this is version {game.version} of {game.name}")
    num_players = whole_number("num_players", view["num_players"], game.table_sizes[0], game.table_sizes[-1])
    return num_players, checked_fields("options", view["options"], (), fields["options"]["properties"])


def checked_list(where: str, value: Any, length: int | None = None) -> list[Any]:
    """Return `value` as a list if it is one, of `length` entries if that is given; raise IceError otherwise."""
    if not isinstance(value, list | tuple):
        raise IceError(f"{where} must be a list, not {value!r:.80}")
    if length is not None and len(value) != length:
        raise IceError(f"{where} must have {length} entries, not {len(value)}")
    return list(value)


def checked_flag(where: str, value: Any) -> bool:
    """Return `value` if it is true or false; raise IceError otherwise."""
    if not isinstance(value, bool):
        raise IceError(f"{where} must be true or false, not {value!r:.80}")
    return value

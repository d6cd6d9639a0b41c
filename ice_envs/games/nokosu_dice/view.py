"""What one seat of Nokosu Dice knows, as plain JSON, both ways: for front ends that keep the rules themselves.

The fields are those of `schema`.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ice_envs.engine.plain import legal_actions, plain_record
from ice_envs.errors import whole_number
from ice_envs.games import find_game
from ice_envs.games.nokosu_dice.history import (
    cards_of,
    dice_of,
    drafted_dice,
    played_tricks,
    rolled_dice,
    seats_called,
)
from ice_envs.games.nokosu_dice.items import COLORS, ITEM_COLORS, ITEM_NUMBERS, NUM_CARDS, item_of
from ice_envs.games.nokosu_dice.rules import BONUSES, NO_CALL, NOTHING_YET, TIES, ZERO_CALLS
from ice_envs.games.nokosu_dice.schema import KINDS, PHASES, SECRET


def to_view(state: Any, seat: int) -> dict[str, Any]:
    """Return what `seat` knows of the game `state` (one record), as plain JSON data (see the module)."""
    game, table = find_game("nokosu_dice"), plain_record(state)
    seat = whole_number("seat", seat, 0, table.num_players - 1)
    view = {
        "game": game.name,
        "version": game.version,
        "num_players": table.num_players,
        "options": _options(table),
        "seat": seat,
        "round": table.round_number,
        "dealer": table.dealer,
        "hand": [_item(card) for card in cards_of(table.hands[seat])],
        "rolled": [[_item(die) for die in rolled_dice(table, other)] for other in range(table.num_players)],
        "drafted": [{"seat": other, **_item(die)} for other, die in drafted_dice(table)],
        "middle": [_item(die) for die in dice_of(table.pool)],
        "calls": [{"seat": other, "returns": _call(table, other, seat)} for other in seats_called(table)],
        "played": [
            {"seat": player, "item": KINDS[item >= NUM_CARDS], **_item(item), "trick": trick}
            for trick, plays in enumerate(played_tricks(table), 1)
            for player, item in plays
        ],
        "totals": table.totals[: table.num_players],
        "phase": PHASES[table.phase],
        "to_move": None if table.over else table.to_move,
        "over": bool(table.over),
    }
    if seat == view["to_move"]:
        view["legal_actions"] = legal_actions(game, state)
    return view


def _options(table: SimpleNamespace) -> dict[str, str]:
    return {"zero_call": ZERO_CALLS[table.zero_call], "tie": TIES[table.tie], "bonus": BONUSES[table.bonus]}


def _item(item: int) -> dict[str, Any]:
    return {"color": COLORS[ITEM_COLORS[item]], "number": int(ITEM_NUMBERS[item])}


def _call(table: SimpleNamespace, seat: int, viewer: int) -> dict[str, Any] | str | None:
    """Return what the viewer knows of a call that a seat has made, or has not made when it could."""
    secret = table.commits[seat]
    if secret != NOTHING_YET:
        return SECRET if seat != viewer else None if secret == NO_CALL else _item(secret)
    return _item(item_of(table.returned[seat])) if table.called[seat] else None

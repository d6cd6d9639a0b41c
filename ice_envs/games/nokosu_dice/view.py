"""What one seat of Nokosu Dice knows, as plain JSON, both ways: for front ends that keep the rules themselves.

game, version, num_players, options    which game: {"tie": "last", …}; options left out are the defaults
seat                                   whose knowledge this is; seats count from 0, clockwise
round, dealer                          number of the round, from 1; who deals
hand                                   own cards: [{"color": "red", "number": 7}, …]
rolled                                 of each seat the dice that it rolled for itself: [[{"color", "number"}, …], …]
drafted                                the dice drafted, in order: [{"seat": 1, "color": "red", "number": 3}, …]
middle                                 the dice that still lie in the middle; when one is left, it makes the trumps
calls                                  the decisions about zero, in order: [{"seat": 1, "returns": null}, …], where
"returns" is the die returned, null for no call, or "secret"
played                                 this round's cards and dice as they were played, the trick on the table last:
[{"seat": 2, "item": "die", "color": "red", "number": 3, "trick": 1}, …]
totals                                 each seat's points of the finished rounds
phase, to_move                         "draft", "call" or "play"; whose turn it is, null when the game is over
over                                   whether the game is over
legal_actions                          only if the seat is to move: [{"action", "label", "label_ja"}, …]; ignored
seed                                   for `from_view` alone: which draw of what is hidden; default 0
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import Game
from ice_envs.engine.plain import plain_record
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

PHASES = ("draft", "call", "play")
SECRET = "secret"
KINDS = ("card", "die")


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
        view["legal_actions"] = _legal_actions(game, state)
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


def _legal_actions(game: Game, state: Any) -> list[dict[str, Any]]:
    mask = np.zeros((1, game.num_actions), np.int8)
    loops.legal_games(np.asarray(state).reshape(1), mask)
    legal = np.flatnonzero(mask[0]).tolist()
    return [{"action": a, "label": game.labels[a], "label_ja": game.labels_ja[a]} for a in legal]

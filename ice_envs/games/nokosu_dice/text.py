"""The table of Nokosu Dice as text, for terminals and logs: at most 100 columns, no color.

A card is a letter and its number (`r5`), a die the same in brackets (`[r5]`), a trump has a `*` behind it.
`void in r`: the seat has failed to follow red.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from ice_envs.engine.plain import plain_record
from ice_envs.errors import whole_number
from ice_envs.games.nokosu_dice.history import (
    cards_of,
    dice_of,
    hand_size,
    name_of,
    played_tricks,
    seats_called,
    trick_winners,
)
from ice_envs.games.nokosu_dice.items import COLORS, ITEM_COLORS, ITEM_NUMBERS, NO_TRUMP, NUM_CARDS, SUITS, TRUMP_SUIT
from ice_envs.games.nokosu_dice.items import item_of as item_of_mark
from ice_envs.games.nokosu_dice.rules import CALL, DRAFT, NO_CALL, NOTHING_YET

_MARGIN = 14
"""Width of the column of names at the left."""
_DOES = ("drafts a die", "may return a die and call zero", "plays a card or a die")


def to_text(state: Any, seat: int | None) -> str:
    """Return the game `state` (one record) as `seat` sees it; None shows all hands and calls.

    Raises IceError for a seat that is not at the table.
    """
    if seat is not None:
        seat = whole_number("seat", seat, 0, int(state.num_players) - 1)
    table = plain_record(state)
    parts = (_headline(table), _seats(table, seat), _middle(table), _trick(table), _hands(table, seat), _history(table))
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _headline(table: SimpleNamespace) -> list[str]:
    if table.over:
        totals = table.totals[: table.num_players]
        best = [f"player_{seat}" for seat, total in enumerate(totals) if total == max(totals)]
        verb = "has" if len(best) == 1 else "have"
        return [f"Nokosu Dice   over after round {table.round_number}", f"{' and '.join(best)} {verb} most points"]
    trick = "" if table.phase in (DRAFT, CALL) else f"   trick {table.trick + 1} of {table.num_tricks}"
    return [
        f"Nokosu Dice   round {table.round_number} of {table.num_players}{trick}",
        f"player_{table.to_move} {_DOES[table.phase]}",
    ]


def _short(table: SimpleNamespace, item: int) -> str:
    """Return an item in two characters, a die in brackets, a trump with a star."""
    short = f"{COLORS[ITEM_COLORS[item]][0]}{ITEM_NUMBERS[item]}"
    return (f"[{short}]" if item >= NUM_CARDS else short) + "*" * int(SUITS[table.trump, item] == TRUMP_SUIT)


def _all(table: SimpleNamespace, items: Iterable[int]) -> str:
    return " ".join(_short(table, item) for item in items) or "-"


def _seats(table: SimpleNamespace, viewer: int | None) -> list[str]:
    lines = [f"{'':{_MARGIN}}points  tricks  cards  {'dice':30}  {'call':6}  void in"]
    for seat in range(table.num_players):
        name = f"{'>' if seat == table.to_move and not table.over else ' '} player_{seat}"
        voids = " ".join(word[0] for suit, word in enumerate((*COLORS, "*")) if table.voids[seat] >> suit & 1)
        cells = (
            f"{name + ' (d)' * (seat == table.dealer):{_MARGIN}}{table.totals[seat]:6}",
            f"{table.tricks[seat]:6}",
            f"{hand_size(table, seat):5}",
            f"{_all(table, dice_of(table.dice[seat])):30}",
            f"{_call(table, seat, viewer):6}",
            voids,
        )
        lines.append("  ".join(cells).rstrip())
    return lines


def _call(table: SimpleNamespace, seat: int, viewer: int | None) -> str:
    """Return what everybody, or the viewer, knows of a seat's call."""
    secret = table.commits[seat]
    if secret != NOTHING_YET and viewer in (None, seat):
        return "(none)" if secret == NO_CALL else f"({_short(table, secret)})"
    if secret != NOTHING_YET:
        return "secret"
    return "zero" if table.called[seat] else "none" if seat in seats_called(table) else ""


def _middle(table: SimpleNamespace) -> list[str]:
    """Return the dice that lie in the middle: the one that is left makes the trumps."""
    if table.trump == NO_TRUMP:
        lines = [f"{'  middle':{_MARGIN}}{_all(table, dice_of(table.pool))}"]
    else:
        die = NUM_CARDS + table.trump
        what = f"everything {COLORS[ITEM_COLORS[die]]}, and every {ITEM_NUMBERS[die]}"
        lines = [f"{'  trump *':{_MARGIN}}{name_of(die)}: {what}"]
    returned = [f"player_{seat} {_short(table, item_of_mark(m))}" for seat, m in enumerate(table.returned) if m]
    return lines + ([f"{'  returned':{_MARGIN}}{'   '.join(returned)}"] if returned else [])


def _trick(table: SimpleNamespace) -> list[str]:
    """Return the items on the table in the order of play, and who is ahead."""
    if table.over or not table.trick_size:
        return []
    lines = []
    for step, (seat, item) in enumerate(played_tricks(table)[-1]):
        ahead = "  < ahead" if seat == table.best_seat else ""
        lines.append(f"{'' if step else '  trick':{_MARGIN}}player_{seat}  {_short(table, item)}{ahead}")
    return lines


def _hands(table: SimpleNamespace, seat: int | None) -> list[str]:
    holders = range(table.num_players) if seat is None else [seat]
    return [f"{f'  hand of {holder}':{_MARGIN}}{_all(table, cards_of(table.hands[holder]))}" for holder in holders]


def _history(table: SimpleNamespace) -> list[str]:
    """Return the round's finished tricks, a line each: `>` before the item that was led, `=` before the winner's."""
    winners = trick_winners(table)
    if not winners:
        return []
    lines = [f"{'  tricks':{_MARGIN}}" + "".join(f"player_{seat:<4}" for seat in range(table.num_players))]
    for number, (trick, winner) in enumerate(zip(played_tricks(table), winners, strict=False), 1):
        cells = {seat: (">" if seat == trick[0][0] else " ") + ("=" if seat == winner else " ") for seat, _ in trick}
        cells = {seat: cells[seat] + _short(table, item) for seat, item in trick}
        lines.append(f"{number:>10}{'':{_MARGIN - 10}}" + "".join(f"{cells[seat]:11}" for seat in sorted(cells)))
    return [line.rstrip() for line in lines]

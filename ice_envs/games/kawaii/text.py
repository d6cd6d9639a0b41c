"""The table of Kawaii as text, for terminals and logs: at most 100 columns, no color.

Cards are written short: the first letter of the flavor and the number of the shape, `X` for a closed shop, `*` for a
cherry, `?` for a card that cannot be seen.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ice_envs.engine.plain import plain_record
from ice_envs.errors import whole_number
from ice_envs.games.kawaii.cards import CHERRY, FLAVORS, NAMES, NUM_KINDS, NUM_SHAPES, SHAPES, SHOP
from ice_envs.games.kawaii.rules import NUM_ROUNDS

_MARGIN = 14
"""Width of the column of names at the left."""


def to_text(state: Any, seat: int | None) -> str:
    """Return the game `state` (one record) as `seat` sees it; None shows all flipped cards and all favorites.

    Points are of the rounds before. Raises IceError for a seat that is not at the table.
    """
    if seat is not None:
        seat = whole_number("seat", seat, 0, int(state.num_players) - 1)
    table = plain_record(state)
    parts = (
        _headline(table),
        _seats(table),
        _piles(table, seat),
        _captured(table, seat),
        _window(table, seat),
        _legend(),
    )
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def short(kind: int | None) -> str:
    """Return the two letters of a card; None is a card that cannot be seen."""
    if kind is None:
        return "?"
    return {SHOP: "X", CHERRY: "*"}.get(kind) or f"{FLAVORS[kind // NUM_SHAPES][0]}{kind % NUM_SHAPES + 1}"


def seen_pile(table: SimpleNamespace, pile: int, seat: int | None) -> list[int | None]:
    """Return the cards of a pile from the bottom, None for each one that `seat` cannot see (None sees all)."""
    cards = table.piles[pile][: table.heights[pile]]
    if _hides(table, seat):
        return [None] * (len(cards) - 1) + cards[-1:]
    return list(cards)


def seen_captured(table: SimpleNamespace, owner: int, seat: int | None) -> list[int | None]:
    """Return the cards that a seat has captured in order of their kinds, None for each one that `seat` cannot see."""
    counts = table.captured[owner]
    if _hides(table, seat) and owner != seat:
        return [None] * sum(counts)
    return [kind for kind in range(NUM_KINDS) for _ in range(counts[kind])]


def seen_favorites(table: SimpleNamespace, owner: int, seat: int | None) -> int | None:
    """Return the kind of ice cream that a seat likes best, None if `seat` does not know."""
    if seat in (owner, None) or table.over:
        return int(table.favorite_flavor[owner] * NUM_SHAPES + table.favorite_shape[owner])
    return None


def _hides(table: SimpleNamespace, seat: int | None) -> bool:
    return bool(table.memory) and not table.over and seat is not None


def _headline(table: SimpleNamespace) -> list[str]:
    if table.over:
        totals = table.totals[: table.num_players]
        best = [f"player_{seat}" for seat, total in enumerate(totals) if total == max(totals)]
        verb = "has" if len(best) == 1 else "have"
        return [f"Kawaii   over after round {table.round_number}", f"{' and '.join(best)} {verb} most points"]
    left = sum(table.reserves[: table.num_players])
    why = "after a capture" if table.after_capture else "after the last flip" if left == 0 else ""
    window = f"tick {table.tick}, all are asked {why}" if why else f"tick {table.tick} of {table.window_ticks}"
    return [
        f"Kawaii   round {table.round_number} of {NUM_ROUNDS}   {window}   {left} cards to flip",
        f"player_{table.flipper} flipped last; player_{table.to_move} decides",
    ]


def _seats(table: SimpleNamespace) -> list[str]:
    lines = [f"{'':{_MARGIN}}points  tokens  reserve"]
    for seat in range(table.num_players):
        mark = ">" if seat == table.to_move and not table.over else " "
        numbers = f"{table.totals[seat]:6}  {table.tokens[seat]:6}  {table.reserves[seat]:7}"
        lines.append(f"{f'{mark} player_{seat}':{_MARGIN}}{numbers}")
    return lines


def _cards(name: str, cards: list[int | None]) -> list[str]:
    """Return a line of cards, or several ones if there are many."""
    rows = [cards[first : first + 27] for first in range(0, len(cards), 27)] or [[]]
    return [
        f"{'' if i else name:{_MARGIN}}{' '.join(f'{short(card):2}' for card in row) or '-'}".rstrip()
        for i, row in enumerate(rows)
    ]


def _piles(table: SimpleNamespace, seat: int | None) -> list[str]:
    return [
        line
        for owner in range(table.num_players)
        for line in _cards(f"  pile of {owner}", seen_pile(table, owner, seat))
    ]


def _captured(table: SimpleNamespace, seat: int | None) -> list[str]:
    return [
        line
        for owner in range(table.num_players)
        for line in _cards(f"  taken by {owner}", seen_captured(table, owner, seat))
    ]


def _window(table: SimpleNamespace, seat: int | None) -> list[str]:
    """Return what has been slapped in this window, and the favorites that can be seen."""
    lines = []
    for other in range(table.num_players):
        if table.claims[other] and not table.over:
            piles = " ".join(str(pile) for pile in range(table.num_players) if table.claims[other] >> pile & 1)
            lines.append(f"  player_{other} has slapped pile {piles}")
    for owner in range(table.num_players):
        kind = seen_favorites(table, owner, seat)
        if kind is not None:
            flavor, shape = FLAVORS[kind // NUM_SHAPES], SHAPES[kind % NUM_SHAPES]
            lines.append(f"  player_{owner} likes {flavor} and every {shape} ({NAMES[kind]} is {short(kind)})")
    return lines


def _legend() -> list[str]:
    flavors = " ".join(f"{flavor[0]} {flavor}" for flavor in FLAVORS)
    shapes = " ".join(f"{number} {shape}" for number, shape in enumerate(SHAPES, 1))
    return [f"  {flavors} X closed shop * cherry", f"  {shapes}   (the last card of a pile is on top)"]

"""The table of Dokitto! Ice as text, for terminals and logs: at most 100 columns, no color."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ice_envs.engine.bits import count_bits
from ice_envs.engine.plain import plain_record
from ice_envs.errors import whole_number
from ice_envs.games.dokitto.history import flavors_of, numbers_of, played_tricks
from ice_envs.games.dokitto.rules import FLAVORS, NUM_NUMBERS, TAKE_TILE

_MARGIN = 14
"""Width of the column of names at the left."""


def to_text(state: Any, seat: int | None) -> str:
    """Return the game `state` (one record) as `seat` sees it; None shows all hands.

    Points are of the rounds before, then what lies on the cone. Raises IceError for a seat that is not at the table.
    """
    if seat is not None:
        seat = whole_number("seat", seat, 0, int(state.num_players) - 1)
    table, tricks = plain_record(state), played_tricks(state)
    parts = (
        _headline(table),
        _seats(table),
        _stacks(table),
        _trick(table),
        _hands(table, seat),
        _history(table, tricks),
    )
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _headline(table: SimpleNamespace) -> list[str]:
    if table.over:
        totals = table.totals[: table.num_players]
        best = [f"player_{seat}" for seat, total in enumerate(totals) if total == max(totals)]
        ending = "cut off" if table.truncated else "over"
        verb = "has" if len(best) == 1 else "have"
        lines = [
            f"Dokitto! Ice   {ending} after round {table.round_number}",
            f"{' and '.join(best)} {verb} most points",
        ]
        if sum(table.cone_sizes) < table.trick:  # every other trick brought a tile
            lines.append(f"player_{_ahead(table)} dropped the cone in the last trick")
        return lines
    does = "plays a card"
    if table.phase == TAKE_TILE:
        does = f"has won the trick and takes a tile: {' or '.join(flavors_of(table.tile_choices))}"
    trick = f"trick {table.trick + 1} of {table.hand_size}"
    return [
        f"Dokitto! Ice   round {table.round_number}   {trick}   target {table.target_score}",
        f"player_{table.to_move} {does}",
    ]


def _seats(table: SimpleNamespace) -> list[str]:
    lines = [f"{'':{_MARGIN}}points  cards  {'cone':34}  void in"]
    for seat in range(table.num_players):
        mark = ">" if seat == table.to_move and not table.over else " "
        points = str(table.totals[seat])
        on_cone = table.cone_sizes[seat] + count_bits(table.cone_toppings[seat])
        if on_cone and not table.over:
            points += f" + {on_cone}"
        cards = sum(map(count_bits, table.hands[seat]))
        name, lacks = f"{mark} player_{seat}", " ".join(flavors_of(table.voids[seat]))
        lines.append(f"{name:{_MARGIN}}{points:6}  {cards:5}  {_cone(table, seat):34}  {lacks}".rstrip())
    return lines


def _cone(table: SimpleNamespace, seat: int) -> str:
    """Return a seat's tiles, `*` after one of each flavor whose topping it has."""
    tiles = []
    for flavor, count in enumerate(table.cones[seat]):
        topping = "*" * (table.cone_toppings[seat] >> flavor & 1)
        tiles += [FLAVORS[flavor] + topping * (tile == 0) for tile in range(count)]
    return " ".join(tiles) or "-"


def _stacks(table: SimpleNamespace) -> list[str]:
    """Return how many tiles are left, `*` where the topping is, too."""
    stacks = [
        f"{FLAVORS[flavor]} {table.tiles[flavor]}{'*' * (table.toppings >> flavor & 1)}"
        for flavor in range(table.num_flavors)
    ]
    return [f"{'  tiles left':{_MARGIN}}{'   '.join(stacks)}   (* with topping)"]


def _card(card: int) -> str:
    return f"{FLAVORS[card // NUM_NUMBERS]} {card % NUM_NUMBERS + 1}"


def _ahead(table: SimpleNamespace) -> int:
    return table.low_seat if table.mixed else table.high_seat


def _trick(table: SimpleNamespace) -> list[str]:
    """Return the cards on the table in the order of play, and who is ahead and why."""
    if table.over or not table.trick_size:
        return []
    why = "lowest number, as flavors are mixed" if table.mixed else "highest number, as all are of one flavor"
    what = "won" if table.phase == TAKE_TILE else "ahead"
    lines = []
    for step in range(table.trick_size):
        seat = (table.leader + step) % table.num_players
        ahead = f"  < {what}: {why}" if seat == _ahead(table) else ""
        lines.append(f"{'' if step else '  trick':{_MARGIN}}player_{seat}  {_card(table.trick_cards[seat])}{ahead}")
    return lines


def _hands(table: SimpleNamespace, seat: int | None) -> list[str]:
    lines = []
    for holder in range(table.num_players) if seat is None else [seat]:
        hand = [(name, numbers_of(bits)) for name, bits in zip(FLAVORS, table.hands[holder], strict=True)]
        cards = "  ".join(f"{name} {' '.join(map(str, numbers))}" for name, numbers in hand if numbers)
        lines.append(f"{f'  hand of {holder}':{_MARGIN}}{cards or '-'}")
    return lines


def _history(table: SimpleNamespace, tricks: list[list[tuple[int, int]]]) -> list[str]:
    """Return the round's finished tricks, a line each: `>` before the card that was led, `[ ]` around the winner."""
    tricks = tricks[: table.trick]
    if not tricks:
        return []
    winners = [trick[0][0] for trick in tricks[1:]] + [_ahead(table) if table.over else table.leader]
    lines = [f"{'  tricks':{_MARGIN}}" + "".join(f"player_{seat:<3}" for seat in range(table.num_players))]
    for number, (trick, winner) in enumerate(zip(tricks, winners, strict=True), 1):
        cells = {}
        for seat, card in trick:
            short = f"{FLAVORS[card // NUM_NUMBERS][0].upper()}{card % NUM_NUMBERS + 1}"
            cells[seat] = (">" if seat == trick[0][0] else " ") + (f"[{short}]" if seat == winner else f" {short}")
        lines.append(f"{number:>10}{'':{_MARGIN - 10}}" + "".join(f"{cells[seat]:10}" for seat in sorted(cells)))
    return [line.rstrip() for line in lines]

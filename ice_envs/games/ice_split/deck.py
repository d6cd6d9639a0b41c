"""The deck of Ice Split as data: 63 cards from a CSV file or from rows, checked, and packed into numbers.

The published list of the cards could not be found; `deck.csv` is a reconstruction. Whoever owns the game can pass the
real cards as the option `deck`: a path, or rows as `csv.DictReader` reads them.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ice_envs.errors import IceError, choose, whole_number
from ice_envs.files import reason

FLAVORS = ("vanilla", "chocolate", "strawberry", "mint", "lemon", "blueberry", "pistachio")
NUM_FLAVORS = len(FLAVORS)
NUM_CARDS = 63
COLUMNS = ("card_id", "flavor", "goal_no", "goal_type", "goal_flavors", "points")
RECONSTRUCTION = "reconstruction"
"""The value of the option `deck` that stands for the file of this package."""
MOST_POINTS = 19
"""The most points of a sequence, so that the points of twelve goals and more fit a byte."""
MOST_DIGITS = 9
"""Longer numbers are wrong in every cell, and thousands of digits would be an error of Python's own."""

MAJORITY, NONE_OF, EXACTLY_ONE, SEQUENCE, ALL_SEVEN, RIGHTMOST_IN = GOALS_OF_FLAVORS = (
    "MAJORITY",
    "NONE_OF",
    "EXACTLY_ONE",
    "SEQUENCE",
    "ALL_SEVEN",
    "RIGHTMOST_IN",
)
GOAL_TYPES = (
    *GOALS_OF_FLAVORS,
    "AT_MOST_THREE_KINDS",
    "TWO_PAIRS",
    "THREE_ADJACENT",
    "FOUR_OF_A_KIND",
    "MORE_FLAVORS_THAN_GOALS",
    "MORE_GOALS_THAN_FLAVORS",
)
GENERAL = tuple(goal for goal in GOAL_TYPES if goal not in (MAJORITY, NONE_OF, EXACTLY_ONE, SEQUENCE, RIGHTMOST_IN))
"""The goals that name no flavor; a set of flags of the record is in this order."""
_NAMED = {MAJORITY: (1, 1), NONE_OF: (2, 3), EXACTLY_ONE: (1, 1), SEQUENCE: (2, 4), RIGHTMOST_IN: (2, 3)}
"""The fewest and the most flavors that a goal names; the others name none."""
_POINTS = dict(zip(GOAL_TYPES, (4, 3, 4, None, 12, 5, 6, 5, 5, 6, 5, 5), strict=True))

NO_FLAVOR = 7
"""In a packed sequence: anything fits this place."""
MASK_AT, GROUP_AT, POINTS_AT = 15, 22, 25
IS_PRESENT, IS_RIGHTMOST, IS_MAJORITY, IS_SINGLE, IS_FLAG = range(5)
"""Groups of facts about a display; a goal is met if one of those facts of its group that its mask names is true, in the
group IS_PRESENT if none is (so always with no mask, as a sequence has it)."""
_GROUPS = {NONE_OF: IS_PRESENT, SEQUENCE: IS_PRESENT, RIGHTMOST_IN: IS_RIGHTMOST}
_GROUPS |= {MAJORITY: IS_MAJORITY, EXACTLY_ONE: IS_SINGLE}


class Card(NamedTuple):
    """One card: the flavor of its right half, and the goal of its left half with the flavors it names."""

    flavor: str
    goal: str
    named: tuple[str, ...]
    points: int

    @property
    def condition(self) -> tuple[str, tuple[str, ...], int]:
        """What makes two goals identical."""
        return self.goal, self.named, self.points


def read_deck(deck: Any) -> tuple[Card, ...]:
    """Return the 63 cards by number, from `"reconstruction"`, a path or rows; raise IceError for what is malformed."""
    if deck == RECONSTRUCTION:
        return reconstruction()
    if isinstance(deck, str | Path):
        return _checked(_rows_of_file(deck), f"deck {deck}")
    if not isinstance(deck, Sequence) or not all(isinstance(row, Mapping) for row in deck):
        raise IceError(
            f"deck must be {RECONSTRUCTION!r}, the path of a CSV file or a list of its rows, not {deck!r:.60}"
        )
    return _checked([(f"row {number}", row) for number, row in enumerate(deck, 1)], "deck")


@functools.cache
def reconstruction() -> tuple[Card, ...]:
    """Return the cards of the reconstruction that comes with this package."""
    path = Path(__file__).with_name("deck.csv")
    return _checked(_rows_of_file(path), "the reconstruction")


def deck_rows(cards: Sequence[Card]) -> list[dict[str, Any]]:
    """Return the cards as rows of a deck file, flavors in canonical order: equal decks have equal rows."""
    return [
        {
            "card_id": number,
            "flavor": card.flavor,
            "goal_no": GOAL_TYPES.index(card.goal) + 1,
            "goal_type": card.goal,
            "goal_flavors": "|".join(card.named),
            "points": card.points,
        }
        for number, card in enumerate(cards)
    ]


@functools.lru_cache
def deck_hash(cards: tuple[Card, ...]) -> int:
    """Return 64 bits of the SHA-256 of the deck's rows."""
    text = "\n".join(",".join(map(str, row.values())) for row in deck_rows(cards))
    return int(hashlib.sha256(text.encode()).hexdigest()[:16], 16)


# ---- reading ----


def _rows_of_file(path: str | Path) -> list[tuple[str, Mapping[str, Any]]]:
    """Return each row with its place in the file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
        raise IceError(f"cannot read the deck {path}: {reason(error)}") from error
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if tuple(reader.fieldnames or ()) != COLUMNS:
        found = ",".join(reader.fieldnames or ()) or "nothing"
        raise IceError(f"deck {path}, line 1: the columns must be {','.join(COLUMNS)}, not {found:.100}")
    return [(f"line {reader.line_num}", row) for row in reader]


def _checked(rows: Sequence[tuple[str, Mapping[str, Any]]], name: str) -> tuple[Card, ...]:
    """Return the cards by number; raise IceError, naming the place, for the first row that is malformed."""
    cards: dict[int, Card] = {}
    for place, row in rows:
        try:
            number, card = _card(row)
            if number in cards:
                raise IceError(f"card_id {number} is there twice")
        except IceError as error:
            raise IceError(f"{name}, {place}: {error}") from None
        cards[number] = card
    missing = [number for number in range(NUM_CARDS) if number not in cards]
    if missing:
        raise IceError(f"{name} has {len(cards)} cards, not {NUM_CARDS}: card_id {missing[0]} is missing")
    return tuple(cards[number] for number in range(NUM_CARDS))


def _card(row: Mapping[str, Any]) -> tuple[int, Card]:
    """Return a row's number and card."""
    if set(row) != set(COLUMNS) or None in row.values():
        raise IceError(f"a row must have the {len(COLUMNS)} cells {','.join(COLUMNS)}")
    number = whole_number("card_id", _number(row["card_id"]), 0, NUM_CARDS - 1)
    flavor = choose("flavor", row["flavor"], FLAVORS)
    goal = choose("goal_type", row["goal_type"], GOAL_TYPES)
    goal_no = GOAL_TYPES.index(goal) + 1
    if not _is_number(row["goal_no"], goal_no):
        raise IceError(f"goal_no of {goal} must be {goal_no}, not {row['goal_no']!r:.80}")
    named = _named(goal, row["goal_flavors"])
    points = _POINTS[goal]
    if points is None:
        points = whole_number(f"points of {goal}", _number(row["points"]), 1, MOST_POINTS)
    elif not _is_number(row["points"], points):
        raise IceError(f"points of {goal} must be {points}, not {row['points']!r:.80}")
    return number, Card(flavor, goal, named, points)


def _number(cell: Any) -> Any:
    """Return a cell of digits as a number, anything else as it is."""
    return int(cell) if isinstance(cell, str) and cell.isdecimal() and len(cell) <= MOST_DIGITS else cell


def _is_number(cell: Any, wanted: int) -> bool:
    found = _number(cell)
    return type(found) is int and found == wanted  # true is no 1


def _named(goal: str, cell: Any) -> tuple[str, ...]:
    """Return the flavors that a goal names, in order of FLAVORS unless their order matters."""
    if not isinstance(cell, str):
        raise IceError(f"goal_flavors must be flavors separated by |, not {cell!r:.80}")
    named = [choose("flavor in goal_flavors", flavor, FLAVORS) for flavor in cell.split("|")] if cell else []
    least, most = _NAMED.get(goal, (0, 0))
    if not least <= len(named) <= most:
        wanted = f"{least} to {most}" if least < most else str(most)
        raise IceError(f"{goal} must name {wanted} flavor{'s' * (most != 1)}, not {len(named)}")
    if goal == SEQUENCE:
        return tuple(named)
    if len(set(named)) < len(named):
        raise IceError(f"{goal} must name different flavors, not {cell!r:.80}")
    return tuple(sorted(named, key=FLAVORS.index))


# ---- packing ----


def packed(card: Card) -> int:
    """Return a card as a number of 30 bits.

    From the lowest bit: flavor (3), four flavors of a sequence, the last one last (12), mask of facts (7), group of
    facts (3), points (5).
    """
    named = [FLAVORS.index(flavor) for flavor in card.named]
    places, mask = [NO_FLAVOR] * 4, 0
    if card.goal == SEQUENCE:
        places = ([NO_FLAVOR] * 4 + named)[-4:]
    else:
        mask = sum(1 << flavor for flavor in named) or 1 << GENERAL.index(card.goal)
    sequence = sum(flavor << 3 * (place + 1) for place, flavor in enumerate(places))
    group = _GROUPS.get(card.goal, IS_FLAG)
    return FLAVORS.index(card.flavor) | sequence | mask << MASK_AT | group << GROUP_AT | card.points << POINTS_AT


@functools.lru_cache
def unpacked(number: int) -> Card:
    """Return the card that `packed` made a number of."""
    mask, group = number >> MASK_AT & 127, number >> GROUP_AT & 7
    named = [flavor for flavor in range(NUM_FLAVORS) if mask >> flavor & 1]
    if group == IS_FLAG:
        goal, named = GENERAL[named[0]], []
    elif group == IS_PRESENT and not mask:
        goal, named = SEQUENCE, [number >> 3 * place & 7 for place in range(1, 5)]
        named = [flavor for flavor in named if flavor != NO_FLAVOR]
    else:
        goal = next(name for name, code in _GROUPS.items() if code == group)
    return Card(FLAVORS[number & 7], goal, tuple(FLAVORS[flavor] for flavor in named), number >> POINTS_AT)


def goal_numbers(cards: Sequence[Card]) -> list[int]:
    """Return for each card the lowest number of a card with an identical goal."""
    conditions = [card.condition for card in cards]
    return [conditions.index(condition) for condition in conditions]

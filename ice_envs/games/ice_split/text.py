"""The table of Ice Split as text, for terminals and logs: at most 100 columns, no color."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ice_envs.engine.plain import plain_record
from ice_envs.errors import whole_number
from ice_envs.games.ice_split.deck import ALL_SEVEN, MAJORITY, NONE_OF, SEQUENCE, Card, unpacked
from ice_envs.games.ice_split.reading import cards_of
from ice_envs.games.ice_split.rules import CHOOSE_START, DISPLAY_SIZE, DRAW
from ice_envs.games.ice_split.view import is_reconstruction

_SHORT = {
    MAJORITY: "most {}",
    NONE_OF: "no {}",
    "EXACTLY_ONE": "one {}",
    SEQUENCE: "{}",
    ALL_SEVEN: "all seven",
    "RIGHTMOST_IN": "right end {}",
    "AT_MOST_THREE_KINDS": "at most three kinds",
    "TWO_PAIRS": "two pairs",
    "THREE_ADJACENT": "three adjacent",
    "FOUR_OF_A_KIND": "four of a kind",
    "MORE_FLAVORS_THAN_GOALS": "more flavors than goals",
    "MORE_GOALS_THAN_FLAVORS": "more goals than flavors",
}
_BETWEEN = {SEQUENCE: " > ", NONE_OF: ", "}


def goal_text(card: Card) -> str:
    """Return a card's goal and its points in words."""
    named = _BETWEEN.get(card.goal, " or ").join(card.named)
    return f"{_SHORT[card.goal].format(named)} ({card.points})"


def to_text(state: Any, seat: int | None) -> str:
    """Return the game `state` (one record) as `seat` sees it; None shows all hands.

    Goals stand from left to right, marked with * if they are met now. Raises IceError for a seat that is not at the
    table.
    """
    if seat is not None:
        seat = whole_number("seat", seat, 0, int(state.num_players) - 1)
    table = plain_record(state)
    cards = [unpacked(card) for card in table.cards]
    displays = (_display(table, cards, owner) for owner in range(table.num_players))
    parts = (_headline(table), *displays, _market(table, cards), _hands(table, cards, seat))
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _headline(table: SimpleNamespace) -> list[str]:
    deck = "a reconstructed deck" if is_reconstruction(table) else f"deck {table.deck_hash:016x}"
    title = f"Ice Split   {deck}"
    if table.over:
        seats = range(table.num_players)
        standing = [(table.points[seat], len(_flavors_shown(table, seat))) for seat in seats]
        best = [f"player_{seat}" for seat in seats if standing[seat] == max(standing)]
        return [f"{title}   over", f"{' and '.join(best)} {'wins' if len(best) == 1 else 'share the win'}"]
    does = "plays a card"
    if table.phase == CHOOSE_START:
        does = "chooses a start card"
    elif table.phase == DRAW:
        does = "draws"
    return [title, f"player_{table.to_move} {does}"]


def _display(table: SimpleNamespace, cards: list[Card], owner: int) -> list[str]:
    mark = ">" if owner == table.to_move and not table.over else " "
    goals = table.goal_row[owner][: table.num_goals[owner]][::-1]
    flavors = table.flavor_row[owner][: table.num_flavors[owner]]
    laid = max(len(goals) + len(flavors) - 1, 0)
    head = f"{mark} player_{owner}   {table.points[owner]} points   {laid} of {DISPLAY_SIZE} cards"
    met = table.goals_met[owner]
    lines = [f"{'*' if met >> table.goal_numbers[card] & 1 else '-'} {goal_text(cards[card])}" for card in goals]
    names = [cards[card].flavor for card in flavors]
    return [head, *_wrapped("goals", lines, "   "), *_wrapped("flavors", names, " ")]


def _flavors_shown(table: SimpleNamespace, owner: int) -> set[int]:
    return {table.cards[card] & 7 for card in table.flavor_row[owner][: table.num_flavors[owner]]}


def _wrapped(name: str, parts: list[str], between: str) -> list[str]:
    """Return a row in lines of at most 100 columns."""
    lines = [f"    {name:8}"]
    for part in parts:
        if len(lines[-1]) + len(between) + len(part) > 100:
            lines.append(" " * 12)
        lines[-1] += (between if lines[-1].strip() not in ("", name) else "") + part
    return lines if parts else []


def _market(table: SimpleNamespace, cards: list[Card]) -> list[str]:
    lines = [f"  market (deck: {table.deck_size} cards)"]
    return lines + [f"    {_card(number, cards)}" for number in cards_of(table.market)]


def _card(number: int, cards: list[Card]) -> str:
    return f"card {number:2}: {cards[number].flavor:10} / {goal_text(cards[number])}"


def _hands(table: SimpleNamespace, cards: list[Card], seat: int | None) -> list[str]:
    lines = []
    for holder in range(table.num_players):
        if seat in (None, holder):
            lines.append(f"  hand of player_{holder}")
            held = cards_of(table.hands[holder])
        else:
            held = cards_of(table.hands[holder] & table.public)
            if held:
                lines.append(f"  hand of player_{holder}, from the market")
        chosen = table.starts[holder] if seat in (None, holder) else -1
        lines += [f"    {_card(card, cards)}{'   < start card' if card == chosen else ''}" for card in held]
    return lines

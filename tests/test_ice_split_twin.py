"""The lockstep of Ice Split would notice a wrong rule, and what only some tables have is compared, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests import ice_split_lockstep as room
from tests.ice_split_lockstep import GAME
from tests.lockstep import recorded, replay
from tests.twins import ice_split as twin_rules
from tests.twins.ice_split import Card, IceSplit

honest = twin_rules.is_met


def tie_is_enough(card: Card, flavors: list[str], *rest: Any) -> bool:
    if card.goal != "MAJORITY":
        return honest(card, flavors, *rest)
    most = max(flavors.count(flavor) for flavor in flavors)
    return flavors.count(card.named[0]) == most


def reversed_row(card: Card, flavors: list[str], *rest: Any) -> bool:
    return honest(card, flavors[::-1] if card.goal == "SEQUENCE" else flavors, *rest)


def start_card_is_no_goal(card: Card, flavors: list[str], num_goals: int, *rest: Any) -> bool:
    return honest(card, flavors, num_goals - 1, *rest)


def start_card_is_no_flavor(card: Card, flavors: list[str], *rest: Any) -> bool:
    return honest(card, flavors[1:] or flavors, *rest)


def six_are_enough(card: Card, flavors: list[str], *rest: Any) -> bool:
    return len(set(flavors)) >= 6 if card.goal == "ALL_SEVEN" else honest(card, flavors, *rest)


def one_is_enough(card: Card, flavors: list[str], *rest: Any) -> bool:
    return card.named[0] in flavors if card.goal == "EXACTLY_ONE" else honest(card, flavors, *rest)


WRONG_GOALS = [
    tie_is_enough,
    reversed_row,
    start_card_is_no_goal,
    start_card_is_no_flavor,
    six_are_enough,
    one_is_enough,
]


def replay_all(games: list[Any], options: dict[str, Any]) -> Counter[str]:
    seen: Counter[str] = Counter()
    for records, actions in games:
        seen.update({str(entry[0]) for entry in replay(room, records, actions, options).log})
    return seen


@pytest.mark.parametrize("wrong", WRONG_GOALS)
def test_lockstep_notices_a_goal_read_wrongly(monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., bool]):
    games = list(recorded(GAME, 3, 50, 0, {}))
    monkeypatch.setattr(twin_rules, "is_met", wrong)
    with pytest.raises(AssertionError, match=r"points: twin .* compiled"):
        replay_all(games, {})


def goal_at_the_right(twin: IceSplit, seat: int, card: int, way: str) -> None:
    """Lay a goal under the wrong end."""
    lay_card(twin, seat, card, way)
    if way == "goal":
        twin.goals[seat].append(twin.goals[seat].pop(0))


def refill_at_the_end(twin: IceSplit, seat: int, card: int) -> None:
    """Draw an open card without filling its place."""
    before = set(twin.deck)
    twin.deck.clear()
    take_open_card(twin, seat, card)
    twin.deck |= before


lay_card, take_open_card = IceSplit._lay_card, IceSplit._take_open_card


@pytest.mark.parametrize(
    ("rule", "wrong", "difference"),
    [("_lay_card", goal_at_the_right, "goals"), ("_take_open_card", refill_at_the_end, "market")],
)
def test_lockstep_notices_a_wrong_move(monkeypatch: pytest.MonkeyPatch, rule: str, wrong: Any, difference: str):
    games = list(recorded(GAME, 2, 5, 0, {}))
    monkeypatch.setattr(IceSplit, rule, wrong)
    with pytest.raises(AssertionError, match=rf"{difference}: twin .* compiled"):
        replay_all(games, {})


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_only_four_seats_empty_the_deck(num_players: int):
    games = 10 if num_players == 4 else 0
    seen = replay_all(list(recorded(GAME, num_players, 10, 0, {})), {})
    assert (seen["deck_empty"], seen["no_refill"]) == (games, games)


def test_lockstep_notices_another_deck():
    games = list(recorded(GAME, 3, 5, 0, {}))
    rows = [{**row, "flavor": "mint"} for row in room.deck_rows()]
    with pytest.raises(AssertionError, match=r"points: twin .* compiled"):
        replay_all(games, {"deck": rows})

"""Every cell of the observation, worked out again from the reference twin by the words of the layout."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from ice_envs.games.ice_split.deck import FLAVORS
from tests import ice_split_lockstep
from tests.helpers import observations
from tests.ice_split_positions import GAME, OPTION_SETS
from tests.lockstep import lockstep, recorded
from tests.twins.ice_split import DISPLAY_SIZE, Card, IceSplit, condition, is_met

CARDS = range(63)
SEQUENCES, TWO_PAIRS, DUPLICATES = ("contiguous", "subsequence"), ("adjacent", "apart"), ("each", "once")


def cells(cards: Iterable[int]) -> list[int]:
    found = set(cards)
    return [int(card in found) for card in CARDS]


def one_hot(value: Any, values: Iterable[Any]) -> list[int]:
    return [int(value == other) for other in values]


def goal_number(twin: IceSplit, card: int) -> int:
    return next(other for other in CARDS if condition(twin.cards[other]) == condition(twin.cards[card]))


def met_goals(twin: IceSplit, goals: list[int], flavors: list[str]) -> list[int]:
    """Return the cards whose goal pays in a display that is not on the table."""
    met = [card for card in goals if is_met(twin.cards[card], flavors, len(goals), twin.sequence, twin.two_pairs)]
    if twin.duplicate_goals == "once":
        met = list({goal_number(twin, card): card for card in met}.values())
    return met


def points_of(twin: IceSplit, goals: list[int], flavors: list[str]) -> int:
    return sum(twin.cards[card].points for card in met_goals(twin, goals, flavors))


def flavors_of(twin: IceSplit, seat: int) -> list[str]:
    return [twin.cards[card].flavor for card in twin.flavors[seat]]


def expected_cards(twin: IceSplit, seat: int, around: list[int]) -> dict[str, Any]:
    """What the layout says of cards outside of the displays."""
    own = set(twin.hands[seat])
    if twin.phase == "start" and twin.start_choice[seat] is not None:
        own.add(twin.start_choice[seat])
    known = {card: place for place, other in enumerate(around) if place for card in twin.hands[other] & twin.shown}
    goals = [goal_number(twin, card) for card in CARDS]
    by_goal = {card for laid in twin.goals for card in laid if goals.count(goals[card]) == 1}
    unseen = set(CARDS) - twin.shown - own - by_goal - set(twin.goals[seat]) - set(twin.flavors[seat])
    by_flavor = [sum(twin.cards[card].flavor == flavor for card in unseen) for flavor in FLAVORS]
    return {
        "hand": cells(own),
        "market": cells(card for card in twin.market if card is not None),
        "unseen": cells(unseen),
        "known": [known.get(card, 0) for card in CARDS],
        "unseen_flavors": [min(count, 9) for count in by_flavor],
        "deck_height": [len(twin.deck)],
        "start_card": [0 if twin.phase != "start" or not (own - twin.hands[seat]) else twin.start_choice[seat] + 1],
    }


def expected_changes(twin: IceSplit, seat: int) -> dict[str, Any]:
    """What the layout says of the points that one more card would bring."""
    if twin.phase == "start":
        return {"goal_gains": [0] * 63, "goal_change": [0], "flavor_change": [0] * 7}
    goals, flavors, points = twin.goals[seat], flavors_of(twin, seat), twin.points[seat]
    looked_at = twin.hands[seat] | (set(twin.market) if twin.phase == "draw" else set())
    never = Card("vanilla", "NONE_OF", tuple(FLAVORS), 3)
    twin.cards.append(never)  # a goal that is not met: one flavor at least is there
    with_goal = points_of(twin, [*goals, 63], flavors)
    twin.cards.pop()
    gains = [0] * 63
    for card in looked_at - {None}:
        met = is_met(twin.cards[card], flavors, len(goals) + 1, twin.sequence, twin.two_pairs)
        twice = twin.duplicate_goals == "once" and goal_number(twin, card) in [goal_number(twin, c) for c in goals]
        gains[card] = twin.cards[card].points if met and not twice else 0
    changes = [points_of(twin, goals, [*flavors, flavor]) - points for flavor in FLAVORS]
    clipped = [min(max(30 + change, 0), 60) for change in changes]
    return {"goal_gains": gains, "goal_change": [30 + with_goal - points], "flavor_change": clipped}


def expected_displays(twin: IceSplit, seat: int, around: list[int]) -> dict[str, Any]:
    """What the layout says of the displays."""
    rows = [flavors_of(twin, other) for other in around]
    goals = [[goal_number(twin, card) for card in twin.goals[other]] for other in around]
    met = met_goals(twin, twin.goals[seat], flavors_of(twin, seat)) if rows[0] else []
    laid = max(len(rows[0]) + len(goals[0]) - 1, 0)
    return {
        "goals": [cells(numbers) for numbers in goals],
        "goals_met": cells(goal_number(twin, card) for card in met),
        "points": [min(twin.points[other], 60) for other in around],
        "kinds": [len(set(row)) for row in rows],
        "num_goals": list(map(len, goals)),
        "num_flavors": list(map(len, rows)),
        "flavor_counts": [[row.count(flavor) for flavor in FLAVORS] for row in rows],
        "tail": [one_hot(flavor, FLAVORS) for flavor in rows[0][::-1][:3]] or [[0] * 7],
        "flavor_row": [[FLAVORS.index(flavor) + 1 for flavor in row] + [0] * (13 - len(row)) for row in rows],
        "goal_row": [[number + 1 for number in numbers[::-1]] + [0] * (13 - len(numbers)) for numbers in goals],
        "cards_left": [DISPLAY_SIZE - laid],
    }


def expected(twin: IceSplit, seat: int) -> dict[str, Any]:
    around = [(seat + place) % twin.num_players for place in range(twin.num_players)]
    phase = "play" if twin.over else twin.phase
    return {
        **expected_cards(twin, seat, around),
        **expected_changes(twin, seat),
        **expected_displays(twin, seat, around),
        "phase": one_hot(phase, ("start", "play", "draw")),
        "present": [1] * twin.num_players,
        "first_seat": one_hot(twin.first_seat, around),
        "sequence": one_hot(twin.sequence, SEQUENCES),
        "two_pairs": one_hot(twin.two_pairs, TWO_PAIRS),
        "duplicate_goals": one_hot(twin.duplicate_goals, DUPLICATES),
    }


def padded(value: Any, shape: tuple[int, ...]) -> Any:
    """Fill the rows of absent seats with zeros."""
    array, full = np.asarray(value), np.zeros(shape, int)
    full[tuple(slice(length) for length in array.shape)] = array
    return full


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_every_cell_is_what_the_layout_says(num_players: int):
    compared = 0
    for seed, options in enumerate(OPTION_SETS[::5]):
        for records, actions in recorded(GAME, num_players, 1, seed, options):
            seen = [observations(GAME, records, np.full(len(records), seat))[0] for seat in range(num_players)]
            for move, twin in enumerate(lockstep(ice_split_lockstep, records, actions, options)):
                for seat in range(num_players):
                    found = GAME.layout.views(seen[seat][move])
                    told = expected(twin, seat)
                    assert found.keys() == told.keys()
                    for part in GAME.layout:
                        wanted = padded(told[part.name], part.shape)
                        assert np.array_equal(found[part.name], wanted), (part.name, seat, move, options)
                    compared += 1
    assert compared > 350


def test_goals_are_told_apart_by_the_lowest_card_that_has_them():
    """Cards 42 and 43 both ask for all seven: what they cover is not given away."""
    numbers = np.zeros(1, GAME.dtype)
    GAME.configure(numbers[0], 2, GAME.make_options({}))
    goals = numbers["goal_numbers"][0].tolist()
    assert [card for card in CARDS if goals[card] != card] == [43, 52, 54, 56, 58, 60, 62]
    assert [goals[card] for card in (43, 52, 54, 56, 58, 60, 62)] == [42, 51, 53, 55, 57, 59, 61]

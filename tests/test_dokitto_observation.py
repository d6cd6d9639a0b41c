"""Every cell of the observation, worked out again from the reference twin by the words of the layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests import dokitto_lockstep
from tests.dokitto_lockstep import CARDS
from tests.dokitto_positions import GAME, OPTION_SETS
from tests.helpers import observations
from tests.lockstep import lockstep, recorded
from tests.twins.dokitto import Card, Dokitto, trick_winner

SEATS, FLAVORS = range(5), range(5)


def grid(cells: dict[Card, int]) -> list[list[int]]:
    """Lay values out as flavors × numbers."""
    return [[cells.get((flavor, number), 0) for number in range(1, 14)] for flavor in FLAVORS]


def one_hot(index: int | None, size: int) -> list[int]:
    return [int(index == place) for place in range(size)]


def expected_cards(twin: Dokitto, seat: int) -> dict[str, Any]:
    """What the layout says of single cards."""
    hand, gone = twin.hands[seat], {card for _, card, _ in twin.played}
    unseen = {card for card in CARDS if card[0] in twin.flavors} - hand - gone
    complete = len(twin.table) == twin.num_players
    taking = {card: int(complete is False and trick_winner([*twin.table, (seat, card)])[1] == card) for card in hand}
    return {
        "hand": grid(dict.fromkeys(hand, 1)),
        "unseen": grid(dict.fromkeys(unseen, 1)),
        "takes_trick": None if complete else grid(taking),
        "higher_unseen": grid({(f, n): sum(g == f and m > n for g, m in unseen) for f, n in hand}),
        "lower_unseen": grid({(f, n): sum(m < n for _, m in unseen) for f, n in hand}),
        "played_by": grid({card: (player - seat) % twin.num_players + 1 for player, card, _ in twin.played}),
        "played_trick": grid({card: trick + 1 for _, card, trick in twin.played}),
    }


def expected_trick(twin: Dokitto, seat: int, around: list[int]) -> dict[str, Any]:
    """What the layout says of the trick; `around` lists the seats from the observer on."""
    table = dict(twin.table)
    led = twin.table[0][1][0] if twin.table else None
    winner, (_, number) = trick_winner(twin.table) if twin.table else (None, (0, 0))
    tricks_left = max({2: 6, 3: 8, 4: 10, 5: 13}[twin.num_players] - 1 - twin.trick, 0)
    return {
        "phase": one_hot(int(bool(twin.tile_choices)), 2),
        "trick_flavor": [one_hot(table[s][0] if s in table else None, 5) for s in around],
        "trick_number": [table[s][1] if s in table else 0 for s in around],
        "led": one_hot(led, 5),
        "mixed": [int(len({flavor for flavor, _ in table.values()}) > 1)],
        "ahead": [int(s == winner) for s in around],
        "ahead_number": [number],
        "yet_to_play": [int(s not in table) for s in around],
        "may_discard": [int(led not in {flavor for flavor, _ in twin.hands[seat]})],
        "first_leader": [int(s == twin.first_leader) for s in around],
        "tricks_left": [tricks_left],
    }


def expected_seats(twin: Dokitto, around: list[int]) -> dict[str, Any]:
    """What the layout says of cones and points."""
    points = [len(twin.cones[s]) + len(twin.cone_toppings[s]) for s in around]
    return {
        "present": [1] * len(around),
        "voids": [[int(flavor in twin.voids[s]) for flavor in FLAVORS] for s in around],
        "cone_size": [[int(len(twin.cones[s]) > size) for size in range(3)] for s in around],
        "cones": [[twin.cones[s].count(flavor) for flavor in FLAVORS] for s in around],
        "cone_toppings": [[int(flavor in twin.cone_toppings[s]) for flavor in FLAVORS] for s in around],
        "round_points": points,
        "totals": [twin.totals[s] for s in around],
        "to_target": [max(twin.target_score - twin.totals[s] - p, 0) for s, p in zip(around, points, strict=True)],
    }


def expected_table(twin: Dokitto) -> dict[str, Any]:
    """What the layout says of the stacks, the round and the options."""
    return {
        "tiles": twin.tiles,
        "toppings": [int(flavor in twin.toppings) for flavor in FLAVORS],
        "round": [twin.round],
        "target_score": [twin.target_score],
        "max_rounds": [twin.max_rounds],
        "stars_per_flavor": [twin.stars_per_flavor],
        "next_leader": one_hot(("last_winner", "rotate", "lowest", "random").index(twin.next_leader), 4),
        "low_win_tile": one_hot(("choice", "winning_card").index(twin.low_win_tile), 2),
    }


def expected(twin: Dokitto, seat: int) -> dict[str, Any]:
    around = [(seat + place) % twin.num_players for place in range(twin.num_players)]
    return {
        **expected_cards(twin, seat),
        **expected_trick(twin, seat, around),
        **expected_seats(twin, around),
        **expected_table(twin),
    }


def padded(value: Any, shape: tuple[int, ...]) -> Any:
    """Fill the rows of absent seats and unused flavors with zeros."""
    array, full = np.asarray(value), np.zeros(shape, int)
    full[tuple(slice(length) for length in array.shape)] = array
    return full


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_every_cell_is_what_the_layout_says(num_players: int):
    compared = 0
    for seed, options in enumerate(OPTION_SETS[::7]):
        for records, actions in recorded(GAME, num_players, 1, seed, options):
            seen = [observations(GAME, records, np.full(len(records), seat))[0] for seat in range(num_players)]
            for move, twin in enumerate(lockstep(dokitto_lockstep, records, actions, options)):
                for seat in range(num_players):
                    found = GAME.layout.views(seen[seat][move])
                    told = expected(twin, seat)
                    assert found.keys() == told.keys()
                    for part in GAME.layout:
                        if told[part.name] is not None:
                            wanted = padded(told[part.name], part.shape)
                            assert np.array_equal(found[part.name], wanted), (part.name, seat, move, options)
                    compared += 1
    assert compared > 400

"""Every cell of the observation, worked out again from the reference twin by the words of the layout."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests import kawaii_lockstep
from tests.helpers import observations
from tests.kawaii_lockstep import KIND, KINDS
from tests.kawaii_positions import GAME, OPTION_SETS
from tests.lockstep import lockstep, recorded
from tests.twins.kawaii import CHERRY, DECK, SHOP, Card, Kawaii, points

ICES = list(product(range(5), range(5)))


def one_hot(index: int | None, size: int) -> list[int]:
    return [int(index == place) for place in range(size)]


def grid(cards: list[Card]) -> list[list[int]]:
    """Count ice creams by flavor and shape."""
    return [[cards.count((flavor, shape)) for shape in range(5)] for flavor in range(5)]


def places(pile: list[Card], copy: int) -> list[list[int]]:
    """Tell at which place of the pile, from 1, the first or second copy of each ice cream lies; 0 for none."""
    found = {ice: [level + 1 for level, card in enumerate(pile) if card == ice] + [0, 0] for ice in ICES}
    return [[found[flavor, shape][copy] for shape in range(5)] for flavor in range(5)]


def places_of(pile: list[Card], special: str, most: int) -> list[int]:
    return ([level + 1 for level, card in enumerate(pile) if card == special] + [0] * most)[:most]


def tops(pile: list[Card]) -> dict[str, list[int]]:
    top = pile[-1] if pile else None
    ice = top if isinstance(top, tuple) else (None, None)
    return {
        "top_flavor": one_hot(ice[0], 5),
        "top_shape": one_hot(ice[1], 5),
        "top_special": [int(top == SHOP), int(top == CHERRY)],
    }


def worth(twin: Kawaii, seat: int, cards: list[Card]) -> int:
    """Return what a seat would gain by capturing these cards."""
    likes = twin.favorite_flavors[seat], twin.favorite_shapes[seat]
    return points([*twin.captured[seat], *cards], *likes) - points(twin.captured[seat], *likes)


def expected_piles(twin: Kawaii, seat: int, around: list[int], hidden: bool) -> dict[str, Any]:
    piles = [twin.piles[s] for s in around]
    seen = [[] if hidden else pile for pile in piles]
    valued = [pile[-1:] if hidden else pile for pile in piles]
    return {
        "piles": [grid(pile) for pile in seen],
        "pile_shops": [pile.count(SHOP) for pile in seen],
        "pile_cherries": [pile.count(CHERRY) for pile in seen],
        "first_place": [places(pile, 0) for pile in seen],
        "second_place": [places(pile, 1) for pile in seen],
        "shop_places": [places_of(pile, SHOP, 3) for pile in seen],
        "cherry_places": [places_of(pile, CHERRY, 2) for pile in seen],
        **{name: [tops(pile)[name] for pile in piles] for name in tops([])},
        "heights": [len(pile) for pile in piles],
        "pile_value": [worth(twin, seat, pile) + 2 for pile in valued],
    }


def expected_cards(twin: Kawaii, seat: int, around: list[int], hidden: bool) -> dict[str, Any]:
    captured = [[] if hidden and s != seat else twin.captured[s] for s in around]
    visible = [card for s in around for card in (twin.piles[s][-1:] if hidden else twin.piles[s])]
    visible += [card for cards in captured for card in cards]
    unseen = [card for card in KINDS for _ in range(DECK.count(card) - visible.count(card))]
    return {
        "captured": [grid(cards) for cards in captured],
        "captured_shops": [cards.count(SHOP) for cards in captured],
        "captured_cherries": [cards.count(CHERRY) for cards in captured],
        "captured_count": [len(twin.captured[s]) for s in around],
        "unseen": grid(unseen),
        "unseen_special": [unseen.count(SHOP), unseen.count(CHERRY)],
        "tokens": [twin.tokens[s] for s in around],
        "reserves": [len(twin.reserves[s]) for s in around],
        "round_points": [own_points(twin, seat) + twin.tokens[seat] + 2],
        "totals": [twin.totals[s] + 6 for s in around],
    }


def own_points(twin: Kawaii, seat: int) -> int:
    return points(twin.captured[seat], twin.favorite_flavors[seat], twin.favorite_shapes[seat])


def expected_window(twin: Kawaii, seat: int, around: list[int]) -> dict[str, Any]:
    asked = not twin.over and twin.reactions[seat] == twin.tick and twin.tokens[seat] > 0
    return {
        "asked": [int(asked)],
        "committed": [int(s in twin.claims.get(seat, set())) for s in around],
        "claims": [[int(pile in twin.slapped[s]) for pile in around] for s in around],
        "tick": [0 if twin.over else twin.tick],
        "reaction": [0 if twin.over else twin.reactions[seat]],
        "hurried": [int(any(twin.reserves) and not twin.stopped)],
        "after_capture": [int(twin.stopped)],
        "flipper": [int(s == twin.flipper) for s in around],
        "starter": [int(s == twin.starter) for s in around],
        "round": one_hot(twin.round - 1, 3),
        "present": [1] * len(around),
    }


def expected_options(options: dict[str, Any], around: list[int]) -> dict[str, Any]:
    pairs = [*options.get("handicaps", []), *[[0, 0]] * 5]
    return {
        "window_ticks": [options.get("window_ticks", 3)],
        "reaction_ticks": [options.get("reaction_ticks", 3)],
        "shift": [pairs[s][0] for s in around],
        "widen": [pairs[s][1] for s in around],
        "flipper_delay": [options.get("flipper_delay", 0)],
        "favorites": one_hot(int(options.get("favorites") == "whole_game"), 2),
        "memory": [int(options.get("memory", False))],
    }


def expected(twin: Kawaii, seat: int, options: dict[str, Any]) -> dict[str, Any]:
    around = [(seat + place) % twin.num_players for place in range(twin.num_players)]
    hidden, known = twin.memory and not twin.over, [s for s in around if s == seat or twin.over]
    kept = options.get("favorites") == "whole_game"
    possible = [[[int((f, s) in twin.possible[o]) for s in range(5)] for f in range(5)] for o in around]
    return {
        "favorite_flavor": [one_hot(twin.favorite_flavors[s], 5) for s in known],
        "favorite_shape": [one_hot(twin.favorite_shapes[s], 5) for s in known],
        **expected_piles(twin, seat, around, hidden),
        **expected_cards(twin, seat, around, hidden),
        **expected_window(twin, seat, around),
        "possible_favorites": possible if kept else np.zeros((0, 5, 5)),
        **expected_options(options, around),
    }


def padded(value: Any, shape: tuple[int, ...]) -> Any:
    """Fill the rows of absent seats with zeros."""
    array, full = np.asarray(value), np.zeros(shape, int)
    full[tuple(slice(length) for length in array.shape)] = array
    return full


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_every_cell_is_what_the_layout_says(num_players: int):
    compared, rng = 0, np.random.default_rng(num_players)
    for seed, options in enumerate(OPTION_SETS):
        for records, actions in recorded(GAME, num_players, 1, seed, options):
            seen = [observations(GAME, records, np.full(len(records), seat))[0] for seat in range(num_players)]
            for move, twin in enumerate(lockstep(kawaii_lockstep, records, actions, options)):
                if rng.random() < 0.2 or twin.over:
                    for seat in range(num_players):
                        check(GAME.layout.views(seen[seat][move]), expected(twin, seat, options), (seat, move, options))
                    compared += 1
    assert compared > 50


def check(found: dict[str, Any], told: dict[str, Any], where: Any):
    assert found.keys() == told.keys()
    for part in GAME.layout:
        assert np.array_equal(found[part.name], padded(told[part.name], part.shape)), (part.name, where)


def test_kinds_are_numbered_alike():
    assert [KIND[(flavor, shape)] for flavor, shape in ICES] == list(range(25))

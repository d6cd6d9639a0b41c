"""What `determinize` draws in Kawaii: each way in which the hidden parts agree with what the seat knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from ice_envs.engine.game import States
from ice_envs.engine.generator import game_seeds
from ice_envs.games.kawaii.cards import COPIES, NUM_SHAPES
from tests.helpers import determinized, started
from tests.kawaii_positions import GAME, kind_of, play, window

DRAWS = 30_000


def drawn(states: States, seat: int, seed: int, draws: int = DRAWS) -> States:
    return determinized(np.repeat(states, draws), np.full(draws, seat), game_seeds(seed, draws))


def assert_as_likely(found: Iterable[Hashable], ways: Counter[Any]):
    """Bound the chi-square statistic by its mean plus six standard deviations; `ways` are weights."""
    counts = Counter(found)
    assert set(counts) == set(ways)
    expected = {outcome: counts.total() * weight / ways.total() for outcome, weight in ways.items()}
    assert min(expected.values()) > 20
    statistic = sum((counts[outcome] - mean) ** 2 / mean for outcome, mean in expected.items())
    freedom = len(ways) - 1
    assert statistic < freedom + 6 * np.sqrt(2 * freedom)


# ---- favorites ----


def deals(num_players: int, seat: int, likes: tuple[int, int], possible: list[set[int]]) -> Counter[Any]:
    """Count each deal of favorites (kinds by seat) in which the seat has its own, and all are possible."""
    found: Counter[Any] = Counter()
    for flavors, shapes in product(permutations(range(5), num_players), repeat=2):
        kinds = [flavor * NUM_SHAPES + shape for flavor, shape in zip(flavors, shapes, strict=True)]
        if (flavors[seat], shapes[seat]) == likes and all(map(set.__contains__, possible, kinds)):
            found[tuple(kinds)] += 1
    return found


def favorites(states: States) -> list[tuple[int, ...]]:
    kinds = states["favorite_flavor"] * NUM_SHAPES + states["favorite_shape"]
    return [tuple(row) for row in kinds[:, : states["num_players"][0]].tolist()]


def own_favorites(states: States, seat: int) -> tuple[int, int]:
    return int(states["favorite_flavor"][0, seat]), int(states["favorite_shape"][0, seat])


@pytest.mark.parametrize(("num_players", "ways"), [(2, 16), (3, 144), (4, 576), (5, 576)])
def test_every_deal_of_the_others_favorites_is_as_likely(num_players: int, ways: int):
    states = started(GAME, num_players)
    for seat in (0, num_players - 1):
        expected = deals(num_players, seat, own_favorites(states, seat), [set(range(25))] * num_players)
        assert len(expected) == ways
        assert_as_likely(favorites(drawn(states, seat, seed=seat)), expected)


def test_what_points_have_ruled_out_stays_out():
    """Two seats that narrow each other down: the deals that are left are not a product of what each may like."""
    states = window("c3", "c3", "c3", likes=("s1", "c2", "v3"), favorites="whole_game")
    possible = [{0}, {1, 6, 7, 12, 13}, set(range(12)) | {12, 24}]
    states["possible"][0, :3] = [sum(1 << kind for kind in kinds) for kinds in possible]
    expected = deals(3, 0, (0, 0), possible)
    pairs = {(second, third) for _, second, third in expected}
    assert len(pairs) == 12
    assert len({second for second, _ in pairs}) * len({third for _, third in pairs}) > len(pairs)
    assert_as_likely(favorites(drawn(states, 0, seed=1)), expected)


# ---- cards ----


def arrangements(unseen: str, arranged: Callable[[tuple[int, ...]], Hashable]) -> Counter[Any]:
    """Count what becomes of the unseen cards when they are laid out in each order."""
    return Counter(map(arranged, permutations([kind_of(code) for code in unseen.split()])))


def test_every_order_of_the_reserves_is_as_likely():
    states = window("s1", "c1", "*", left="c2 c3 v4 X X", flipper=1)
    decks = drawn(states, 0, seed=2)["deck"]
    assert not decks[:, :-5].any()
    expected = arrangements("X v4 c2 X c3", lambda order: order)
    assert len(expected) == 60
    assert_as_likely(map(tuple, decks[:, -5:].tolist()), expected)


MEMORY = {"memory": True, "left": "b5 X", "captured": ("", "v3 *", "")}


def all_seen_but(unseen: str, seat: int, *piles: str, **known: Any) -> States:
    """Return a table of which the seat has captured all cards that are neither unseen nor on top of a pile."""
    states = window(*piles, **known)
    hidden = [kind_of(code) for code in unseen.split()] + [kind_of(pile.split()[-1]) for pile in piles if pile]
    states["captured"][0, seat] = COPIES - np.bincount(hidden, minlength=len(COPIES))
    return states


def test_with_memory_every_way_to_lay_the_unseen_cards_is_as_likely():
    """Two are covered in one pile and one in another, two were captured by a seat, two are still to be flipped."""
    states = all_seen_but("c2 c2 v3 * X X b5", 0, "c2 c2 s1", "X m1", "", **MEMORY)
    table = drawn(states, 0, seed=3, draws=60_000)
    assert (table["captured"][:, 0] == states["captured"][0, 0]).all()
    assert (table["piles"][:, 0, 2] == kind_of("s1")).all()
    assert (table["piles"][:, 1, 1] == kind_of("m1")).all()
    assert (table["captured"][:, 1].sum(1) == 2).all()
    left = [np.bincount(deck, minlength=len(COPIES)) for deck in table["deck"][:500, -2:]]
    assert (table["left"][:500] == left).all()
    taken = [tuple(np.repeat(np.arange(len(COPIES)), row).tolist()) for row in table["captured"][:, 1]]
    first, second = (map(tuple, table["piles"][:, pile, :height].tolist()) for pile, height in ((0, 2), (1, 1)))
    found = zip(first, second, taken, map(tuple, table["deck"][:, -2:].tolist()), strict=True)
    expected = arrangements(
        "c2 c2 v3 * X X b5", lambda order: (order[:2], order[2:3], tuple(sorted(order[3:5])), order[5:])
    )
    assert_as_likely(found, expected)


def test_without_memory_covered_and_captured_cards_stay():
    states = window("c2 c2 s1", "X m1", "", left="b5 X", captured=("", "v3 *", ""))
    table = drawn(states, 0, seed=3, draws=50)
    for name in ("piles", "captured", "left"):
        assert (table[name] == states[name]).all()


# ---- the window ----


def claim_sets(filled: list[int], tokens: int) -> list[int]:
    """List the sets of filled piles (bits by owner) that so many tokens pay for."""
    sets = [piles for piles in range(32) if all(pile in filled for pile in range(5) if piles >> pile & 1)]
    return [piles for piles in sets if piles.bit_count() <= tokens]


def test_reactions_that_nothing_tells_are_any_of_their_seats():
    """Seats 3 and 4: one has a handicap, the other has flipped; of those that show something nothing changes."""
    handicaps = [[0, 0], [0, 0], [0, 0], [4, 2]]
    states = window(
        *("c1", "c2", "c3", "c4", "c5"),
        reactions=(7, 5, 2, 4, 9),
        left="v1 v2",
        flipper=4,
        window_ticks=10,
        reaction_ticks=4,
        handicaps=handicaps,
        flipper_delay=6,
    )
    play(states, 0b1)  # player_2 takes its own pile at tick 2
    states["reactions"][0, 3] = 9  # player_1 decides at tick 5
    states["tick"], states["to_move"] = 5, 1
    table = drawn(states, 0, seed=4)
    assert (table["reactions"][:, :3] == [7, 5, 2]).all()
    expected = Counter(product(range(4, 10), range(6, 10)))
    assert_as_likely(map(tuple, table["reactions"][:, 3:].tolist()), expected)
    assert (table["pending"][:, 3] == 0).all(), "player_3 would answer after player_1"
    after_capture = states.copy()
    after_capture["after_capture"] = 1
    table = drawn(after_capture, 0, seed=5)
    assert_as_likely(map(tuple, table["reactions"][:, 3:].tolist()), Counter(product(range(4, 10), range(4))))


def test_unseen_claims_are_any_that_the_tokens_pay_for():
    """All react in one tick; the last one decides, and those before it have one token, two, none."""
    states = window(
        *("c1", "", "c3", "c4", "c5"), tokens=(1, 2, 0, 2, 2), flipper=4, left="v1", window_ticks=1, reaction_ticks=1
    )
    play(states, 0b0000, 0b0100, 0b0010)  # the seats 0, 1 and 3 answer
    assert states["to_move"][0] == 4
    filled = [0, 2, 3, 4]
    expected = Counter(product(claim_sets(filled, 1), claim_sets(filled, 2), [0], claim_sets(filled, 2), [0]))
    assert len(expected) == 5 * 11 * 11
    assert_as_likely(map(tuple, drawn(states, 4, seed=6)["pending"].tolist()), expected)
    own = Counter(product(claim_sets(filled, 1), [0b1000], [0], claim_sets(filled, 2), [0]))
    assert_as_likely(map(tuple, drawn(states, 1, seed=7)["pending"].tolist()), own)


def test_only_who_reacts_in_this_tick_has_committed():
    """A seat asked before the one to move has one of three reactions: if it is this tick, any set of piles."""
    states = window("c1", "c2", "", reactions=(0, 0, 0), flipper=2, left="v1 v2", reaction_ticks=3)
    play(states, 0b1)
    assert states["to_move"][0] == 1
    table = drawn(states, 2, seed=8)
    now = Counter({(0, piles): 1 for piles in claim_sets([0, 1], 2)})
    later = Counter({(tick, 0): len(now) for tick in (1, 2)})
    found = zip(table["reactions"][:, 0].tolist(), table["pending"][:, 0].tolist(), strict=True)
    assert_as_likely(found, now + later)

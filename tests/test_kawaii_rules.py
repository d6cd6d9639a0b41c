"""Kawaii by hand: each case of the rules as a position, a few named moves, and what must follow.

Each test runs against the reference twin and against the compiled core. Reactions without chance make them exact.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

import pytest

from tests.kawaii_tables import SIDES, Position, Table, code_of
from tests.twins.kawaii import DECK

P = Position
TOGETHER: dict[str, Any] = {"reaction_ticks": 1}
"""Everybody reacts at once."""


def at_ticks(*ticks: int) -> dict[str, Any]:
    """Return options under which each seat always reacts at its tick."""
    return {"reaction_ticks": 1, "handicaps": [(tick, 0) for tick in ticks]}


@pytest.fixture(params=SIDES, ids=lambda side: side.__name__)
def side(request: pytest.FixtureRequest) -> type[Table]:
    return request.param


# ---- the round begins ----


@pytest.mark.parametrize(("seats", "sizes"), [(2, [28, 27]), (3, [19, 18, 18]), (4, [14, 14, 14, 13]), (5, [11] * 5)])
def test_the_whole_deck_is_dealt_from_the_starter_on(side: type[Table], seats: int, sizes: list[int]):
    starters = set()
    for seed in range(30):
        table = side(seats, seed=seed, **TOGETHER)
        starter = table.starter
        starters.add(starter)
        dealt = [
            f"{pile} {reserve}".split() for pile, reserve in zip(table.piles, table.reserves, strict=True)
        ]  # the starter's first card is flipped already
        assert [len(dealt[(starter + step) % seats]) for step in range(seats)] == sizes
        assert Counter(chain(*dealt)) == Counter(map(code_of, DECK))
        assert [len(pile.split()) for pile in table.piles] == [seat == starter for seat in range(seats)]
        assert (table.flipper, table.round, table.tokens, table.totals) == (starter, 1, [2] * seats, [0] * seats)
    assert starters == set(range(seats))


def test_favorites_are_all_different(side: type[Table]):
    found = [side(5, seed=seed).favorites for seed in range(20)]
    assert {"".join(sorted(code[0] for code in five)) for five in found} == {"bcmsv"}
    assert {"".join(sorted(code[1] for code in five)) for five in found} == {"12345"}
    assert len({code for five in found for code in five}) > 15
    three = [side(3, seed=seed).favorites for seed in range(40)]
    assert all(len({code[place] for code in codes}) == 3 for codes in three for place in (0, 1))
    assert {code[place] for codes in three for code in codes for place in (0, 1)} == set("scvmb12345")


def test_the_starter_flips_and_the_others_follow_clockwise(side: type[Table]):
    table = side(4, P(["s1", "", "", ""], ["s2", "c1 c2", "v1 v2", "m1 m2"]), **TOGETHER)
    flippers = []
    for _ in range(7):
        flippers.append(table.flipper)
        table.all_pass()
    assert flippers == [0, 1, 2, 3, 0, 1, 2]
    assert table.piles == ["s1 s2", "c1 c2", "v1 v2", "m1 m2"]


def test_a_seat_without_reserve_is_skipped_for_flipping_alone(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], ["s2", "", "v2"]), **TOGETHER)
    assert table.all_pass() == [1, 2, 0]
    assert (table.flipper, table.piles) == (2, ["s1", "c1", "v1 v2"])
    table.slap(0)
    table.slap(1, 2)  # seat 1 is asked all the same
    table.slap(2)
    assert (table.tokens[1], table.captured[1]) == (1, "v1 v2")


# ---- who is asked, and for what ----


def test_seats_of_one_tick_are_asked_clockwise_from_the_left_of_the_flipper(side: type[Table]):
    table = side(5, P(["s1"] * 5, ["s2 s3"] * 5, flipper=3), **TOGETHER)
    assert table.all_pass() == [4, 0, 1, 2, 3]
    assert (table.flipper, table.all_pass()) == (4, [0, 1, 2, 3, 4])


def test_ticks_come_before_places(side: type[Table]):
    table = side(4, P(["s1"] * 4, ["s2"] * 4), **at_ticks(0, 2, 1, 0))
    assert table.all_pass() == [3, 0, 2, 1]


def test_any_piles_with_cards_may_be_slapped_as_many_as_there_are_tokens(side: type[Table]):
    table = side(4, P(["s1", "c1 c2", "", "m1"], ["s2"] * 4, tokens=[3, 2, 1, 0], flipper=3), **TOGETHER)
    assert (table.asked(), table.choices()) == (0, [[], [0], [0, 1], [0, 1, 3], [0, 3], [1], [1, 3], [3]])
    table.slap(0)
    assert (table.asked(), table.choices()) == (1, [[], [0], [0, 1], [0, 3], [1], [1, 3], [3]])
    table.slap(1)
    assert (table.asked(), table.choices()) == (2, [[], [0], [1], [3]])


def test_a_seat_without_token_is_not_asked(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], ["s2"] * 3, tokens=[1, 0, 2]), **TOGETHER)
    assert table.all_pass() == [2, 0]


def test_nobody_is_asked_where_no_pile_is_left(side: type[Table]):
    table = side(3, P(["s1", "", ""], ["s2", "c2 c3", "v2"]), **at_ticks(1, 0, 2))
    table.slap(1, 0)
    assert (table.flipper, table.piles, table.asked()) == (1, ["", "c2", ""], 1)


def test_seats_of_one_tick_do_not_see_each_other(side: type[Table]):
    """What was slapped stays on the table, and with its token, until the last one has committed."""
    table = side(3, P(["s1 s2", "c1", "v1"], ["s3"] * 3), **TOGETHER)
    before = table.facts()
    table.slap(1, 0, 2)
    table.slap(2, 0, 1)
    assert table.facts() == before
    assert len(table.choices()) == 7  # of 8 sets of piles all but that of three
    table.slap(0)
    assert table.facts() != before


# ---- captures ----


def test_a_pile_costs_one_token_which_goes_to_its_owner(side: type[Table]):
    table = side(3, P(["s1 s2 X", "c1", ""], ["s3"] * 3), **TOGETHER)
    table.slap(1, 0)
    table.slap(2)
    table.slap(0)
    assert (table.piles, table.captured) == (["", "c1", ""], ["", "X s1 s2", ""])
    assert table.tokens == [3, 1, 2]


def test_the_token_for_the_own_pile_leaves_the_game(side: type[Table]):
    table = side(3, P(["s1 s2", "c1", ""], ["s3"] * 3), **at_ticks(0, 1, 1))
    table.slap(0, 0)
    assert (table.captured[0], table.tokens) == ("s1 s2", [1, 2, 2])


def test_several_piles_at_once_cost_a_token_each(side: type[Table]):
    table = side(4, P(["s1", "c1 c2", "v1", "m1"], ["s3"] * 4), **at_ticks(1, 0, 1, 1))
    table.slap(1, 1, 3)
    assert (table.piles, table.captured[1]) == (["s1", "", "v1", ""], "c1 c2 m1")
    assert table.tokens == [2, 0, 2, 3]


def test_an_earlier_tick_beats_a_later_one(side: type[Table]):
    table = side(3, P(["s1 s2", "c1", ""], ["s3"] * 3), **at_ticks(2, 1, 0))
    table.slap(2, 0)
    assert (table.captured[2], table.asked()) == ("s1 s2", 1)
    assert table.choices() == [[], [1]]  # what is gone is gone


@pytest.mark.parametrize("claimants", [(1, 2), (0, 3), (1, 2, 3), (0, 1, 2, 3)])
def test_claims_of_one_tick_on_one_pile_are_drawn_for_and_losers_keep_the_token(
    side: type[Table], claimants: tuple[int, ...]
):
    games = 300
    won: Counter[int] = Counter()
    for seed in range(games):
        table = side(4, P(["s1 s2", "c1", "", ""], ["s3"] * 4), seed, **TOGETHER)
        for seat in (1, 2, 3, 0):
            table.slap(seat, *[0] * (seat in claimants))
        (winner,) = (seat for seat, cards in enumerate(table.captured) if cards)
        won[winner] += 1
        paid = [2, 2, 2, 2]
        paid[winner] -= 1
        paid[0] += winner != 0
        assert (table.captured[winner], table.tokens, table.piles[0]) == ("s1 s2", paid, "")
    fair = games / len(claimants)
    assert set(won) == set(claimants)
    assert all(abs(count - fair) < 4.5 * (fair * (1 - 1 / len(claimants))) ** 0.5 for count in won.values()), won


def test_each_pile_is_drawn_for_by_itself(side: type[Table]):
    shared = set()
    for seed in range(60):
        table = side(3, P(["s1", "c1", "v1"], ["s3"] * 3), seed, **TOGETHER)
        table.slap(1, 0, 1)
        table.slap(2, 0, 1)
        table.slap(0)
        shared.add((table.captured[1], table.captured[2]))
    assert shared == {("c1 s1", ""), ("", "c1 s1"), ("c1", "s1"), ("s1", "c1")}


def test_two_seats_take_each_others_pile_in_one_tick(side: type[Table]):
    table = side(3, P(["s1 s2", "c1", "v1"], ["s3"] * 3, tokens=[1, 1, 1]), **TOGETHER)
    table.slap(1, 0)
    table.slap(2)
    table.slap(0, 1)
    assert (table.piles, table.captured) == (["", "", "v1"], ["c1", "s1 s2", ""])
    assert table.tokens == [1, 1, 1]


# ---- tokens change hands ----


def test_a_token_won_is_used_at_a_later_tick_of_the_window(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], ["s3"] * 3, tokens=[0, 1, 1]), **at_ticks(2, 0, 1))
    table.slap(1, 0)
    table.slap(2)
    assert (table.asked(), table.tokens) == (0, [1, 0, 1])
    table.slap(0, 1)
    assert (table.captured, table.tokens) == (["c1", "s1", ""], [0, 1, 1])


def test_a_token_won_is_not_used_in_the_same_tick(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], ["s3"] * 3, tokens=[0, 1, 1]), **TOGETHER)
    table.slap(1, 0)
    table.slap(2)
    assert (table.tokens, table.captured) == ([1, 0, 1], ["", "s1", ""])  # seat 0 was not asked


def test_a_token_won_too_late_is_used_in_the_next_window(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], ["s3"] * 3, tokens=[0, 1, 1]), **at_ticks(0, 1, 2))
    table.slap(1, 0)
    table.slap(2)
    assert (table.asked(), table.tick, table.flipper) == (0, 0, 0)
    table.slap(0, 1)
    assert (table.captured, table.tokens) == (["c1", "s1", ""], [0, 1, 1])


def test_the_last_token_ends_the_round_in_that_very_tick(side: type[Table]):
    """Neither the other piles nor the reserves count, and nobody is asked any more."""
    position = P(["s1 s2", "c2 c2", "v3"], ["s1"] * 3, tokens=[1, 0, 0], totals=[0, 5, 4], round=3)
    table = side(3, position, **at_ticks(0, 1, 2))
    table.slap(0, 0)
    assert (table.asked(), table.totals, table.tokens) == (None, [3, 5, 4], [0, 0, 0])  # s1 is both favorites
    assert table.shares() == [0, 1, 0]


def test_the_last_token_given_away_does_not_end_the_round(side: type[Table]):
    table = side(3, P(["s1 s2", "c2 c2", "v3"], ["s1"] * 3, tokens=[1, 0, 0]), **at_ticks(0, 1, 2))
    table.slap(0, 1)
    assert (table.asked(), table.tokens) == (1, [0, 1, 0])


# ---- windows ----


def test_after_a_capture_the_game_is_stopped_and_everybody_is_asked_anew(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], ["s3"] * 3), **TOGETHER)
    table.slap(1, 0)
    table.slap(2)
    table.slap(0)
    assert table.flipper == 0
    table.slap(1, 1)
    table.slap(2)
    table.slap(0)
    assert table.all_pass() == [2, 0]  # a third window, and seat 1 has no token left
    assert (table.flipper, table.piles) == (1, ["", "s3", "v1"])


def test_play_resumes_with_the_seat_after_the_last_flipper(side: type[Table]):
    table = side(4, P(["s1", "", "v1", ""], ["s3"] * 4, flipper=2), **at_ticks(0, 1, 2, 2))
    table.slap(0, 2)
    assert table.all_pass() == [1, 3, 2, 0, 1, 3, 2]
    assert table.flipper == 3


def test_a_reaction_past_the_window_is_missed_while_play_runs_on(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], ["s3 s4"] * 3), **at_ticks(0, 3, 2))
    assert table.all_pass() == [0, 2]  # seat 1 reacts at tick 3 of the ticks 0 to 2
    wider = side(3, P(["s1", "c1", "v1"], ["s3 s4"] * 3), window_ticks=4, **at_ticks(0, 3, 2))
    assert wider.all_pass() == [0, 2, 1]
    tighter = side(3, P(["s1", "c1", "v1"], ["s3 s4"] * 3), window_ticks=1, **at_ticks(0, 3, 2))
    assert tighter.all_pass() == [0]


def test_flips_go_on_where_everybody_misses(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], ["s3", "c3", "v3"]), **at_ticks(3, 4, 5))
    assert (table.asked(), table.piles, table.flipper, table.tick) == (0, ["s1 s3", "c1 c3", "v1 v3"], 0, 3)


def test_after_a_capture_nothing_hurries_anybody(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], ["s3 s4"] * 3), **at_ticks(0, 100, 2))
    table.slap(0, 1)
    table.slap(2)
    assert table.flipper == 0
    assert table.all_pass() == [0, 2, 1]  # the game is stopped: the window lasts until seat 1 has been asked


def test_after_the_last_flip_nothing_hurries_anybody(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], totals=[0, 1, 2], round=3), **at_ticks(0, 100, 2))
    table.slap(0)
    table.slap(2)
    table.slap(1, 2)
    assert (table.captured, table.tokens) == (["", "v1", ""], [2, 1, 3])
    assert table.all_pass() == [0, 2, 1]
    assert (table.asked(), table.totals) == (None, [2, 2, 5])


def test_the_flipper_sees_its_card_later_in_the_first_window(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], ["s3 s4"] * 3, flipper=1), flipper_delay=2, **TOGETHER)
    table.slap(2, 0)
    table.slap(0)
    assert (table.asked(), table.tick) == (1, 2)
    table.slap(1)
    assert table.all_pass() == [2, 0, 1]  # at once: the card has been seen
    assert table.flipper == 2
    assert table.all_pass() == [0, 1, 2]


def test_a_long_delay_lets_the_flipper_miss_its_own_flip(side: type[Table]):
    table = side(3, P(["s1", "c1", "v1"], ["s3", "", ""], flipper=1), flipper_delay=3, **TOGETHER)
    assert table.all_pass() == [2, 0]
    assert table.flipper == 0  # and that was the last card, after which nothing hurries anybody
    table.slap(1)
    table.slap(2)
    assert (table.asked(), table.tick) == (0, 3)


@pytest.mark.parametrize(("shift", "widen"), [(0, 0), (1, 0), (0, 2), (2, 3)])
def test_reactions_are_uniform_and_handicaps_widen_and_shift_them(side: type[Table], shift: int, widen: int):
    """Seat 1 is asked at its tick; with a window this long nothing is missed."""
    games = 600
    ticks: Counter[int] = Counter()
    for seed in range(games):
        position = P(["s1", "c1", "v1"], ["s3"] * 3, tokens=[0, 2, 0])
        table = side(3, position, seed, window_ticks=10, handicaps=[(0, 0), (shift, widen), (0, 0)])
        assert table.asked() == 1
        ticks[table.tick] += 1
    fair = games / (3 + widen)
    assert set(ticks) == set(range(shift, shift + 3 + widen))
    assert all(abs(count - fair) < 4.5 * fair**0.5 for count in ticks.values()), ticks


# ---- points ----


@pytest.mark.parametrize(
    ("captured", "points"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("c2 v3", 0, id="neither favorite"),
        pytest.param("s2", 1, id="the flavor"),
        pytest.param("c1", 1, id="the shape"),
        pytest.param("s1", 2, id="both"),
        pytest.param("s1 s1 s2 c1 c2", 6, id="twice both, once each"),
        pytest.param("*", 1, id="a cherry"),
        pytest.param("* *", 2, id="both cherries"),
        pytest.param("X", -1, id="a closed shop"),
        pytest.param("X X", -2, id="two closed shops"),
        pytest.param("X X X", 3, id="all three closed shops"),
        pytest.param("X X X * s1 v4", 6, id="all kinds"),
    ],
)
def test_points_of_a_round(side: type[Table], captured: str, points: int):
    """Seat 0 likes strawberry and the first shape; a token of its own is a point more."""
    position = P(["", "c1"], captured=[captured, ""], tokens=[1, 2], totals=[10, 0], flipper=1, round=3)
    table = side(2, position, **TOGETHER)
    table.all_pass()
    assert (table.asked(), table.totals) == (None, [10 + points + 1, 2])


def test_all_cards_captured_in_the_last_windows_count(side: type[Table]):
    table = side(2, P(["c2 X", "s1 *"], captured=["X X", ""], totals=[0, 0], round=3), **at_ticks(0, 1))
    table.slap(0, 0, 1)
    assert (table.asked(), table.totals) == (None, [3 + 2 + 1, 3])  # three shops, both favorites, a cherry; 3 tokens


def test_piles_left_on_the_table_score_nothing(side: type[Table]):
    table = side(3, P(["s1 *", "c2", "X"], totals=[0, 1, 2], round=3), **TOGETHER)
    table.all_pass()
    assert table.totals == [2, 3, 4]


# ---- rounds and the end ----


@pytest.mark.parametrize(
    ("totals", "starter", "following"),
    [
        pytest.param([5, 3, 4, 9], 0, 1, id="the lowest"),
        pytest.param([2, 3, 4, 9], 0, 0, id="the lowest, again"),
        pytest.param([5, 3, 4, 3], 0, 1, id="of equals the first after the last starter"),
        pytest.param([5, 3, 4, 3], 1, 3, id="the last starter is the last of equals"),
        pytest.param([5, 3, 4, 3], 2, 3, id="clockwise"),
        pytest.param([4, 4, 4, 4], 3, 0, id="all are equal: the next one"),
    ],
)
def test_the_lowest_total_starts_the_next_round(side: type[Table], totals: list[int], starter: int, following: int):
    table = side(4, P(["s1"] * 4, totals=totals, starter=starter), **TOGETHER)
    table.all_pass()
    assert (table.round, table.starter, table.flipper) == (2, following, following)
    assert table.totals == [total + 2 for total in totals]
    assert (table.tokens, table.captured) == ([2] * 4, [""] * 4)
    assert [len(pile) for pile in table.piles] == [2 * (seat == following) for seat in range(4)]
    assert sorted(len(reserve.split()) for reserve in table.reserves) in ([13] * 3 + [14], [13, 13, 14, 14])
    assert len(table.reserves[following].split()) == 13


def test_a_round_without_captures_and_a_game_without_captures(side: type[Table]):
    table = side(3, seed=4, **TOGETHER)
    starter = table.starter
    flips = 0
    while table.round == 1:
        flipper = table.flipper
        assert table.all_pass() == [(flipper + step) % 3 for step in (1, 2, 3)]
        flips += 1
    assert (flips, table.totals, table.starter) == (55, [2, 2, 2], (starter + 1) % 3)
    while table.asked() is not None:
        table.all_pass()
    assert (table.round, table.totals, table.shares()) == (3, [6, 6, 6], [1 / 3] * 3)


@pytest.mark.parametrize(
    ("totals", "shares"),
    [
        pytest.param([4, 9, 3], [0, 1, 0], id="the most"),
        pytest.param([9, 4, 9], [0.5, 0, 0.5], id="equals share"),
        pytest.param([-2, -2, -2], [1 / 3, 1 / 3, 1 / 3], id="below zero"),
    ],
)
def test_the_highest_total_after_three_rounds_wins(side: type[Table], totals: list[int], shares: list[float]):
    table = side(3, P(["s1", "c1", "v1"], totals=totals, round=3), **TOGETHER)
    table.all_pass()
    assert table.asked() is None
    assert table.shares() == pytest.approx(shares)
    assert table.choices() == []


@pytest.mark.parametrize(("favorites", "same"), [("each_round", 0), ("whole_game", 20)])
def test_favorites_are_dealt_each_round_or_for_the_whole_game(side: type[Table], favorites: str, same: int):
    kept = 0
    for seed in range(20):
        table = side(4, seed=seed, favorites=favorites, **TOGETHER)
        first = table.favorites
        while table.round == 1:
            table.all_pass()
        kept += table.favorites == first
    assert kept == same

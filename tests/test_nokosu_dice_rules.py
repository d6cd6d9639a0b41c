"""Nokosu Dice by hand: each case of the rules as a position, a few named moves, and what must follow.

Every case is put to the compiled core and to the reference twin.
"""

from __future__ import annotations

from typing import Any

import pytest

from ice_envs import IceError, find_game
from tests.nokosu_dice_tables import CoreTable, TwinTable

Table = type[CoreTable] | type[TwinTable]


@pytest.fixture(params=[CoreTable, TwinTable], ids=["core", "twin"])
def table(request: pytest.FixtureRequest) -> Table:
    return request.param


# ---- the draft ----


@pytest.mark.parametrize(("seats", "own", "middle"), [(3, 1, 10), (4, 2, 13)])
def test_a_round_begins_with_the_draft_left_of_the_dealer(table: Table, seats: int, own: int, middle: int):
    game = table.started(seats)
    assert (game.phase, game.round_number, game.trick, game.trump) == ("draft", 1, 0, "")
    assert game.to_move == (game.dealer + 1) % seats
    assert len(game.pool.split()) == middle
    assert [len(game.dice(seat).split()) for seat in range(seats)] == [own] * seats


@pytest.mark.parametrize("seats", [3, 4])
def test_three_laps_of_the_draft_leave_the_trump(table: Table, seats: int):
    game = table.started(seats)
    first, own = (game.dealer + 1) % seats, [game.dice(seat).split() for seat in range(seats)]
    for pick in range(3 * seats):
        seat = (first + pick) % seats
        assert (game.phase, game.to_move) == ("draft", seat)
        assert game.legal().split() == list(dict.fromkeys(game.pool.split()))
        own[seat].append(game.legal().split()[0])
        game.play(own[seat][-1])
    assert (game.phase, game.pool, game.to_move) == ("call", "", first)
    assert [sorted(game.dice(seat).split()) for seat in range(seats)] == [sorted(dice) for dice in own]


def test_equal_dice_in_the_middle_are_one_choice_and_are_taken_one_by_one(table: Table):
    game = table.position("r1 R1", "r2 R2", "r3 R3", phase="draft", pool="R5 R5 B2")
    assert game.legal() == "R5 B2"
    game.play("R5")
    assert (game.legal(), game.pool, game.dice(0)) == ("R5 B2", "R5 B2", "R1 R5")


def test_the_dealer_picks_last_and_so_chooses_the_trump(table: Table):
    game = table.position("r1 R1", "r2 R2", "r3 R3", phase="draft", pool="G6 B2", to_move=2, dealer=2)
    game.play("G6")
    assert (game.trump, game.dice(2), game.phase, game.to_move) == ("B2", "R3 G6", "call", 0)


# ---- the zero call ----


def calling(table: Table, **options: Any) -> Any:
    """Three seats after the draft; the dealer is seat 0."""
    hands = ("r1 R1 R1 G3 B4", "r2 R2 Y2 G2 B2", "r3 R3 Y6 G4 B5")
    return table.position(*hands, phase="call", trump="B4", to_move=1, dealer=0, **options)


def test_a_zero_call_returns_any_own_die_or_none(table: Table):
    game = calling(table)
    assert game.legal() == "R2 Y2 G2 B2 -"
    game.play("- Y6")
    assert (game.to_move, game.legal()) == (0, "R1 G3 B4 -")


def test_a_call_in_turn_is_seen_at_once(table: Table):
    game = calling(table).play("Y2")
    assert (game.call(1), game.dice(1), game.to_move, game.phase) == ("Y2", "R2 G2 B2", 2, "call")


def test_a_secret_call_is_seen_when_all_have_decided(table: Table):
    game = calling(table, zero_call="secret").play("Y2 -")
    assert ([game.call(seat) for seat in range(3)], game.dice(1)) == ([""] * 3, "R2 Y2 G2 B2")
    game.play("R1")
    assert [game.call(seat) for seat in range(3)] == ["R1", "Y2", ""]
    assert [game.dice(seat) for seat in range(3)] == ["R1 G3 B4", "R2 G2 B2", "R3 Y6 G4 B5"]


@pytest.mark.parametrize("zero_call", ["in_turn", "secret"])
def test_all_may_call_and_then_the_seat_left_of_the_dealer_leads(table: Table, zero_call: str):
    game = calling(table, zero_call=zero_call).play("Y2 R3 G3")
    assert (game.phase, game.to_move, game.trick) == ("play", 1, 0)
    assert [game.call(seat) for seat in range(3)] == ["G3", "Y2", "R3"]
    assert game.legal() == "r2 R2 G2 B2"


@pytest.mark.parametrize("zero_call", ["in_turn", "secret"])
def test_a_returned_trump_die_leaves_the_trump_as_it_is(table: Table, zero_call: str):
    game = calling(table, zero_call=zero_call).play("- - B4")
    assert (game.trump, game.call(0), game.dice(0)) == ("B4", "B4", "R1 R1 G3")


# ---- what may be played ----


def test_the_leader_may_play_any_card_or_die(table: Table):
    game = table.position("r1 y0 R2 B3", "r2 r3 R1 G1", "y1 y2 G6 B6", trump="P6")
    assert game.legal() == "r1 y0 R2 B3"


def test_cards_and_dice_must_follow_the_color(table: Table):
    game = table.position("r1 y0 R2 B3", "r2 y3 R1 G1", "y1 y2 G6 B6", trump="P6").play("r1")
    assert (game.to_move, game.legal()) == (1, "r2 R1")


def test_a_led_die_is_followed_as_a_led_card_is(table: Table):
    game = table.position("r1 y0 R2 B3", "r2 y3 R1 G1", "y1 y2 G6 B6", trump="P6").play("R2")
    assert game.legal() == "r2 R1"


def test_a_seat_without_the_led_color_may_play_anything_and_shows_that(table: Table):
    game = table.position("r1 y0 R2 B3", "y2 y3 Y1 G1", "r0 y1 G5 B5", trump="P6").play("r1")
    assert game.legal() == "y2 y3 Y1 G1"
    assert game.voids(1) == set()
    game.play("G1 r0")
    assert [game.voids(seat) for seat in range(3)] == [set(), {"r"}, set()]


def test_a_led_number_trump_of_another_color_forces_trump(table: Table):
    game = table.position("r4 y0 R2 B3", "r2 g4 p0 R5", "r0 y1 G5 R6", trump="P4").play("r4")
    assert game.legal() == "g4 p0"  # red is not what was led
    game.play("p0")
    assert game.legal() == "r0 y1 R6 G5"
    game.play("G5")
    assert game.voids(2) == {"t"}


def test_a_die_of_the_trump_number_follows_trump(table: Table):
    game = table.position("p1 y0 R2 B3", "r2 p0 R4 R5", "r0 y1 G5 R6", trump="P4").play("p1")
    assert game.legal() == "p0 R4"


def test_items_that_became_trumps_need_not_follow_their_printed_color(table: Table):
    game = table.position("r1 y0 R2 B3", "r4 y3 R4 G1", "r0 y1 G5 B5", trump="P4").play("r1")
    assert game.legal() == "r4 y3 R4 G1"
    game.play("y3")
    assert game.voids(1) == {"r"}


@pytest.mark.parametrize(("trump", "number_trumps"), [("P1", 1), ("P6", 6)])
def test_cards_0_and_7_are_never_trumps_of_the_number(table: Table, trump: str, number_trumps: int):
    game = table.position("r5 y5 R2 B3", f"r0 r7 y{number_trumps} R3 G3", "y0 y2 g3 G5 B5", trump=trump)
    assert game.play("r5").legal() == "r0 r7 R3"


# ---- the last die ----


def test_the_last_die_need_not_follow_and_may_not(table: Table):
    game = table.position("r1 y0 R2", "y2 y3 R6", "r0 y1 G5", trump="P4").play("r1")
    assert game.legal() == "y2 y3"


def test_the_last_die_may_not_be_led(table: Table):
    assert table.position("r1 y0 R2", "y2 y3 R6", "r0 y1 G5", trump="P4").legal() == "r1 y0"


def test_one_of_two_dice_has_to_follow_even_if_it_should_stay(table: Table):
    game = table.position("r1 y0 R2", "y2 R6 Y1", "r0 y1 G5", trump="P4").play("r1")
    assert game.legal() == "R6"
    game.play("R6 r0")
    assert game.dice(1) == "Y1"


def test_of_two_equal_dice_one_stays(table: Table):
    game = table.position("r1 y0 R2", "y2 R6 R6", "r0 y1 G5", trump="P4").play("r1")
    assert game.legal() == "R6"
    game.play("R6 r0")
    assert (game.dice(1), game.to_move, game.legal()) == ("R6", 1, "y2")


def test_with_two_dice_and_no_card_the_last_trick_settles_the_bid(table: Table):
    hands = ("r1 R2", "Y2 G3", "r0 B5")
    game = table.position(*hands, trump="P4").play("r1")
    assert game.legal() == "Y2 G3"
    game = table.position("g1 R2", *hands[1:], trump="P4").play("g1")
    assert game.legal() == "G3"


def test_a_zero_caller_plays_its_last_die(table: Table):
    game = table.position("r1 y0 R2", "y2 R6", "r0 y1 G5", trump="P4", calls={1: "B2"}).play("r1")
    assert game.legal() == "R6"
    game.play("R6 r0")
    assert (game.dice(1), game.to_move, game.legal()) == ("", 1, "y2")


# ---- who wins the trick ----

WINNERS = [
    pytest.param("r1 r7 r3", "P6", 1, 1, id="led color: the highest number"),
    pytest.param("r1 R5 r3", "P6", 1, 1, id="dice count as cards do"),
    pytest.param("r1 y7 G5", "P6", 0, 0, id="a higher number of another color does not win"),
    pytest.param("r5 R5 R5", "P6", 2, 0, id="card and two dice, all equal"),
    pytest.param("R5 r5 r7", "P6", 2, 2, id="equal, but not the highest"),
    pytest.param("r7 p0 r5", "P6", 1, 1, id="the lowest trump beats the led color"),
    pytest.param("p1 p3 p2", "P6", 1, 1, id="color-trumps by number"),
    pytest.param("p3 P3 p2", "P6", 1, 0, id="equal color-trumps"),
    pytest.param("r1 p7 y6", "P6", 2, 2, id="a number-trump beats a higher color-trump"),
    pytest.param("r1 p7 Y2", "P2", 2, 2, id="a number-trump beats a higher color-trump, whatever the number"),
    pytest.param("y6 G6 b6", "P6", 2, 0, id="number-trumps of different colors are equal"),
    pytest.param("y6 p6 b6", "P6", 1, 1, id="color and number beat number"),
    pytest.param("p6 P6 y6", "P6", 1, 0, id="two of trump color and number"),
    pytest.param("P6 y6 p6", "P6", 2, 0, id="two of trump color and number, another trump between"),
    pytest.param("r6 r7 p0", "P6", 0, 0, id="a led number-trump is no item of its color"),
    pytest.param("r0 y1 g2", "P6", 0, 0, id="a led zero wins if nobody follows"),
]


@pytest.mark.parametrize(("laid", "trump", "last", "first"), WINNERS)
@pytest.mark.parametrize("tie", ["last", "first"])
def test_winner_of_a_trick(table: Table, laid: str, trump: str, last: int, first: int, tie: str):
    """Whoever plays a die has two more, so that it may, and a card less, so that all hold as many items."""
    hands = [f"{code} B1 g0 g1" if code.islower() else f"{code} B1 B2 g0" for code in laid.split()]
    game = table.position(*hands, trump=trump, tie=tie).play(laid)
    assert game.to_move == (last if tie == "last" else first)
    assert sum(game.won) == game.won[game.to_move] == 1


def test_the_last_of_equals_may_be_the_lower_seat(table: Table):
    game = table.position("R5 r0 G2", "r5 y0 G3", "r1 y1 G4", trump="P6", to_move=1).play("r5 r1 r0")
    assert game.to_move == 1
    game = table.position("R5 B3 y2", "r5 y0 G3", "r1 y1 G4", trump="P6", to_move=1).play("r5 r1 R5")
    assert game.to_move == 0


def test_play_goes_clockwise_past_the_last_seat(table: Table):
    game = table.position("r1 r2 R3", "r3 r4 R3", "r5 r6 R3", trump="P1", to_move=1)
    order = [game.play(code).to_move for code in ("r3", "r5")]
    assert order == [2, 0]


# ---- the score ----


def last_trick(table: Table, won: str, dice: str, seats: int = 4, **more: Any) -> Any:
    """Play the last trick, which the last seat wins. `won` after it; `dice` that stay, `0` for a zero caller."""
    tricks = [int(number) for number in won]
    tricks[-1] -= 1
    calls = {seat: "G3" for seat, die in enumerate(dice) if die == "0"}
    hands = [f"r{seat} " + ("" if die == "0" else f"B{die}") for seat, die in enumerate(dice)]
    game = table.position(*hands, trump="P6", won=tuple(tricks), calls=calls, **more)
    assert game.trick == sum(tricks)
    return game.play(" ".join(f"r{seat}" for seat in range(seats)))


@pytest.mark.parametrize(
    ("won", "dice", "points"),
    [
        pytest.param("3344", "1111", [3, 3, 4, 4], id="nobody"),
        pytest.param("3344", "3211", [33, 3, 4, 4], id="one"),
        pytest.param("3344", "1341", [3, 23, 24, 4], id="two"),
        pytest.param("3344", "3344", [3, 3, 4, 4], id="all four"),
        pytest.param("3344", "3342", [13, 13, 14, 4], id="three"),
        pytest.param("0545", "0111", [40, 5, 4, 5], id="a zero caller alone"),
        pytest.param("0545", "0511", [30, 25, 4, 5], id="a zero caller and another"),
        pytest.param("0545", "0541", [20, 15, 14, 5], id="a zero caller and two others"),
        pytest.param("0545", "0545", [10, 5, 4, 5], id="a zero caller and all others"),
        pytest.param("1544", "0111", [1, 5, 4, 4], id="a zero caller who wins one"),
        pytest.param("1544", "0511", [1, 35, 4, 4], id="a zero caller who wins one leaves the bonus to the other"),
        pytest.param("0077", "0011", [30, 30, 7, 7], id="two zero callers"),
        pytest.param("0077", "1100", [0, 0, 7, 7], id="no trick won and no zero called"),
    ],
)
@pytest.mark.parametrize("bonus", ["table", "per_miss"])
def test_points_of_a_round_with_four_seats(table: Table, won: str, dice: str, points: list[int], bonus: str):
    game = last_trick(table, won, dice, bonus=bonus)
    assert game.totals == points


@pytest.mark.parametrize(
    ("won", "dice", "by_table", "per_miss"),
    [
        pytest.param("345", "111", [3, 4, 5], [3, 4, 5], id="nobody"),
        pytest.param("345", "311", [33, 4, 5], [23, 4, 5], id="one"),
        pytest.param("345", "315", [23, 4, 25], [13, 4, 15], id="two"),
        pytest.param("345", "345", [13, 14, 15], [3, 4, 5], id="all three"),
        pytest.param("066", "066", [20, 16, 16], [10, 6, 6], id="all three, one of them with a zero call"),
    ],
)
def test_points_of_a_round_with_three_seats(
    table: Table, won: str, dice: str, by_table: list[int], per_miss: list[int]
):
    assert last_trick(table, won, dice, seats=3).totals == by_table
    assert last_trick(table, won, dice, seats=3, bonus="table").totals == by_table
    assert last_trick(table, won, dice, seats=3, bonus="per_miss").totals == per_miss


def test_the_die_chosen_in_the_last_trick_is_the_bid(table: Table):
    hands = ("r1 B1", "R2 G4", "r0 B5")
    game = table.position(*hands, trump="P6", won=(4, 3, 4)).play("r1 R2 r0")
    assert game.totals == [4, 34, 4]  # the red two wins the fourth trick, the green four stays


def test_no_points_before_the_end_of_the_round(table: Table):
    game = table.position("r1 r2 B1", "r3 r4 B2", "r5 r0 B3", trump="P6", totals=(5, 0, 9), won=(0, 5, 5))
    assert game.play("r1 r3 r5").totals == [5, 0, 9]
    assert game.play("r0 r2 r4").totals == [5, 6, 15]


# ---- the end of the round and of the game ----


@pytest.mark.parametrize(("dealer", "following"), [(0, 1), (3, 0)])
def test_the_next_dealer_sits_to_the_left(table: Table, dealer: int, following: int):
    game = last_trick(table, "3344", "1111", dealer=dealer, totals=(1, 2, 3, 4))
    assert (game.phase, game.round_number, game.dealer) == ("draft", 2, following)
    assert game.to_move == (following + 1) % 4
    assert game.totals == [4, 5, 7, 8]


def test_a_new_round_keeps_nothing_of_the_old(table: Table):
    game = last_trick(table, "0545", "0545")
    assert (game.trick, game.trump, game.won) == (0, "", [0] * 4)
    assert [game.call(seat) for seat in range(4)] == [""] * 4
    assert [game.voids(seat) for seat in range(4)] == [set()] * 4
    assert [len(game.dice(seat).split()) for seat in range(4)] == [2] * 4
    assert len(game.pool.split()) == 13


@pytest.mark.parametrize(("seats", "won"), [(3, "345"), (4, "3344")])
def test_there_are_as_many_rounds_as_seats(table: Table, seats: int, won: str):
    game = last_trick(table, won, "1" * seats, seats=seats, round_number=seats - 1)
    assert game.phase == "draft"
    game = last_trick(table, won, "1" * seats, seats=seats, round_number=seats, totals=(20, *[0] * (seats - 1)))
    assert (game.phase, game.legal()) == ("over", "")
    assert game.shares == [1] + [0] * (seats - 1)


def test_equal_totals_share_the_victory(table: Table):
    game = last_trick(table, "3344", "1111", round_number=4, totals=(9, 1, 8, 0))
    assert (game.totals, game.shares) == ([12, 4, 12, 4], [0.5, 0, 0.5, 0])


# ---- options and table sizes ----

GAME = find_game("nokosu_dice")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"zero_call": "in turn"}, "unknown zero_call 'in turn' (did you mean 'in_turn'?)"),
        ({"zero_call": "never"}, "unknown zero_call 'never' (valid: in_turn, secret)"),
        ({"tie": "lasts"}, "unknown tie 'lasts' (did you mean 'last'?)"),
        ({"tie": 1}, "unknown tie 1 (valid: last, first)"),
        ({"bonus": "tables"}, "unknown bonus 'tables' (did you mean 'table'?)"),
        ({"bonus": "per_mis"}, "unknown bonus 'per_mis' (did you mean 'per_miss'?)"),
        ({"ties": "last"}, "nokosu_dice has no option 'ties' (did you mean 'tie'?)"),
    ],
)
def test_bad_options_are_refused_with_one_sentence(options: dict[str, Any], sentence: str):
    with pytest.raises(IceError) as caught:
        GAME.make_options(options)
    assert str(caught.value) == sentence


def test_default_options_are_the_game_as_it_comes_in_the_box():
    assert GAME.default_options() == {"zero_call": "in_turn", "tie": "last", "bonus": "table"}


@pytest.mark.parametrize("seats", [2, 5])
def test_other_table_sizes_are_refused_with_one_sentence(seats: int):
    with pytest.raises(IceError) as caught:
        GAME.check_table(seats)
    assert str(caught.value) == f"nokosu_dice is played by 3 to 4 seats, not {seats}"

"""Ice Split by hand: each case of the rules as a deal, a few named moves, and what must follow.

Every case is played by the compiled rules and by the twin.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.helpers import observations
from tests.ice_split_lockstep import GAME, deck_rows
from tests.ice_split_tables import TABLES, CoreTable, Deal, Table, deal, displayed, last_draw, made_deck, new_table

kinds = pytest.mark.parametrize("kind", TABLES)

HANDS = ("0 1 2 3", "10 11 12 13", "20 21 22 23", "30 31 32 33")
MARKET = "40 41 42 43"


def table_deal(seats: int, first: int = 0, pile: str = "") -> Deal:
    return deal(*HANDS[:seats], market=MARKET, pile=pile, first=first)


def table_of(kind: str, seats: int, first: int = 0, pile: str = "") -> Table:
    return new_table(kind, table_deal(seats, first, pile))


def begun(kind: str, seats: int, first: int = 0, pile: str = "") -> Table:
    """Return a table on which everybody has shown the lowest card as start card."""
    table = table_of(kind, seats, first, pile)
    order = [(first + step) % seats for step in range(seats)]
    return table.play(" ".join(f"s{10 * seat}" for seat in order))


# ---- the start cards ----


@kinds
def test_everybody_chooses_a_start_card_from_the_own_hand_clockwise_from_the_first_seat(kind: str):
    table = table_of(kind, 3, first=2)
    assert (table["to_move"], table.legal()) == (2, "s20 s21 s22 s23")
    table.play("s22")
    assert (table["to_move"], table.legal()) == (0, "s0 s1 s2 s3")
    table.play("s0")
    assert (table["to_move"], table.legal()) == (1, "s10 s11 s12 s13")


@kinds
def test_start_cards_are_revealed_together_and_show_both_halves(kind: str):
    table = table_of(kind, 3, first=1).play("s11 s20")
    assert table["goals"] == table["flavors"] == [[], [], []]
    assert table["points"] == [0, 0, 0]
    table.play("s3")
    assert table["goals"] == table["flavors"] == [[3], [11], [20]]
    assert [table.hand(seat) for seat in range(3)] == [{0, 1, 2}, {10, 12, 13}, {21, 22, 23}]
    assert (table["to_move"], table.legal()) == (1, "g10 g12 g13 f10 f12 f13")


def told_the_others(chosen: int, num_players: int) -> list[Any]:
    """Return all that seats 1 and up are told while the start cards are being chosen, `chosen` by seat 0."""
    table, told = CoreTable(table_deal(num_players), deck_rows(), {}), []
    for code in [f"s{chosen}", *[f"s{10 * seat + 1}" for seat in range(1, num_players - 1)]]:
        table.play(code)
        waiting = list(range(1, num_players))
        seen, mask = observations(GAME, table.states.take([0] * len(waiting)), waiting)
        shown = [(GAME.to_view(table.states[0], seat), GAME.to_text(table.states[0], seat)) for seat in waiting]
        told.append((seen.tobytes(), mask.tobytes(), shown, table["points"]))
    return told


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_the_others_are_told_nothing_of_a_start_card_before_all_are_revealed(num_players: int):
    one, *others = [told_the_others(chosen, num_players) for chosen in range(4)]
    assert len(one) == num_players - 1
    assert others == [one] * 3


# ---- a turn ----


@kinds
def test_goals_go_to_the_left_end_and_flavors_to_the_right_end(kind: str):
    table = begun(kind, 2, pile="50 51 52 53 54 55")
    table.play("g1 b g11 b f2 b g12 b g50 b f51 b f52 b f13 b")
    assert table["goals"] == [[50, 1, 0], [12, 11, 10]]
    assert table["flavors"] == [[0, 2, 52], [10, 51, 13]]


@kinds
def test_a_turn_is_a_card_played_and_then_a_card_drawn(kind: str):
    table = begun(kind, 3, first=1, pile="50 51")
    assert (table["to_move"], table.legal()) == (1, "g11 g12 g13 f11 f12 f13")
    table.play("f12")
    assert (table["to_move"], table.legal()) == (1, "m40 m41 m42 m43 b")
    table.play("m42")
    assert (table["to_move"], table.legal()) == (2, "g21 g22 g23 f21 f22 f23")
    assert table.hand(1) == {11, 13, 42}
    table.play("g23 b")
    assert table["to_move"] == 0
    assert table.hand(2) == {21, 22, 51}  # 50 has filled the market


@kinds
def test_the_place_of_an_open_card_is_filled_from_the_top_of_the_deck(kind: str):
    table = begun(kind, 2, pile="50 51").play("f1 m41")
    assert table.market() == {40, 50, 42, 43}
    assert table.deck_height() == 63 - 8 - 4 - 1
    table.play("f11 m50")
    assert table.market() == {40, 51, 42, 43}


@kinds
def test_a_blind_draw_leaves_the_market_alone(kind: str):
    table = begun(kind, 2, pile="50").play("f1 b")
    assert table.market() == {40, 41, 42, 43}
    assert table.hand(0) == {2, 3, 50}
    assert table.deck_height() == 63 - 8 - 4 - 1


@kinds
@pytest.mark.parametrize("seats", GAME.table_sizes)
def test_the_deck_is_what_is_neither_dealt_nor_open(kind: str, seats: int):
    table = table_of(kind, seats)
    assert table.deck_height() == 63 - 4 * seats - 4


# ---- the end ----


@kinds
@pytest.mark.parametrize("seats", GAME.table_sizes)
def test_the_game_ends_when_every_display_has_thirteen_cards_and_nobody_draws_in_the_last_lap(kind: str, seats: int):
    table, decisions = begun(kind, seats, first=1), seats
    turns = [0] * seats
    while not table["over"]:
        seat = table["to_move"]
        turns[seat] += 1
        table.play(table.legal().split()[0])
        decisions += 1
        if turns[seat] < 12:
            assert table["to_move"] == seat
            table.play(last_draw(table))
            decisions += 1
        elif not table["over"]:
            assert table["to_move"] == (seat + 1) % seats
            assert table.legal()[0] == "g"
    assert turns == [12] * seats
    assert [len(goals) + len(flavors) for goals, flavors in zip(table["goals"], table["flavors"], strict=True)] == (
        [14] * seats
    )
    assert [len(table.hand(seat)) for seat in range(seats)] == [2] * seats
    assert (decisions, table.legal(), table["truncated"]) == (24 * seats, "", False)


def with_four_seats_before_the_last_draw(kind: str, way: str) -> Table:
    """Return the table before the 44th draw; the others were blind, or of the first open card."""
    table = begun(kind, 4)
    for draw in range(44):
        table.play(table.legal().split()[0])
        assert table.deck_height() == 43 - draw
        if draw < 43:
            table.play(table.legal().split()[-1 if way == "blind" else 0])
    return table


@kinds
@pytest.mark.parametrize("way", ["blind", "market"])
def test_with_four_seats_the_last_draw_can_only_be_an_open_card(kind: str, way: str):
    table = with_four_seats_before_the_last_draw(kind, way)
    assert table.deck_height() == 0
    opened = sorted(table.market())
    assert len(opened) == 4
    assert table.legal() == " ".join(f"m{card}" for card in opened)
    table.play(f"m{opened[1]}")
    assert table.market() == set(opened) - {opened[1]}
    assert (table["to_move"], table.legal()[0], table.deck_height()) == (0, "g", 0)


@kinds
def test_most_points_win(kind: str):
    deck = made_deck("c MAJORITY c", "s MAJORITY m")
    table = displayed(kind, lay("s0", 2), lay("s1", 14), rows=deck)
    assert (table["points"], table["win_shares"]) == ([4, 0], [1, 0])


def lay(begin: str, first: int, flavors: int = 0) -> str:
    """Return a start, then cards from `first` on that pay nothing, until thirteen lie: flavors first, then goals."""
    laid = begin.split()
    cards = range(first, first + 13 - len(laid))
    return " ".join(laid + [f"{'f' if number < flavors else 'g'}{card}" for number, card in enumerate(cards)])


@kinds
def test_of_equal_points_the_display_with_more_different_flavors_wins(kind: str):
    deck = made_deck("c MAJORITY c", "s MAJORITY s", "s MAJORITY p", "m MAJORITY p", "c MAJORITY p", "c MAJORITY p")
    table = displayed(kind, lay("s0 f4 f5", 6), lay("s1 f2 f3", 20), rows=deck)
    assert table["flavors"] == [[0, 4, 5], [1, 2, 3]]  # three of one kind, or three of two kinds
    assert (table["points"], table["win_shares"]) == ([4, 4], [0, 1])


@kinds
def test_equal_points_and_equally_many_flavors_share_the_victory(kind: str):
    """Seats 1 and 2 show two kinds, seat 0 one; seat 3 shows five, but has no points."""
    deck = made_deck(
        *["c MAJORITY c", "s MAJORITY s", "m MAJORITY m", "v EXACTLY_ONE l"],
        *["s MAJORITY p", "c MAJORITY p", "m MAJORITY p", "c MAJORITY p"],
        *["c MAJORITY p", "s MAJORITY p", "m MAJORITY p", "b MAJORITY p"],
    )
    table = displayed(
        *[kind, lay("s0", 12), lay("s1 f4 f5", 24), lay("s2 f6 f7", 34), lay("s3 f8 f9 f10 f11", 44)], rows=deck
    )
    assert table["points"] == [4, 4, 4, 0]
    assert table["win_shares"] == [0, Fraction(1, 2), Fraction(1, 2), 0]


@kinds
def test_nobody_has_points_and_nobody_shows_more_flavors(kind: str):
    deck = made_deck("c MAJORITY v", "s MAJORITY v", "m MAJORITY v")
    table = displayed(kind, lay("s0", 3), lay("s1", 15), lay("s2", 27), rows=deck)
    assert (table["points"], table["win_shares"]) == ([0, 0, 0], [Fraction(1, 3)] * 3)


# ---- points of whole displays ----


@kinds
def test_the_kind_of_display_of_which_the_rulebook_gives_an_example(kind: str):
    """Six goals pay 0 + 4 + 4 + 4 + 6 + 5 over eight flavors, laid with the reconstructed deck.

    Chocolate ties with blueberry; one lemon, which the sequence of three uses too; one pistachio; blueberry and
    chocolate side by side, twice, which pays once; mint, lemon, strawberry; chocolate at the right end.
    """
    others = "s40 g41 g42 g43 g44 g45 g46 g47 g48 g49 g51 g52 g53"
    table = displayed(kind, "s50 f3 f4 f2 f5 f1 f12 f8 g29 g25 g16 g14 g0", others)
    assert table["goals"][0] == [0, 14, 16, 25, 29, 50]
    assert table["points"][0] == 23


@kinds
def test_every_goal_pays_once_and_a_flavor_may_serve_many_goals(kind: str):
    """Of chocolate, lemon, strawberry, chocolate, lemon: the pair stands in the row twice and within the three."""
    goals = ["c SEQUENCE c l", "v SEQUENCE s c l", "v RIGHTMOST_IN l b", "v EXACTLY_ONE s", "v MAJORITY c"]
    deck = made_deck(*goals, "l MAJORITY p", "s MAJORITY p", "c MAJORITY p", "l MAJORITY p")
    plays = ("s0 f5 f6 f7 f8 g1 g2 g3 g4", "s62 g61 g60 g59 g58 g57 g56 g55 g54")
    assert displayed(kind, *plays, rows=deck)["points"][0] == 4 + 6 + 5 + 4


@kinds
def test_a_met_goal_can_be_spoiled_again(kind: str):
    deck = made_deck("c NONE_OF s m", "s MAJORITY p", "c MAJORITY p")
    table = displayed(kind, "s0 f2", "s62 g61", rows=deck)
    assert table["points"][0] == 3
    table = displayed(kind, "s0 f2 f1", "s62 g61 g60", rows=deck)
    assert table["points"][0] == 0


@kinds
@pytest.mark.parametrize(
    ("goals", "each", "once"),
    [
        pytest.param(("MAJORITY c", "MAJORITY c", "MAJORITY c"), 12, 4, id="three identical goals"),
        pytest.param(("NONE_OF s b", "NONE_OF b s", "NONE_OF s m"), 9, 6, id="what is not ordered may be printed so"),
        pytest.param(("SEQUENCE c c", "SEQUENCE c c", "SEQUENCE c c c"), 14, 10, id="a longer sequence is another"),
        pytest.param(("AT_MOST_THREE_KINDS", "THREE_ADJACENT", "THREE_ADJACENT"), 16, 11, id="goals without flavors"),
        pytest.param(("MAJORITY c", "EXACTLY_ONE s", "MAJORITY s"), 4, 4, id="other flavors, other goals"),
        pytest.param(("SEQUENCE s c", "SEQUENCE s c", "NONE_OF s b"), 3, 3, id="unmet goals pay nothing in any case"),
    ],
)
def test_option_duplicate_goals(kind: str, goals: tuple[str, str, str], each: int, once: int):
    deck = made_deck(*[f"c {goal}" for goal in goals], "c MAJORITY p", "c MAJORITY p")
    plays = ("s0 g1 g2 f3 f4", "s62 g61 g60 g59 g58")
    assert displayed(kind, *plays, rows=deck)["points"][0] == each
    assert displayed(kind, *plays, rows=deck, duplicate_goals="each")["points"][0] == each
    assert displayed(kind, *plays, rows=deck, duplicate_goals="once")["points"][0] == once


@kinds
@pytest.mark.parametrize("duplicate_goals", ["each", "once"])
def test_identical_goals_of_two_displays_both_pay(kind: str, duplicate_goals: str):
    deck = made_deck("c MAJORITY c", "c MAJORITY c")
    table = displayed(kind, "s0", "s1", rows=deck, duplicate_goals=duplicate_goals)
    assert table["points"] == [4, 4]

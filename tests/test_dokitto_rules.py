"""Dokitto! Ice by hand: each case of the rules as a position, a few named moves, and what must follow."""

from __future__ import annotations

from typing import Any

import pytest

from ice_envs import IceError, find_game
from ice_envs.games.dokitto.rules import HAND_SIZES, NEXT_LEADERS
from tests.dokitto_positions import cone, full_stacks, legal_codes, play, position, shares, tiles, totals
from tests.helpers import random_play, started

GAME = find_game("dokitto")

# ---- what may be played ----


def test_the_leader_may_play_any_card():
    table = position("s5 c12 m1", "s6 c2 m3")
    assert legal_codes(table) == "s5 c12 m1"


def test_a_seat_that_holds_the_led_flavor_must_follow():
    table = play(position("s5 c12 m1", "s6 s9 m3"), "s5")
    assert table[0].to_move == 1
    assert legal_codes(table) == "s6 s9"


def test_a_seat_without_the_led_flavor_may_play_anything_and_shows_that():
    table = play(position("s5 c12 m1", "c2 c3 m3"), "s5")
    assert legal_codes(table) == "c2 c3 m3"
    assert table[0].voids[1] == 0
    play(table, "m3")
    assert table[0].voids.tolist() == [0, 0b1, 0, 0, 0]  # strawberry


def test_play_goes_clockwise_past_the_last_seat():
    table = position("s5 s1", "s6 s2", "s7 s3", lead=1)
    order = [int(play(table, card)[0].to_move) for card in ("s6", "s7")]
    assert order == [2, 0]


# ---- who wins the trick ----


@pytest.mark.parametrize(
    ("hands", "moves", "winner"),
    [
        pytest.param(("s5 c1", "s12 c2", "s9 c3"), "s5 s12 s9", 1, id="one flavor: the highest"),
        pytest.param(("s5 c1", "s12 c2", "c9 c3"), "s5 s12 c9", 0, id="off-flavor card in the last seat: the lowest"),
        pytest.param(("s5 c1", "m13 c2", "s9 c3"), "s5 m13 s9", 0, id="off-flavor card in the middle: the lowest"),
        pytest.param(("s5 c1", "s12 c2", "c2 c3"), "s5 s12 c2", 2, id="the lowest wins, whatever its flavor"),
        pytest.param(("s5 c1", "c5 c2", "m9 c3"), "s5 c5 m9", 1, id="two equal lowest: the last played"),
        pytest.param(("s5 c1", "c5 c2", "m5 m1"), "s5 c5 m5", 2, id="three equal lowest: the last played"),
        pytest.param(("s9 c1", "c9 c2", "m5 m1"), "s9 c9 m5", 2, id="equal numbers that are not the lowest"),
        pytest.param(("s1 c1", "s2 c2", "s3 c3"), "s1 s2 s3", 2, id="low cards of one flavor: the highest"),
    ],
)
def test_winner_of_a_trick(hands: tuple[str, ...], moves: str, winner: int):
    table = play(position(*hands), moves)
    assert table[0].to_move == winner
    assert table[0].phase == 1 or table[0].leader == winner  # a tile to choose first, or the lead


def test_of_equal_lowest_the_last_played_wins_even_if_it_is_the_lower_seat():
    table = play(position("c5 c1", "s5 c2", "m9 c3", lead=1), "s5 m9 c5")
    assert table[0].to_move == 0


# ---- the tile ----


def test_a_high_win_takes_the_flavor_played_without_a_decision():
    table = play(position("s5 c1", "s12 c2"), "s5 s12")
    assert cone(table, 1) == "s"
    assert tiles(table) == {"s": 2, "c": 3, "m": 3}
    assert (table[0].leader, table[0].phase, table[0].trick) == (1, 0, HAND_SIZES[2] - 1)


def test_a_high_win_with_that_flavor_sold_out_chooses_any_other():
    table = play(position("s5 c1", "s12 c2", sold_out="s"), "s5 s12")
    assert table[0].to_move == 1
    assert legal_codes(table) == "+c +m"
    play(table, "+m")
    assert (cone(table, 1), table[0].leader) == ("m", 1)


def test_a_low_win_chooses_among_the_flavors_played():
    table = play(position("s5 c1", "c12 c2", "s13 m3"), "s5 c12 s13")
    assert legal_codes(table) == "+s +c"
    play(table, "+c")
    assert (cone(table, 0), tiles(table)) == ("c", {"s": 3, "c": 2, "m": 3})


def test_a_low_win_with_one_flavor_played_sold_out_chooses_among_the_others():
    table = play(position("s5 c1", "c12 c2", "m13 m3", sold_out="s"), "s5 c12 m13")
    assert legal_codes(table) == "+c +m"


def test_a_low_win_with_one_flavor_left_takes_it_without_a_decision():
    table = play(position("s5 c1", "c12 c2", "m13 m3", sold_out="sc"), "s5 c12 m13")
    assert (cone(table, 0), table[0].phase, table[0].leader) == ("m", 0, 0)


def test_a_low_win_with_all_flavors_played_sold_out_chooses_any_that_is_left():
    hands = ("s5 c1", "c12 c2", "s13 m3", "s10 s11")
    table = play(position(*hands, sold_out="sc"), "s5 c12 s13 s10")
    assert legal_codes(table) == "+m +g"
    table = play(position(*hands, sold_out="scm"), "s5 c12 s13 s10")
    assert (cone(table, 0), table[0].phase) == ("g", 0)


def test_flavors_that_are_not_in_play_are_never_offered():
    table = play(position("s5 c1", "s12 c2", "s13 m3", sold_out="s"), "s5 s12 s13")
    assert legal_codes(table) == "+c +m"  # neither grape nor vanilla with three seats


@pytest.mark.parametrize(
    ("sold_out", "after"),
    [
        pytest.param("", "s", id="the winning card's flavor, no decision"),
        pytest.param("s", "+c +m", id="sold out: choose among the trick's other flavors"),
        pytest.param("sc", "m", id="one other flavor left: no decision"),
        pytest.param("scm", "g", id="none of the trick's left: any"),
    ],
)
def test_option_low_win_tile_winning_card(sold_out: str, after: str):
    hands = ("s5 c1", "c12 c2", "m13 m3", "s10 s11")
    table = play(position(*hands, sold_out=sold_out, low_win_tile="winning_card"), "s5 c12 m13 s10")
    assert (legal_codes(table) if "+" in after else cone(table, 0)) == after
    table = play(position(*hands, sold_out=sold_out, low_win_tile="choice"), "s5 c12 m13 s10")
    assert (legal_codes(table) == "+s +c +m") == (sold_out == "")


def test_option_low_win_tile_leaves_high_wins_alone():
    table = play(position("s5 c1", "s12 c2", sold_out="s", low_win_tile="winning_card"), "s5 s12")
    assert legal_codes(table) == "+c +m"


# ---- star and topping ----


def test_the_star_brings_the_topping():
    table = position("s5 s3 c1", "s12 s2 c2", "s11 s1 c3", stars="s2")
    play(table, "s5 s12 s11")
    assert cone(table, 1) == "s"  # the first tile has no star
    play(table, "s2 s1 s3")
    assert (cone(table, 0), table[0].toppings) == ("s*", 0b110)


def test_a_star_brings_nothing_when_the_topping_is_gone():
    table = position("s5 s3", "s12 s2", "s11 s1", stars="s1 s2 s3", stars_per_flavor=3)
    play(table, "s5 s12 s11")
    assert (cone(table, 1), table[0].toppings) == ("s*", 0b110)
    play(table, "s2 s1 s3")
    assert totals(table) == [1, 2, 0]  # the round is over: a tile, and a tile with a topping


@pytest.mark.parametrize("stars", range(4))
def test_option_stars_per_flavor(stars: int):
    table = started(GAME, 5, 200, stars_per_flavor=stars)
    assert {int(bits).bit_count() for bits in table["stars"].ravel()} == {stars}
    toppings = max(int(states["cone_toppings"].max()) for states, _ in random_play(GAME, table, 0))
    assert (toppings > 0) == (stars > 0)


# ---- the fourth tile ----


def test_a_fourth_tile_on_trick_four_ends_the_round():
    hands = ("s13 s12 s11 s10 c1 c2", "s1 s2 s3 s4 c5 c6")
    table = play(position(*hands, stars="s1"), "s13 s1 s12 s2 s11 s3")
    assert (cone(table, 0), tiles(table)["s"], table[0].trick) == ("sss*", 0, 3)
    play(table, "s10 s4")
    assert totals(table) == [0, 0]
    assert (table[0].round_number, table[0].over, table[0].first_leader) == (2, 0, 0)
    assert full_stacks(table)


def test_a_bust_spares_the_others():
    table = position("s13 c1", "s1 c2", "s2 c3", cones="sss/c*m/m")
    play(table, "s13 s1 s2")
    assert totals(table) == [0, 3, 1]


def test_a_buster_keeps_the_points_of_earlier_rounds_and_leads_the_next_round():
    table = position("s13 c1", "s1 c2", "s2 c3", cones="c*cm/m*/s", totals=(7, 2, 3), lead=0)
    play(table, "s13 s1 s2")
    assert totals(table) == [7, 4, 4]
    assert (table[0].over, table[0].first_leader, table[0].to_move) == (0, 0, 0)


def test_a_bust_while_another_seat_reaches_the_target_ends_the_game():
    table = position("s13 c1", "s1 c2", "s2 c3", cones="ccm/m*/s", totals=(9, 8, 3))
    play(table, "s13 s1 s2")
    assert totals(table) == [9, 10, 4]
    assert (table[0].over, table[0].truncated) == (1, 0)
    assert shares(table) == [0, 1, 0]
    assert legal_codes(table) == ""


def test_the_busters_own_cone_does_not_end_the_game():
    table = position("s13 c1", "s1 c2", cones="c*cm/m", totals=(9, 2))
    play(table, "s13 s1")
    assert (totals(table), table[0].over) == ([9, 3], 0)


def test_the_last_trick_of_a_round_can_be_a_bust():
    table = position("s13", "s1", cones="cmm/s*c", totals=(1, 1))
    play(table, "s13 s1")
    assert totals(table) == [1, 4]
    assert (table[0].round_number, table[0].first_leader) == (2, 0)


def test_a_bust_wins_no_tile_even_in_a_low_trick():
    table = position("s1 c2", "c13 m2", "m12 m3", cones="sss/c/m")
    play(table, "s1 c13 m12")
    assert (totals(table), table[0].phase) == ([0, 1, 1], 0)  # no choice of a fourth tile


# ---- the end of the round and of the game ----


def test_the_round_ends_with_the_last_card():
    table = play(position("s5", "s12", "s7", cones="c*/m/"), "s5 s12 s7")
    assert totals(table) == [2, 2, 0]
    assert (table[0].round_number, table[0].first_leader) == (2, 1)
    assert full_stacks(table)


def test_the_choice_of_the_last_tile_comes_before_the_end_of_the_round():
    table = play(position("s5", "c12", stars="c1"), "s5 c12")
    assert (legal_codes(table), totals(table)) == ("+s +c", [0, 0])
    assert totals(play(table, "+c")) == [2, 0]


def test_a_new_round_hides_nothing_of_the_old():
    table = play(position("s5", "c12", cones="s*m/c"), "s5 c12 +s")
    state = table[0]
    assert state.round_number == 2
    for name in ("voids", "played", "played_by", "played_trick", "cones", "cone_toppings"):
        assert not state[name].any(), name
    assert sum(int(bits).bit_count() for bits in state.hands.ravel()) == 2 * HAND_SIZES[2]


def test_the_target_is_checked_at_the_end_of_a_round_only():
    table = play(position("s5 c1", "s12 c2", totals=(9, 9)), "s5 s12")
    assert (totals(table), table[0].over) == ([9, 9], 0)  # seat 1 holds its tenth point on its cone
    play(table, "c2 c1")
    assert (totals(table), table[0].over) == ([9, 11], 1)


def test_equal_points_share_the_victory():
    table = play(position("s5", "s12", "s7", cones="c*/m/mmc", totals=(8, 8, 7)), "s5 s12 s7")
    assert (totals(table), table[0].over) == ([10, 10, 10], 1)
    assert shares(table) == [1 / 3] * 3


def test_most_points_win_when_two_reach_the_target():
    table = play(position("s5", "s12", "s7", cones="c*/m/", totals=(9, 8, 1)), "s5 s12 s7")
    assert (totals(table), shares(table)) == ([11, 10, 1], [1, 0, 0])


@pytest.mark.parametrize(("target", "over"), [(3, 1), (4, 0)])
def test_option_target_score(target: int, over: int):
    table = play(position("s5", "s12", cones="c/m*", target_score=target), "s5 s12")
    assert (totals(table), table[0].over) == ([1, 3], over)


def test_option_max_rounds_truncates_and_the_leaders_share():
    last = {"round_number": 7}
    table = play(position("s5", "s12", "s7", totals=(5, 4, 2), fields=last, max_rounds=7), "s5 s12 s7")
    assert (table[0].over, table[0].truncated, totals(table)) == (1, 1, [5, 5, 2])
    assert shares(table) == [0.5, 0.5, 0]
    table = play(position("s5", "s12", "s7", totals=(5, 4, 2), fields=last, max_rounds=8), "s5 s12 s7")
    assert (table[0].over, table[0].round_number) == (0, 8)


def test_reaching_the_target_in_the_last_round_is_no_truncation():
    table = play(position("s5", "s12", totals=(2, 9), fields={"round_number": 50}), "s5 s12")
    assert (table[0].over, table[0].truncated) == (1, 0)


@pytest.mark.parametrize(
    ("option", "points", "leader"),
    [
        pytest.param("last_winner", (0, 0, 0, 0), 3, id="winner of the last trick"),
        pytest.param("rotate", (0, 0, 0, 0), 2, id="left of the last first leader"),
        pytest.param("lowest", (4, 3, 2, 5), 2, id="lowest total"),
        pytest.param("lowest", (4, 4, 5, 4), 0, id="equal lowest: first clockwise after the last first leader"),
        pytest.param("lowest", (5, 2, 5, 1), 3, id="equal lowest: the last first leader itself comes last"),
    ],
)
def test_option_next_leader(option: str, points: tuple[int, ...], leader: int):
    table = position("s5", "s6", "s7", "s12", lead=1, totals=points, next_leader=option)
    play(table, "s6 s7 s12 s5")
    assert totals(table)[3] == points[3] + 1
    assert (table[0].first_leader, table[0].leader, table[0].to_move) == (leader, leader, leader)


def test_option_next_leader_rotate_goes_round_the_table():
    table = play(position("s5", "s6", "s7", lead=2, next_leader="rotate"), "s7 s5 s6")
    assert table[0].first_leader == 0


def test_a_five_seat_round_to_empty_hands():
    """Each seat holds one flavor whole; who is to win plays the lowest card, all others their highest.

    Thirteen tricks, thirteen tiles, nobody busts. In the last trick three seats have only a 3 left: the last one wins.
    """
    table = position(*(" ".join(f"{flavor}{n}" for n in range(1, 14)) for flavor in "scmgv"), stars="s3 c3 m3 g3 v3")
    low, high = [1] * 5, [13] * 5
    winners = [0, 1, 2, 3, 4] * 2 + [0, 1, 4]
    leader = 0
    for trick, winner in enumerate(winners):
        assert (table[0].trick, table[0].round_number) == (trick, 1)
        for seat in ((leader + k) % 5 for k in range(5)):
            step, cards = (1, low) if seat == winner else (-1, high)
            play(table, f"{'scmgv'[seat]}{cards[seat]}")
            cards[seat] += step
        play(table, f"+{'scmgv'[winner]}")
        leader = winner
    assert table[0].round_number == 2
    assert totals(table) == [4, 4, 2, 2, 4]  # three tiles and the topping on the third, or two tiles


# ---- options ----


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"target_score": 0}, "target_score must be from 1 to 30, not 0"),
        ({"target_score": 31}, "target_score must be from 1 to 30, not 31"),
        ({"target_score": 9.5}, "target_score must be a whole number from 1 to 30, not 9.5"),
        ({"max_rounds": 101}, "max_rounds must be from 1 to 100, not 101"),
        ({"stars_per_flavor": 4}, "stars_per_flavor must be from 0 to 3, not 4"),
        ({"stars_per_flavor": True}, "stars_per_flavor must be a whole number from 0 to 3, not True"),
        ({"next_leader": "lowset"}, "unknown next_leader 'lowset' (did you mean 'lowest'?)"),
        ({"low_win_tile": "winning"}, "unknown low_win_tile 'winning' (did you mean 'winning_card'?)"),
        ({"target": 5}, "dokitto has no option 'target' (did you mean 'target_score'?)"),
    ],
)
def test_bad_options_are_refused_with_one_sentence(options: dict[str, Any], sentence: str):
    with pytest.raises(IceError) as caught:
        GAME.make_options(options)
    assert str(caught.value) == sentence


def test_default_options_are_the_game_as_it_comes_in_the_box():
    assert GAME.default_options() == {
        "target_score": 10,
        "max_rounds": 50,
        "stars_per_flavor": 1,
        "next_leader": "last_winner",
        "low_win_tile": "choice",
    }
    assert NEXT_LEADERS == ("last_winner", "rotate", "lowest", "random")

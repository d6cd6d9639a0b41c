"""What a seat of Dokitto! Ice observes: everything it could remember of the round, and the totals.

Seats are relative: 0 is the observer, then clockwise; rows of absent seats stay 0. Earlier rounds leave nothing
behind but totals and the round's number, since all cards, tiles and toppings are shuffled anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.bits import count_bits, lowest_bit, write_bits
from ice_envs.engine.jit import compiled
from ice_envs.engine.layout import Layout
from ice_envs.engine.seats import relative
from ice_envs.games.dokitto.rules import (
    ALL_NUMBERS,
    CONE_SIZE,
    FIRST_OF_FIFTH,
    HAND_SIZES,
    HIGHEST_TARGET,
    LOW_WIN_TILES,
    MAX_PLAYERS,
    MOST_ROUNDS,
    NEXT_LEADERS,
    NUM_CARDS,
    NUM_FLAVORS,
    NUM_NUMBERS,
    TILES_PER_FLAVOR,
    must_follow,
    trick_winner,
)

_CARDS = (NUM_FLAVORS, NUM_NUMBERS)
_SEATS_FLAVORS = (MAX_PLAYERS, NUM_FLAVORS)

_MOST_UNSEEN = NUM_CARDS - HAND_SIZES[MAX_PLAYERS]
_EACH_OF_FOUR = sum(1 << (NUM_NUMBERS * flavor) for flavor in range(NUM_FLAVORS - 1))

LAYOUT = Layout(
    [
        ("hand", _CARDS, 0, 1, "cards in the own hand"),
        ("unseen", _CARDS, 0, 1, "cards of the deck neither in the own hand nor played this round"),
        ("takes_trick", _CARDS, 0, 1, "own cards that would be ahead in the trick if played now"),
        ("higher_unseen", _CARDS, 0, NUM_NUMBERS - 1, "own cards: unseen cards of the same flavor that are higher"),
        ("lower_unseen", _CARDS, 0, _MOST_UNSEEN, "own cards: unseen cards of any flavor that are lower"),
        ("played_by", _CARDS, 0, MAX_PLAYERS, "who played a card this round: relative seat + 1"),
        ("played_trick", _CARDS, 0, NUM_NUMBERS, "in which trick of the round, from 1"),
        ("phase", (2,), 0, 1, "play a card, take a tile"),
        ("trick_flavor", _SEATS_FLAVORS, 0, 1, "flavor of each seat's card in the trick"),
        ("trick_number", (MAX_PLAYERS,), 0, NUM_NUMBERS, "number of each seat's card in the trick"),
        ("led", (NUM_FLAVORS,), 0, 1, "flavor led"),
        ("mixed", (1,), 0, 1, "two or more flavors lie in the trick, so the lowest number wins"),
        ("ahead", (MAX_PLAYERS,), 0, 1, "seat ahead in the trick"),
        ("ahead_number", (1,), 0, NUM_NUMBERS, "its number"),
        ("yet_to_play", (MAX_PLAYERS,), 0, 1, "seats that have not played to the trick"),
        ("may_discard", (1,), 0, 1, "the observer need not follow"),
        ("present", (MAX_PLAYERS,), 0, 1, "seats at the table"),
        ("first_leader", (MAX_PLAYERS,), 0, 1, "who led the round's first trick"),
        ("voids", _SEATS_FLAVORS, 0, 1, "flavors a seat has failed to follow"),
        ("cone_size", (MAX_PLAYERS, CONE_SIZE), 0, 1, "at least one, two, three tiles on the cone"),
        ("cones", _SEATS_FLAVORS, 0, TILES_PER_FLAVOR, "tiles taken by flavor"),
        ("cone_toppings", _SEATS_FLAVORS, 0, 1, "toppings taken"),
        ("round_points", (MAX_PLAYERS,), 0, 2 * CONE_SIZE, "tiles and toppings on the cone"),
        ("totals", (MAX_PLAYERS,), 0, HIGHEST_TARGET + 2 * CONE_SIZE - 1, "points of the rounds before"),
        ("to_target", (MAX_PLAYERS,), 0, HIGHEST_TARGET, "points short of the target, the cone counted"),
        ("tiles", (NUM_FLAVORS,), 0, TILES_PER_FLAVOR, "tiles left in each stack"),
        ("toppings", (NUM_FLAVORS,), 0, 1, "toppings not taken yet"),
        ("tricks_left", (1,), 0, HAND_SIZES[MAX_PLAYERS] - 1, "tricks after this one if nobody busts"),
        ("round", (1,), 1, MOST_ROUNDS, "number of the round"),
        ("target_score", (1,), 1, HIGHEST_TARGET, "option"),
        ("max_rounds", (1,), 1, MOST_ROUNDS, "option"),
        ("stars_per_flavor", (1,), 0, TILES_PER_FLAVOR, "option"),
        ("next_leader", (len(NEXT_LEADERS),), 0, 1, "option: " + ", ".join(NEXT_LEADERS)),
        ("low_win_tile", (len(LOW_WIN_TILES),), 0, 1, "option: " + ", ".join(LOW_WIN_TILES)),
    ]
)

FLAVOR_AXES = {
    **dict.fromkeys(("unseen", "played_by", "played_trick", "led", "tiles", "toppings"), 0),
    **dict.fromkeys(("trick_flavor", "voids", "cones", "cone_toppings"), 1),
}
"""The slices with an axis over the flavors, and which one it is."""

_HAND = LAYOUT["hand"].start
_UNSEEN = LAYOUT["unseen"].start
_TAKES_TRICK = LAYOUT["takes_trick"].start
_HIGHER_UNSEEN = LAYOUT["higher_unseen"].start
_LOWER_UNSEEN = LAYOUT["lower_unseen"].start
_PLAYED_BY = LAYOUT["played_by"].start
_PLAYED_TRICK = LAYOUT["played_trick"].start
_PHASE = LAYOUT["phase"].start
_TRICK_FLAVOR = LAYOUT["trick_flavor"].start
_TRICK_NUMBER = LAYOUT["trick_number"].start
_LED = LAYOUT["led"].start
_MIXED = LAYOUT["mixed"].start
_AHEAD = LAYOUT["ahead"].start
_AHEAD_NUMBER = LAYOUT["ahead_number"].start
_YET_TO_PLAY = LAYOUT["yet_to_play"].start
_MAY_DISCARD = LAYOUT["may_discard"].start
_PRESENT = LAYOUT["present"].start
_FIRST_LEADER = LAYOUT["first_leader"].start
_VOIDS = LAYOUT["voids"].start
_CONE_SIZE = LAYOUT["cone_size"].start
_CONES = LAYOUT["cones"].start
_CONE_TOPPINGS = LAYOUT["cone_toppings"].start
_ROUND_POINTS = LAYOUT["round_points"].start
_TOTALS = LAYOUT["totals"].start
_TO_TARGET = LAYOUT["to_target"].start
_TILES = LAYOUT["tiles"].start
_TOPPINGS = LAYOUT["toppings"].start
_TRICKS_LEFT = LAYOUT["tricks_left"].start
_ROUND = LAYOUT["round"].start
_TARGET_SCORE = LAYOUT["target_score"].start
_MAX_ROUNDS = LAYOUT["max_rounds"].start
_STARS_PER_FLAVOR = LAYOUT["stars_per_flavor"].start
_NEXT_LEADER = LAYOUT["next_leader"].start
_LOW_WIN_TILE = LAYOUT["low_win_tile"].start


@compiled
def observe(state: Any, seat: int, out: Any) -> None:
    """Write the seat's observation into `out` (LAYOUT.size,) uint8, which arrives all zero."""
    write_cards(state, seat, out)
    write_history(state, seat, out)
    write_trick(state, seat, out)
    write_seats(state, seat, out)
    write_table(state, out)


@compiled
def unseen_numbers(state: Any, seat: int, flavor: int) -> int:
    """Return the numbers (bits) of a flavor that the seat has not seen this round."""
    in_play = ALL_NUMBERS if flavor < state.num_flavors else 0
    return in_play ^ (state.hands[seat, flavor] | state.played[flavor])


@compiled
def write_cards(state: Any, seat: int, out: Any) -> None:
    """Write the own hand, the unseen cards, and what each own card would do.

    Four flavors lie side by side in one word (bit = card), the fifth in another: few loops, few branches to miss.
    """
    hand, unseen, taking = 0, 0, 0
    for flavor in range(NUM_FLAVORS - 1):
        first = flavor * NUM_NUMBERS
        hand |= state.hands[seat, flavor] << first
        unseen |= unseen_numbers(state, seat, flavor) << first
        taking |= taking_numbers(state, flavor) << first
    fifth_hand = np.int64(state.hands[seat, NUM_FLAVORS - 1])
    fifth_unseen = unseen_numbers(state, seat, NUM_FLAVORS - 1)
    fifth_taking = taking_numbers(state, NUM_FLAVORS - 1)
    write_bits(unseen, FIRST_OF_FIFTH, out, _UNSEEN)
    write_bits(fifth_unseen, NUM_NUMBERS, out, _UNSEEN + FIRST_OF_FIFTH)
    while hand:
        card = lowest_bit(hand)
        hand &= hand - 1
        place = card % NUM_NUMBERS
        below = (1 << place) - 1
        out[_HAND + card] = 1
        out[_TAKES_TRICK + card] = (taking >> card) & 1
        out[_HIGHER_UNSEEN + card] = count_bits((unseen >> card) & (ALL_NUMBERS >> place))
        out[_LOWER_UNSEEN + card] = count_bits(unseen & (below * _EACH_OF_FOUR)) + count_bits(fifth_unseen & below)
    while fifth_hand:
        place = lowest_bit(fifth_hand)
        fifth_hand &= fifth_hand - 1
        card = FIRST_OF_FIFTH + place
        below = (1 << place) - 1
        out[_HAND + card] = 1
        out[_TAKES_TRICK + card] = (fifth_taking >> place) & 1
        out[_HIGHER_UNSEEN + card] = count_bits(fifth_unseen >> place)
        out[_LOWER_UNSEEN + card] = count_bits(unseen & (below * _EACH_OF_FOUR)) + count_bits(fifth_unseen & below)


@compiled
def taking_numbers(state: Any, flavor: int) -> int:
    """Return the numbers (bits) of a flavor that would be ahead in the trick if played now."""
    lower = ((1 << state.low_number) - 1) & ALL_NUMBERS
    higher = ALL_NUMBERS ^ ((1 << state.high_number) - 1)
    return lower if state.mixed or flavor != state.led else higher


@compiled
def write_history(state: Any, seat: int, out: Any) -> None:
    """Write who played which card this round, and when."""
    num_players, observer = np.int8(state.num_players), np.int8(seat)
    played_by, played_trick = state.played_by, state.played_trick
    for card in range(NUM_CARDS):
        player = np.int8(played_by[card])
        places = np.int8(player - observer)
        around = np.int8(places + num_players)
        out[_PLAYED_BY + card] = 0 if player == 0 else (around if places <= 0 else places)
        out[_PLAYED_TRICK + card] = played_trick[card]


@compiled
def write_trick(state: Any, seat: int, out: Any) -> None:
    """Write the trick on the table."""
    out[_PHASE + state.phase] = 1
    out[_TRICKS_LEFT] = max(state.hand_size - 1 - state.trick, 0)
    out[_FIRST_LEADER + relative(state, state.first_leader, seat)] = 1
    if state.trick_size:
        out[_LED + state.led] = 1
        out[_MIXED] = state.mixed
        out[_AHEAD + relative(state, trick_winner(state), seat)] = 1
        out[_AHEAD_NUMBER] = state.low_number if state.mixed else state.high_number
    out[_MAY_DISCARD] = not must_follow(state, seat)


@compiled
def write_seats(state: Any, observer: int, out: Any) -> None:
    """Write what everybody sees of each seat."""
    voids, toppings, sizes = 0, 0, 0  # as many bits a seat as it has cells, side by side
    for seat in range(state.num_players):
        place = relative(state, seat, observer)
        voids |= state.voids[seat] << (place * NUM_FLAVORS)
        toppings |= state.cone_toppings[seat] << (place * NUM_FLAVORS)
        sizes |= ((1 << state.cone_sizes[seat]) - 1) << (place * CONE_SIZE)
        write_seat(state, seat, place, out)
    write_bits(voids, MAX_PLAYERS * NUM_FLAVORS, out, _VOIDS)
    write_bits(toppings, MAX_PLAYERS * NUM_FLAVORS, out, _CONE_TOPPINGS)
    write_bits(sizes, MAX_PLAYERS * CONE_SIZE, out, _CONE_SIZE)


@compiled
def write_seat(state: Any, seat: int, place: int, out: Any) -> None:
    """Write the seat's card in the trick, its cone and its points."""
    out[_PRESENT + place] = 1
    laid = np.int64(state.trick_cards[seat] >= 0)
    card = laid * state.trick_cards[seat]
    out[_TRICK_FLAVOR + place * NUM_FLAVORS + card // NUM_NUMBERS] = laid
    out[_TRICK_NUMBER + place] = laid * (card % NUM_NUMBERS + 1)
    out[_YET_TO_PLAY + place] = 1 - laid
    for flavor in range(NUM_FLAVORS):
        out[_CONES + place * NUM_FLAVORS + flavor] = state.cones[seat, flavor]
    tiles = state.cone_sizes[seat]
    points = tiles + count_bits(state.cone_toppings[seat])
    total = state.totals[seat]
    out[_ROUND_POINTS + place] = points
    out[_TOTALS + place] = total
    out[_TO_TARGET + place] = max(state.target_score - total - points, 0)


@compiled
def write_table(state: Any, out: Any) -> None:
    """Write stacks, toppings, the round and the options."""
    for flavor in range(NUM_FLAVORS):
        out[_TILES + flavor] = state.tiles[flavor]
        out[_TOPPINGS + flavor] = (state.toppings >> flavor) & 1
    out[_ROUND] = state.round_number
    out[_TARGET_SCORE] = state.target_score
    out[_MAX_ROUNDS] = state.max_rounds
    out[_STARS_PER_FLAVOR] = state.stars_per_flavor
    out[_NEXT_LEADER + state.next_leader] = 1
    out[_LOW_WIN_TILE + state.low_win_tile] = 1

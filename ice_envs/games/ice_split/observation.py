"""What a seat of Ice Split observes: all that a perfect memory could tell it that still matters.

Seats are relative: 0 is the observer, then clockwise; rows of absent seats stay 0. Goals are told apart by number: the
lowest number of a card that has just this goal, so that the covered flavor half of another such card is not given away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.bits import count_bits, lowest_bit, write_bits
from ice_envs.engine.jit import compiled
from ice_envs.engine.layout import Layout
from ice_envs.engine.seats import relative
from ice_envs.games.ice_split.deck import MOST_POINTS, NUM_CARDS, NUM_FLAVORS
from ice_envs.games.ice_split.display import (
    FIELD,
    GOALS_A_WORD,
    WITH_GOAL,
    from_right,
    goal_points,
    kinds_shown,
    when_met,
)
from ice_envs.games.ice_split.rules import (
    ALL_CARDS,
    CHOOSE_START,
    DISPLAY_SIZE,
    DRAW,
    DUPLICATE_GOALS,
    HAND_SIZE,
    MARKET_SIZE,
    MAX_PLAYERS,
    ROW_SIZE,
    SEQUENCES,
    TWO_PAIRS,
    cards_left,
)

TAIL = 3
"""Flavors at the right end that are shown one by one: a sequence of four may lack only its last."""
NO_CHANGE, MOST_TOTAL, MOST_UNSEEN = 30, 60, 9
_CARDS = (NUM_CARDS,)
_ROWS = (MAX_PLAYERS, ROW_SIZE)

LAYOUT = Layout(
    [
        ("hand", _CARDS, 0, 1, "cards in the own hand"),
        ("market", _CARDS, 0, 1, "open cards in the market"),
        ("unseen", _CARDS, 0, 1, "cards not seen yet: in the deck, in other hands, or covered in other displays"),
        ("known", _CARDS, 0, MAX_PLAYERS - 1, "cards in other hands that came from the market: relative seat"),
        ("goal_gains", _CARDS, 0, MOST_POINTS, "own cards, to draw also open ones: points the goal would pay at once"),
        (
            "goal_change",
            (1,),
            0,
            2 * NO_CHANGE,
            "30 + what one more goal changes the points of the others by, at most 30",
        ),
        ("flavor_change", (NUM_FLAVORS,), 0, 2 * NO_CHANGE, "30 + what one more of each flavor changes the points by"),
        ("goals", (MAX_PLAYERS, NUM_CARDS), 0, 1, "goals in each display, by the lowest card that has the goal"),
        ("goals_met", _CARDS, 0, 1, "own goals that are met now"),
        ("phase", (3,), 0, 1, "choose a start card, play, draw"),
        ("start_card", (1,), 0, NUM_CARDS, "own start card chosen but not revealed yet: its number + 1"),
        ("present", (MAX_PLAYERS,), 0, 1, "seats at the table"),
        ("first_seat", (MAX_PLAYERS,), 0, 1, "who has the first turn"),
        ("points", (MAX_PLAYERS,), 0, MOST_TOTAL, "points of the goals met now (60 or more)"),
        ("kinds", (MAX_PLAYERS,), 0, NUM_FLAVORS, "different flavors in the display"),
        ("num_goals", (MAX_PLAYERS,), 0, ROW_SIZE, "goals in the display"),
        ("num_flavors", (MAX_PLAYERS,), 0, ROW_SIZE, "flavors in the display"),
        ("flavor_counts", (MAX_PLAYERS, NUM_FLAVORS), 0, ROW_SIZE, "how often each flavor is in the display"),
        ("tail", (TAIL, NUM_FLAVORS), 0, 1, "own rightmost flavor, the second and the third from the right"),
        ("flavor_row", _ROWS, 0, NUM_FLAVORS, "flavors from left to right: number + 1"),
        ("goal_row", _ROWS, 0, NUM_CARDS, "goals as played, so from right to left: number + 1"),
        ("unseen_flavors", (NUM_FLAVORS,), 0, MOST_UNSEEN, "unseen cards by flavor (9 or more)"),
        ("deck_height", (1,), 0, NUM_CARDS - 2 * HAND_SIZE - MARKET_SIZE, "cards in the deck"),
        ("cards_left", (1,), 0, DISPLAY_SIZE, "cards that the observer has still to play, the start card included"),
        ("sequence", (len(SEQUENCES),), 0, 1, "option: " + ", ".join(SEQUENCES)),
        ("two_pairs", (len(TWO_PAIRS),), 0, 1, "option: " + ", ".join(TWO_PAIRS)),
        ("duplicate_goals", (len(DUPLICATE_GOALS),), 0, 1, "option: " + ", ".join(DUPLICATE_GOALS)),
    ]
)

_HAND = LAYOUT["hand"].start
_MARKET = LAYOUT["market"].start
_UNSEEN = LAYOUT["unseen"].start
_KNOWN = LAYOUT["known"].start
_GOAL_GAINS = LAYOUT["goal_gains"].start
_GOAL_CHANGE = LAYOUT["goal_change"].start
_FLAVOR_CHANGE = LAYOUT["flavor_change"].start
_GOALS = LAYOUT["goals"].start
_GOALS_MET = LAYOUT["goals_met"].start
_PHASE = LAYOUT["phase"].start
_START_CARD = LAYOUT["start_card"].start
_PRESENT = LAYOUT["present"].start
_FIRST_SEAT = LAYOUT["first_seat"].start
_POINTS = LAYOUT["points"].start
_KINDS = LAYOUT["kinds"].start
_NUM_GOALS = LAYOUT["num_goals"].start
_NUM_FLAVORS = LAYOUT["num_flavors"].start
_FLAVOR_COUNTS = LAYOUT["flavor_counts"].start
_TAIL = LAYOUT["tail"].start
_FLAVOR_ROW = LAYOUT["flavor_row"].start
_GOAL_ROW = LAYOUT["goal_row"].start
_UNSEEN_FLAVORS = LAYOUT["unseen_flavors"].start
_DECK_HEIGHT = LAYOUT["deck_height"].start
_CARDS_LEFT = LAYOUT["cards_left"].start
_SEQUENCE = LAYOUT["sequence"].start
_TWO_PAIRS = LAYOUT["two_pairs"].start
_DUPLICATE_GOALS = LAYOUT["duplicate_goals"].start


@compiled
def observe(state: Any, seat: int, out: Any) -> None:
    """Write the seat's observation into `out` (LAYOUT.size,) uint8, which arrives all zero."""
    write_cards(state, seat, out)
    write_table(state, seat, out)
    write_displays(state, seat, out)


@compiled
def unseen_cards(state: Any, seat: int) -> Any:
    """Return the cards (bits) that the seat cannot tell where they are.

    Of another display it has seen the cards that came from the market and the start card, and it knows a card by its
    goal if no other card has that goal.
    """
    seen = state.public | state.hands[seat] | state.played[seat]
    for other in range(state.num_players):
        seen |= state.goals_shown[other] & state.unique_goals
    return ALL_CARDS & ~seen


@compiled
def write_cards(state: Any, seat: int, out: Any) -> None:
    """Write where cards are, and what those that the seat may play now or soon would change."""
    unseen = np.int64(unseen_cards(state, seat))
    write_bits(np.int64(state.hands[seat]), NUM_CARDS, out, _HAND)
    write_bits(np.int64(state.market), NUM_CARDS, out, _MARKET)
    write_bits(np.int64(state.goals_met[seat]), NUM_CARDS, out, _GOALS_MET)
    write_bits(unseen, NUM_CARDS, out, _UNSEEN)
    for flavor in range(NUM_FLAVORS):
        out[_UNSEEN_FLAVORS + flavor] = min(count_bits(unseen & state.flavor_cards[flavor]), MOST_UNSEEN)
    for other in range(state.num_players):
        if other != seat:
            known = np.int64(state.hands[other] & state.public)
            place = relative(state, other, seat)
            while known:
                out[_KNOWN + lowest_bit(known)] = place
                known &= known - 1
    if state.phase != CHOOSE_START:
        write_changes(state, seat, out)


@compiled
def write_changes(state: Any, seat: int, out: Any) -> None:
    """Write what one more card would change at once, on either side."""
    base = NO_CHANGE - np.int64(state.points[seat])
    out[_GOAL_CHANGE] = min(max(base + state.points_with_goal[seat], 0), 2 * NO_CHANGE)
    outlook = np.int64(state.outlook[seat])
    for flavor in range(NUM_FLAVORS):
        out[_FLAVOR_CHANGE + flavor] = min(max(base + (outlook >> (8 * flavor) & 255), 0), 2 * NO_CHANGE)
    cards = np.int64(state.hands[seat])
    if state.phase == DRAW:
        cards |= state.market
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        out[_GOAL_GAINS + card] = goal_gain(state, seat, card)


@compiled
def goal_gain(state: Any, seat: int, card: Any) -> Any:
    """Return what a card's goal itself would pay at once."""
    twin = state.duplicate_goals & state.goals_shown[seat] >> np.int64(state.goal_numbers[card]) & 1
    return goal_points(state, card) * (when_met(state, seat, card) >> WITH_GOAL) * (1 - twin)


@compiled
def write_table(state: Any, seat: int, out: Any) -> None:
    """Write the phase, the deck and the options."""
    out[_PHASE + state.phase] = 1
    out[_START_CARD] = state.starts[seat] + 1
    out[_FIRST_SEAT + relative(state, state.first_seat, seat)] = 1
    out[_DECK_HEIGHT] = state.deck_size
    out[_CARDS_LEFT] = cards_left(state, seat)
    out[_SEQUENCE + state.sequence] = 1
    out[_TWO_PAIRS + state.two_pairs] = 1
    out[_DUPLICATE_GOALS + state.duplicate_goals] = 1


@compiled
def write_displays(state: Any, observer: int, out: Any) -> None:
    """Write all displays, and the own right end flavor by flavor."""
    for back in range(min(TAIL, state.num_flavors[observer])):
        out[_TAIL + back * NUM_FLAVORS + from_right(state, observer, back)] = 1
    for seat in range(state.num_players):
        write_display(state, seat, relative(state, seat, observer), out)


@compiled
def write_display(state: Any, seat: int, place: int, out: Any) -> None:
    """Write a seat's display."""
    out[_PRESENT + place] = 1
    goals, flavors = state.num_goals[seat], np.int64(state.num_flavors[seat])
    out[_POINTS + place] = min(state.points[seat], MOST_TOTAL)
    out[_KINDS + place] = kinds_shown(state, seat)
    out[_NUM_GOALS + place] = goals
    out[_NUM_FLAVORS + place] = flavors
    write_bits(np.int64(state.goals_shown[seat]), NUM_CARDS, out, _GOALS + place * NUM_CARDS)
    first, second = np.int64(state.shown_goals[seat, 0]), np.int64(state.shown_goals[seat, 1])
    for i in range(GOALS_A_WORD):
        out[_GOAL_ROW + place * ROW_SIZE + i] = (first >> (6 * i)) & 63
    for i in range(ROW_SIZE - GOALS_A_WORD):
        out[_GOAL_ROW + place * ROW_SIZE + GOALS_A_WORD + i] = (second >> (6 * i)) & 63
    row, counts = np.int64(state.shown_flavors[seat]), np.int64(state.counts[seat])
    for i in range(ROW_SIZE):
        out[_FLAVOR_ROW + place * ROW_SIZE + i] = (row >> (3 * i)) & 7
    for flavor in range(NUM_FLAVORS):
        out[_FLAVOR_COUNTS + place * NUM_FLAVORS + flavor] = (counts >> (FIELD * flavor)) & 15

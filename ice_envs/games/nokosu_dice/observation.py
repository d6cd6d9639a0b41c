"""What a seat of Nokosu Dice observes: everything it could remember of the round, and the totals.

Seats are relative: 0 is the observer, then clockwise; rows of absent seats stay 0. Earlier rounds leave nothing
behind but totals and the round's number, since all cards are shuffled and all dice rolled anew. What is said of suits
and strengths is by this round's trump; while dice are drafted, by colors and numbers alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.bits import count_bits, lowest_bit, write_bits
from ice_envs.engine.cells import copy_cells
from ice_envs.engine.jit import compiled
from ice_envs.engine.layout import Layout
from ice_envs.engine.seats import relative
from ice_envs.games.nokosu_dice.chances import PERCENTS, others_dice, place_among, trick_chance, unseen_cards
from ice_envs.games.nokosu_dice.greedy import call_value, play_value
from ice_envs.games.nokosu_dice.items import (
    ITEM_COLORS,
    ITEM_NUMBERS,
    MOST_STRENGTH,
    NO_TRUMP,
    NUM_CARDS,
    NUM_COLORS,
    NUM_FACES,
    NUM_ITEMS,
    NUM_KINDS,
    NUM_NUMBERS,
    NUM_SUITS,
    STRENGTHS,
    SUIT_CARDS,
    SUITS,
    item_of,
    mark,
)
from ice_envs.games.nokosu_dice.rules import (
    BONUSES,
    CALL,
    DRAFT,
    NO_CALL,
    NOTHING_YET,
    NUM_ACTIONS,
    TIES,
    ZERO_CALLS,
    NokosuDiceOptions,
    must_follow,
    next_seat,
    playable,
    score_range,
)
from ice_envs.games.nokosu_dice.setup import (
    HAND_SIZES,
    MAX_PLAYERS,
    MOST_DICE,
    MOST_TRICKS,
    PICKS,
)

_ITEMS, _CARDS, _DICE = (NUM_ITEMS,), (NUM_COLORS, NUM_NUMBERS), (NUM_COLORS, NUM_FACES)
_SEATS, _SEATS_TRICKS, _SEATS_SUITS = (MAX_PLAYERS,), (MAX_PLAYERS, MOST_TRICKS), (MAX_PLAYERS, NUM_SUITS)
NUM_BIDS = NUM_FACES + 1
_MOST_POINTS = score_range(MAX_PLAYERS, NokosuDiceOptions())[1]
_MOST_UNSEEN = NUM_CARDS - HAND_SIZES[MAX_PLAYERS]
_MOST_BEATING = 3 * MOST_DICE
_MOST_ITEMS = HAND_SIZES[MAX_PLAYERS] + MOST_DICE
_MOST_SPREAD = 10 * _MOST_ITEMS // 4 + 1
_MOST_MARK = int(mark(NUM_ITEMS - 1))  # plain Python would leave a number of NumPy
_PROMISED = 25
"""What the best action promises."""
_ONE_COLOR = (1 << NUM_FACES) - 1

LAYOUT = Layout(
    [
        ("own", _ITEMS, 0, MOST_DICE, "cards in the own hand, then how many dice of each kind"),
        ("own_trump", _ITEMS, 0, 1, "own items that are trumps"),
        ("own_strength", _ITEMS, 0, MOST_STRENGTH + 1, "their strength, from 1: number, then trumps"),
        ("own_under_cards", _ITEMS, 0, _MOST_UNSEEN, "unseen cards of the suit that are stronger"),
        ("own_under_dice", _ITEMS, 0, _MOST_BEATING, "kinds of others' playable dice that are stronger"),
        ("own_chance", _ITEMS, 0, 100, "chance to win a trick, in percent, as the baseline estimates it"),
        ("own_now", _ITEMS, 0, 100, "the same for the trick on the table, if the observer plays the item now"),
        (
            "promise",
            (NUM_ACTIONS,),
            0,
            _PROMISED,
            "calls or plays by what the baseline expects: 25 the best, a fifth of a point less 1 less, the worst 1",
        ),
        ("expected", (1,), 0, 10 * _MOST_ITEMS, "sum of the chances of all own items, in tenths of a trick"),
        ("spread", (1,), 0, _MOST_SPREAD, "the variance of what they win, if each is drawn by itself, in tenths"),
        ("unseen", _CARDS, 0, 1, "cards in play neither in the own hand nor played this round"),
        ("unseen_suits", (NUM_SUITS,), 0, _MOST_UNSEEN, "how many of them are of each color, then trumps"),
        ("dice", (MAX_PLAYERS - 1, *_DICE), 0, MOST_DICE, "dice of each other seat"),
        ("pool", _DICE, 0, MOST_DICE, "dice in the middle"),
        ("trump_color", (NUM_COLORS,), 0, 1, "color of the trump die"),
        ("trump_number", (NUM_FACES,), 0, 1, "its number, from 1"),
        ("phase", (3,), 0, 1, "draft, zero call, play"),
        ("drafted", (MAX_PLAYERS, PICKS), 0, _MOST_MARK, "dice drafted, in order: 64 + 8 × (color + 1) + number"),
        ("called", _SEATS, 0, 1, "seats that have called zero"),
        ("returned", _SEATS, 0, _MOST_MARK, "the die returned for it, as in `drafted`"),
        ("own_secret", (1,), 0, _MOST_MARK, "own call not yet revealed: the die, as in `drafted`, or 1 for no call"),
        (
            "played",
            _SEATS_TRICKS,
            0,
            _MOST_MARK,
            "what each seat played to each trick: as in `drafted`, cards without the 64",
        ),
        ("led", (NUM_SUITS,), 0, 1, "suit led, trumps last"),
        ("trick_suit", _SEATS_SUITS, 0, 1, "suit of each seat's item in the trick"),
        ("trick_strength", _SEATS, 0, MOST_STRENGTH + 1, "its strength, from 1"),
        ("ahead", _SEATS, 0, 1, "seat ahead in the trick"),
        ("yet_to_play", _SEATS, 0, 1, "seats that have not played to the trick"),
        ("must_follow", (1,), 0, 1, "the observer has something of the suit led that it may play"),
        ("present", _SEATS, 0, 1, "seats at the table"),
        ("dealer", _SEATS, 0, 1, "the dealer"),
        ("voids", _SEATS_SUITS, 0, 1, "suits a seat has failed to follow, trumps last: it has no card of them"),
        ("cards_left", _SEATS, 0, HAND_SIZES[MAX_PLAYERS], "cards in each hand"),
        ("dice_left", _SEATS, 0, MOST_DICE, "dice of each seat"),
        ("tricks", _SEATS, 0, MOST_TRICKS, "tricks won"),
        ("bids", (MAX_PLAYERS, NUM_BIDS), 0, 1, "bids from 0 that a seat can still keep and fulfil"),
        ("needed", (MAX_PLAYERS, NUM_BIDS), 0, 1, "the same less the tricks won: how many more would fulfil one"),
        ("totals", _SEATS, 0, _MOST_POINTS, "points of the rounds before"),
        ("tricks_left", (1,), 0, MOST_TRICKS, "tricks not finished"),
        ("round", (1,), 1, MAX_PLAYERS, "number of the round"),
        ("zero_call", (len(ZERO_CALLS),), 0, 1, "option: " + ", ".join(ZERO_CALLS)),
        ("tie", (len(TIES),), 0, 1, "option: " + ", ".join(TIES)),
        ("bonus", (len(BONUSES),), 0, 1, "option: " + ", ".join(BONUSES)),
    ]
)

ACTION_SLICES = (
    *("own", "own_trump", "own_strength", "own_under_cards", "own_under_dice", "own_chance", "own_now"),
    "promise",
)
COLOR_AXES = {
    **dict.fromkeys(("unseen", "pool", "trump_color", "unseen_suits", "led"), 0),
    **dict.fromkeys(("dice", "trick_suit", "voids"), 1),
}
"""The slices with an axis over the colors, and which one it is."""

_OWN = LAYOUT["own"].start
_OWN_TRUMP = LAYOUT["own_trump"].start
_OWN_CHANCE = LAYOUT["own_chance"].start
_OWN_NOW = LAYOUT["own_now"].start
_PROMISE = LAYOUT["promise"].start
_EXPECTED = LAYOUT["expected"].start
_UNSEEN = LAYOUT["unseen"].start
_UNSEEN_SUITS = LAYOUT["unseen_suits"].start
_SPREAD = LAYOUT["spread"].start
_DICE_START = LAYOUT["dice"].start
_POOL = LAYOUT["pool"].start
_TRUMP_COLOR = LAYOUT["trump_color"].start
_TRUMP_NUMBER = LAYOUT["trump_number"].start
_PHASE = LAYOUT["phase"].start
_DRAFTED = LAYOUT["drafted"].start
_CALLED = LAYOUT["called"].start
_RETURNED = LAYOUT["returned"].start
_OWN_SECRET = LAYOUT["own_secret"].start
_PLAYED = LAYOUT["played"].start
_LED = LAYOUT["led"].start
_TRICK_SUIT = LAYOUT["trick_suit"].start
_TRICK_STRENGTH = LAYOUT["trick_strength"].start
_AHEAD = LAYOUT["ahead"].start
_YET_TO_PLAY = LAYOUT["yet_to_play"].start
_MUST_FOLLOW = LAYOUT["must_follow"].start
_PRESENT = LAYOUT["present"].start
_DEALER = LAYOUT["dealer"].start
_VOIDS = LAYOUT["voids"].start
_CARDS_LEFT = LAYOUT["cards_left"].start
_DICE_LEFT = LAYOUT["dice_left"].start
_TRICKS = LAYOUT["tricks"].start
_BIDS = LAYOUT["bids"].start
_TOTALS = LAYOUT["totals"].start
_TRICKS_LEFT = LAYOUT["tricks_left"].start
_ROUND = LAYOUT["round"].start
_ZERO_CALL = LAYOUT["zero_call"].start
_TIE = LAYOUT["tie"].start
_BONUS = LAYOUT["bonus"].start


@compiled
def observe(state: Any, seat: int, out: Any) -> None:
    """Write the seat's observation into `out` (LAYOUT.size,) uint8, which arrives all zero."""
    write_items(state, seat, out)
    write_table(state, seat, out)
    write_history(state, seat, out)
    write_trick(state, seat, out)
    write_seats(state, seat, out)
    write_round(state, seat, out)


@compiled
def write_items(state: Any, seat: int, out: Any) -> None:
    """Write the own cards and dice with what each is by this round's trump."""
    unseen = unseen_cards(state, seat)
    near, far = others_dice(state, seat)
    hand, dice = state.hands[seat], np.int64(state.dice_sets[seat])
    expected, spread = 0, 0  # in percent, and in percent of a percent
    while hand:
        card = lowest_bit(hand)
        hand &= hand - 1
        out[_OWN + card] = 1
        win = write_item(state, card, unseen, near, far, out)
        expected += win
        spread += win * (100 - win)
    while dice:
        kind = lowest_bit(dice)
        dice &= dice - 1
        count = state.dice[seat, kind]
        out[_OWN + NUM_CARDS + kind] = count
        win = write_item(state, NUM_CARDS + kind, unseen, near, far, out)
        expected += count * win
        spread += count * win * (100 - win)
    out[_EXPECTED] = expected // 10
    out[_SPREAD] = spread // 1000
    if state.to_move == seat and state.phase != DRAFT and not state.over:
        write_promises(state, unseen, expected, spread, out)


@compiled
def write_item(state: Any, item: int, unseen: int, near: int, far: int, out: Any) -> Any:
    """Write five features of an own item; return the last one: the chance to win a trick, in percent."""
    is_trump, cards, dice, where = place_among(state.trump, item, unseen, near, far)
    win, place = PERCENTS[where], _OWN_TRUMP + item
    out[place] = is_trump
    out[place + NUM_ITEMS] = STRENGTHS[state.trump, item] + 1
    out[place + 2 * NUM_ITEMS] = cards
    out[place + 3 * NUM_ITEMS] = dice
    out[place + 4 * NUM_ITEMS] = win
    return win


@compiled
def write_promises(state: Any, unseen: int, expected: int, spread: int, out: Any) -> None:
    """Write what each legal call or play promises, and the chance that an item wins the trick on the table.

    `expected` and `spread` are those of the whole hand, see `greedy`.
    """
    calls, most = state.phase == CALL, 0
    cards, dice = playable(state, state.to_move)
    if calls:
        cards, dice = 0, state.dice_sets[state.to_move]
        most = promised(call_value(state, NO_CALL, out, _OWN_CHANCE, expected, spread))
        out[_PROMISE + NO_CALL] = most
    left, right = cards, np.int64(dice)
    while left | right:
        item = lowest_bit(left) if left else NUM_CARDS + lowest_bit(right)
        left, right = (left & (left - 1), right) if left else (left, right & (right - 1))
        if calls:
            value = call_value(state, item, out, _OWN_CHANCE, expected, spread)
        else:
            now = trick_chance(state, item, unseen)
            out[_OWN_NOW + item] = int(100 * now + 0.5)
            value = play_value(state, item, now, out, _OWN_CHANCE, expected, spread)
        out[_PROMISE + item] = promised(value)
        most = max(most, promised(value))
    left, right = cards, np.int64(dice)
    while left:
        compare(out, lowest_bit(left), most)
        left &= left - 1
    while right:
        compare(out, NUM_CARDS + lowest_bit(right), most)
        right &= right - 1
    if calls:
        compare(out, NO_CALL, most)


@compiled
def promised(points: float) -> int:
    """Return points as a whole number of fifths, from 1."""
    return int(5 * points + 0.5) + 1


@compiled
def compare(out: Any, action: int, most: int) -> None:
    """Replace what an action promises by how it compares with the best: _PROMISED, less the difference, at least 1."""
    out[_PROMISE + action] = max(np.int64(out[_PROMISE + action]) - most + _PROMISED, 1)


@compiled
def write_table(state: Any, seat: int, out: Any) -> None:
    """Write what lies open: the cards that are not, everybody's dice, the middle and the trump."""
    unseen, other = unseen_cards(state, seat), seat
    write_bits(unseen, NUM_CARDS, out, _UNSEEN)
    for suit in range(NUM_SUITS):
        out[_UNSEEN_SUITS + suit] = count_bits(unseen & SUIT_CARDS[state.trump, suit])
    for place in range(state.num_players - 1):
        other = next_seat(state, other)
        copy_cells(out, _DICE_START + place * NUM_KINDS, state.dice[other], NUM_KINDS)
    copy_cells(out, _POOL, state.pool, NUM_KINDS)
    if state.trump != NO_TRUMP:
        out[_TRUMP_COLOR + ITEM_COLORS[NUM_CARDS + state.trump]] = 1
        out[_TRUMP_NUMBER + ITEM_NUMBERS[NUM_CARDS + state.trump] - 1] = 1


@compiled
def write_history(state: Any, seat: int, out: Any) -> None:
    """Write what each seat drafted, returned, and played to each trick."""
    for place in range(state.num_players):
        copy_cells(out, _DRAFTED + place * PICKS, state.drafted[seat], PICKS)
        out[_CALLED + place] = state.called[seat]
        out[_RETURNED + place] = state.returned[seat]
        copy_cells(out, _PLAYED + place * MOST_TRICKS, state.history[seat], MOST_TRICKS)
        seat = next_seat(state, seat)


@compiled
def write_trick(state: Any, seat: int, out: Any) -> None:
    """Write the trick on the table."""
    player = state.leader
    for step in range(state.num_players):
        place = relative(state, player, seat)
        if step < state.trick_size:
            item = item_of(state.history[player, state.trick])
            out[_TRICK_SUIT + place * NUM_SUITS + SUITS[state.trump, item]] = 1
            out[_TRICK_STRENGTH + place] = STRENGTHS[state.trump, item] + 1
        else:
            out[_YET_TO_PLAY + place] = 1
        player = next_seat(state, player)
    if state.trick_size:
        out[_LED + state.led] = 1
        out[_AHEAD + relative(state, state.best_seat, seat)] = 1
    out[_MUST_FOLLOW] = must_follow(state, seat)


@compiled
def write_seats(state: Any, seat: int, out: Any) -> None:
    """Write what everybody sees of each seat, from the observer on."""
    voids, bids = 0, 0  # one seat beside the other; behind the bids what is needed for them
    for place in range(state.num_players):
        possible = possible_bids(state, seat)
        voids |= state.voids[seat] << (place * NUM_SUITS)
        bids |= possible << (place * NUM_BIDS)
        bids |= (possible >> state.tricks[seat]) << ((MAX_PLAYERS + place) * NUM_BIDS)
        out[_PRESENT + place] = 1
        out[_CARDS_LEFT + place] = count_bits(state.hands[seat])
        out[_DICE_LEFT + place] = state.dice_left[seat]
        out[_TRICKS + place] = state.tricks[seat]
        out[_TOTALS + place] = state.totals[seat]
        seat = next_seat(state, seat)
    write_bits(voids, MAX_PLAYERS * NUM_SUITS, out, _VOIDS)
    write_bits(bids, 2 * MAX_PLAYERS * NUM_BIDS, out, _BIDS)


@compiled
def possible_bids(state: Any, seat: int) -> int:
    """Return the bids (bits 0 to 6) that a seat can still keep, and still fulfil by the number of tricks left."""
    dice = state.dice_sets[seat]
    bids = 1
    if not state.called[seat]:
        bids = ((dice | dice >> 6 | dice >> 12 | dice >> 18 | dice >> 24) & _ONE_COLOR) << 1
    won = state.tricks[seat]
    most = won + state.num_tricks - state.trick
    return bids & ((2 << most) - 1) & ~((1 << won) - 1)


@compiled
def write_round(state: Any, seat: int, out: Any) -> None:
    """Write the round, the own secret call and the options."""
    out[_PHASE + state.phase] = 1
    out[_DEALER + relative(state, state.dealer, seat)] = 1
    secret = state.commits[seat]
    if secret != NOTHING_YET:
        out[_OWN_SECRET] = 1 if secret == NO_CALL else mark(secret)
    out[_TRICKS_LEFT] = state.num_tricks - state.trick
    out[_ROUND] = state.round_number
    out[_ZERO_CALL + state.zero_call] = 1
    out[_TIE + state.tie] = 1
    out[_BONUS + state.bonus] = 1

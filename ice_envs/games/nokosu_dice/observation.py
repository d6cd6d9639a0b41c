"""What a seat of Nokosu Dice observes: everything it could remember of the round, and the totals.

Seats are relative: 0 is the observer, then clockwise; rows of absent seats stay 0. Earlier rounds leave nothing
behind but totals and the round's number, since all cards are shuffled and all dice rolled anew. What is said of suits
and strengths is by this round's trump; while dice are drafted, by colors and numbers alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.bits import count_bits, lowest_bit
from ice_envs.engine.cells import copy_cells, write_bits
from ice_envs.engine.jit import compiled
from ice_envs.engine.layout import Layout
from ice_envs.engine.seats import relative
from ice_envs.games.nokosu_dice.chances import PERCENTS, others_dice, place_among, trick_chance
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
    NO_CALL,
    NOTHING_YET,
    PLAY,
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
    is_in_play,
)

_CARDS, _DICE = (NUM_COLORS, NUM_NUMBERS), (NUM_COLORS, NUM_FACES)
_SEATS, _SEATS_TRICKS, _SEATS_SUITS = (MAX_PLAYERS,), (MAX_PLAYERS, MOST_TRICKS), (MAX_PLAYERS, NUM_SUITS)
NUM_BIDS = NUM_FACES + 1
_MOST_POINTS = score_range(MAX_PLAYERS, NokosuDiceOptions())[1]
_MOST_UNSEEN = NUM_CARDS - HAND_SIZES[MAX_PLAYERS]
_MOST_BEATING = 3 * MOST_DICE
_MOST_ITEMS = HAND_SIZES[MAX_PLAYERS] + MOST_DICE
_MOST_SPREAD = 10 * _MOST_ITEMS // 4 + 1
_MOST_MARK = mark(NUM_ITEMS - 1)
_ONE_COLOR = (1 << NUM_FACES) - 1

LAYOUT = Layout(
    [
        ("hand", _CARDS, 0, 1, "cards in the own hand"),
        ("hand_trump", _CARDS, 0, 1, "own cards that are trumps"),
        ("hand_strength", _CARDS, 0, MOST_STRENGTH + 1, "strength of own cards, from 1: number, then trumps"),
        ("hand_under_cards", _CARDS, 0, _MOST_UNSEEN, "own cards: unseen cards of the suit that are stronger"),
        ("hand_under_dice", _CARDS, 0, _MOST_BEATING, "own cards: kinds of others' playable dice that are stronger"),
        ("hand_chance", _CARDS, 0, 100, "own cards: chance to win a trick, in percent, as the baseline estimates it"),
        ("hand_now", _CARDS, 0, 100, "cards that may be played: the same for the trick on the table, if played now"),
        ("die_own", _DICE, 0, MOST_DICE, "own dice"),
        ("die_trump", _DICE, 0, 1, "own dice that are trumps"),
        ("die_strength", _DICE, 0, MOST_STRENGTH + 1, "strength of own dice, from 1"),
        ("die_under_cards", _DICE, 0, _MOST_UNSEEN, "own dice: unseen cards of the suit that are stronger"),
        ("die_under_dice", _DICE, 0, _MOST_BEATING, "own dice: kinds of others' playable dice that are stronger"),
        ("die_chance", _DICE, 0, 100, "own dice: chance to win a trick, in percent, as the baseline estimates it"),
        ("die_now", _DICE, 0, 100, "dice that may be played: the same for the trick on the table, if played now"),
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

_HAND = LAYOUT["hand"].start
_HAND_TRUMP = LAYOUT["hand_trump"].start
_HAND_NOW = LAYOUT["hand_now"].start
_DIE_NOW = LAYOUT["die_now"].start
_UNSEEN = LAYOUT["unseen"].start
_UNSEEN_SUITS = LAYOUT["unseen_suits"].start
_DIE_OWN = LAYOUT["die_own"].start
_EXPECTED = LAYOUT["expected"].start
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

_CARDS_IN_PLAY = np.array(
    [sum(1 << card for card in range(NUM_CARDS) if is_in_play(table, card)) for table in range(MAX_PLAYERS + 1)]
)
"""The cards used at each table size, as bits."""


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
def unseen_cards(state: Any, seat: int) -> int:
    """Return the cards (bits) that the seat has not seen this round."""
    return _CARDS_IN_PLAY[state.num_players] ^ (state.hands[seat] | state.played)


@compiled
def write_items(state: Any, seat: int, out: Any) -> None:
    """Write the own cards and dice with what each is by this round's trump."""
    unseen = unseen_cards(state, seat)
    near, far = others_dice(state, seat)
    hand, dice = state.hands[seat], np.int64(state.dice_sets[seat])
    expected, spread = 0, 0  # in percent, and in percent of percent
    while hand:
        card = lowest_bit(hand)
        hand &= hand - 1
        out[_HAND + card] = 1
        percent = write_item(state, card, unseen, near, far, out, _HAND_TRUMP + card, NUM_CARDS)
        expected += percent
        spread += percent * (100 - percent)
    while dice:
        kind = lowest_bit(dice)
        dice &= dice - 1
        count = state.dice[seat, kind]
        out[_DIE_OWN + kind] = count
        percent = write_item(state, NUM_CARDS + kind, unseen, near, far, out, _DIE_OWN + NUM_KINDS + kind, NUM_KINDS)
        expected += count * percent
        spread += count * percent * (100 - percent)
    out[_EXPECTED] = expected // 10
    out[_SPREAD] = spread // 1000
    if state.phase == PLAY and state.to_move == seat:
        write_now(state, seat, unseen, out)


@compiled
def write_item(state: Any, item: int, unseen: int, near: int, far: int, out: Any, place: int, step: int) -> Any:
    """Write five features of an own item: into the cell `place`, and each `step` cells behind the one before.

    Returns the last one: the chance to win a trick, in percent.
    """
    is_trump, cards, dice, where = place_among(state.trump, item, unseen, near, far)
    percent = PERCENTS[where]
    out[place] = is_trump
    out[place + step] = STRENGTHS[state.trump, item] + 1
    out[place + 2 * step] = cards
    out[place + 3 * step] = dice
    out[place + 4 * step] = percent
    return percent


@compiled
def write_now(state: Any, seat: int, unseen: int, out: Any) -> None:
    """Write how likely each item that may be played wins the trick on the table."""
    cards, dice = playable(state, seat)
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        out[_HAND_NOW + card] = int(100 * trick_chance(state, card, unseen) + 0.5)
    while dice:
        kind = lowest_bit(dice)
        dice &= dice - 1
        out[_DIE_NOW + kind] = int(100 * trick_chance(state, NUM_CARDS + kind, unseen) + 0.5)


@compiled
def write_table(state: Any, seat: int, out: Any) -> None:
    """Write what lies open: the cards that are not, everybody's dice, the middle and the trump."""
    unseen, other = unseen_cards(state, seat), seat
    for color in range(NUM_COLORS):
        write_bits(out, _UNSEEN + color * NUM_NUMBERS, unseen >> (color * NUM_NUMBERS))
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
    for cell in range(0, MAX_PLAYERS * NUM_SUITS, 8):
        write_bits(out, _VOIDS + cell, voids >> cell)
    for cell in range(0, 2 * MAX_PLAYERS * NUM_BIDS, 8):
        write_bits(out, _BIDS + cell, bids >> cell)


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

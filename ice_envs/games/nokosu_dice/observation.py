"""What a seat of Nokosu Dice observes: everything it could remember of the round, and the totals.

Seats are relative: 0 is the observer, then clockwise; rows of absent seats stay 0. Earlier rounds leave nothing
behind but totals and the round's number, since all cards are shuffled and all dice rolled anew. What is said of suits
and strengths is by this round's trump; while dice are drafted, by colors and numbers alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.bits import count_bits, lowest_bit
from ice_envs.engine.jit import compiled
from ice_envs.engine.layout import Layout
from ice_envs.engine.seats import relative
from ice_envs.games.nokosu_dice.chances import chance
from ice_envs.games.nokosu_dice.items import (
    ITEM_COLORS,
    ITEM_NUMBERS,
    MOST_STRENGTH,
    NO_TRUMP,
    NUM_CARDS,
    NUM_COLORS,
    NUM_FACES,
    NUM_KINDS,
    NUM_NUMBERS,
    NUM_SUITS,
    STRENGTHS,
    STRONGER_CARDS,
    STRONGER_DICE,
    SUIT_CARDS,
    SUIT_DICE,
    SUITS,
    TRUMP_SUIT,
    item_of,
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
    playable_dice,
    score_range,
)
from ice_envs.games.nokosu_dice.setup import (
    COLORS_IN_PLAY,
    HAND_SIZES,
    MAX_PLAYERS,
    MOST_DICE,
    MOST_TRICKS,
    NUMBERS_IN_PLAY,
    PICKS,
)

_CARDS, _DICE = (NUM_COLORS, NUM_NUMBERS), (NUM_COLORS, NUM_FACES)
_SEATS, _SEATS_TRICKS, _SEATS_SUITS = (MAX_PLAYERS,), (MAX_PLAYERS, MOST_TRICKS), (MAX_PLAYERS, NUM_SUITS)
NUM_BIDS = NUM_FACES + 1
_MOST_POINTS = score_range(MAX_PLAYERS, NokosuDiceOptions())[1]
_MOST_UNSEEN = NUM_CARDS - HAND_SIZES[MAX_PLAYERS]
_MOST_DICE_BEATING = 3 * MOST_DICE
_MOST_ITEMS = HAND_SIZES[MAX_PLAYERS] + MOST_DICE
_ALL_KINDS = (1 << NUM_KINDS) - 1
_ONE_COLOR = (1 << NUM_FACES) - 1

LAYOUT = Layout(
    [
        ("hand", _CARDS, 0, 1, "cards in the own hand"),
        ("hand_trump", _CARDS, 0, 1, "own cards that are trumps"),
        ("hand_strength", _CARDS, 0, MOST_STRENGTH + 1, "strength of own cards, from 1: number, then trumps"),
        ("hand_takes", _CARDS, 0, 1, "own cards that would be ahead in the trick if played now"),
        ("hand_under_cards", _CARDS, 0, _MOST_UNSEEN, "own cards: unseen cards of the suit that are stronger"),
        (
            "hand_under_dice",
            _CARDS,
            0,
            _MOST_DICE_BEATING,
            "own cards: kinds of others' playable dice that are stronger",
        ),
        ("hand_chance", _CARDS, 0, 100, "own cards: chance to win a trick, in percent, as the baseline estimates it"),
        ("unseen", _CARDS, 0, 1, "cards in play neither in the own hand nor played this round"),
        ("unseen_suits", (NUM_SUITS,), 0, _MOST_UNSEEN, "how many of them are of each color, then trumps"),
        ("played_by", _CARDS, 0, MAX_PLAYERS, "who played a card this round: relative seat + 1"),
        ("dice", (MAX_PLAYERS, *_DICE), 0, MOST_DICE, "dice of each seat"),
        ("dice_suits", _SEATS_SUITS, 0, MOST_DICE, "kinds of playable dice of each seat by suit, trumps last"),
        ("die_trump", _DICE, 0, 1, "own dice that are trumps"),
        ("die_strength", _DICE, 0, MOST_STRENGTH + 1, "strength of own dice, from 1"),
        ("die_takes", _DICE, 0, 1, "own dice that would be ahead in the trick if played now"),
        ("die_under_cards", _DICE, 0, _MOST_UNSEEN, "own dice: unseen cards of the suit that are stronger"),
        ("die_under_dice", _DICE, 0, _MOST_DICE_BEATING, "own dice: kinds of others' playable dice that are stronger"),
        ("die_chance", _DICE, 0, 100, "own dice: chance to win a trick, in percent, as the baseline estimates it"),
        ("expected", (1,), 0, 10 * _MOST_ITEMS, "sum of the chances of all own items, in tenths of a trick"),
        ("pool", _DICE, 0, MOST_DICE, "dice in the middle"),
        ("trump_color", (NUM_COLORS,), 0, 1, "color of the trump die"),
        ("trump_number", (NUM_FACES,), 0, 1, "its number, from 1"),
        ("phase", (3,), 0, 1, "draft, zero call, play"),
        ("drafted_color", (MAX_PLAYERS, PICKS), 0, NUM_COLORS, "color + 1 of the dice drafted, in order"),
        ("drafted_number", (MAX_PLAYERS, PICKS), 0, NUM_FACES, "their numbers"),
        ("called", _SEATS, 0, 1, "seats that have called zero"),
        ("returned_color", _SEATS, 0, NUM_COLORS, "color + 1 of the die returned for it"),
        ("returned_number", _SEATS, 0, NUM_FACES, "its number"),
        ("own_secret", (3,), 0, NUM_FACES, "own call not yet revealed: color + 1 and number of the die, or no call"),
        ("played_color", _SEATS_TRICKS, 0, NUM_COLORS, "color + 1 of what each seat played to each trick"),
        ("played_number", _SEATS_TRICKS, 0, NUM_NUMBERS, "its number + 1"),
        ("played_die", _SEATS_TRICKS, 0, 1, "whether it was a die"),
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
_UNSEEN = LAYOUT["unseen"].start
_UNSEEN_SUITS = LAYOUT["unseen_suits"].start
_PLAYED_BY = LAYOUT["played_by"].start
_DICE_START = LAYOUT["dice"].start
_DICE_SUITS = LAYOUT["dice_suits"].start
_DIE_TRUMP = LAYOUT["die_trump"].start
_EXPECTED = LAYOUT["expected"].start
_POOL = LAYOUT["pool"].start
_TRUMP_COLOR = LAYOUT["trump_color"].start
_TRUMP_NUMBER = LAYOUT["trump_number"].start
_PHASE = LAYOUT["phase"].start
_DRAFTED_COLOR = LAYOUT["drafted_color"].start
_DRAFTED_NUMBER = LAYOUT["drafted_number"].start
_CALLED = LAYOUT["called"].start
_RETURNED_COLOR = LAYOUT["returned_color"].start
_RETURNED_NUMBER = LAYOUT["returned_number"].start
_OWN_SECRET = LAYOUT["own_secret"].start
_PLAYED_COLOR = LAYOUT["played_color"].start
_PLAYED_NUMBER = LAYOUT["played_number"].start
_PLAYED_DIE = LAYOUT["played_die"].start
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
_NEEDED = LAYOUT["needed"].start
_TOTALS = LAYOUT["totals"].start
_TRICKS_LEFT = LAYOUT["tricks_left"].start
_ROUND = LAYOUT["round"].start
_ZERO_CALL = LAYOUT["zero_call"].start
_TIE = LAYOUT["tie"].start
_BONUS = LAYOUT["bonus"].start

_CARDS_IN_PLAY = tuple(
    sum(
        1 << color * NUM_NUMBERS + number
        for color in range(COLORS_IN_PLAY[seats])
        for number in range(NUMBERS_IN_PLAY[seats])
    )
    for seats in range(MAX_PLAYERS + 1)
)
"""The cards used at each table size, as bits."""


@compiled
def observe(state: Any, seat: int, out: Any) -> None:
    """Write the seat's observation into `out` (LAYOUT.size,) uint8, which arrives all zero."""
    write_items(state, seat, out)
    write_dice(state, seat, out)
    write_history(state, seat, out)
    write_trick(state, seat, out)
    write_seats(state, seat, out)
    write_table(state, seat, out)


@compiled
def unseen_cards(state: Any, seat: int) -> int:
    """Return the cards (bits) that the seat has not seen this round."""
    return _CARDS_IN_PLAY[state.num_players] ^ (state.hands[seat] | state.played)


@compiled
def write_items(state: Any, seat: int, out: Any) -> None:
    """Write the own cards and dice with what each is by this round's trump, and the unseen cards."""
    unseen = unseen_cards(state, seat)
    left, across, right = 0, 0, 0  # the others' playable dice; a fourth seat may be absent
    for other in range(state.num_players):
        if other != seat:
            left, across, right = across, right, playable_dice(state, other)
    hand, dice, expected = state.hands[seat], np.int64(state.dice_sets[seat]), 0
    while hand:
        card = lowest_bit(hand)
        hand &= hand - 1
        out[_HAND + card] = 1
        expected += write_item(state, card, unseen, left, across, right, out, _HAND_TRUMP + card, NUM_CARDS)
    while dice:
        kind = lowest_bit(dice)
        dice &= dice - 1
        percent = write_item(state, NUM_CARDS + kind, unseen, left, across, right, out, _DIE_TRUMP + kind, NUM_KINDS)
        expected += state.dice[seat, kind] * percent
    out[_EXPECTED] = expected // 10
    # loops whose length is not known beforehand are vectorized; others LLVM would write out card by card
    for card in range(COLORS_IN_PLAY[state.num_players] * NUM_NUMBERS):
        out[_UNSEEN + card] = (unseen >> card) & 1
    for suit in range(NUM_SUITS):
        out[_UNSEEN_SUITS + suit] = count_bits(unseen & SUIT_CARDS[state.trump, suit])


@compiled
def write_item(
    state: Any, item: int, unseen: int, left: int, across: int, right: int, out: Any, place: int, step: int
) -> int:
    """Write six features of an own item: into the cell `place`, and each `step` cells behind the one before.

    Returns the last one: the chance to win a trick, in percent.
    """
    trump = state.trump
    suit, strength = SUITS[trump, item], STRENGTHS[trump, item]
    counts = state.trick_size == 0 or suit == state.led or suit == TRUMP_SUIT
    stronger = STRONGER_DICE[trump, item]
    out[place] = suit == TRUMP_SUIT
    out[place + step] = strength + 1
    out[place + 2 * step] = state.phase == PLAY and counts and strength >= state.best_strength + state.tie
    out[place + 3 * step] = count_bits(unseen & STRONGER_CARDS[trump, item])
    out[place + 4 * step] = count_bits(left & stronger) + count_bits(across & stronger) + count_bits(right & stronger)
    percent = int(100 * chance(trump, item, unseen, (left, across, right)) + 0.5)
    out[place + 5 * step] = percent
    return percent


@compiled
def write_dice(state: Any, seat: int, out: Any) -> None:
    """Write everybody's dice, the middle, the trump and the draft."""
    for place in range(state.num_players):
        owner = (seat + place) % state.num_players
        dice = np.int64(state.dice_sets[owner])
        while dice:
            kind = lowest_bit(dice)
            dice &= dice - 1
            out[_DICE_START + place * NUM_KINDS + kind] = state.dice[owner, kind]
        playable = playable_dice(state, owner)
        for suit in range(NUM_SUITS):
            out[_DICE_SUITS + place * NUM_SUITS + suit] = count_bits(playable & SUIT_DICE[state.trump, suit])
        for lap in range(PICKS):
            drafted = state.drafted[owner, lap]
            out[_DRAFTED_COLOR + place * PICKS + lap] = (drafted >> 3) & 7
            out[_DRAFTED_NUMBER + place * PICKS + lap] = drafted & 7
        out[_CALLED + place] = state.called[owner]
        out[_RETURNED_COLOR + place] = (state.returned[owner] >> 3) & 7
        out[_RETURNED_NUMBER + place] = state.returned[owner] & 7
    for kind in range(NUM_KINDS if state.pool_size else 0):
        out[_POOL + kind] = state.pool[kind]
    if state.trump != NO_TRUMP:
        out[_TRUMP_COLOR + state.trump // NUM_FACES] = 1
        out[_TRUMP_NUMBER + state.trump % NUM_FACES] = 1


@compiled
def write_history(state: Any, seat: int, out: Any) -> None:
    """Write who played which card, and what each seat played to each trick."""
    num_players, observer = np.int8(state.num_players), np.int8(seat)
    played_by = state.played_by
    for card in range(NUM_CARDS):
        player = np.int8(played_by[card])
        places = np.int8(player - observer)
        around = np.int8(places + num_players)
        out[_PLAYED_BY + card] = 0 if player == 0 else (around if places <= 0 else places)
    for place in range(state.num_players):
        played = state.history[(seat + place) % state.num_players]
        first = place * MOST_TRICKS
        for trick in range(min(state.trick + 1, MOST_TRICKS)):
            out[_PLAYED_COLOR + first + trick] = (played[trick] >> 3) & 7
            out[_PLAYED_NUMBER + first + trick] = (played[trick] & 7) + (played[trick] != 0)
            out[_PLAYED_DIE + first + trick] = played[trick] >> 6


@compiled
def write_trick(state: Any, seat: int, out: Any) -> None:
    """Write the trick on the table."""
    for step in range(state.trick_size):
        player = (state.leader + step) % state.num_players
        place = relative(state, player, seat)
        item = item_of(state.history[player, state.trick])
        out[_TRICK_SUIT + place * NUM_SUITS + SUITS[state.trump, item]] = 1
        out[_TRICK_STRENGTH + place] = STRENGTHS[state.trump, item] + 1
    if state.trick_size:
        out[_LED + state.led] = 1
        out[_AHEAD + relative(state, state.best_seat, seat)] = 1
    for step in range(state.trick_size, state.num_players):
        out[_YET_TO_PLAY + relative(state, (state.leader + step) % state.num_players, seat)] = 1
    out[_MUST_FOLLOW] = must_follow(state, seat)


@compiled
def write_seats(state: Any, observer: int, out: Any) -> None:
    """Write what everybody sees of each seat."""
    voids, bids, needed = 0, 0, 0  # one seat beside the other
    for place in range(state.num_players):
        seat = (observer + place) % state.num_players
        possible = possible_bids(state, seat)
        voids |= state.voids[seat] << (place * NUM_SUITS)
        bids |= possible << (place * NUM_BIDS)
        needed |= (possible >> state.tricks[seat]) << (place * NUM_BIDS)
        out[_PRESENT + place] = 1
        out[_CARDS_LEFT + place] = count_bits(state.hands[seat])
        out[_DICE_LEFT + place] = state.dice_left[seat]
        out[_TRICKS + place] = state.tricks[seat]
        out[_TOTALS + place] = state.totals[seat]
    for cell in range(state.num_players * NUM_SUITS):
        out[_VOIDS + cell] = (voids >> cell) & 1
    for cell in range(state.num_players * NUM_BIDS):
        out[_BIDS + cell] = (bids >> cell) & 1
        out[_NEEDED + cell] = (needed >> cell) & 1


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
def write_table(state: Any, seat: int, out: Any) -> None:
    """Write the round, the own secret call and the options."""
    out[_PHASE + state.phase] = 1
    out[_DEALER + relative(state, state.dealer, seat)] = 1
    secret = state.commits[seat]
    if secret == NO_CALL:
        out[_OWN_SECRET + 2] = 1
    elif secret != NOTHING_YET:
        out[_OWN_SECRET] = ITEM_COLORS[secret] + 1
        out[_OWN_SECRET + 1] = ITEM_NUMBERS[secret]
    out[_TRICKS_LEFT] = state.num_tricks - state.trick
    out[_ROUND] = state.round_number
    out[_ZERO_CALL + state.zero_call] = 1
    out[_TIE + state.tie] = 1
    out[_BONUS + state.bonus] = 1

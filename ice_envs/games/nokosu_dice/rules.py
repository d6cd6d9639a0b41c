"""The rules of Nokosu Dice: the state record and the compiled functions over it.

Items, suits, strengths and marks are those of `items`; cards and dice are handed out in `setup`. Sources: sections of
the rulebook, named at each function; what it leaves open is an option or settled in docs/games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ice_envs.engine.bits import lowest_bit
from ice_envs.engine.game import record_dtype
from ice_envs.engine.generator import random_below
from ice_envs.engine.jit import compiled
from ice_envs.engine.seats import share_win
from ice_envs.errors import choose
from ice_envs.games.nokosu_dice.items import (
    ITEM_COLORS,
    NO_TRUMP,
    NUM_CARDS,
    NUM_COLORS,
    NUM_FACES,
    NUM_ITEMS,
    NUM_KINDS,
    STRENGTHS,
    SUIT_CARDS,
    SUIT_DICE,
    SUITS,
    TRUMP_SUIT,
    mark,
)
from ice_envs.games.nokosu_dice.setup import (
    HAND_SIZES,
    MAX_PLAYERS,
    MOST_TRICKS,
    NUM_TRICKS,
    PICKS,
    add_die,
    deal_hands,
    remove_die,
    roll_dice,
)

NO_CALL = NUM_ITEMS
NUM_ACTIONS = NUM_ITEMS + 1
NOTHING_YET = -1
"""A commitment that is still to be made."""

ZERO_BONUS = 10
HIT_BONUS = 10

ZERO_CALLS = ("in_turn", "secret")
IN_TURN, IN_SECRET = range(2)
TIES = ("last", "first")
LAST, FIRST = range(2)
BONUSES = ("table", "per_miss")
BY_TABLE, PER_MISS = range(2)

DRAFT, CALL, PLAY = 0, 1, 2


@dataclass(frozen=True)
class NokosuDiceOptions:
    """Rule options of Nokosu Dice; the defaults are the game as it comes in the box."""

    zero_call: str = "in_turn"
    """How zero is called: `in_turn` from the dealer's left, openly, or `secret`: all choose, then all is revealed."""
    tie: str = "last"
    """Which of several equally strong items wins the trick: the `last` or the `first` one played."""
    bonus: str = "table"
    """What a hit pays: by the printed `table` (40 less 10 a hitter), or `per_miss`: 10 for each seat that missed."""

    def __post_init__(self) -> None:
        choose("zero_call", self.zero_call, ZERO_CALLS)
        choose("tie", self.tie, TIES)
        choose("bonus", self.bonus, BONUSES)


DTYPE = record_dtype(
    [
        ("hands", "i8", (MAX_PLAYERS,)),  # cards as bits
        ("played", "i8"),  # cards played this round
        ("dice_sets", "i4", (MAX_PLAYERS,)),  # kinds of dice that a seat has, as bits
        # options and the size of the table
        ("zero_call", "i1"),
        ("tie", "i1"),
        ("bonus", "i1"),
        ("hand_size", "i1"),
        ("num_tricks", "i1"),
        # the round
        ("phase", "i1"),
        ("dealer", "i1"),
        ("trump", "i1"),  # the kind of the trump die, or NO_TRUMP
        ("dice", "i1", (MAX_PLAYERS, NUM_KINDS)),
        ("dice_left", "i1", (MAX_PLAYERS,)),
        ("pool", "i1", (NUM_KINDS,)),  # dice in the middle
        ("pool_size", "i1"),
        ("bag", "i1", (NUM_COLORS,)),
        ("drafted", "u1", (MAX_PLAYERS, PICKS)),  # marks, in order
        ("commits", "i1", (MAX_PLAYERS,)),  # secret calls until they are revealed: NO_CALL, a die's item, NOTHING_YET
        ("called", "u1", (MAX_PLAYERS,)),  # the seat has called zero
        ("returned", "u1", (MAX_PLAYERS,)),  # mark of the die it returned
        ("voids", "u1", (MAX_PLAYERS,)),  # bit s: the seat has failed to follow suit s, so it has no card of it
        ("tricks", "i1", (MAX_PLAYERS,)),  # won
        ("totals", "i2", (MAX_PLAYERS,)),  # points of the rounds before
        ("history", "u1", (MAX_PLAYERS, MOST_TRICKS)),  # mark of what each seat played to each trick
        ("leaders", "u1", (MOST_TRICKS,)),  # who led each trick so far
        ("played_by", "u1", (NUM_CARDS,)),  # seat + 1, or 0
        ("deck", "u1", (NUM_CARDS,)),  # where cards are shuffled; says nothing between deals
        # the trick
        ("trick", "i1"),  # 0-based
        ("leader", "i1"),
        ("trick_size", "i1"),
        ("led", "i1"),  # suit, or −1
        ("best_seat", "i1"),  # who is ahead, or −1
        ("best_strength", "i1"),  # or −1
    ]
)


def configure(state: Any, num_players: int, options: NokosuDiceOptions) -> None:
    """Write the options and what follows from the table size into a record."""
    state.zero_call = ZERO_CALLS.index(options.zero_call)
    state.tie = TIES.index(options.tie)
    state.bonus = BONUSES.index(options.bonus)
    state.hand_size = HAND_SIZES[num_players]
    state.num_tricks = NUM_TRICKS[num_players]


@compiled
def start(state: Any) -> None:
    """Begin a game: nobody has points, chance names the first dealer."""
    state.decisions = 0
    state.over = 0
    state.truncated = 0
    state.round_number = 0
    state.totals[:] = 0
    state.dealer = random_below(state, state.num_players)
    deal(state)


@compiled
def deal(state: Any) -> None:
    """Set up a round (rulebook: Flow of a Round, 1 and 2); `dealer` is set by the caller."""
    state.round_number += 1
    deal_hands(state)
    roll_dice(state)
    state.trump = NO_TRUMP
    state.drafted[:] = 0
    state.commits[:] = NOTHING_YET
    state.called[:] = 0
    state.returned[:] = 0
    state.voids[:] = 0
    state.tricks[:] = 0
    state.history[:] = 0
    state.leaders[:] = 0
    state.played = 0
    state.played_by[:] = 0
    state.trick = 0
    state.phase = DRAFT
    open_trick(state, next_seat(state, state.dealer))


@compiled
def next_seat(state: Any, seat: int) -> int:
    """Return the seat to the left, clockwise."""
    return seat + 1 if seat + 1 < state.num_players else 0


@compiled
def open_trick(state: Any, leader: int) -> None:
    """Clear the table for a trick led by `leader`."""
    state.leader = leader
    state.to_move = leader
    state.trick_size = 0
    state.led = -1
    state.best_seat = -1
    state.best_strength = -1


@compiled
def playable_dice(state: Any, seat: int) -> int:
    """Return the dice (bits) that belong to a seat's hand: all of them, but for the last one unless it called zero.

    That one is its owner's bid: it is not played, and it is no reason to follow (rulebook: 4, when playing).
    """
    return state.dice_sets[seat] if state.dice_left[seat] > 1 or state.called[seat] else 0


@compiled
def must_follow(state: Any, seat: int) -> bool:
    """Return whether the seat has something of the suit led that it may play."""
    if state.trick_size == 0:
        return False
    cards = state.hands[seat] & SUIT_CARDS[state.trump, state.led]
    return cards | (playable_dice(state, seat) & SUIT_DICE[state.trump, state.led]) != 0


@compiled
def playable(state: Any, seat: int) -> tuple[int, int]:
    """Return the cards and the dice (bits) that the rules let a seat play to the trick (rulebook: 4)."""
    cards, dice = state.hands[seat], playable_dice(state, seat)
    if must_follow(state, seat):
        return cards & SUIT_CARDS[state.trump, state.led], dice & SUIT_DICE[state.trump, state.led]
    return cards, dice


@compiled
def legal(state: Any, mask: Any) -> None:
    """Write the legal actions: cards 0–39, dice 40–69, no call 70."""
    mask[:] = 0
    if state.over:
        return
    if state.phase == DRAFT:
        for kind in range(NUM_KINDS):
            mask[NUM_CARDS + kind] = state.pool[kind] > 0
        return
    if state.phase == CALL:
        mask[NO_CALL] = 1
        cards, dice = 0, state.dice_sets[state.to_move]
    else:
        cards, dice = playable(state, state.to_move)
    while cards:  # few bits are set: faster than to write every cell
        mask[lowest_bit(cards)] = 1
        cards &= cards - 1
    while dice:
        mask[NUM_CARDS + lowest_bit(dice)] = 1
        dice &= dice - 1


@compiled
def is_legal(state: Any, action: int) -> bool:
    """Return whether `legal` allows this action (0 to NUM_ACTIONS − 1), without writing a mask."""
    if state.over:
        return False
    if state.phase == PLAY:
        cards, dice = playable(state, state.to_move)
        if action < NUM_CARDS:
            return (cards >> action) & 1 != 0
        return action < NO_CALL and (dice >> (action - NUM_CARDS)) & 1 != 0
    if action == NO_CALL or action < NUM_CARDS:
        return action == NO_CALL and state.phase == CALL
    kind = action - NUM_CARDS
    return state.pool[kind] > 0 if state.phase == DRAFT else state.dice[state.to_move, kind] > 0


@compiled
def apply(state: Any, action: int) -> None:
    """Draft a die, call zero or not, or play an item, and all that follows without a decision."""
    state.decisions += 1
    if state.phase == PLAY:
        play_item(state, action)
    elif state.phase == DRAFT:
        draft_die(state, action - NUM_CARDS)
    else:
        call(state, action)


@compiled
def draft_die(state: Any, kind: int) -> None:
    """Take a die from the middle; the last one left there is the trump (rulebook: 2)."""
    seat = state.to_move
    lap = (PICKS * state.num_players + 1 - state.pool_size) // state.num_players
    state.drafted[seat, lap] = mark(NUM_CARDS + kind)
    state.pool[kind] -= 1
    state.pool_size -= 1
    add_die(state, seat, kind)
    state.to_move = next_seat(state, seat)
    if state.pool_size == 1:
        for left in range(NUM_KINDS):
            if state.pool[left]:
                state.trump = left
        state.phase = CALL


@compiled
def call(state: Any, action: int) -> None:
    """Call zero by returning a die, or do not; secret calls are kept until the last is in (rulebook: 3)."""
    seat = state.to_move
    state.to_move = next_seat(state, seat)
    if state.zero_call == IN_TURN:
        return_die(state, seat, action)
    else:
        state.commits[seat] = action
    if seat == state.dealer:
        for other in range(state.num_players):
            if state.commits[other] != NOTHING_YET:
                return_die(state, other, state.commits[other])
                state.commits[other] = NOTHING_YET
        state.phase = PLAY


@compiled
def return_die(state: Any, seat: int, action: int) -> None:
    """Put the die that pays for a zero call back into the bag; without a call nothing happens."""
    if action != NO_CALL:
        remove_die(state, seat, action - NUM_CARDS)
        state.bag[ITEM_COLORS[action]] += 1
        state.called[seat] = 1
        state.returned[seat] = mark(action)


@compiled
def play_item(state: Any, item: int) -> None:
    """Lay an item of the seat to move; the last seat's ends the trick (rulebook: 4)."""
    seat = state.to_move
    if item < NUM_CARDS:
        state.hands[seat] ^= 1 << item
        state.played |= 1 << item
        state.played_by[item] = seat + 1
    else:
        remove_die(state, seat, item - NUM_CARDS)
    state.history[seat, state.trick] = mark(item)
    suit, strength = SUITS[state.trump, item], STRENGTHS[state.trump, item]
    if state.trick_size == 0:
        state.led = suit
        state.leaders[state.trick] = seat
    elif suit != state.led:
        state.voids[seat] |= 1 << state.led
    counts = suit == state.led or suit == TRUMP_SUIT
    if counts and strength >= state.best_strength + state.tie:
        state.best_seat, state.best_strength = seat, strength
    state.trick_size += 1
    if state.trick_size < state.num_players:
        state.to_move = next_seat(state, seat)
    else:
        finish_trick(state)


@compiled
def finish_trick(state: Any) -> None:
    """Give the trick to the seat ahead, which leads the next one."""
    winner = state.best_seat
    state.tricks[winner] += 1
    state.trick += 1
    open_trick(state, winner)
    if state.trick == state.num_tricks:
        end_round(state)


@compiled
def hits(state: Any, seat: int) -> bool:
    """Return whether a seat that is done with the round has won as many tricks as it promised."""
    target = 0 if state.called[seat] else lowest_bit(state.dice_sets[seat]) % NUM_FACES + 1
    return state.tricks[seat] == target


@compiled
def end_round(state: Any) -> None:
    """Score the tricks and the hits; end the game or deal again (rulebook: 5)."""
    hitters = 0
    for seat in range(state.num_players):
        hitters += hits(state, seat)
    paying = MAX_PLAYERS if state.bonus == BY_TABLE else state.num_players
    for seat in range(state.num_players):
        state.totals[seat] += state.tricks[seat]
        if hits(state, seat):
            state.totals[seat] += HIT_BONUS * (paying - hitters) + ZERO_BONUS * state.called[seat]
    if state.round_number == state.num_players:
        state.over = 1
    else:
        state.dealer = next_seat(state, state.dealer)
        deal(state)


@compiled
def score(state: Any, out: Any) -> None:
    """Write each seat's points of the finished rounds."""
    for seat in range(state.num_players):
        out[seat] = state.totals[seat]


@compiled
def win_share(state: Any, out: Any) -> None:
    """Write the win shares: most points win, equals share (rulebook: End of the Game)."""
    share_win(state.num_players, state.totals, out)


def score_range(num_players: int, options: NokosuDiceOptions) -> tuple[int, int]:
    """Nothing pays more than a zero call that is the round's only hit, except as many tricks as it is worth."""
    paying = MAX_PLAYERS if options.bonus == "table" else num_players
    return 0, num_players * (HIT_BONUS * (paying - 1) + ZERO_BONUS)


def longest_game(num_players: int, options: NokosuDiceOptions) -> int:
    """Every game is as long: each seat's picks, its call and its plays in as many rounds as there are seats."""
    return num_players * num_players * (PICKS + 1 + NUM_TRICKS[num_players])

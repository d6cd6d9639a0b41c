"""The rules of Dokitto! Ice: the state record and the compiled functions over it.

A card is `flavor * 13 + number - 1`; a set of cards of one flavor is 13 bits of a uint16 (bit `number - 1`).
Sources: the rulebook's sections, named at each function; what it leaves open is an option or settled in docs/games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ice_envs.engine.bits import count_bits, lowest_bit, write_bits
from ice_envs.engine.game import record_dtype
from ice_envs.engine.generator import random_below
from ice_envs.engine.jit import compiled
from ice_envs.engine.seats import lowest_after, share_win
from ice_envs.errors import choose, whole_number

FLAVORS = ("strawberry", "chocolate", "matcha", "grape", "vanilla")
MAX_PLAYERS = 5
NUM_FLAVORS = 5
NUM_NUMBERS = 13
NUM_CARDS = NUM_FLAVORS * NUM_NUMBERS
NUM_ACTIONS = NUM_CARDS + NUM_FLAVORS
TILES_PER_FLAVOR = 3
CONE_SIZE = 3
FIRST_OF_FIFTH = (NUM_FLAVORS - 1) * NUM_NUMBERS
"""The first card of the fifth flavor: the cards of four fit into one word."""
ALL_NUMBERS = (1 << NUM_NUMBERS) - 1

FLAVORS_IN_PLAY = (0, 0, 3, 3, 4, 5)
HAND_SIZES = (0, 0, 6, 8, 10, 13)
NEXT_LEADERS = ("last_winner", "rotate", "lowest", "random")
LAST_WINNER, ROTATE, LOWEST, RANDOM = range(4)
LOW_WIN_TILES = ("choice", "winning_card")
CHOICE, WINNING_CARD = range(2)
HIGHEST_TARGET = 30
MOST_ROUNDS = 100

PLAY, TAKE_TILE = 0, 1


@dataclass(frozen=True)
class DokittoOptions:
    """Rule options of Dokitto! Ice; the defaults are the game as it comes in the box."""

    target_score: int = 10
    """The game ends after the round in which somebody reaches this many points (1–30)."""
    max_rounds: int = 50
    """After this many rounds the game is truncated; the leaders share the win (1–100)."""
    stars_per_flavor: int = 1
    """How many of a flavor's three tiles carry a star (0–3); the topping goes with the first one drawn."""
    next_leader: str = "last_winner"
    """Who leads a later round: `last_winner`, `rotate`, `lowest` or `random`."""
    low_win_tile: str = "choice"
    """The tile after a low win: a `choice` among the trick's flavors, or that of the `winning_card`."""

    def __post_init__(self) -> None:
        whole_number("target_score", self.target_score, 1, HIGHEST_TARGET)
        whole_number("max_rounds", self.max_rounds, 1, MOST_ROUNDS)
        whole_number("stars_per_flavor", self.stars_per_flavor, 0, TILES_PER_FLAVOR)
        choose("next_leader", self.next_leader, NEXT_LEADERS)
        choose("low_win_tile", self.low_win_tile, LOW_WIN_TILES)


DTYPE = record_dtype(
    [
        # options and the size of the table
        ("target_score", "i2"),
        ("max_rounds", "i2"),
        ("stars_per_flavor", "i1"),
        ("next_leader", "i1"),
        ("low_win_tile", "i1"),
        ("num_flavors", "i1"),
        ("hand_size", "i1"),
        # the round
        ("phase", "i1"),
        ("first_leader", "i1"),
        ("hands", "u2", (MAX_PLAYERS, NUM_FLAVORS)),
        ("played", "u2", (NUM_FLAVORS,)),  # cards played this round
        ("voids", "u1", (MAX_PLAYERS,)),  # bit f: the seat has failed to follow flavor f
        ("deck", "u1", (NUM_CARDS,)),  # where cards are shuffled; says nothing between deals
        ("tiles", "i1", (NUM_FLAVORS,)),
        ("stars", "u1", (NUM_FLAVORS,)),  # bit j: the j-th tile to be drawn carries a star
        ("toppings", "u1"),  # bit f: the topping still lies beside its stack
        ("cones", "i1", (MAX_PLAYERS, NUM_FLAVORS)),  # tiles taken
        ("cone_sizes", "i1", (MAX_PLAYERS,)),
        ("cone_toppings", "u1", (MAX_PLAYERS,)),
        ("played_by", "u1", (NUM_CARDS,)),  # seat + 1, or 0
        ("played_trick", "u1", (NUM_CARDS,)),  # 1-based, or 0
        ("totals", "i2", (MAX_PLAYERS,)),  # points of the rounds before
        # the trick
        ("trick", "i1"),  # 0-based
        ("leader", "i1"),
        ("trick_size", "i1"),
        ("trick_cards", "i1", (MAX_PLAYERS,)),  # by seat, or −1
        ("led", "i1"),
        ("mixed", "u1"),  # two or more flavors lie in the trick
        ("high_seat", "i1"),
        ("high_number", "i1"),
        ("low_seat", "i1"),
        ("low_number", "i1"),
        ("tile_choices", "u1"),  # bit f: the winner may take this flavor
    ]
)


def configure(state: Any, num_players: int, options: DokittoOptions) -> None:
    """Write the options and what follows from the table size into a record."""
    state.target_score = options.target_score
    state.max_rounds = options.max_rounds
    state.stars_per_flavor = options.stars_per_flavor
    state.next_leader = NEXT_LEADERS.index(options.next_leader)
    state.low_win_tile = LOW_WIN_TILES.index(options.low_win_tile)
    state.num_flavors = FLAVORS_IN_PLAY[num_players]
    state.hand_size = HAND_SIZES[num_players]


@compiled
def start(state: Any) -> None:
    """Begin a game: nobody has points, chance names the first leader."""
    state.decisions = 0
    state.over = 0
    state.truncated = 0
    state.round_number = 0
    state.totals[:] = 0
    state.first_leader = random_below(state, state.num_players)
    deal(state)


@compiled
def deal(state: Any) -> None:
    """Set up a round (rulebook: Preparation of the Game); `first_leader` is set by the caller."""
    state.round_number += 1
    deal_hands(state)
    for flavor in range(NUM_FLAVORS):
        state.tiles[flavor] = TILES_PER_FLAVOR if flavor < state.num_flavors else 0
        state.stars[flavor] = 0
        place_stars(state, flavor, 0, state.stars_per_flavor)
    state.toppings = (1 << state.num_flavors) - 1
    state.cones[:] = 0
    state.cone_sizes[:] = 0
    state.cone_toppings[:] = 0
    state.voids[:] = 0
    state.played[:] = 0
    state.played_by[:] = 0
    state.played_trick[:] = 0
    state.trick = 0
    open_trick(state, state.first_leader)


@compiled
def deal_hands(state: Any) -> None:
    """Shuffle the cards in play and deal; the rest is set aside unseen."""
    for card in range(NUM_CARDS):
        state.deck[card] = card
    state.hands[:] = 0
    in_play = state.num_flavors * NUM_NUMBERS
    place = 0
    for seat in range(state.num_players):
        for _ in range(state.hand_size):
            other = place + random_below(state, in_play - place)
            card = state.deck[other]
            state.deck[other] = state.deck[place]
            state.deck[place] = card
            state.hands[seat, card // NUM_NUMBERS] |= 1 << (card % NUM_NUMBERS)
            place += 1


@compiled
def place_stars(state: Any, flavor: int, drawn: int, stars: int) -> None:
    """Put `stars` stars on random tiles among those of a stack that are still to be drawn."""
    if flavor < state.num_flavors:
        for place in range(drawn, TILES_PER_FLAVOR):
            if random_below(state, TILES_PER_FLAVOR - place) < stars:
                state.stars[flavor] |= 1 << place
                stars -= 1


@compiled
def open_trick(state: Any, leader: int) -> None:
    """Clear the table for a trick led by `leader`."""
    state.phase = PLAY
    state.leader = leader
    state.to_move = leader
    state.trick_size = 0
    state.trick_cards[:] = -1
    state.led = -1
    state.mixed = 0
    state.high_seat = -1
    state.high_number = 0
    state.low_seat = -1
    state.low_number = NUM_NUMBERS + 1
    state.tile_choices = 0


@compiled
def must_follow(state: Any, seat: int) -> bool:
    """Return whether the seat holds the led flavor (rulebook: How to Play, 2)."""
    return (state.trick_size > 0) & (state.hands[seat, state.led] != 0)  # which saves a branch


@compiled
def legal(state: Any, mask: Any) -> None:
    """Write the legal actions: cards 0–64, then the flavor of the tile to take 65–69."""
    mask[:] = 0
    if state.over:
        return
    if state.phase == TAKE_TILE:
        for flavor in range(NUM_FLAVORS):
            mask[NUM_CARDS + flavor] = (state.tile_choices >> flavor) & 1
        return
    four = 0
    for flavor in range(NUM_FLAVORS - 1):
        four |= playable(state, flavor) << (flavor * NUM_NUMBERS)
    write_bits(four, FIRST_OF_FIFTH, mask, 0)
    write_bits(playable(state, NUM_FLAVORS - 1), NUM_NUMBERS, mask, FIRST_OF_FIFTH)


@compiled
def playable(state: Any, flavor: int) -> Any:
    """Return the numbers (bits) of a flavor that the seat to move may play."""
    allowed = (flavor == state.led) | (not must_follow(state, state.to_move))
    return np.int64(state.hands[state.to_move, flavor]) * allowed  # wide enough for flavors side by side


@compiled
def is_legal(state: Any, action: int) -> bool:
    """Return whether `legal` allows this action (0 to NUM_ACTIONS − 1), without writing a mask."""
    if state.over:
        return False
    if action >= NUM_CARDS:
        return (state.tile_choices >> (action - NUM_CARDS)) & 1 != 0
    may_play = (playable(state, action // NUM_NUMBERS) >> (action % NUM_NUMBERS)) & 1
    return state.phase == PLAY and may_play != 0


@compiled
def apply(state: Any, action: int) -> None:
    """Play a card or take a tile, and all that follows without a decision."""
    state.decisions += 1
    if state.phase == TAKE_TILE:
        take_tile(state, action - NUM_CARDS)
    else:
        play_card(state, action)


@compiled
def play_card(state: Any, card: int) -> None:
    """Lay a card of the seat to move; the last seat's card ends the trick (rulebook: How to Play, 1–3)."""
    seat = state.to_move
    flavor, number = card // NUM_NUMBERS, card % NUM_NUMBERS + 1
    state.hands[seat, flavor] ^= 1 << (number - 1)
    if state.trick_size == 0:
        state.led = flavor
    elif flavor != state.led:
        state.mixed = 1
        state.voids[seat] |= 1 << state.led
    state.trick_cards[seat] = card
    state.trick_size += 1
    state.played[flavor] |= 1 << (number - 1)
    state.played_by[card] = seat + 1
    state.played_trick[card] = state.trick + 1
    if number > state.high_number:
        state.high_seat, state.high_number = seat, number
    if number <= state.low_number:
        state.low_seat, state.low_number = seat, number
    if state.trick_size < state.num_players:
        state.to_move = seat + 1 if seat + 1 < state.num_players else 0
    else:
        finish_trick(state)


@compiled
def trick_winner(state: Any) -> int:
    """Return who is ahead in the trick: highest of one flavor, or lowest of several, the last of equals."""
    return state.low_seat if state.mixed else state.high_seat


@compiled
def finish_trick(state: Any) -> None:
    """The winner takes a tile, chooses one, or busts on the fourth (rulebook: How to Play, 4; End of the Round)."""
    winner = trick_winner(state)
    if state.cone_sizes[winner] == CONE_SIZE:
        state.trick += 1
        end_round(state, winner, winner)
        return
    state.to_move = winner
    choices = possible_tiles(state)
    if choices & (choices - 1):
        state.tile_choices = choices
        state.phase = TAKE_TILE
    else:
        take_tile(state, lowest_bit(choices))


@compiled
def possible_tiles(state: Any) -> int:
    """Return the flavors (bits) of which the trick's winner may take a tile; never empty."""
    played, stocked = 0, 0
    for seat in range(state.num_players):
        played |= 1 << (state.trick_cards[seat] // NUM_NUMBERS)
    for flavor in range(state.num_flavors):
        if state.tiles[flavor] > 0:
            stocked |= 1 << flavor
    if state.mixed and state.low_win_tile == WINNING_CARD:
        winning = 1 << (state.trick_cards[state.low_seat] // NUM_NUMBERS)
        if winning & stocked:
            return winning
    return played & stocked if played & stocked else stocked


@compiled
def take_tile(state: Any, flavor: int) -> None:
    """Put the top tile of a stack on the winner's cone, with the topping if it carries the star, and go on."""
    winner = state.to_move
    star = (state.stars[flavor] >> (TILES_PER_FLAVOR - state.tiles[flavor])) & 1
    state.tiles[flavor] -= 1
    state.cones[winner, flavor] += 1
    state.cone_sizes[winner] += 1
    topping = (state.toppings >> flavor) & star & 1
    state.toppings ^= topping << flavor
    state.cone_toppings[winner] |= topping << flavor
    state.phase = PLAY
    state.tile_choices = 0
    state.trick += 1
    if state.trick == state.hand_size:
        end_round(state, winner, -1)
    else:
        open_trick(state, winner)


@compiled
def end_round(state: Any, winner: int, buster: int) -> None:
    """Score the cones, the buster's excepted; end the game or deal again (rulebook: Calculating Happiness Points)."""
    best = 0
    for seat in range(state.num_players):
        if seat != buster:
            state.totals[seat] += state.cone_sizes[seat] + count_bits(state.cone_toppings[seat])
        best = max(best, state.totals[seat])
    if best >= state.target_score:
        state.over = 1
    elif state.round_number == state.max_rounds:
        state.over = 1
        state.truncated = 1
    else:
        state.first_leader = next_first_leader(state, winner)
        deal(state)


@compiled
def next_first_leader(state: Any, winner: int) -> int:
    """Return who leads the next round, by the option `next_leader`."""
    if state.next_leader == ROTATE:
        return (state.first_leader + 1) % state.num_players
    if state.next_leader == LOWEST:
        return lowest_after(state, state.first_leader)
    if state.next_leader == RANDOM:
        return random_below(state, state.num_players)
    return winner


@compiled
def score(state: Any, out: Any) -> None:
    """Write each seat's points of the finished rounds."""
    for seat in range(state.num_players):
        out[seat] = state.totals[seat]


@compiled
def win_share(state: Any, out: Any) -> None:
    """Write the win shares: most points win, equals share (rulebook: End of the Game)."""
    share_win(state.num_players, state.totals, out)


def score_range(num_players: int, options: DokittoOptions) -> tuple[int, int]:
    """A round is worth at most three tiles and a topping each; it may begin one point short of the target."""
    toppings = min(CONE_SIZE, FLAVORS_IN_PLAY[num_players]) if options.stars_per_flavor else 0
    return 0, options.target_score - 1 + CONE_SIZE + toppings


def longest_game(num_players: int, options: DokittoOptions) -> int:
    """Every card of every hand and a choice of tile in each trick, for all rounds."""
    return options.max_rounds * HAND_SIZES[num_players] * (num_players + 1)

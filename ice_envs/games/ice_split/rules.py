"""The rules of Ice Split: the state record and the compiled functions over it.

A card is its number, 0 to 62; a set of cards is an int64 (bit = card). The deck is data: the record holds every card,
packed (see `deck.packed`). What displays pay is kept up to date in `display.py`.
Sources: the rulebook's sections, named at each function; what it leaves open is an option or settled in docs/games.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine.bits import lowest_bit
from ice_envs.engine.game import record_dtype
from ice_envs.engine.generator import random_below
from ice_envs.engine.jit import compiled
from ice_envs.engine.seats import share_win
from ice_envs.errors import choose
from ice_envs.games.ice_split.deck import (
    NUM_CARDS,
    NUM_FLAVORS,
    RECONSTRUCTION,
    Card,
    deck_hash,
    deck_rows,
    goal_numbers,
    packed,
    read_deck,
    reconstruction,
)
from ice_envs.games.ice_split.display import add_flavor, add_goal, appraise, clear_displays, kinds_shown

MAX_PLAYERS = 4
HAND_SIZE = 4
MARKET_SIZE = 4
DISPLAY_SIZE = 13
ROW_SIZE = DISPLAY_SIZE
"""The most goals, or flavors, of a display: all its cards."""
ALL_CARDS = (1 << NUM_CARDS) - 1

SEQUENCES = ("contiguous", "subsequence")
TWO_PAIRS = ("adjacent", "apart")
DUPLICATE_GOALS = ("each", "once")

AS_START, AS_GOAL, AS_FLAVOR, FROM_MARKET, BLIND = (NUM_CARDS * kind for kind in range(5))
"""The first action of each kind; the others follow in order of the cards."""
NUM_ACTIONS = BLIND + 1

CHOOSE_START, PLAY, DRAW = range(3)


@dataclass(frozen=True)
class IceSplitOptions:
    """Rule options of Ice Split; the defaults are the game as the rulebook describes it, with a reconstructed deck."""

    sequence: str = "contiguous"
    """The flavors of a sequence stand side by side (`contiguous`), or with others between (`subsequence`)."""
    two_pairs: str = "adjacent"
    """The two pairs touch each other (`adjacent`), or need not (`apart`)."""
    duplicate_goals: str = "each"
    """Of identical goals in one display `each` pays, or only one (`once`)."""
    deck: Any = RECONSTRUCTION
    """The 63 cards: the `reconstruction` of this package, the path of a CSV file, or a list of its rows."""

    def __post_init__(self) -> None:
        choose("sequence", self.sequence, SEQUENCES)
        choose("two_pairs", self.two_pairs, TWO_PAIRS)
        choose("duplicate_goals", self.duplicate_goals, DUPLICATE_GOALS)
        cards = read_deck(self.deck)
        rows = RECONSTRUCTION if cards == reconstruction() else deck_rows(cards)
        object.__setattr__(self, "deck", rows)  # what the deck is, wherever it came from
        object.__setattr__(self, "_cards", cards)

    @property
    def cards(self) -> tuple[Card, ...]:
        """The cards of the deck by number."""
        return self.__dict__["_cards"]


DTYPE = record_dtype(
    [
        # options and the cards
        ("sequence", "i1"),
        ("two_pairs", "i1"),
        ("duplicate_goals", "i1"),
        ("deck_hash", "u8"),
        ("cards", "u4", (NUM_CARDS,)),  # flavor and goal, as `deck.packed` has them
        ("goal_numbers", "u1", (NUM_CARDS,)),  # the lowest card with an identical goal
        ("unique_goals", "i8"),  # cards with a goal that no other card has
        ("flavor_cards", "i8", (NUM_FLAVORS,)),  # cards of each flavor
        # the table
        ("phase", "i1"),
        ("first_seat", "i1"),
        ("deck_size", "i1"),
        ("deck", "u1", (NUM_CARDS,)),  # the top is deck[deck_size - 1]; past it 0
        ("hands", "i8", (MAX_PLAYERS,)),
        ("market", "i8"),
        ("public", "i8"),  # cards of which everybody has seen both halves: start cards, and what has been in the market
        ("starts", "i1", (MAX_PLAYERS,)),  # start card chosen but not revealed, still in the hand, or −1
        # displays
        ("played", "i8", (MAX_PLAYERS,)),  # cards in the display
        ("num_goals", "i1", (MAX_PLAYERS,)),
        ("num_flavors", "i1", (MAX_PLAYERS,)),
        (
            "goal_row",
            "u1",
            (MAX_PLAYERS, ROW_SIZE),
        ),  # cards that show their goal, as played; the last one lies leftmost
        ("flavor_row", "u1", (MAX_PLAYERS, ROW_SIZE)),  # cards that show their flavor, left to right
        ("shown_goals", "i8", (MAX_PLAYERS, 2)),  # what everybody sees of the first row: see `display.add_goal`
        ("shown_flavors", "i8", (MAX_PLAYERS,)),  # and of the second row: flavor + 1 in three bits each, from the left
        ("paying", "i8", (MAX_PLAYERS,)),  # cards whose goal pays if it is met
        ("goals_shown", "i8", (MAX_PLAYERS,)),  # goals by number
        ("goals_met", "i8", (MAX_PLAYERS,)),  # of these, those that are met now
        # what display.py works out of them
        ("places", "u2", (MAX_PLAYERS, NUM_FLAVORS + 1)),  # bit i + 3: the flavor is the i-th of the row; last: any
        ("counts", "i8", (MAX_PLAYERS,)),  # how often each flavor is shown, in fields of nine bits
        ("most", "i1", (MAX_PLAYERS,)),  # the greatest of these
        ("repeats", "i4", (MAX_PLAYERS,)),  # bit i + 3: the i-th flavor is also the one before
        ("paired", "u1", (MAX_PLAYERS,)),  # bit f: two of the flavor are side by side
        ("facts", "i8", (MAX_PLAYERS, 5)),  # see `display.write_facts`
        ("outlook", "i8", (MAX_PLAYERS,)),  # points if one more flavor were shown, eight bits for each flavor
        ("points", "u1", (MAX_PLAYERS,)),  # points of the goals met
        ("points_with_goal", "u1", (MAX_PLAYERS,)),  # the same if one more goal were shown, itself not counted
    ]
)


class Tables(NamedTuple):
    """A deck as the record holds it."""

    deck_hash: int
    cards: NDArray[np.uint32]
    goal_numbers: NDArray[np.uint8]
    unique_goals: int
    flavor_cards: list[int]


@functools.lru_cache
def tables(cards: tuple[Card, ...]) -> Tables:
    """Return what the record holds of a deck."""
    goals = goal_numbers(cards)
    numbers = np.array([packed(card) for card in cards], np.uint32)
    flavors = (numbers & 7).tolist()
    return Tables(
        deck_hash(cards),
        numbers,
        np.array(goals, np.uint8),
        sum(1 << card for card, goal in enumerate(goals) if goals.count(goal) == 1),
        [sum(1 << card for card in range(NUM_CARDS) if flavors[card] == flavor) for flavor in range(NUM_FLAVORS)],
    )


def configure(state: Any, num_players: int, options: IceSplitOptions) -> None:
    """Write the options and the deck into a record."""
    state.sequence = SEQUENCES.index(options.sequence)
    state.two_pairs = TWO_PAIRS.index(options.two_pairs)
    state.duplicate_goals = DUPLICATE_GOALS.index(options.duplicate_goals)
    deck = tables(options.cards)
    state.deck_hash = deck.deck_hash
    state.cards[:] = deck.cards
    state.goal_numbers[:] = deck.goal_numbers
    state.unique_goals = deck.unique_goals
    state.flavor_cards[:] = deck.flavor_cards


@compiled
def start(state: Any) -> None:
    """Shuffle, deal four cards to each seat, open four more (rulebook: Set-up); chance names the first seat."""
    state.decisions = 0
    state.over = 0
    state.truncated = 0
    state.round_number = 1
    state.phase = CHOOSE_START
    for card in range(NUM_CARDS):
        other = random_below(state, card + 1)
        state.deck[card] = state.deck[other]
        state.deck[other] = card
    state.deck_size = NUM_CARDS
    for seat in range(MAX_PLAYERS):
        state.hands[seat] = 0
        state.starts[seat] = -1
        if seat < state.num_players:
            for _ in range(HAND_SIZE):
                state.hands[seat] |= 1 << take_top(state)
    state.market = 0
    state.public = 0
    for _ in range(MARKET_SIZE):
        open_card(state)
    clear_displays(state)
    state.first_seat = random_below(state, state.num_players)
    state.to_move = state.first_seat


@compiled
def take_top(state: Any) -> Any:
    """Take the top card from the deck and return it."""
    state.deck_size -= 1
    card = np.int64(state.deck[state.deck_size])
    state.deck[state.deck_size] = 0
    return card


@compiled
def open_card(state: Any) -> None:
    """Put the top card of the deck face up into the market."""
    bit = 1 << take_top(state)
    state.market |= bit
    state.public |= bit


@compiled
def legal(state: Any, mask: Any) -> None:
    """Write the legal actions, in the order of `AS_START`, `AS_GOAL`, `AS_FLAVOR`, `FROM_MARKET`, `BLIND`."""
    mask[:] = 0
    if state.over:
        return
    cards, first = np.int64(state.hands[state.to_move]), AS_START
    if state.phase == PLAY:
        first = AS_GOAL
    elif state.phase == DRAW:
        cards, first = np.int64(state.market), FROM_MARKET
        mask[BLIND] = state.deck_size > 0
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        mask[first + card] = 1
        if first == AS_GOAL:
            mask[AS_FLAVOR + card] = 1


@compiled
def is_legal(state: Any, action: int) -> bool:
    """Return whether `legal` allows this action (0 to NUM_ACTIONS − 1), without writing a mask."""
    if state.over:
        return False
    if action == BLIND:
        return state.phase == DRAW and state.deck_size > 0
    kind, card = action // NUM_CARDS, action % NUM_CARDS
    if kind == 3:
        return state.phase == DRAW and (state.market >> card) & 1 != 0
    fits = state.phase == CHOOSE_START if kind == 0 else state.phase == PLAY
    return fits and (state.hands[state.to_move] >> card) & 1 != 0


@compiled
def apply(state: Any, action: int) -> None:
    """Choose a start card, play a card or draw one, and all that follows without a decision."""
    state.decisions += 1
    if state.phase == DRAW:
        draw_card(state, action)
    elif state.phase == PLAY:
        play_card(state, action)
    else:
        choose_start(state, action)


@compiled
def pass_turn(state: Any) -> None:
    """Make the next seat clockwise the one to move."""
    following = state.to_move + 1
    state.to_move = following if following < state.num_players else 0


@compiled
def choose_start(state: Any, card: int) -> None:
    """Commit to a start card; the last one reveals them all (rulebook: Set-up)."""
    state.starts[state.to_move] = card
    pass_turn(state)
    if state.to_move != state.first_seat:
        return
    for seat in range(state.num_players):
        chosen = np.int64(state.starts[seat])
        state.starts[seat] = -1
        state.hands[seat] ^= 1 << chosen
        state.played[seat] = 1 << chosen
        state.public |= 1 << chosen
        add_goal(state, seat, chosen)
        add_flavor(state, seat, chosen)
        appraise(state, seat)
    state.phase = PLAY


@compiled
def play_card(state: Any, action: int) -> None:
    """Lay a card at the left end as a goal or at the right end as a flavor (rulebook: How to Play, 1).

    The thirteenth card of a display ends the seat's game: what it would draw could not be played any more.
    """
    seat = state.to_move
    as_flavor = action >= AS_FLAVOR
    card = action - (AS_FLAVOR if as_flavor else AS_GOAL)
    state.hands[seat] ^= 1 << card
    state.played[seat] |= 1 << card
    if as_flavor:
        add_flavor(state, seat, card)
    else:
        add_goal(state, seat, card)
    appraise(state, seat)
    if cards_left(state, seat) > 0:
        state.phase = DRAW
        return
    pass_turn(state)
    if cards_left(state, state.to_move) == 0:
        state.over = 1


@compiled
def cards_left(state: Any, seat: int) -> int:
    """Return how many cards a seat has still to play, its start card included."""
    shown = state.num_goals[seat] + state.num_flavors[seat]
    return DISPLAY_SIZE if shown == 0 else DISPLAY_SIZE + 1 - shown  # the start card shows both halves


@compiled
def draw_card(state: Any, action: int) -> None:
    """Take a card of the market, which is filled up while there is a deck, or the top of the deck (How to Play, 2)."""
    seat = state.to_move
    if action == BLIND:
        state.hands[seat] |= 1 << take_top(state)
    else:
        bit = 1 << (action - FROM_MARKET)
        state.hands[seat] |= bit
        state.market ^= bit
        if state.deck_size > 0:
            open_card(state)
    state.phase = PLAY
    pass_turn(state)


@compiled
def score(state: Any, out: Any) -> None:
    """Write each seat's points of the goals that are met now."""
    for seat in range(state.num_players):
        out[seat] = state.points[seat]


@compiled
def win_share(state: Any, out: Any) -> None:
    """Write the win shares: most points win, then most different flavors; equals share (rulebook: End of the Game)."""
    for seat in range(state.num_players):
        out[seat] = state.points[seat] * 8 + kinds_shown(state, seat)
    share_win(state.num_players, out, out)


def score_range(num_players: int, options: IceSplitOptions) -> tuple[int, int]:
    """No display can have more than all its cards' goals but one, the best thirteen of the deck."""
    points = sorted((card.points for card in options.cards), reverse=True)
    return 0, sum(points[:ROW_SIZE])


def longest_game(num_players: int, options: IceSplitOptions) -> int:
    """Each seat chooses a start card, plays twelve cards and draws eleven: every game is as long."""
    return num_players * (DISPLAY_SIZE + DISPLAY_SIZE - 2)

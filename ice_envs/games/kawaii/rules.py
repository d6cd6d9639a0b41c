"""The rules of Kawaii: the state record and the compiled functions over it.

What happens within a grab window is in `window`, the cards are in `cards`. Sources: the rulebook's sections, named at
each function; what it leaves open is an option or settled in docs/games.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ice_envs.engine.bits import count_bits
from ice_envs.engine.game import record_dtype
from ice_envs.engine.generator import random_below
from ice_envs.engine.jit import compiled
from ice_envs.engine.plain import checked_flag, checked_list
from ice_envs.engine.seats import lowest_after, share_win
from ice_envs.errors import IceError, choose, whole_number
from ice_envs.games.kawaii.cards import (
    CHERRY,
    COPIES,
    DECK,
    ICE_COPIES,
    NUM_CARDS,
    NUM_CHERRIES,
    NUM_FLAVORS,
    NUM_ICES,
    NUM_KINDS,
    NUM_SHAPES,
    NUM_SHOPS,
    SHOP,
)
from ice_envs.games.kawaii.window import (
    may_claim,
    next_asked,
    open_window,
    place_in_order,
    rotated,
    settle,
)

MAX_PLAYERS = 5
NUM_ACTIONS = 1 << MAX_PLAYERS
FAVORITES = ("each_round", "whole_game")
EACH_ROUND, WHOLE_GAME = range(2)
TOKENS_EACH = 2
NUM_ROUNDS = 3
TALLEST_PILE = -(-NUM_CARDS // 2)
ALL_SHOPS = 3
"""Points for all closed shops together."""
ANY_FAVORITES = (1 << NUM_ICES) - 1

MOST_TICKS = 30
LONGEST_SHIFT = 100
SLOWEST_REACTION = 2 * MOST_TICKS - 1 + LONGEST_SHIFT + MOST_TICKS

MOST_ROUND_POINTS = ICE_COPIES * (NUM_FLAVORS + NUM_SHAPES) + NUM_CHERRIES + ALL_SHOPS
FEWEST_ROUND_POINTS = 1 - NUM_SHOPS
MOST_WINDOWS = 2 * NUM_CARDS - 1
"""Windows of a round that ask anybody: one for each flip and for each card captured, and one less at the end."""


@dataclass(frozen=True)
class KawaiiOptions:
    """Rule options of Kawaii; the defaults are the rulebook's game, with reactions as a person's."""

    window_ticks: int = 3
    """Ticks from one flip to the next (1–30); who reacts later misses the window while play runs on."""
    reaction_ticks: int = 3
    """A seat's reaction is one of this many ticks, each as likely (1–30); with 1 all claims are simultaneous."""
    handicaps: Sequence[Sequence[int]] = field(default_factory=list)
    """Of each seat `[shift, widen]`: added to the tick drawn (0–100), and to `reaction_ticks` (0–30); absent ones 0."""
    flipper_delay: int = 0
    """Added to the reaction of the seat that has just flipped, which sees its card last (0–30)."""
    favorites: str = "each_round"
    """Whether favorites are dealt anew in `each_round` or kept, and hidden, for the `whole_game`."""
    memory: bool = False
    """Whether cards lie on top of each other: only the top card and the height of a pile can be seen."""

    def __post_init__(self) -> None:
        whole_number("window_ticks", self.window_ticks, 1, MOST_TICKS)
        whole_number("reaction_ticks", self.reaction_ticks, 1, MOST_TICKS)
        whole_number("flipper_delay", self.flipper_delay, 0, MOST_TICKS)
        choose("favorites", self.favorites, FAVORITES)
        checked_flag("memory", self.memory)
        object.__setattr__(self, "handicaps", checked_handicaps(self.handicaps))  # lists, as JSON reads them back


def checked_handicaps(value: Any) -> list[list[int]]:
    """Return handicaps as a list of `[shift, widen]`, one for each seat from seat 0 on; raise IceError for others."""
    pairs = checked_list("handicaps", value)
    if len(pairs) > MAX_PLAYERS:
        raise IceError(f"handicaps must have at most {MAX_PLAYERS} entries, one for each seat, not {len(pairs)}")
    found = []
    for seat, pair in enumerate(pairs):
        shift, widen = checked_list(f"handicaps[{seat}]", pair, 2)
        shift = whole_number(f"the shift in handicaps[{seat}]", shift, 0, LONGEST_SHIFT)
        found.append([shift, whole_number(f"the widening in handicaps[{seat}]", widen, 0, MOST_TICKS)])
    return found


DTYPE = record_dtype(
    [
        # options
        ("window_ticks", "i1"),
        ("reaction_ticks", "i1"),
        ("flipper_delay", "i1"),
        ("favorites", "i1"),
        ("memory", "i1"),
        ("shift", "i1", (MAX_PLAYERS,)),
        ("widen", "i1", (MAX_PLAYERS,)),
        # the game
        ("starter", "i1"),
        ("totals", "i2", (MAX_PLAYERS,)),  # points of the rounds before
        ("possible", "i4", (MAX_PLAYERS,)),  # bit k: the points made so far allow the favorites of ice cream kind k
        # the round
        ("favorite_flavor", "i1", (MAX_PLAYERS,)),
        ("favorite_shape", "i1", (MAX_PLAYERS,)),
        ("deck", "i1", (NUM_CARDS,)),  # the last sum(reserves) cards are still to be flipped, in order
        ("left", "i1", (NUM_KINDS,)),  # of which these are the kinds
        ("reserves", "i1", (MAX_PLAYERS,)),
        ("piles", "i1", (MAX_PLAYERS, TALLEST_PILE)),  # from the bottom; 0 above the height
        ("heights", "i1", (MAX_PLAYERS,)),
        ("filled", "i1"),  # bit s: seat s has a pile
        ("captured", "i1", (MAX_PLAYERS, NUM_KINDS)),
        ("tokens", "i1", (MAX_PLAYERS,)),
        ("flipper", "i1"),
        ("taken_by", "i1", (MAX_PLAYERS,)),  # who took each pile at the last tick with a claim, or −1
        # the window
        ("after_capture", "i1"),
        ("tick", "i2"),
        ("reactions", "i2", (MAX_PLAYERS,)),
        ("claims", "i1", (MAX_PLAYERS,)),  # bit p: the seat has slapped pile p in an earlier tick of this window
        ("pending", "i1", (MAX_PLAYERS,)),  # the same for the present tick
    ]
)


def configure(state: Any, num_players: int, options: KawaiiOptions) -> None:
    """Write the options into a record; raise IceError for the handicap of a seat that is not at the table."""
    if len(options.handicaps) > num_players:
        raise IceError(f"handicaps has {len(options.handicaps)} entries, but the table has {num_players} seats")
    state.window_ticks = options.window_ticks
    state.reaction_ticks = options.reaction_ticks
    state.flipper_delay = options.flipper_delay
    state.favorites = FAVORITES.index(options.favorites)
    state.memory = options.memory
    for seat, (shift, widen) in enumerate(options.handicaps):
        state.shift[seat] = shift
        state.widen[seat] = widen


@compiled
def start(state: Any) -> None:
    """Begin a game: nobody has points, chance names the starter."""
    state.decisions = 0
    state.over = 0
    state.truncated = 0
    state.round_number = 0
    state.totals[:] = 0
    state.taken_by[:] = -1
    for seat in range(MAX_PLAYERS):
        state.possible[seat] = ANY_FAVORITES if seat < state.num_players else 0
    state.starter = random_below(state, state.num_players)
    deal(state)
    go_on(state, 0)


@compiled
def deal(state: Any) -> None:
    """Set up a round (rulebook: Setting up the Game); `starter` is set by the caller."""
    state.round_number += 1
    if state.round_number == 1 or state.favorites == EACH_ROUND:
        deal_favorites(state)
    for place in range(NUM_CARDS):
        state.deck[place] = DECK[place]
    shuffle_deck(state, 0)
    state.left[:] = COPIES
    state.piles[:] = 0
    state.heights[:] = 0
    state.filled = 0
    state.captured[:] = 0
    state.claims[:] = 0
    state.after_capture = 0
    for place in range(state.num_players):  # the deck is dealt clockwise from the starter, a card at a time
        seat = (state.starter + place) % state.num_players
        state.reserves[seat] = (NUM_CARDS - place + state.num_players - 1) // state.num_players
        state.tokens[seat] = TOKENS_EACH
    state.flipper = (state.starter + state.num_players - 1) % state.num_players


@compiled
def deal_favorites(state: Any) -> None:
    """Deal each seat a flavor and a shape, all different."""
    for place in range(MAX_PLAYERS):
        state.favorite_flavor[place] = place
        state.favorite_shape[place] = place
    for place in range(state.num_players):
        exchange(state.favorite_flavor, place, place + random_below(state, NUM_FLAVORS - place))
        exchange(state.favorite_shape, place, place + random_below(state, NUM_SHAPES - place))
    for place in range(state.num_players, MAX_PLAYERS):
        state.favorite_flavor[place] = 0
        state.favorite_shape[place] = 0


@compiled
def exchange(cards: Any, place: int, other: int) -> None:
    """Swap two entries of an array."""
    card = cards[place]
    cards[place] = cards[other]
    cards[other] = card


@compiled
def shuffle_deck(state: Any, first: int) -> None:
    """Shuffle the deck from this place on."""
    for place in range(first, NUM_CARDS):
        exchange(state.deck, place, place + random_below(state, NUM_CARDS - place))


@compiled
def cards_left(state: Any) -> int:
    """Return how many cards all reserves have together."""
    count = 0
    for seat in range(state.num_players):
        count += state.reserves[seat]
    return count


@compiled
def flip(state: Any) -> None:
    """The next seat clockwise that has a reserve turns over its top card onto its own pile (rulebook: How to Play)."""
    seat = state.flipper
    while True:
        seat = seat + 1 if seat + 1 < state.num_players else 0
        if state.reserves[seat] > 0:
            break
    card = state.deck[NUM_CARDS - cards_left(state)]
    state.reserves[seat] -= 1
    state.left[card] -= 1
    state.piles[seat, state.heights[seat]] = card
    state.heights[seat] += 1
    state.filled |= 1 << seat
    state.flipper = seat


@compiled
def legal(state: Any, mask: Any) -> None:
    """Write the legal actions: sets of piles, bit k for the pile k places clockwise of the own one."""
    if state.over:
        mask[:] = 0
        return
    filled, tokens = rotated(state.filled, state.to_move, state.num_players), state.tokens[state.to_move]
    for action in range(NUM_ACTIONS):
        mask[action] = action & ~filled == 0 and count_bits(action) <= tokens


@compiled
def is_legal(state: Any, action: int) -> bool:
    """Return whether `legal` allows this action (0 to NUM_ACTIONS − 1), without writing a mask."""
    if state.over or action >> state.num_players:
        return False
    return may_claim(state, state.to_move, claimed_piles(state, state.to_move, action))


@compiled
def claimed_piles(state: Any, seat: int, action: int) -> int:
    """Return the piles (bits by owner) that a seat's action slaps."""
    return rotated(action, state.num_players - seat, state.num_players)


@compiled
def apply(state: Any, action: int) -> None:
    """Commit the seat to move to a set of piles; after the last one of a tick settle, go on to the next decision."""
    state.decisions += 1
    seat, tick = state.to_move, state.tick
    state.pending[seat] = claimed_piles(state, seat, action)
    following = next_asked(state, tick, place_in_order(state, seat) + 1)
    if following >= 0 and state.reactions[following] == tick:
        state.to_move = following
        return
    if settle(state) and not state.tokens.any():
        end_round(state)
    if state.over == 0:
        go_on(state, tick + 1)


@compiled
def go_on(state: Any, tick: int) -> None:
    """Go on from a tick of the window to the next decision, or to the end of the game.

    A window with a capture is followed by another, one without by a flip, or after the last flip by the round's end
    (rulebook: How to Play). A round that has just been dealt is like a window that has passed.
    """
    while state.over == 0:
        seat = next_asked(state, tick, 0)
        if seat >= 0:
            state.to_move = seat
            state.tick = state.reactions[seat]
            return
        tick = 0
        if state.claims.any():
            open_window(state, True)
        elif state.reserves.any():
            flip(state)
            open_window(state, False)
        else:
            end_round(state)


@compiled
def end_round(state: Any) -> None:
    """Score the round; end the game or deal again (rulebook: End of the Game and Scoring)."""
    if state.favorites == WHOLE_GAME and not state.memory:
        narrow_favorites(state)
    for seat in range(state.num_players):
        flavor, shape = state.favorite_flavor[seat], state.favorite_shape[seat]
        state.totals[seat] += ice_points(state, seat, flavor, shape) + other_points(state, seat)
    if state.round_number == NUM_ROUNDS:
        state.over = 1
        state.to_move = 0
        state.tick = 0
        state.reactions[:] = 0
    else:
        state.starter = lowest_after(state, state.starter)
        deal(state)


@compiled
def ice_points(state: Any, seat: int, flavor: int, shape: int) -> int:
    """Return the points of the ice creams that a seat has captured, were these its favorites."""
    points = 0
    for other in range(NUM_SHAPES):
        points += state.captured[seat, flavor * NUM_SHAPES + other]
    for other in range(NUM_FLAVORS):
        points += state.captured[seat, other * NUM_SHAPES + shape]
    return points


@compiled
def shop_points(shops: int) -> int:
    """Return the points of so many closed shops."""
    return ALL_SHOPS if shops == NUM_SHOPS else -shops


@compiled
def other_points(state: Any, seat: int) -> int:
    """Return the points of a seat's cherries, closed shops and tokens."""
    return state.captured[seat, CHERRY] + shop_points(state.captured[seat, SHOP]) + state.tokens[seat]


@compiled
def narrow_favorites(state: Any) -> None:
    """Strike out the favorites with which a seat's captured cards would not make the points that it scores."""
    for seat in range(state.num_players):
        true_points = ice_points(state, seat, state.favorite_flavor[seat], state.favorite_shape[seat])
        for kind in range(NUM_ICES):
            if ice_points(state, seat, kind // NUM_SHAPES, kind % NUM_SHAPES) != true_points:
                state.possible[seat] &= ~(1 << kind)


@compiled
def score(state: Any, out: Any) -> None:
    """Write each seat's points of the finished rounds."""
    for seat in range(state.num_players):
        out[seat] = state.totals[seat]


@compiled
def win_share(state: Any, out: Any) -> None:
    """Write the win shares: most points win, equals share (rulebook: End of the Game)."""
    share_win(state.num_players, state.totals, out)


def score_range(num_players: int, options: KawaiiOptions) -> tuple[int, int]:
    """Two closed shops in every round, or all cards that can count and all tokens."""
    return NUM_ROUNDS * FEWEST_ROUND_POINTS, NUM_ROUNDS * (MOST_ROUND_POINTS + TOKENS_EACH * num_players)


def longest_game(num_players: int, options: KawaiiOptions) -> int:
    """Every seat asked in every window of three rounds."""
    return NUM_ROUNDS * MOST_WINDOWS * num_players

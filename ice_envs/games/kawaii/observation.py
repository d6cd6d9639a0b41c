"""What a seat of Kawaii observes: its favorites, all that lies open, and its own place in the window.

Seats are relative: 0 is the observer, then clockwise; piles are named by their owners; cells of absent seats stay 0.
With the option `memory` only what can be seen at the moment is told: to remember the rest is up to the player.
Earlier rounds leave nothing behind but points, and with favorites for the whole game what the points give away.
"""

from __future__ import annotations

from typing import Any

from ice_envs.engine.jit import compiled
from ice_envs.engine.layout import Layout
from ice_envs.engine.seats import relative
from ice_envs.games.kawaii.cards import (
    CHERRY,
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
from ice_envs.games.kawaii.determinize import hides_cards, write_unseen
from ice_envs.games.kawaii.rules import (
    FAVORITES,
    FEWEST_ROUND_POINTS,
    LONGEST_SHIFT,
    MAX_PLAYERS,
    MOST_ROUND_POINTS,
    MOST_TICKS,
    NUM_ROUNDS,
    SLOWEST_REACTION,
    TALLEST_PILE,
    TOKENS_EACH,
    WHOLE_GAME,
    ice_points,
    other_points,
    shop_points,
)
from ice_envs.games.kawaii.window import is_asked, is_hurried, rotated

_TOKENS = TOKENS_EACH * MAX_PLAYERS
_POINTS = MOST_ROUND_POINTS + _TOKENS - FEWEST_ROUND_POINTS
_WORST_PILE = FEWEST_ROUND_POINTS
_BEST_PILE = MOST_ROUND_POINTS + NUM_SHOPS - 1
_SEATS = (MAX_PLAYERS,)
_ICES = (MAX_PLAYERS, NUM_FLAVORS, NUM_SHAPES)

LAYOUT = Layout(
    [
        ("favorite_flavor", (MAX_PLAYERS, NUM_FLAVORS), 0, 1, "favorite flavor: the own, all when the game is over"),
        ("favorite_shape", (MAX_PLAYERS, NUM_SHAPES), 0, 1, "favorite shape: the own, all when the game is over"),
        ("piles", _ICES, 0, ICE_COPIES, "ice creams in each pile by flavor and shape; with `memory` none"),
        ("pile_shops", _SEATS, 0, NUM_SHOPS, "closed shops in each pile; with `memory` none"),
        ("pile_cherries", _SEATS, 0, NUM_CHERRIES, "cherries in each pile; with `memory` none"),
        ("first_place", _ICES, 0, TALLEST_PILE, "which card of the pile that ice cream is, from the bottom, from 1"),
        ("second_place", _ICES, 0, TALLEST_PILE, "the same for the second of its kind in the pile"),
        ("shop_places", (MAX_PLAYERS, NUM_SHOPS), 0, TALLEST_PILE, "the same for the closed shops"),
        ("cherry_places", (MAX_PLAYERS, NUM_CHERRIES), 0, TALLEST_PILE, "the same for the cherries"),
        ("top_flavor", (MAX_PLAYERS, NUM_FLAVORS), 0, 1, "flavor of each pile's top card"),
        ("top_shape", (MAX_PLAYERS, NUM_SHAPES), 0, 1, "its shape"),
        ("top_special", (MAX_PLAYERS, 2), 0, 1, "whether it is a closed shop, a cherry"),
        ("heights", _SEATS, 0, TALLEST_PILE, "cards in each pile"),
        ("pile_value", _SEATS, 0, _BEST_PILE - _WORST_PILE, "points of its seen cards to the observer now, + 2"),
        ("captured", _ICES, 0, ICE_COPIES, "ice creams captured; with `memory` the own"),
        ("captured_shops", _SEATS, 0, NUM_SHOPS, "closed shops captured; with `memory` the own"),
        ("captured_cherries", _SEATS, 0, NUM_CHERRIES, "cherries captured; with `memory` the own"),
        ("captured_count", _SEATS, 0, NUM_CARDS, "cards captured"),
        (
            "unseen",
            (NUM_FLAVORS, NUM_SHAPES),
            0,
            ICE_COPIES,
            "ice creams that the observer does not see: in the reserves",
        ),
        ("unseen_special", (2,), 0, NUM_SHOPS, "the same for closed shops, cherries"),
        ("tokens", _SEATS, 0, _TOKENS, "tokens held"),
        ("reserves", _SEATS, 0, TALLEST_PILE, "cards still to be flipped"),
        ("round_points", (1,), 0, _POINTS, "the observer's points in this round, tokens included, + 2"),
        ("totals", _SEATS, 0, NUM_ROUNDS * _POINTS, "points of the rounds before, + 6"),
        ("asked", (1,), 0, 1, "the observer is asked in this tick"),
        ("committed", _SEATS, 0, 1, "piles that the observer has committed to in this tick"),
        ("claims", (MAX_PLAYERS, MAX_PLAYERS), 0, 1, "who slapped which pile in earlier ticks of this window"),
        ("tick", (1,), 0, SLOWEST_REACTION, "tick of the window"),
        ("reaction", (1,), 0, SLOWEST_REACTION, "the tick of this window in which the observer's reaction falls"),
        ("hurried", (1,), 0, 1, "the window ends with its last tick, whoever has not been asked"),
        ("after_capture", (1,), 0, 1, "the window follows a capture, play is stopped"),
        ("flipper", _SEATS, 0, 1, "who flipped the last card"),
        ("starter", _SEATS, 0, 1, "who flipped the first card of the round"),
        ("round", (NUM_ROUNDS,), 0, 1, "number of the round"),
        ("present", _SEATS, 0, 1, "seats at the table"),
        ("possible_favorites", _ICES, 0, 1, "whole-game favorites that a seat's points do not exclude"),
        ("window_ticks", (1,), 1, MOST_TICKS, "option"),
        ("reaction_ticks", (1,), 1, MOST_TICKS, "option"),
        ("shift", _SEATS, 0, LONGEST_SHIFT, "option: first number of each seat's handicap"),
        ("widen", _SEATS, 0, MOST_TICKS, "option: second number of each seat's handicap"),
        ("flipper_delay", (1,), 0, MOST_TICKS, "option"),
        ("favorites", (len(FAVORITES),), 0, 1, "option: " + ", ".join(FAVORITES)),
        ("memory", (1,), 0, 1, "option"),
    ]
)

_FAVORITE_FLAVOR = LAYOUT["favorite_flavor"].start
_FAVORITE_SHAPE = LAYOUT["favorite_shape"].start
_PILES = LAYOUT["piles"].start
_PILE_SHOPS = LAYOUT["pile_shops"].start
_PILE_CHERRIES = LAYOUT["pile_cherries"].start
_FIRST_PLACE = LAYOUT["first_place"].start
_SECOND_PLACE = LAYOUT["second_place"].start
_SHOP_PLACES = LAYOUT["shop_places"].start
_CHERRY_PLACES = LAYOUT["cherry_places"].start
_TOP_FLAVOR = LAYOUT["top_flavor"].start
_TOP_SHAPE = LAYOUT["top_shape"].start
_TOP_SPECIAL = LAYOUT["top_special"].start
_HEIGHTS = LAYOUT["heights"].start
_PILE_VALUE = LAYOUT["pile_value"].start
_CAPTURED = LAYOUT["captured"].start
_CAPTURED_SHOPS = LAYOUT["captured_shops"].start
_CAPTURED_CHERRIES = LAYOUT["captured_cherries"].start
_CAPTURED_COUNT = LAYOUT["captured_count"].start
_UNSEEN = LAYOUT["unseen"].start
_TOKENS_HELD = LAYOUT["tokens"].start
_RESERVES = LAYOUT["reserves"].start
_ROUND_POINTS = LAYOUT["round_points"].start
_TOTALS = LAYOUT["totals"].start
_ASKED = LAYOUT["asked"].start
_COMMITTED = LAYOUT["committed"].start
_CLAIMS = LAYOUT["claims"].start
_TICK = LAYOUT["tick"].start
_REACTION = LAYOUT["reaction"].start
_HURRIED = LAYOUT["hurried"].start
_AFTER_CAPTURE = LAYOUT["after_capture"].start
_FLIPPER = LAYOUT["flipper"].start
_STARTER = LAYOUT["starter"].start
_ROUND = LAYOUT["round"].start
_PRESENT = LAYOUT["present"].start
_POSSIBLE = LAYOUT["possible_favorites"].start
_WINDOW_TICKS = LAYOUT["window_ticks"].start
_REACTION_TICKS = LAYOUT["reaction_ticks"].start
_SHIFT = LAYOUT["shift"].start
_WIDEN = LAYOUT["widen"].start
_FLIPPER_DELAY = LAYOUT["flipper_delay"].start
_FAVORITES = LAYOUT["favorites"].start
_MEMORY = LAYOUT["memory"].start

_LOWEST_TOTAL = NUM_ROUNDS * FEWEST_ROUND_POINTS


@compiled
def observe(state: Any, seat: int, out: Any) -> None:
    """Write the seat's observation into `out` (LAYOUT.size,) uint8, which arrives all zero."""
    write_table(state, seat, out)
    write_window(state, seat, out)
    hidden = hides_cards(state)
    place = 0
    other = seat
    while place < state.num_players:
        write_seat(state, other, place, out)
        write_handicap(state, other, place, out)
        if place == 0 or state.over:
            out[_FAVORITE_FLAVOR + place * NUM_FLAVORS + state.favorite_flavor[other]] = 1
            out[_FAVORITE_SHAPE + place * NUM_SHAPES + state.favorite_shape[other]] = 1
        write_captured(state, other, place, hidden and place > 0, out)
        write_pile(state, seat, other, place, hidden, out)
        if state.favorites == WHOLE_GAME:
            write_possible(state, other, place, out)
        place += 1
        other = other + 1 if other + 1 < state.num_players else 0


@compiled
def card_points(state: Any, seat: int, card: int) -> int:
    """Return the points of a card other than a closed shop to a seat."""
    if card >= NUM_ICES:
        return 1 if card == CHERRY else 0
    flavor = card // NUM_SHAPES
    return (flavor == state.favorite_flavor[seat]) + (card - flavor * NUM_SHAPES == state.favorite_shape[seat])


@compiled
def added_shop_points(state: Any, seat: int, shops: int) -> int:
    """Return the points that so many more closed shops would bring a seat now."""
    held = state.captured[seat, SHOP]
    return shop_points(held + shops) - shop_points(held)


@compiled
def write_table(state: Any, seat: int, out: Any) -> None:
    """Write the unseen cards, the own points, the round and the options."""
    write_unseen(state, seat, out[_UNSEEN : _UNSEEN + NUM_KINDS])
    points = ice_points(state, seat, state.favorite_flavor[seat], state.favorite_shape[seat])
    out[_ROUND_POINTS] = points + other_points(state, seat) - FEWEST_ROUND_POINTS
    out[_STARTER + relative(state, state.starter, seat)] = 1
    out[_ROUND + state.round_number - 1] = 1
    out[_WINDOW_TICKS] = state.window_ticks
    out[_REACTION_TICKS] = state.reaction_ticks
    out[_FLIPPER_DELAY] = state.flipper_delay
    out[_FAVORITES + state.favorites] = 1
    out[_MEMORY] = state.memory


@compiled
def write_window(state: Any, seat: int, out: Any) -> None:
    """Write the observer's place in the window."""
    out[_ASKED] = is_asked(state, seat)
    out[_TICK] = state.tick
    out[_REACTION] = state.reactions[seat]
    out[_HURRIED] = is_hurried(state)
    out[_AFTER_CAPTURE] = state.after_capture
    out[_FLIPPER + relative(state, state.flipper, seat)] = 1
    committed = rotated(state.pending[seat], seat, state.num_players)
    for pile in range(MAX_PLAYERS):
        out[_COMMITTED + pile] = (committed >> pile) & 1
    if state.claims.any():
        for other in range(state.num_players):
            claims = rotated(state.claims[other], seat, state.num_players)
            first = _CLAIMS + relative(state, other, seat) * MAX_PLAYERS
            for pile in range(MAX_PLAYERS):
                out[first + pile] = (claims >> pile) & 1


@compiled
def write_seat(state: Any, seat: int, place: int, out: Any) -> None:
    """Write what everybody sees of a seat beside its cards."""
    out[_PRESENT + place] = 1
    out[_HEIGHTS + place] = state.heights[seat]
    out[_TOKENS_HELD + place] = state.tokens[seat]
    out[_RESERVES + place] = state.reserves[seat]
    out[_TOTALS + place] = state.totals[seat] - _LOWEST_TOTAL


@compiled
def write_handicap(state: Any, seat: int, place: int, out: Any) -> None:
    """Write a seat's handicap."""
    out[_SHIFT + place] = state.shift[seat]
    out[_WIDEN + place] = state.widen[seat]


@compiled
def write_captured(state: Any, seat: int, place: int, hidden: bool, out: Any) -> None:
    """Write a seat's captured cards, or only their number if they are hidden."""
    count = 0
    for kind in range(NUM_KINDS):
        count += state.captured[seat, kind]
    out[_CAPTURED_COUNT + place] = count
    if hidden or count == 0:
        return
    for kind in range(NUM_ICES):
        out[_CAPTURED + place * NUM_ICES + kind] = state.captured[seat, kind]
    out[_CAPTURED_SHOPS + place] = state.captured[seat, SHOP]
    out[_CAPTURED_CHERRIES + place] = state.captured[seat, CHERRY]


@compiled
def write_pile(state: Any, observer: int, pile: int, place: int, hidden: bool, out: Any) -> None:
    """Write a pile: its top card and what it is worth, and all other cards if they can be seen."""
    height = state.heights[pile]
    out[_PILE_VALUE + place] = -_WORST_PILE
    if height == 0:
        return
    top = state.piles[pile, height - 1]
    if top < NUM_ICES:
        out[_TOP_FLAVOR + place * NUM_FLAVORS + top // NUM_SHAPES] = 1
        out[_TOP_SHAPE + place * NUM_SHAPES + top % NUM_SHAPES] = 1
    else:
        out[_TOP_SPECIAL + place * 2 + top - NUM_ICES] = 1
    if hidden:
        points, shops = card_points(state, observer, top), 1 if top == SHOP else 0
    else:
        points, shops = write_cards(state, observer, pile, place, out)
    out[_PILE_VALUE + place] = points + added_shop_points(state, observer, shops) - _WORST_PILE


@compiled
def write_cards(state: Any, observer: int, pile: int, place: int, out: Any) -> Any:
    """Write the cards of a pile; return their points to the observer without the closed shops, and these' number."""
    points, shops, cherries = 0, 0, 0
    for level in range(state.heights[pile]):
        card = state.piles[pile, level]
        if card < NUM_ICES:
            cell = place * NUM_ICES + card
            copy = out[_PILES + cell]
            out[_PILES + cell] = copy + 1
            out[(_SECOND_PLACE if copy else _FIRST_PLACE) + cell] = level + 1
            points += card_points(state, observer, card)
        elif card == SHOP:
            out[_SHOP_PLACES + place * NUM_SHOPS + shops] = level + 1
            shops += 1
        else:
            out[_CHERRY_PLACES + place * NUM_CHERRIES + cherries] = level + 1
            cherries += 1
    out[_PILE_SHOPS + place] = shops
    out[_PILE_CHERRIES + place] = cherries
    return points + cherries, shops


@compiled
def write_possible(state: Any, seat: int, place: int, out: Any) -> None:
    """Write which favorites for the whole game a seat's points so far do not exclude."""
    for kind in range(NUM_ICES):
        out[_POSSIBLE + place * NUM_ICES + kind] = (state.possible[seat] >> kind) & 1

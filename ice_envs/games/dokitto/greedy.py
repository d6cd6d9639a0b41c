"""The heuristic baseline of Dokitto! Ice. It reads only what the seat to move knows.

For each card: how likely is each seat to win the trick, and what is that worth? Seats yet to play are taken to lay
random unseen cards, following when they can; every later trick is taken to be anybody's. The last seat so sees
exactly who wins. Worth is the margin at the end of the round: own points minus the mean of the others'.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine.bits import count_bits, lowest_bit
from ice_envs.engine.jit import compiled
from ice_envs.engine.stack import zeros_on_stack
from ice_envs.games.dokitto.observation import unseen_numbers
from ice_envs.games.dokitto.rules import (
    CONE_SIZE,
    HAND_SIZES,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_FLAVORS,
    NUM_NUMBERS,
    TAKE_TILE,
    WINNING_CARD,
    playable,
)

_LATER_TILE = 1.2
"""Points that a tile still to be won brings: itself, and now and then a topping."""
_LOW_CARD = 0.8
"""Points that it costs a seat with two or three tiles to keep a 1 rather than a 13: late tricks are mostly mixed, and
there low numbers win. From 0.6 to 1 the win shares hardly differ."""


def _prospects(num_players: int) -> NDArray[np.float32]:
    """Return what seat 0 may hope for, were each trick anybody's: (tricks left, cones, 2) float32.

    Last axis: expected further tiles that count, and the chance that the cone counts (that others bust first, or
    nobody). Cones are numbered by their tiles, base 4, seat 0 the lowest digit.
    """
    cones = np.arange((CONE_SIZE + 1) ** num_players)
    tiles = cones[:, None] // (CONE_SIZE + 1) ** np.arange(num_players) % (CONE_SIZE + 1)
    hopes = np.zeros((max(HAND_SIZES), len(cones), 2), np.float32)
    hopes[0, :, 1] = 1
    for left in range(1, len(hopes)):
        for winner in range(num_players):
            full = tiles[:, winner] == CONE_SIZE
            after = np.where(full, 0, cones + (CONE_SIZE + 1) ** winner)
            tile = np.array([winner == 0, 0]) * hopes[left - 1, after, 1:]
            over = np.array([0, winner != 0])
            hopes[left] += np.where(full[:, None], over, hopes[left - 1, after] + tile) / num_players
    return hopes


_PROSPECTS = np.concatenate([_prospects(num_players) for num_players in range(2, MAX_PLAYERS + 1)], axis=1)
_zero_tiles = zeros_on_stack((NUM_FLAVORS,), np.float64)
_zero_worth = zeros_on_stack((MAX_PLAYERS + 1, 2), np.float64)


@compiled
def greedy(state: Any) -> int:
    """Return the action that promises the best margin at the end of the round."""
    tiles = _zero_tiles()
    for flavor in range(state.num_flavors):
        tiles[flavor] = tile_points(state, flavor)
    if state.phase == TAKE_TILE:
        return NUM_CARDS + best_flavor(state.tile_choices, tiles)
    worth = _zero_worth()
    for winner in range(state.num_players):
        write_worth(state, winner, worth[winner])
    write_later_worth(state, worth)
    best, best_value = -1, 0.0
    for flavor in range(state.num_flavors):
        hand = playable(state, flavor)
        while hand:
            card = flavor * NUM_NUMBERS + lowest_bit(hand)
            hand &= hand - 1
            value = card_value(state, card, tiles, worth)
            if best < 0 or value > best_value:
                best, best_value = card, value
    return best


@compiled
def tile_points(state: Any, flavor: int) -> float:
    """Return the expected points of a stack's top tile: 1, and the topping if it carries the star; 0 if sold out."""
    if state.tiles[flavor] == 0:
        return 0.0
    if (state.toppings >> flavor) & 1:
        return 1.0 + min(1.0, state.stars_per_flavor / state.tiles[flavor])
    return 1.0


@compiled
def best_flavor(flavors: int, tiles: Any) -> int:
    """Return the flavor of `flavors` (bits) whose tile promises most points (`tiles`); if all are sold out, of any."""
    best, best_points = -1, 0.0
    for flavor in range(NUM_FLAVORS):
        if (flavors >> flavor) & 1 and tiles[flavor] > best_points:
            best, best_points = flavor, tiles[flavor]
    return best if best >= 0 else int(np.argmax(tiles))


@compiled
def write_worth(state: Any, winner: int, out: Any) -> None:
    """Write the margin if `winner` wins the trick: without the points of its tile, and how much of those counts."""
    bust = state.cone_sizes[winner] == CONE_SIZE
    cones, left = 0, state.hand_size - 1 - state.trick
    for seat in range(state.num_players):
        cones |= (state.cone_sizes[seat] + (seat == winner and not bust)) << (2 * seat)
    for seat in range(state.num_players):
        share = 1.0 if seat == state.to_move else -1.0 / (state.num_players - 1)
        points = state.cone_sizes[seat] + count_bits(state.cone_toppings[seat])
        if bust:
            out[0] += share * points * (seat != winner)
        else:
            place = prospect_place(state.num_players, cones, seat)
            out[0] += share * (_PROSPECTS[left, place, 0] * _LATER_TILE + _PROSPECTS[left, place, 1] * points)
            out[1] += share * _PROSPECTS[left, place, 1] * (seat == winner)


@compiled
def prospect_place(num_players: int, cones: int, seat: int) -> int:
    """Return the place of `seat` in `_PROSPECTS`; `cones` are the numbers of tiles, two bits a seat, from seat 0."""
    around = 2 * num_players
    from_seat = ((cones >> (2 * seat)) | (cones << (around - 2 * seat))) & ((1 << around) - 1)
    smaller_tables = ((1 << around) - 16) // 3  # 4² + … + 4ⁿ⁻¹
    return smaller_tables + from_seat


@compiled
def yet_to_play(state: Any, seat: int) -> bool:
    """Return whether `seat` will play to the trick after the seat to move."""
    return state.trick_cards[seat] < 0 and seat != state.to_move


@compiled
def write_later_worth(state: Any, worth: Any) -> None:
    """Write to the last row the mean margin if one of the seats yet to play wins, all in the first cell."""
    later = max(state.num_players - 1 - state.trick_size, 1)
    for seat in range(state.num_players):
        if yet_to_play(state, seat):
            worth[MAX_PLAYERS, 0] += (worth[seat, 0] + _LATER_TILE * worth[seat, 1]) / later


@compiled
def card_value(state: Any, card: int, tiles: Any, worth: Any) -> float:
    """Return the expected margin after playing `card`, from the points of each flavor's tile and the rows of worth."""
    seat, flavor, number = state.to_move, card // NUM_NUMBERS, card % NUM_NUMBERS + 1
    led = state.led if state.trick_size else flavor
    high_seat, high_number = state.high_seat, state.high_number
    if number > high_number:
        high_seat, high_number = seat, number
    low_seat, low_number, low_flavor = seat, number, flavor
    if number > state.low_number:
        low_seat, low_number = state.low_seat, state.low_number
        low_flavor = state.trick_cards[low_seat] // NUM_NUMBERS
    high, low = chances(state, led, high_number, low_number, state.mixed or flavor != led)
    high_tile = tiles[best_flavor(1 << led, tiles)]
    low_tile = tiles[best_flavor(low_win_flavors(state, flavor, low_flavor), tiles)]
    value = high * (worth[high_seat, 0] + high_tile * worth[high_seat, 1])
    value += low * (worth[low_seat, 0] + low_tile * worth[low_seat, 1])
    value += (1.0 - high - low) * worth[MAX_PLAYERS, 0]
    if state.cone_sizes[seat] >= CONE_SIZE - 1:
        value -= _LOW_CARD * number / (NUM_NUMBERS - 1)
    return value


@compiled
def low_win_flavors(state: Any, flavor: int, low_flavor: int) -> int:
    """Return the flavors (bits) a low win would let choose among, were the cards laid and one of `flavor` all."""
    if state.low_win_tile == WINNING_CARD and state.tiles[low_flavor] > 0:
        return 1 << low_flavor
    flavors = 1 << flavor
    for seat in range(state.num_players):
        if state.trick_cards[seat] >= 0:
            flavors |= 1 << (state.trick_cards[seat] // NUM_NUMBERS)
    return flavors


@compiled
def chances(state: Any, led: int, high_number: int, low_number: int, mixed: bool) -> Any:
    """Return how likely the highest card stays ahead in a trick of one flavor, the lowest in a mixed one.

    Seats yet to play draw from the unseen cards, following unless they cannot or have shown that they cannot.
    """
    seat, seats_void, seats_free = state.to_move, 0, 0
    for other in range(state.num_players):
        if yet_to_play(state, other):
            void = (state.voids[other] >> led) & 1
            seats_void += void
            seats_free += 1 - void
    others, others_above = 0, 0
    for flavor in range(state.num_flavors):
        if flavor != led:
            others += count_bits(unseen_numbers(state, seat, flavor))
            others_above += count_bits(unseen_numbers(state, seat, flavor) >> low_number)
    of_led = unseen_numbers(state, seat, led)
    count = count_bits(of_led)
    lacks = (others / max(others + count, 1)) ** (state.hand_size - state.trick)
    follows = (1.0 - lacks) / max(count, 1)
    follows_below = follows * count_bits(of_led & ((1 << (high_number - 1)) - 1))
    follows_above = follows * count_bits(of_led >> low_number)
    above = others_above / max(others, 1)
    stays_low = (follows_above + lacks * above) ** seats_free * above**seats_void
    if mixed or seats_void:
        return 0.0, stays_low
    return follows_below**seats_free, stays_low - follows_above**seats_free

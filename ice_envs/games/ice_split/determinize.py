"""A random full state of Ice Split that agrees with what one seat knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.bits import count_bits, lowest_bit
from ice_envs.engine.generator import random_below
from ice_envs.engine.jit import compiled
from ice_envs.engine.stack import zeros_on_stack
from ice_envs.games.ice_split.deck import NUM_FLAVORS
from ice_envs.games.ice_split.observation import unseen_cards

_FINE = 1 << 30
"""A draw of the generator below this many is taken for a continuous one."""
_zero_needed = zeros_on_stack((NUM_FLAVORS,), np.int64)


@compiled
def determinize(state: Any, seat: int, seed: Any) -> None:
    """Reseed the record; redraw the other hands, their start cards, what lies covered in their displays, and the deck.

    Every way to lay the unseen cards that agrees with the halves shown is equally likely. A goal shown that several
    cards have is laid first, by how many ways each choice leaves to cover the flavors shown.
    """
    state.rng = seed
    unseen = np.int64(unseen_cards(state, seat))
    before = unseen
    unseen = draw_goals(state, seat, before)
    while unseen < 0:
        unseen = draw_goals(state, seat, before)
    for other in range(state.num_players):
        if other != seat:
            for place in range(state.num_flavors[other]):
                card = state.flavor_row[other, place]
                if not is_public(state, card):
                    card = random_card(state, unseen & state.flavor_cards[state.cards[card] & 7])
                    state.flavor_row[other, place] = card
                    unseen ^= 1 << card
            gather_display(state, other)
    deal_unseen(state, seat, unseen)


@compiled
def is_public(state: Any, card: Any) -> bool:
    """Return whether everybody has seen both halves of a card."""
    return (state.public >> np.int64(card)) & 1 != 0


@compiled
def random_card(state: Any, cards: Any) -> Any:
    """Return any one of a set of cards, each as likely."""
    for _ in range(random_below(state, count_bits(cards))):
        cards &= cards - 1
    return lowest_bit(cards)


@compiled
def flavors_needed(state: Any, seat: int, out: Any) -> None:
    """Count by flavor the cards that show it, covered for `seat`, in other displays: into `out` (7,), which is zero."""
    for other in range(state.num_players):
        if other != seat:
            for place in range(state.num_flavors[other]):
                card = state.flavor_row[other, place]
                out[state.cards[card] & 7] += not is_public(state, card)


@compiled
def draw_goals(state: Any, seat: int, unseen: Any) -> Any:
    """Lay cards under the goals shown that several cards have; return the unseen cards left, −1 to be tried again.

    Each choice is weighted by the part that it leaves of the ways to cover the flavors shown. That the weights of one
    choice depend on those before is made good by accepting with the ratio of their sum to what it is at most.
    """
    needed = _zero_needed()
    flavors_needed(state, seat, needed)
    accepted, start = 1.0, unseen
    for other in range(state.num_players):
        if other == seat:
            continue
        for place in range(state.num_goals[other]):
            card = state.goal_row[other, place]
            if is_public(state, card) or state.unique_goals >> np.int64(card) & 1:
                continue
            goal = state.goal_numbers[card]
            total, most = weight_of_goal(state, goal, unseen, needed), weight_of_goal(state, goal, start, needed)
            threshold = total * random_below(state, _FINE) / _FINE
            accepted *= total / most
            if total == 0.0:
                return -1
            chosen = choose_goal_card(state, goal, unseen, needed, threshold)
            state.goal_row[other, place] = chosen
            unseen ^= 1 << chosen
    return unseen if random_below(state, _FINE) < accepted * _FINE else -1


@compiled
def slack(state: Any, card: Any, unseen: Any, needed: Any) -> float:
    """Return which part of the ways to cover the flavors shown is left once this card lies elsewhere."""
    flavor = state.cards[card] & 7
    count = count_bits(unseen & state.flavor_cards[flavor])
    return max(count - needed[flavor], 0) / count


@compiled
def weight_of_goal(state: Any, goal: Any, unseen: Any, needed: Any) -> float:
    """Return the sum of the weights of the unseen cards that have this goal."""
    total, cards = 0.0, np.int64(unseen)
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        if state.goal_numbers[card] == goal:
            total += slack(state, card, unseen, needed)
    return total


@compiled
def choose_goal_card(state: Any, goal: Any, unseen: Any, needed: Any, threshold: float) -> Any:
    """Return the unseen card with this goal at which the sum of the weights passes the threshold."""
    total, chosen, cards = 0.0, -1, np.int64(unseen)
    while cards and total <= threshold:
        card = lowest_bit(cards)
        cards &= cards - 1
        if state.goal_numbers[card] == goal:
            weight = slack(state, card, unseen, needed)
            total += weight
            chosen = card if weight > 0.0 else chosen
    return chosen


@compiled
def gather_display(state: Any, seat: int) -> None:
    """Work out which cards are in a display, and which of them pay."""
    state.played[seat] = 0
    state.paying[seat] = 0
    for place in range(state.num_flavors[seat]):
        state.played[seat] |= 1 << np.int64(state.flavor_row[seat, place])
    goals = np.int64(0)
    for place in range(state.num_goals[seat]):
        card = np.int64(state.goal_row[seat, place])
        goal = 1 << np.int64(state.goal_numbers[card])
        state.played[seat] |= 1 << card
        if state.duplicate_goals == 0 or goals & goal == 0:
            state.paying[seat] |= 1 << card
        goals |= goal


@compiled
def deal_unseen(state: Any, seat: int, unseen: Any) -> None:
    """Shuffle the unseen cards that are left; deal the other hands what nobody knows of them; the rest is the deck."""
    size = 0
    while unseen:
        card = lowest_bit(unseen)
        unseen &= unseen - 1
        other = random_below(state, size + 1)
        state.deck[size] = state.deck[other]
        state.deck[other] = card
        size += 1
    for other in range(state.num_players):
        if other == seat:
            continue
        known = state.hands[other] & state.public
        hidden = count_bits(state.hands[other]) - count_bits(known)
        state.hands[other] = known
        for _ in range(hidden):
            size -= 1
            state.hands[other] |= 1 << np.int64(state.deck[size])
            state.deck[size] = 0
        if state.starts[other] >= 0:
            state.starts[other] = random_card(state, state.hands[other])

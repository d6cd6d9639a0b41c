"""The heuristic baseline of Ice Split. It reads only what the seat to move knows: its hand, its display, the market.

Each play is judged by what the display promises after it: every goal shown is worth its points times the chance that
it is met in the end. That chance is the one of enough successes in the turns left, each with a fixed chance; how many
are needed follows from the display. A card is drawn for the play it would make next.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine.bits import lowest_bit
from ice_envs.engine.jit import compiled
from ice_envs.games.ice_split.deck import (
    GENERAL,
    GROUP_AT,
    IS_MAJORITY,
    IS_PRESENT,
    IS_RIGHTMOST,
    IS_SINGLE,
    MASK_AT,
    NO_FLAVOR,
    NUM_FLAVORS,
)
from ice_envs.games.ice_split.display import ANY_FLAVOR, FIELD, NOW, WITH_GOAL, from_right, goal_points, when_met
from ice_envs.games.ice_split.rules import (
    AS_FLAVOR,
    AS_GOAL,
    BLIND,
    CHOOSE_START,
    DISPLAY_SIZE,
    DRAW,
    FROM_MARKET,
    cards_left,
)

_SEVEN, _THREE_KINDS, _PAIRS, _ADJACENT, _FOUR, _MORE_FLAVORS = range(len(GENERAL) - 1)
_ONE_FLAVOR, _SOME_FLAVORS, _EITHER_SIDE = range(3)
_SUCCESS = (0.4, 0.6, 0.55)
"""How likely a turn brings the one flavor that is needed, one of several, or a card for the side that needs it."""
_SPOILED = 0.03
"""How likely a turn spoils a goal that is met as long as certain flavors stay away."""
_BLIND = 1.0
"""What an unseen card is taken to add: less than the best of four open ones mostly does."""
_MOST_NEEDED = 14


def _chances() -> NDArray[np.float64]:
    """Return the chance of `needed` successes or more in the turns left: (kinds of success, needed, turns)."""
    chances = np.zeros((len(_SUCCESS), _MOST_NEEDED + 1, DISPLAY_SIZE + 1))
    for kind, p in enumerate(_SUCCESS):
        for needed in range(_MOST_NEEDED + 1):
            for turns in range(DISPLAY_SIZE + 1):
                hits = range(needed, turns + 1)
                chances[kind, needed, turns] = sum(comb(turns, k) * p**k * (1 - p) ** (turns - k) for k in hits)
    return chances


_CHANCES = _chances()
_STAYS = (1 - _SPOILED) ** np.arange(4 * DISPLAY_SIZE)
"""The chance that nothing is spoiled in so many turns."""


@compiled
def greedy(state: Any) -> Any:
    """Return the action that promises most."""
    seat = state.to_move
    left = cards_left(state, seat) - 1
    if state.phase == DRAW:
        return best_draw(state, seat, left)
    best, best_value = -1, 0.0
    hand = np.int64(state.hands[seat])
    while hand:
        card = lowest_bit(hand)
        hand &= hand - 1
        if state.phase == CHOOSE_START:
            value = promise(state, seat, card, card, left)
            if best < 0 or value > best_value:
                best, best_value = card, value
            continue
        value = promise(state, seat, -1, card, left)
        if best < 0 or value > best_value:
            best, best_value = AS_FLAVOR + card, value
        value = promise(state, seat, card, -1, left)
        if value > best_value:
            best, best_value = AS_GOAL + card, value
    return best


@compiled
def best_draw(state: Any, seat: int, left: Any) -> Any:
    """Return the draw whose card promises most if it is played next."""
    best, best_value = -1, 0.0
    if state.deck_size > 0:
        best, best_value = BLIND, promise(state, seat, -1, -1, left) + _BLIND
    market = np.int64(state.market)
    while market:
        card = lowest_bit(market)
        market &= market - 1
        value = max(promise(state, seat, -1, card, left), promise(state, seat, card, -1, left))
        if best < 0 or value > best_value:
            best, best_value = FROM_MARKET + card, value
    return best


@compiled
def promise(state: Any, seat: int, goal: Any, flavor: Any, left: Any) -> float:
    """Return the points that a display promises after a card's goal and a card's flavor are added (−1: none)."""
    added = np.int64(state.cards[flavor] & 7) if flavor >= 0 else NO_FLAVOR
    lane = added if flavor >= 0 else (WITH_GOAL if goal >= 0 else NOW)
    total, paying = 0.0, np.int64(state.paying[seat])
    while paying:
        card = lowest_bit(paying)
        paying &= paying - 1
        total += goal_points(state, card) * chance(state, seat, card, added, goal >= 0, lane, left)
    if goal >= 0 and not (state.duplicate_goals and state.goals_shown[seat] >> np.int64(state.goal_numbers[goal]) & 1):
        total += goal_points(state, goal) * chance(state, seat, goal, added, True, lane, left)
    return total


@compiled
def chance(state: Any, seat: int, card: Any, added: Any, more_goals: bool, lane: Any, left: Any) -> float:
    """Return how likely a card's goal is met in the end, once a flavor (or NO_FLAVOR) and maybe a goal are added."""
    when = when_met(state, seat, card) >> lane & 1
    if left == 0:
        return float(when)
    packed = np.int64(state.cards[card])
    group, mask = packed >> GROUP_AT & 7, packed >> MASK_AT & ANY_FLAVOR
    if group == IS_PRESENT:
        if mask:
            return when * _STAYS[left]
        return 1.0 if when else _CHANCES[_ONE_FLAVOR, lacking(state, seat, packed, added), left]
    if group == IS_RIGHTMOST:
        return _CHANCES[_SOME_FLAVORS, 1, left]
    counts = np.int64(state.counts[seat])
    if added != NO_FLAVOR:
        counts += 1 << FIELD * added
    if group == IS_SINGLE:
        count = counts >> FIELD * lowest_bit(mask) & 15
        return _STAYS[left] * (1.0 if count == 1 else _CHANCES[_ONE_FLAVOR, 1, left] if count == 0 else 0.0)
    if group == IS_MAJORITY:
        return _STAYS[left] * _CHANCES[_ONE_FLAVOR, behind(counts, lowest_bit(mask)), left]
    size = state.num_flavors[seat] + (added != NO_FLAVOR)
    goals = state.num_goals[seat] + more_goals
    return chance_of_flag(state, seat, lowest_bit(mask), counts, added, size, goals, when, left)


@compiled
def behind(counts: Any, flavor: Any) -> Any:
    """Return how many more of a flavor would make it the single most frequent one."""
    most = 0
    for other in range(NUM_FLAVORS):
        if other != flavor:
            most = max(most, counts >> FIELD * other & 15)
    return max(most + 1 - (counts >> FIELD * flavor & 15), 0)


@compiled
def right_end(state: Any, seat: int, added: Any, back: int) -> Any:
    """Return the flavor that lies `back` places from the right end once `added` is; NO_FLAVOR if the row is shorter."""
    if added != NO_FLAVOR:
        if back == 0:
            return added
        back -= 1
    return from_right(state, seat, back) if back < state.num_flavors[seat] else NO_FLAVOR


@compiled
def lacking(state: Any, seat: int, packed: Any, added: Any) -> Any:
    """Return how many flavors a packed card's sequence lacks of those that must follow the right end."""
    first, length = 1, 4
    while packed >> 3 * first & 7 == NO_FLAVOR:
        first += 1
        length -= 1
    for stands in range(length - 1, 0, -1):
        fits = True
        for i in range(stands):
            fits = fits and packed >> 3 * (first + i) & 7 == right_end(state, seat, added, stands - 1 - i)
        if fits:
            return length - stands
    return length


@compiled
def chance_of_flag(
    state: Any, seat: int, flag: Any, counts: Any, added: Any, size: Any, goals: Any, when: Any, left: Any
) -> float:
    """Return how likely a goal that names no flavor is met in the end; `when`: whether it is met now."""
    kinds, most = 0, 0
    for flavor in range(NUM_FLAVORS):
        count = counts >> FIELD * flavor & 15
        kinds += count > 0
        most = max(most, count)
    if flag == _THREE_KINDS:
        return 0.0 if kinds > 3 else _STAYS[left * (kinds + 1)]
    if flag >= _MORE_FLAVORS:
        needed = DISPLAY_SIZE // 2 + 2 - (size if flag == _MORE_FLAVORS else goals)
        return _CHANCES[_EITHER_SIDE, max(needed, 0), left]
    if when:
        return 1.0
    if flag == _SEVEN:
        return _CHANCES[_SOME_FLAVORS, NUM_FLAVORS - kinds, left]
    if flag == _FOUR:
        return _CHANCES[_ONE_FLAVOR, max(4 - most, 0), left]
    last = right_end(state, seat, added, 0)
    touches = last == right_end(state, seat, added, 1)
    if flag == _ADJACENT:
        return _CHANCES[_ONE_FLAVOR, 2 - touches, left]
    before = right_end(state, seat, added, 1) == right_end(state, seat, added, 2)
    return _CHANCES[_ONE_FLAVOR, 1 if before and not touches else 3 - touches, left]

"""What displays of Ice Split pay now, and what they would pay after one more card: compiled, without branches on cards.

Facts come in fields of nine bits, a field for each flavor or flag, seven fields to an int64. Within a field bit f says
whether the fact holds once a further card shows flavor f (0 to 6), bit 7 whether it holds now, and bit 8 whether it
holds once a further card shows a goal. So one look at a goal says what each play would make of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.bits import count_bits, lowest_bit
from ice_envs.engine.jit import compiled
from ice_envs.games.ice_split.deck import (
    GROUP_AT,
    IS_FLAG,
    IS_MAJORITY,
    IS_PRESENT,
    IS_RIGHTMOST,
    IS_SINGLE,
    MASK_AT,
    NO_FLAVOR,
    NUM_FLAVORS,
    POINTS_AT,
)

FIELD = 9
ALWAYS = (1 << FIELD) - 1
NOW, WITH_GOAL = 7, 8
BOTH = 1 << NOW | 1 << WITH_GOAL
"""Now and with a further goal: what only flavors change is the same in both."""
ANY_FLAVOR = (1 << NUM_FLAVORS) - 1
FIRST_PLACE = 3
"""Where the first flavor of a row stands, so that three places of any kind fit before it."""
GOALS_A_WORD = 7
_ONES = sum(1 << FIELD * flavor for flavor in range(NUM_FLAVORS))
_OWN = sum(1 << FIELD * flavor + flavor for flavor in range(NUM_FLAVORS))
"""In each flavor's field: once that flavor itself is added."""
_ALL = _ONES * ALWAYS
_HALF = _ONES * 255
_SPREAD_NINE = sum(1 << (FIELD - 1) * flavor for flavor in range(NUM_FLAVORS))
_SPREAD_EIGHT = sum(1 << 7 * flavor for flavor in range(NUM_FLAVORS))
_EIGHTS = sum(1 << 8 * flavor for flavor in range(NUM_FLAVORS))


@compiled
def fields_of(flavors: Any) -> Any:
    """Return 1 in the field of each of a set of flavors (bits)."""
    return (flavors * _SPREAD_NINE) & _ONES


@compiled
def folded(fields: Any) -> Any:
    """Return all fields laid over each other (or)."""
    fields |= fields >> (4 * FIELD)
    fields |= fields >> (2 * FIELD)
    return (fields | fields >> FIELD) & ALWAYS


@compiled
def equal_to(counts: Any, number: Any) -> Any:
    """Return 1 in each field of `counts` that is `number` (0 to 255 both)."""
    return (((counts ^ (number * _ONES)) + _HALF) >> (FIELD - 1) & _ONES) ^ _ONES


@compiled
def kinds_shown(state: Any, seat: int) -> Any:
    """Return how many different flavors a seat shows."""
    return NUM_FLAVORS - count_bits(equal_to(state.counts[seat], 0))


@compiled
def clear_displays(state: Any) -> None:
    """Make all displays empty."""
    state.played[:] = 0
    state.num_goals[:] = 0
    state.num_flavors[:] = 0
    state.goal_row[:] = 0
    state.flavor_row[:] = 0
    state.shown_goals[:] = 0
    state.shown_flavors[:] = 0
    state.paying[:] = 0
    state.goals_shown[:] = 0
    state.goals_met[:] = 0
    state.places[:] = 0
    state.places[:, NO_FLAVOR] = 0xFFFF
    state.counts[:] = 0
    state.most[:] = 0
    state.repeats[:] = 0
    state.paired[:] = 0
    state.facts[:] = 0
    state.outlook[:] = 0
    state.points[:] = 0
    state.points_with_goal[:] = 0


@compiled
def add_goal(state: Any, seat: int, card: Any) -> None:
    """Show a card's goal at the left end.

    What everybody sees is its number + 1 in six bits: seven of them in the first word, six in the second.
    """
    number, size = np.int64(state.goal_numbers[card]), np.int64(state.num_goals[seat])
    goal = 1 << number
    if state.duplicate_goals == 0 or state.goals_shown[seat] & goal == 0:
        state.paying[seat] |= 1 << card
    state.goals_shown[seat] |= goal
    state.goal_row[seat, size] = card
    state.shown_goals[seat, size // GOALS_A_WORD] |= (number + 1) << (6 * (size % GOALS_A_WORD))
    state.num_goals[seat] = size + 1


@compiled
def add_flavor(state: Any, seat: int, card: Any) -> None:
    """Show a card's flavor at the right end."""
    flavor, size = np.int64(state.cards[card] & 7), state.num_flavors[seat]
    place = size + FIRST_PLACE
    repeats = np.int64(state.places[seat, flavor]) >> (place - 1) & 1
    state.repeats[seat] |= repeats << place
    state.paired[seat] |= repeats << flavor
    state.places[seat, flavor] |= 1 << place
    state.counts[seat] += 1 << FIELD * flavor
    state.most[seat] = max(state.most[seat], state.counts[seat] >> FIELD * flavor & ALWAYS)
    state.flavor_row[seat, size] = card
    state.shown_flavors[seat] |= (flavor + 1) << (3 * np.int64(size))
    state.num_flavors[seat] = size + 1


@compiled
def appraise(state: Any, seat: int) -> None:
    """Work out anew what a display pays, now and after one more card (`points`, `points_with_goal`, `outlook`)."""
    write_facts(state, seat)
    now, with_goal, with_flavor, met = 0, 0, 0, 0
    paying = np.int64(state.paying[seat])
    while paying:
        card = lowest_bit(paying)
        paying &= paying - 1
        when, points = when_met(state, seat, card), goal_points(state, card)
        now += points * (when >> NOW & 1)
        with_goal += points * (when >> WITH_GOAL)
        with_flavor += points * (((when & ANY_FLAVOR) * _SPREAD_EIGHT) & _EIGHTS)
        met |= (when >> NOW & 1) << np.int64(state.goal_numbers[card])
    state.points[seat] = now
    state.points_with_goal[seat] = with_goal
    state.outlook[seat] = with_flavor
    state.goals_met[seat] = met


@compiled
def goal_points(state: Any, card: Any) -> Any:
    """Return what a card's goal pays if it is met."""
    return np.int64(state.cards[card]) >> POINTS_AT


@compiled
def when_met(state: Any, seat: int, card: Any) -> Any:
    """Return when a seat's display meets a card's goal, as a field of nine bits (see the module)."""
    packed = np.int64(state.cards[card])
    group = packed >> GROUP_AT & 7
    named = fields_of(packed >> MASK_AT & ANY_FLAVOR) * ALWAYS
    when = folded(state.facts[seat, group] & named) ^ (ALWAYS * (group == IS_PRESENT))
    if state.sequence:
        return when & subsequence_met(state, seat, packed)
    places, end = state.places, state.num_flavors[seat] + FIRST_PLACE
    before = np.int64(places[seat, packed >> 3 & 7]) << 3
    before &= np.int64(places[seat, packed >> 6 & 7]) << 2
    before &= np.int64(places[seat, packed >> 9 & 7]) << 1
    last = packed >> 12 & 7
    stands = np.int64(before & places[seat, last] != 0)
    return when & (stands * ALWAYS | (before >> end & 1) << last)


@compiled
def subsequence_met(state: Any, seat: int, packed: Any) -> Any:
    """Return when the flavors of a packed card's sequence stand in order, with others between or not."""
    first = 0
    for place in range(1, 5):
        flavor = packed >> 3 * place & 7
        if flavor != NO_FLAVOR:
            rest = np.int64(state.places[seat, flavor]) >> first
            if rest == 0:
                return 1 << flavor if place == 4 else 0
            first += lowest_bit(rest) + 1
    return ALWAYS


@compiled
def write_facts(state: Any, seat: int) -> None:
    """Write the facts of a display, by group: present, rightmost, in the majority, shown once, and the flags."""
    counts, most = np.int64(state.counts[seat]), np.int64(state.most[seat])
    none, single = equal_to(counts, 0), equal_to(counts, 1)
    right = 1 << FIELD * from_right(state, seat, 0)
    state.facts[seat, IS_PRESENT] = (_ONES ^ none) * ALWAYS | _OWN
    state.facts[seat, IS_RIGHTMOST] = _OWN | right * BOTH
    state.facts[seat, IS_SINGLE] = (none * ALWAYS & _OWN) | (single * ALWAYS & (_ALL ^ _OWN))
    leaders = equal_to(counts, most)
    if leaders & (leaders - 1):  # several: each gets ahead by one more
        state.facts[seat, IS_MAJORITY] = leaders * ALWAYS & _OWN
    else:  # the leader is overtaken by none, and only drawn level with by the second
        state.facts[seat, IS_MAJORITY] = leaders * (
            BOTH | ANY_FLAVOR ^ folded(equal_to(counts, most - 1) * ALWAYS & _OWN)
        )
    state.facts[seat, IS_FLAG] = flags(state, seat, none)


@compiled
def from_right(state: Any, seat: int, back: int) -> Any:
    """Return the flavor that lies `back` places from the right end of a display that has so many."""
    return (state.shown_flavors[seat] >> 3 * (np.int64(state.num_flavors[seat]) - 1 - back) & 7) - 1


@compiled
def flags(state: Any, seat: int, none: Any) -> Any:
    """Return the facts for the goals that name no flavor, in the order of `deck.GENERAL`; `none`: flavors not shown."""
    kinds = NUM_FLAVORS - count_bits(none)
    missing = folded(none * ALWAYS & _OWN)
    all_seven = ALWAYS * (kinds == 7) | missing * (kinds == 6)
    three_kinds = ALWAYS * (kinds < 3) | (ALWAYS ^ missing) * (kinds == 3)
    end = state.num_flavors[seat] + FIRST_PLACE - 1
    repeats, again = np.int64(state.repeats[seat]), 1 << from_right(state, seat, 0)
    touches = repeats >> end & 1  # the last two are of one flavor
    three = ALWAYS * (repeats & repeats << 1 != 0) | again * touches
    four = ALWAYS * (state.most[seat] >= 4) | folded(equal_to(state.counts[seat], 3) * ALWAYS & _OWN)
    more = np.int64(state.num_flavors[seat] - state.num_goals[seat])
    more_flavors = ANY_FLAVOR * (more >= 0) | (more > 0) << NOW | (more > 1) << WITH_GOAL
    more_goals = ANY_FLAVOR * (more < -1) | (more < 0) << NOW | (more < 1) << WITH_GOAL
    found = all_seven | three_kinds << FIELD | two_pairs(state, seat, repeats, end, again) << 2 * FIELD
    return found | three << 3 * FIELD | four << 4 * FIELD | more_flavors << 5 * FIELD | more_goals << 6 * FIELD


@compiled
def two_pairs(state: Any, seat: int, repeats: Any, end: Any, again: Any) -> Any:
    """Return when there are two pairs; `again` is the flavor at the right end (bit), which stands at `end`."""
    if state.two_pairs:  # anywhere
        paired = np.int64(state.paired[seat])
        return ALWAYS * (count_bits(paired) >= 2) | again * (count_bits(paired | again) >= 2)
    found = repeats & repeats << 2 & ~(repeats << 1) != 0
    opens = (repeats >> end & 1) == 0 and repeats >> (end - 1) & 1 != 0  # XXY
    return ALWAYS * found | again * opens

"""What `determinize` draws in Ice Split: each way to lay the unseen cards that agrees with the halves shown."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np

from ice_envs.engine.game import States
from ice_envs.engine.generator import game_seeds
from tests.helpers import determinized
from tests.ice_split_tables import CoreTable, deal, made_deck, new_table

DRAWS = 40_000
DECK = made_deck(
    *["v ALL_SEVEN", "c ALL_SEVEN", "s ALL_SEVEN", "v TWO_PAIRS", "c TWO_PAIRS", "v THREE_ADJACENT", "c MAJORITY v"],
    *["s MAJORITY c", "v MAJORITY s"],
)
"""Of these nine cards the first three have one goal, and the next two; the other 54 are seen."""


def position() -> States:
    """Return a table of two: the second seat shows ALL_SEVEN, TWO_PAIRS and a vanilla, none of them seen before.

    Nine cards are unseen: three of those covered, two in its hand, four in the deck; all others are in the market or
    were there.
    """
    dealt = deal("40 41 42 43", "0 3 5 44", market="45 46 47 48", pile="20 6 21 7 22 23")
    table = new_table("compiled", dealt, DECK).play("s40 s44 g41 m45 g0 b g42 m46 g3 b g43 m47 f5 m48")
    assert isinstance(table, CoreTable)
    state = table.states[0]
    state.public = int(state.public) | ~0b111111111 & (1 << 63) - 1
    hidden = [card for card in range(9) if not int(state.hands[1]) >> card & 1 and not int(state.played[1]) >> card & 1]
    state.deck[:] = 0
    state.deck[: len(hidden)] = hidden
    state.deck_size = len(hidden)
    return table.states


def test_every_way_that_agrees_is_as_likely():
    states = position()
    goals = states[0].goal_row[1, 1:3].tolist()
    assert (goals, states[0].flavor_row[1, 1].tolist()) == ([0, 3], 5)
    drawn = determinized(np.repeat(states, DRAWS), np.zeros(DRAWS, int), game_seeds(1, DRAWS))
    found = Counter(map(ways, drawn["goal_row"][:, 1], drawn["flavor_row"][:, 1]))
    hands = Counter(
        zip(map(ways, drawn["goal_row"][:, 1], drawn["flavor_row"][:, 1]), drawn["hands"][:, 1].tolist(), strict=True)
    )
    fitting = {
        laid
        for laid in permutations(range(9), 3)
        if laid[0] in (0, 1, 2) and laid[1] in (3, 4) and laid[2] in (0, 3, 5, 8)
    }
    assert set(found) == fitting
    expected = DRAWS / len(fitting)
    statistic = sum((count - expected) ** 2 / expected for count in found.values())
    assert statistic < len(fitting) + 6 * np.sqrt(2 * len(fitting))
    left = {laid: set(range(9)) - set(laid) for laid in fitting}
    assert len(hands) == sum(len(cards) * (len(cards) - 1) // 2 for cards in left.values())
    expected = DRAWS / len(hands)
    statistic = sum((count - expected) ** 2 / expected for count in hands.values())
    assert statistic < len(hands) + 6 * np.sqrt(2 * len(hands))


def ways(goals: Any, flavors: Any) -> tuple[int, int, int]:
    """Return the cards under the two goals and the flavor that were shown after the start card."""
    return int(goals[1]), int(goals[2]), int(flavors[1])


def test_start_cards_of_the_others_are_any_of_their_cards():
    table = new_table("compiled", deal("0 1 2 3", "10 11 12 13", "20 21 22 23")).play("s3 s10")
    assert isinstance(table, CoreTable)
    drawn = determinized(np.repeat(table.states, DRAWS), np.full(DRAWS, 2), game_seeds(2, DRAWS))
    starts = drawn["starts"].astype(int)
    assert (starts[:, 2] == -1).all()
    for other in (0, 1):
        assert (drawn["hands"][:, other] >> starts[:, other] & 1).all()
        counts = np.bincount(starts[:, other], minlength=63)
        unseen = counts[counts > 0]
        assert len(unseen) == 63 - 4 - 4
        expected = DRAWS / len(unseen)
        assert ((unseen - expected) ** 2 / expected).sum() < len(unseen) + 6 * np.sqrt(2 * len(unseen))
    own = determinized(np.repeat(table.states, 50), np.zeros(50, int), game_seeds(3, 50))
    assert (own["starts"][:, 0] == 3).all()
    assert (own["hands"][:, 0] == 0b1111).all()


def test_cards_from_the_market_stay_where_everybody_saw_them_go():
    table = new_table("compiled", deal("0 1 2 3", "10 11 12 13", market="30 31 32 33")).play(
        "s0 s10 g1 m31 f11 m30 f31 b"
    )
    assert isinstance(table, CoreTable)
    drawn = determinized(np.repeat(table.states, 500), np.zeros(500, int), game_seeds(4, 500))
    assert (drawn["hands"][:, 1] >> 30 & 1).all()
    other = determinized(np.repeat(table.states, 500), np.ones(500, int), game_seeds(4, 500))
    assert (other["flavor_row"][:, 0, 1] == 31).all()
    assert (other["goal_row"][:, 0, 1] == 1).all(), "only card 1 has this goal"
    assert len(set(drawn["flavor_row"][:, 1, 1].tolist())) > 3, "any lemon may have been laid"

"""The compiled rules and the reference twin agree after every move of thousands of random games.

`pytest tests/test_dokitto_twin.py --lockstep-games 100000 -s` plays as many for each table size and prints what
happened in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.dokitto_lockstep import recorded, replay
from tests.dokitto_positions import GAME, OPTION_SETS
from tests.twins import dokitto as twin_rules
from tests.twins.dokitto import Card

CHUNK = 64
"""Games recorded at a time: enough to be fast, few enough to fit in memory."""


def chunks(total: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Divide `total` games among the option sets, and these into chunks."""
    for which, options in enumerate(OPTION_SETS):
        left = total * (which + 1) // len(OPTION_SETS) - total * which // len(OPTION_SETS)
        for first in range(0, left, CHUNK):
            yield min(CHUNK, left - first), options


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_compiled_rules_agree_with_the_twin_after_every_move(num_players: int, lockstep_games: int):
    seen: Counter[str] = Counter()
    for seed, (count, options) in enumerate(chunks(lockstep_games)):
        for records, actions in recorded(num_players, count, seed, options):
            twin = replay(records, actions, options)
            seen.update({str(entry[0]) for entry in twin.log})
            seen.update(games=1, moves=len(actions), truncated=twin.truncated, shared=max(twin.win_shares()) < 1)
    print(f"\n{num_players} seats: {dict(seen)}")
    rare = {"sold_out_high", "last_of_equal_lowest", "topping", "bust", "low_win", "high_win", "truncated", "shared"}
    assert seen["games"] == lockstep_games
    assert min(seen[event] for event in rare) >= lockstep_games // 100, seen


def first_of_equals(laid: list[tuple[int, Card]]) -> tuple[int, Card]:
    """Decide a trick wrongly: of equal lowest numbers the first one wins."""
    if len({flavor for _, (flavor, _) in laid}) == 1:
        return max(laid, key=lambda seat_card: seat_card[1][1])
    return min(laid, key=lambda seat_card: seat_card[1][1])


def test_lockstep_notices_a_wrong_rule(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(twin_rules, "trick_winner", first_of_equals)
    games = list(recorded(4, 20, 0, {}))
    with pytest.raises(AssertionError, match=r"twin .* compiled"):
        print([replay(records, actions, {}) for records, actions in games])

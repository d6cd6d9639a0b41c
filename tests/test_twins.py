"""The compiled rules and the reference twin agree after every move of thousands of random games.

`pytest tests/test_twins.py -k dokitto --lockstep-games 100000 -s` plays as many for each table size of a game and
prints what happened in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests import dokitto_lockstep
from tests.face_helpers import tables
from tests.lockstep import recorded, replay
from tests.rooms import lockstep_of, positions_of
from tests.twins import dokitto as twin_of_dokitto
from tests.twins.dokitto import Card

CHUNK = 64
"""Games recorded at a time: enough to be fast, few enough to fit in memory."""


def chunks(total: int, option_sets: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Divide `total` games among the option sets, and these into chunks."""
    for which, options in enumerate(option_sets):
        left = total * (which + 1) // len(option_sets) - total * which // len(option_sets)
        for first in range(0, left, CHUNK):
            yield min(CHUNK, left - first), options


@tables
def test_compiled_rules_agree_with_the_twin_after_every_move(name: str, num_players: int, lockstep_games: int):
    room, option_sets = lockstep_of(name), positions_of(name).OPTION_SETS
    seen: Counter[str] = Counter()
    for seed, (count, options) in enumerate(chunks(lockstep_games, option_sets)):
        for records, actions in recorded(room.GAME, num_players, count, seed, options):
            twin = replay(room, records, actions, options)
            seen.update({str(entry[0]) for entry in twin.log})
            seen.update(games=1, moves=len(actions), truncated=twin.truncated, shared=max(twin.win_shares()) < 1)
    print(f"\n{name}, {num_players} seats: {dict(seen)}")
    assert seen["games"] == lockstep_games
    assert min(seen[event] for event in room.RARE) >= lockstep_games // 100, seen


def first_of_equals(laid: list[tuple[int, Card]]) -> tuple[int, Card]:
    """Decide a trick wrongly: of equal lowest numbers the first one wins."""
    if len({flavor for _, (flavor, _) in laid}) == 1:
        return max(laid, key=lambda seat_card: seat_card[1][1])
    return min(laid, key=lambda seat_card: seat_card[1][1])


def test_lockstep_notices_a_wrong_rule(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(twin_of_dokitto, "trick_winner", first_of_equals)
    games = list(recorded(dokitto_lockstep.GAME, 4, 20, 0, {}))
    with pytest.raises(AssertionError, match=r"twin .* compiled"):
        print([replay(dokitto_lockstep, records, actions, {}) for records, actions in games])

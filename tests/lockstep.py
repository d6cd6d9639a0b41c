"""Lockstep of compiled rules and a reference twin.

The compiled core plays first and every record is kept. The twin then replays the actions; what chance drew is read
from the record that the move led to, all else the twin works out by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ice_envs.engine.game import Game, States
from tests.helpers import random_play, results, started


def lockstep(room: Any, records: States, actions: list[int], options: dict[str, Any]) -> Iterator[Any]:
    """Play one recorded game again with the twin; yield the twin after every move, when all of both tables agrees.

    Args:
        room: the game's module that brings records and the twin into one form, such as `tests.dokitto_lockstep`.
        records: the records of one game, the first and then one after every move.
        actions: the moves between them.

    Raises AssertionError, with what differs and the moves that led there, if they do not agree.
    """
    dealer = room.Dealer()
    dealer.record = records[0]
    twin = room.new_twin(records[0], dealer, options)
    for move, expected in enumerate(room.record_facts(records)):
        if move:
            dealer.record = records[move]
            twin.play(room.MOVES[actions[move - 1]])
        found = room.twin_facts(twin)
        if found != expected:
            pairs = zip(room.NAMES, found, expected, strict=True)
            differing = "; ".join(f"{name}: twin {a}, compiled {b}" for name, a, b in pairs if a != b)
            labels = [room.GAME.labels[action] for action in actions[:move]]
            raise AssertionError(f"{differing} [{options} {labels}]")
        yield twin


def replay(room: Any, records: States, actions: list[int], options: dict[str, Any]) -> Any:
    """Play one recorded game again in lockstep; return the twin at the end."""
    *_, twin = lockstep(room, records, actions, options)
    return twin


def recorded(
    game: Game, num_players: int, count: int, seed: int, options: dict[str, Any]
) -> Iterator[tuple[States, list[int]]]:
    """Play games at random with the compiled core; yield each one's records and the actions between them."""
    states = started(game, num_players, count, seed, **options)
    most = game.longest_game(num_players, game.make_options(options))
    records, played = np.zeros((count, most + 1), game.dtype), np.full((count, most), -1)
    records[:, 0] = states
    for move, (after, actions) in enumerate(random_play(game, states, seed)):
        records[:, move + 1] = after
        played[:, move] = actions
    for i, length in enumerate((played >= 0).sum(1)):
        yield records[i, : length + 1], played[i, :length].tolist()


def final_shares(last: States) -> list[Fraction]:
    """Return the exact win shares of one finished game (a slice of one record)."""
    seats = int(last[0].num_players)
    return [Fraction(share).limit_denominator(seats) for share in results(last)[1][0, :seats]]

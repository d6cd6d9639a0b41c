"""Table compositions of a tournament: which there are, and how their deals are played.

A lineup is who sits at a table, a name for each seat, sorted. Every draw of chance is keyed by the names in it, never
by the order in which agents were given, so a lineup's games are the same in every tournament of one seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ice_envs import agents
from ice_envs.engine.game import Game, States
from ice_envs.errors import IceError
from training.playing import FORFEIT, play_out

TOURNAMENT = 0x746F7572  # spawn key: a tournament's deals are nobody else's of the same seed
DEALS, SEATING, PLAYING = range(3)
"""What a seed is drawn for."""
CHUNK = 128  # deals played side by side, and at most lost if a tournament is killed
MOST_MIXED = 100

Lineup = tuple[str, ...]
Whole = NDArray[np.int64]


class Results(NamedTuple):
    """What D deals of a lineup of n seats came to, each deal played in n rotations."""

    shares: NDArray[np.float32]
    """(D, n, n) win share of the lineup's name i in seat j: each name sits once in every seat."""
    truncated: Whole
    """(D,) rotations that the limit on the game's length ended."""
    forfeits: Whole
    """(D, n) rotations lost by default, for each name of the lineup."""
    failures: dict[str, str]
    """The first error of each agent that lost by default."""


def lineups(names: Sequence[str], num_players: int, duels_only: bool = False) -> list[Lineup]:
    """Return the compositions worth playing; each agent, and each pair, is in as many as any other.

    Duels: every agent in one seat, every other one in all others. And, where three or more agents meet at three or
    more seats, mixed tables: all choices of as many different agents as fit, or, if there are fewer than seats, of
    those that sit twice. There are no mixed tables if there would be more than `MOST_MIXED`, or with `duels_only`.
    """
    own = sorted(names)
    duels = {_lineup([one], [other] * (num_players - 1)) for one, other in permutations(own, 2)}
    mixed: set[Lineup] = set()
    repeats, extra = divmod(num_players, len(own))
    if not duels_only and len(own) >= 3 and num_players >= 3 and comb(len(own), extra) <= MOST_MIXED:
        mixed = {_lineup(own * repeats, chosen) for chosen in combinations(own, extra)}
    return sorted(duels | mixed)


def _lineup(*parts: Sequence[str]) -> Lineup:
    return tuple(sorted(name for part in parts for name in part))


def seed_for(seed: int, num_players: int, *purpose: int, names: Sequence[str] = ()) -> np.random.SeedSequence:
    """Return the seed for one purpose at one table size, keyed by names where they are given."""
    words = np.frombuffer(hashlib.sha256("\n".join(names).encode()).digest()[:16], "<u4").tolist() if names else []
    return np.random.SeedSequence(seed, spawn_key=(TOURNAMENT, num_players, *purpose, *words))


def play_chunk(
    lineup: Lineup, players: Mapping[str, agents.Agent], game: Game, deals: States, seed: int, first: int
) -> Results:
    """Play each of D started games of n seats n times, with the lineup's names in every seat in turn.

    Who sits beside whom is drawn for each deal. An agent that raises an error, or chooses what is illegal, loses that
    game with all its seats, and the others share it. The draws of chance depend on the seed, the names and `first`,
    the number of the first deal.
    """
    count, seats = len(deals), len(lineup)
    kinds = sorted(set(lineup))
    order = np.random.default_rng(seed_for(seed, seats, SEATING, first, names=lineup))
    around = order.permuted(np.tile(np.arange(seats), (count, 1)), axis=1)  # (D, n): names' places, clockwise
    turned = (np.arange(seats)[:, None] + np.arange(seats)) % seats  # (rotation, seat)
    place = around[:, turned].reshape(count * seats, seats)  # (game, seat): which name of the lineup sits there
    kind = np.array([kinds.index(name) for name in lineup])[place]
    for name in kinds:
        players[name].reseed(seed_for(seed, seats, PLAYING, first, names=(*lineup, name)))
    failures: dict[str, str] = {}

    def choose(states: States, games: Whole) -> Whole:
        """Return the actions of whoever sits where the turn is."""
        turn = kind[games, states["to_move"]]
        actions = np.empty(len(states), np.int64)
        for i, name in enumerate(kinds):
            own = np.flatnonzero(turn == i)
            if len(own):
                actions[own] = _choice_or_forfeit(players[name], game, states.take(own), failures)
        return actions

    played = play_out(deals.take(np.repeat(np.arange(count), seats)), choose)
    shares, forfeits = played.shares.copy(), np.zeros((len(place), seats), np.int64)
    for lost in np.flatnonzero(played.forfeited >= 0):
        loser = kind[lost] == kind[lost, played.forfeited[lost]]
        shares[lost] = ~loser / (~loser).sum()
        forfeits[lost, place[lost, played.forfeited[lost]]] = 1
    by_name = np.zeros((count, seats, seats), np.float32)
    deal = np.repeat(np.arange(count), seats)[:, None]
    by_name[deal, place, np.arange(seats)] = shares
    return Results(
        shares=by_name,
        truncated=played.truncated.reshape(count, seats).sum(axis=1),
        forfeits=forfeits.reshape(count, seats, seats).sum(axis=1),
        failures=failures,
    )


def _choice_or_forfeit(player: agents.Agent, game: Game, states: States, failures: dict[str, str]) -> Whole:
    """Return the player's actions (N,), and FORFEIT in the games in which asking it, for them alone, fails."""
    try:
        return agents.checked_choice(player, game, states)
    except Exception as error:  # whatever an agent does wrong costs it the game, and only that
        if len(states) > 1:
            alone = (_choice_or_forfeit(player, game, states[i : i + 1], failures) for i in range(len(states)))
            return np.concatenate(list(alone))
        what = str(error) if isinstance(error, IceError) else f"{type(error).__name__}: {error}"
        failures.setdefault(player.name, " ".join(what.split()))
        return np.array([FORFEIT])


def joined(parts: Sequence[Results]) -> Results:
    """Return the results of a lineup's chunks as one."""
    failures: dict[str, str] = {}
    for part in parts:
        failures = {**part.failures, **failures}
    return Results(
        shares=np.concatenate([part.shares for part in parts]),
        truncated=np.concatenate([part.truncated for part in parts]),
        forfeits=np.concatenate([part.forfeits for part in parts]),
        failures=failures,
    )

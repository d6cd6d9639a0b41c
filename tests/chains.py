"""Generalized advantage estimation along each seat's own chain, slow and obvious; and how it is commonly done wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from training.selfplay import chain_advantages


class Advantages(NamedTuple):
    """What `chain_advantages` writes: (T·N + N·S,) with NaN for rows not to be learned from, (N, S) and (N, S)."""

    advantage: Any
    pending: Any
    pending_earned: Any


@dataclass
class Decision:
    row: int
    earned: float
    last: bool = False
    """Nothing of its game follows for its seat."""


def compiled(seat, reward, done, value, carried, earned, gamma, trace, function=chain_advantages) -> Advantages:
    """Call `chain_advantages`, or what stands for it, with the types that SelfPlay uses."""
    advantage = np.zeros(len(value), np.float32)
    pending, pending_earned = np.zeros(carried.shape, np.int64), np.zeros(carried.shape, np.float32)
    rollout = np.asarray(seat, np.int64), np.asarray(reward, np.float32), np.asarray(done, np.bool_)
    value, earned = np.asarray(value, np.float32), np.asarray(earned, np.float32)
    function(*rollout, value, carried, earned, gamma, trace, advantage, pending, pending_earned)
    return Advantages(advantage, pending, pending_earned)


def slow(seat, reward, done, value, carried, earned, gamma, trace) -> Advantages:
    """Return what `compiled` must return, from lists of each seat's decisions."""
    (steps, games), seats = np.shape(seat), np.shape(carried)[1]
    found = Advantages(np.full(len(value), np.nan), np.full((games, seats), -1), np.zeros((games, seats)))
    for game in range(games):
        for me in range(seats):
            chain = []
            if carried[game, me]:
                chain.append(Decision(steps * games + game * seats + me, earned[game, me]))
            for step in range(steps):
                if seat[step, game] == me:
                    chain.append(Decision(step * games + game, 0.0))
                if chain and not chain[-1].last:
                    chain[-1].earned += reward[step, game, me]
                    chain[-1].last = bool(done[step, game])
            if chain and not chain[-1].last:
                found.pending[game, me], found.pending_earned[game, me] = chain[-1].row, chain[-1].earned
            for place in range(len(chain)):
                ahead = of_chain(chain[place:], value, gamma, trace)
                if ahead is not None:
                    found.advantage[chain[place].row] = ahead
    return found


def of_chain(chain: list[Decision], value, gamma: float, trace: float) -> float | None:
    """Return the advantage of a chain's first decision, or None if its successor is not known yet."""
    surprises = []
    for place, decision in enumerate(chain):
        if decision.last:
            surprises.append(decision.earned - value[decision.row])
            break
        if place + 1 == len(chain):
            break
        surprises.append(decision.earned + gamma * value[chain[place + 1].row] - value[decision.row])
    return sum((gamma * trace) ** i * surprise for i, surprise in enumerate(surprises)) if surprises else None


def naive(seat, reward, done, value, carried, earned, gamma, trace, advantage, pending, pending_earned) -> None:
    """Stand for `chain_advantages` as many frameworks do it: the next decision is whoever's comes next in the game.

    The reward is the deciding seat's in that one step, and what lies past the rollout's end is dropped.
    """
    steps, games = seat.shape
    advantage[:], pending[:] = np.nan, -1
    every = np.arange(games)
    known, next_value, next_advantage = np.zeros(games, np.bool_), np.zeros(games), np.zeros(games)
    for step in range(steps - 1, -1, -1):
        rows = step * games + every
        going_on = ~done[step]
        known |= done[step]
        surprise = reward[step, every, seat[step]] + gamma * next_value * going_on - value[rows]
        next_advantage = np.where(known, surprise + gamma * trace * next_advantage * going_on, 0)
        advantage[rows] = np.where(known, next_advantage, np.nan)
        next_value, known = value[rows], np.ones(games, np.bool_)

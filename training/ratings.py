"""Ratings of a fixed pool of agents by Luce's choice model, of which Plackett and Luce's model of rankings consists.

Each seat wins with a probability in proportion to its agent's strength, whatever the number of seats. The strengths are
estimated from who wins against whom at one table (the consistent breaking of top choices into pairs; Azari Soufiani et
al. 2013), by choix (iterative Luce spectral ranking; Maystre and Grossglauser 2015). Unlike an online rating such as
Elo, TrueSkill or OpenSkill, the result does not depend on the order of the games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import choix
import numpy as np
from numpy.typing import NDArray

from training.lineups import Lineup

DRAWS = 1000
"""Bootstrap draws for the intervals."""
ELO = 400 / np.log(10)
"""At 400 points more, an agent wins ten times as often as the other at one table."""

Floats = NDArray[np.float64]


class Ratings(NamedTuple):
    """Ratings (k,) of k agents and their 95 % intervals (k, 2). At 0 an agent is as strong as the field's mean."""

    rating: Floats
    interval: Floats


def rate(shares: Mapping[Lineup, Floats], names: Sequence[str], seed: np.random.SeedSequence) -> Ratings:
    """Return the ratings of `names`, sorted, at one table size.

    A shared victory of k seats counts 1/k for each of them, so between two winners it is a draw. The intervals come
    from a bootstrap over deals: each deal gets an exponential weight, the same at all tables (the Bayesian bootstrap;
    Rubin 1981). One made-up deal, shared by all at every table, keeps the rating of an agent that never won or lost
    finite, and its interval wide.

    Args:
        shares: for each lineup the win shares (D, n) that each of its n names won in each of the same D deals, summed
            over the rotations.
        names: the agents; lineups connect all of them.
        seed: of the bootstrap.
    """
    tables = sorted(shares)
    won = np.concatenate([_won(lineup, shares[lineup], names) for lineup in tables], axis=1)
    seats = np.array([[lineup.count(name) for name in names] for lineup in tables], float)
    point = _fit(won.sum(axis=0), seats, None)
    generator = np.random.default_rng(seed)
    draws = [_rating(_fit(generator.exponential(size=len(won)) @ won, seats, point)) for _ in range(DRAWS)]
    return Ratings(_rating(point), np.quantile(draws, (0.025, 0.975), axis=0).T)


def _won(lineup: Lineup, shares: Floats, names: Sequence[str]) -> Floats:
    """Return what each of k `names` won at a table (D + 1, k) in each deal, and in one that all seats shared."""
    with_shared = np.vstack([shares, np.ones(len(lineup))])
    return np.stack([with_shared[:, [seat == name for seat in lineup]].sum(axis=1) for name in names], axis=1)


def _fit(won: Floats, seats: Floats, start: Floats | None) -> Floats:
    """Return the logarithms of the strengths (k,) from what was won, and in how many seats, at each table (T, k).

    Each victory counts once against every seat of every other agent.
    """
    wins = won.reshape(seats.shape).T @ seats
    np.fill_diagonal(wins, 0)
    return choix.ilsr_pairwise_dense(wins, initial_params=start)


def _rating(strengths: Floats) -> Floats:
    """Return points over the mean strength of the field: a hopeless agent, of unknown strength, moves nobody else."""
    return ELO * (strengths - np.log(np.exp(strengths).mean()))

"""Chance: one small generator inside each game's record, so a copied game draws the same future.

SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, one addition and one mix per draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine.jit import compiled
from ice_envs.errors import IceError

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


def game_seeds(seed: int | np.random.SeedSequence | None, count: int) -> NDArray[np.uint64]:
    """Return the generator states of `count` games of one seed: (count,) uint64.

    The seed rule of the whole package: game `i` of seed `s` starts from word `i` of
    `SeedSequence(s).generate_state(…, uint64)`. Single environments are game 0, and a longer batch begins with the
    games of a shorter one. Runs with neighboring seeds share no game. `None` takes entropy from the system.
    Raises IceError for a seed that is no whole number of at least 0.
    """
    try:
        sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    except (TypeError, ValueError):
        raise IceError(f"seed must be a whole number of at least 0, not {seed!r}") from None
    return np.asarray(sequence.generate_state(count, np.uint64), np.uint64)


@compiled
def mix(word: Any) -> Any:
    """Return the 64-bit hash of `word` (uint64)."""
    word = np.multiply(word ^ (word >> _30), _MIX_1)  # unlike `*`, wraps around without a warning in plain Python
    word = np.multiply(word ^ (word >> _27), _MIX_2)
    return word ^ (word >> _31)


@compiled
def scaled(word: Any, bound: int) -> Any:
    """Return the top half of `word` (uint64) scaled to 0 … bound − 1; the bias is below bound / 2³²."""
    return np.int64(((word >> _32) * np.uint64(bound)) >> _32)


@compiled
def random_below(state: Any, bound: int) -> Any:
    """Draw a whole number from 0 to bound − 1 from the game's own generator (`state.rng`)."""
    state.rng = np.add(state.rng, _GAMMA)
    return scaled(mix(state.rng), bound)


@compiled
def random_for_row(seed: Any, row: int, bound: int) -> Any:
    """Return the draw of one row of a batch: the same for every order and number of threads."""
    return scaled(mix(np.add(mix(seed), np.multiply(np.uint64(row + 1), _GAMMA))), bound)

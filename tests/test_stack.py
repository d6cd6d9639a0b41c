"""Arrays on the stack are zeros at each call, of the shape and type asked for, and not allocated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ice_envs.engine.jit import compiled
from ice_envs.engine.stack import zeros_on_stack
from tests.face_helpers import in_process

_zeros = zeros_on_stack((2, 3), np.float64)
_counts = zeros_on_stack((5,), np.int8)


@compiled
def fill(out: Any, rounds: int) -> int:
    """Add to zeros again and again, two of them at a time; return their size in bytes and 1000 for each dimension."""
    size = 0
    for i in range(rounds):
        one, other, counts = _zeros(), _zeros(), _counts()
        one[1, i % 3] += i
        other[0, 1] += 0.5
        counts[4] -= 3
        for column in range(3):  # whole rows at once would be allocated
            out[0, column] += one[0, column] + one[1, column]
            out[1, column] += other[0, column]
            out[2, column] += counts[2 + column]
        size = one.nbytes + 1000 * one.ndim + counts.nbytes + 1000 * counts.ndim
    return size


@pytest.mark.parametrize("function", [fill, fill.py_func], ids=["compiled", "plain"])
def test_zeros_are_zeros_again_at_each_call(function: Callable[..., int]):
    out = np.zeros((3, 3))
    assert function(out, 6) == 48 + 2000 + 5 + 1000
    assert out.tolist() == [[3, 5, 7], [0, 3, 0], [0, 0, -18]]


def test_zeros_are_not_allocated():
    code = """
import numpy as np
from numba.core.runtime import rtsys
from tests.test_stack import fill
made = []
for rounds in (1, 1, 100_000):
    before = rtsys.get_allocation_stats().alloc
    fill(np.zeros((3, 3)), rounds)
    made.append(rtsys.get_allocation_stats().alloc - before)
print(made[2] - made[1])
"""
    done = in_process(code, NUMBA_NRT_STATS="1")
    assert (done.stderr, done.stdout) == ("", "0\n")

"""Cells written many at once are the cells that a plain loop would write, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba.core.errors import TypingError

from ice_envs.engine.bits import write_bits
from ice_envs.engine.cells import copy_cells
from ice_envs.engine.jit import compiled


@compiled
def write(bits: int, count: int, cells: Any, first: int) -> None:
    write_bits(bits, count, cells, first)


@compiled
def copy(out: Any, place: int, cells: Any, count: int) -> None:
    copy_cells(out, place, cells, count)


@pytest.mark.parametrize("function", [write, write_bits.py_func], ids=["compiled", "plain"])
def test_eight_bits_become_eight_cells(function: Callable[..., None]):
    for bits in range(512):
        out = np.full(12, 7, np.uint8)
        function(bits, 8, out, 3)
        assert out.tolist() == [7] * 3 + [bits >> k & 1 for k in range(8)] + [7]


@pytest.mark.parametrize("function", [copy, copy_cells], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_cells_are_copied(function: Callable[..., None], kind: type[np.int8]):
    cells = np.arange(100, 110, dtype=kind)
    out = np.zeros(12, np.uint8)
    function(out, 2, cells, 9)
    assert out.tolist() == [0, 0, *range(100, 109), 0]


def test_wider_cells_are_refused():
    with pytest.raises(TypingError, match="copy_cells"):
        copy(np.zeros(12, np.uint8), 0, np.zeros(12, np.int64), 3)

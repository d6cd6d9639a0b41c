"""Cells of an observation copied many at once: what a compiler makes of a loop over a few bytes is slower."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload


def copy_cells(out: Any, place: int, cells: Any, count: int) -> None:
    """Copy the first `count` of `cells`, numbers of one byte from 0 to 127, into `out` (uint8) from `place` on."""
    out[place : place + count] = cells[:count]


@intrinsic
def _copy(context: Any, out: Any, place: Any, cells: Any, count: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Copy the bytes with the compiler's memory copy."""
        target = context.make_array(signature.args[0])(context, builder, arguments[0])
        source = context.make_array(signature.args[2])(context, builder, arguments[2])
        first = builder.gep(target.data, [arguments[1]])
        cgutils.raw_memcpy(builder, first, source.data, arguments[3], 1)  # type: ignore[no-untyped-call]  # numba's
        return context.get_dummy_value()

    return types.void(out, types.int64, cells, types.int64), emit


def _are_bytes(*arrays: Any) -> bool:
    """Return whether these are types of rows whose cells lie side by side, a byte each."""
    return all(array.ndim == 1 and array.layout == "C" and array.dtype.bitwidth == 8 for array in arrays)


@overload(copy_cells, strict=False, inline="always")
def _copy_cells(out: Any, place: Any, cells: Any, count: Any) -> Any:
    if _are_bytes(out, cells):
        return lambda out, place, cells, count: _copy(out, place, cells, count)  # type: ignore[call-arg]  # the same
    return None

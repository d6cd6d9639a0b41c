"""Whole numbers that several threads change at once: the processor instructions that Numba has no name for.

Compiled code only: plain Python, which runs one thread at a time, has no use for them.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

_ORDER, _ALIGNMENT = "seq_cst", 8


def load(cells: Any, place: int) -> int:
    """Return `cells[place]` as the other threads left it, and see all that they wrote before; cells are (n,) int64."""
    return int(cells[place])


def store(cells: Any, place: int, number: int) -> None:
    """Set `cells[place]`: whoever loads it sees all that this thread wrote before."""
    cells[place] = number


def fetch_add(cells: Any, place: int, number: int) -> int:
    """Add to `cells[place]` in one go; return what it was before: no two threads get the same."""
    before = int(cells[place])
    cells[place] = before + number
    return before


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return cgutils.get_item_pointer(context, builder, signature.args[0], array, [arguments[1]])  # type: ignore[no-untyped-call]


@intrinsic
def _load(context: Any, cells: Any, place: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Read a cell as one indivisible instruction."""
        return builder.load_atomic(_address(context, builder, signature, arguments), _ORDER, _ALIGNMENT)

    return types.int64(cells, types.int64), emit


@intrinsic
def _store(context: Any, cells: Any, place: Any, number: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Write a cell as one indivisible instruction."""
        builder.store_atomic(arguments[2], _address(context, builder, signature, arguments), _ORDER, _ALIGNMENT)
        return context.get_dummy_value()

    return types.void(cells, types.int64, types.int64), emit


@intrinsic
def _fetch_add(context: Any, cells: Any, place: Any, number: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Add to a cell as one indivisible instruction; give what it held before."""
        return builder.atomic_rmw("add", _address(context, builder, signature, arguments), arguments[2], _ORDER)

    return types.int64(cells, types.int64, types.int64), emit


@overload(load, strict=False, inline="always")
def _load_compiled(cells: Any, place: Any) -> Any:
    return lambda cells, place: _load(cells, place)  # type: ignore[call-arg]  # numba passes the context


@overload(store, strict=False, inline="always")
def _store_compiled(cells: Any, place: Any, number: Any) -> Any:
    return lambda cells, place, number: _store(cells, place, number)  # type: ignore[call-arg]


@overload(fetch_add, strict=False, inline="always")
def _fetch_add_compiled(cells: Any, place: Any, number: Any) -> Any:
    return lambda cells, place, number: _fetch_add(cells, place, number)  # type: ignore[call-arg]

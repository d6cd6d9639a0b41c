"""Sets as bits of a whole number, and eight cells as one: processor instructions that NumPy and Numba do not name."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ice_envs.engine.jit import compiled

_LOWEST = sum(1 << 8 * byte for byte in range(8))
_APART = sum(1 << 7 * byte for byte in range(7))


def count_bits(bits: Any) -> int:
    """Return how many bits of a whole number from 0 to 2⁶³ − 1 are set."""
    return int(bits).bit_count()


def lowest_bit(bits: Any) -> int:
    """Return the place of the lowest set bit of a positive whole number."""
    return (int(bits) & -int(bits)).bit_length() - 1


def eight_bytes(cells: Any, first: int) -> int:
    """Return `cells[first : first + 8]`, each from 0 to 127, as one number: the first is the lowest byte."""
    return int.from_bytes(bytes(int(cells[first + place]) for place in range(8)), "little")


def write_eight_bytes(cells: Any, first: int, number: int) -> None:
    """Write what `eight_bytes` would read."""
    for place in range(8):
        cells[first + place] = (number >> 8 * place) & 255


@compiled
def write_bits(bits: Any, count: int, cells: Any, first: int) -> None:
    """Write the lowest `count` bits (8 or more) as 0 or 1 into the cells from `first` on."""
    for start in range(0, count, 8):
        place = min(start, count - 8)  # the last eight may overlap with those before
        write_eight_bytes(cells, first + place, spread(bits >> place))


@compiled
def spread(bits: Any) -> Any:
    """Return the lowest eight bits as the lowest bits of eight bytes."""
    return (bits & 127) * _APART & _LOWEST | (bits & 128) << 49  # with the eighth bit the copies would overlap


@intrinsic
def _population(context: Any, bits: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Count the bits with the processor's own instruction."""
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), emit


@intrinsic
def _trailing_zeros(context: Any, bits: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Find the lowest bit with the processor's own instruction."""
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return types.int64(types.int64), emit


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    place = cgutils.get_item_pointer(context, builder, signature.args[0], array, [arguments[1]])  # type: ignore[no-untyped-call]
    return builder.bitcast(place, ir.IntType(64).as_pointer())


@intrinsic
def _eight_bytes(context: Any, cells: Any, first: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Read eight cells at once, wherever they begin."""
        return builder.load(_address(context, builder, signature, arguments), align=1)

    return types.int64(cells, types.int64), emit


@intrinsic
def _write_eight_bytes(context: Any, cells: Any, first: Any, number: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Write eight cells at once, wherever they begin."""
        builder.store(arguments[2], _address(context, builder, signature, arguments), align=1)
        return context.get_dummy_value()

    return types.void(cells, types.int64, types.int64), emit


@overload(count_bits, strict=False, inline="always")
def _count_bits(bits: Any) -> Any:
    return lambda bits: _population(bits)  # type: ignore[call-arg]  # numba passes the context


@overload(lowest_bit, strict=False, inline="always")
def _lowest_bit(bits: Any) -> Any:
    return lambda bits: _trailing_zeros(bits)  # type: ignore[call-arg]  # numba passes the context


@overload(eight_bytes, strict=False, inline="always")
def _eight_bytes_compiled(cells: Any, first: Any) -> Any:
    return lambda cells, first: _eight_bytes(cells, first)  # type: ignore[call-arg]  # numba passes the context


@overload(write_eight_bytes, strict=False, inline="always")
def _write_eight_bytes_compiled(cells: Any, first: Any, number: Any) -> Any:
    return lambda cells, first, number: _write_eight_bytes(cells, first, number)  # type: ignore[call-arg]

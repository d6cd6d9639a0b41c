"""Sets as bits of a whole number: the two processor instructions that NumPy and Numba have no name for."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic, overload


def count_bits(bits: Any) -> int:
    """Return how many bits of a whole number from 0 to 2⁶³ − 1 are set."""
    return int(bits).bit_count()


def lowest_bit(bits: Any) -> int:
    """Return the place of the lowest set bit of a positive whole number."""
    return (int(bits) & -int(bits)).bit_length() - 1


@intrinsic
def _population(context: Any, bits: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), emit


@intrinsic
def _trailing_zeros(context: Any, bits: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return types.int64(types.int64), emit


@overload(count_bits, strict=False, inline="always")
def _count_bits(bits: Any) -> Any:
    return lambda bits: _population(bits)  # type: ignore[call-arg]  # numba passes the context


@overload(lowest_bit, strict=False, inline="always")
def _lowest_bit(bits: Any) -> Any:
    return lambda bits: _trailing_zeros(bits)  # type: ignore[call-arg]  # numba passes the context

"""Small arrays for compiled code that cost no allocation: they lie on the stack, as a local variable does in C."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype


def zeros_on_stack(shape: tuple[int, ...], dtype: type[np.generic]) -> Callable[[], Any]:
    """Return a function that gives its compiled caller an array of zeros, which is gone once that caller returns.

    So the caller may hand it to others, but neither return nor keep it. A call that comes again, as in a loop, clears
    the same array.
    """
    kind = types.Array(from_dtype(np.dtype(dtype)), len(shape), "C")
    size = np.dtype(dtype).itemsize
    strides = [size * prod(shape[axis + 1 :]) for axis in range(len(shape))]

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Reserve the cells in the caller's frame, and clear them."""

        def number(value: int) -> Any:
            """Return a constant of the machine's word size."""
            return context.get_constant(types.intp, value)

        cells = ir.ArrayType(context.get_data_type(kind.dtype), prod(shape))
        with builder.goto_entry_block():  # elsewhere a loop would take more of the stack each time
            reserved = builder.alloca(cells)
        cgutils.memset(builder, reserved, number(size * prod(shape)), 0)  # type: ignore[no-untyped-call]  # numba's
        array = context.make_array(kind)(context, builder)
        populate_array(  # type: ignore[no-untyped-call]
            array,
            data=builder.bitcast(reserved, array.data.type),
            shape=list(map(number, shape)),
            strides=list(map(number, strides)),
            itemsize=number(size),
            meminfo=None,  # nobody counts references to it
        )
        return array._getvalue()

    @intrinsic
    def on_stack(context: Any) -> Any:
        """Give the array whose cells `emit` reserves."""
        return kind(), emit

    def zeros() -> Any:
        """Return the array; not compiled, a new one."""
        return np.zeros(shape, dtype)

    @overload(zeros, strict=False, inline="always")
    def _zeros() -> Any:
        return lambda: on_stack()  # type: ignore[call-arg]  # numba passes the context

    return zeros

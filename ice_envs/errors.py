"""Errors a user can act on: one sentence that says what was wrong and what would be right."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable

import numpy as np


class IceError(ValueError):
    """Bad input. Its text is one sentence meant for the person who gave the input."""


class IllegalAction(IceError):
    """An action that the mask does not allow; the state is as it was before."""


def nearest(name: object, valid: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for a typo, else the list of the valid names."""
    names = [str(candidate) for candidate in valid]
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else f" (valid: {', '.join(names)})"


def choose(what: str, name: object, valid: Iterable[str]) -> str:
    """Return `name` if it is one of `valid`; raise IceError with the nearest valid name otherwise."""
    names = list(valid)
    if name not in names:
        raise IceError(f"unknown {what} {name!r:.80}{nearest(name, names)}")
    return str(name)


def whole_number(what: str, value: object, low: int, high: int) -> int:
    """Return `value` as an int if it is a whole number from `low` to `high`; raise IceError otherwise."""
    flag = isinstance(value, bool | np.bool_)  # which older versions of NumPy would take for numbers
    try:
        number = None if flag else operator.index(value)  # type: ignore[arg-type]  # refuses floats, in arrays too
    except TypeError:
        number = None
    if number is None:
        raise IceError(f"{what} must be a whole number from {low} to {high}, not {value!r:.80}")
    if not low <= number <= high:
        raise IceError(f"{what} must be from {low} to {high}, not {number!r:.80}")
    return number


def check_range(what: str, value: float, low: float, high: float = math.inf) -> None:
    """Raise IceError unless a number lies from `low` to `high`."""
    if not low <= value <= high:
        bounds = f"at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        raise IceError(f"{what} must be {bounds}, not {value:g}")

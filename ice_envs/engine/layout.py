"""The observation's layout: the one list of named slices that everything about observations is derived from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Slice:
    """A named part of the observation: `start`…`stop` of the flat vector, reshaped to `shape`."""

    name: str
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str
    start: int

    @property
    def stop(self) -> int:
        """One past the last index in the flat vector."""
        return self.start + prod(self.shape)


class Layout:
    """Named slices of a flat uint8 observation, in order.

    `Layout([(name, shape, low, high, meaning), …])`; `layout["hand"].start` is where a writer begins.
    """

    def __init__(self, parts: list[tuple[str, tuple[int, ...], int, int, str]]) -> None:
        start = 0
        slices: dict[str, Slice] = {}
        for name, shape, low, high, meaning in parts:
            slices[name] = Slice(name, shape, low, high, meaning, start)
            start = slices[name].stop
        if len(slices) != len(parts):
            raise ValueError("two slices of a layout have one name")
        self._slices = slices
        self.size = start

    def __getitem__(self, name: str) -> Slice:
        return self._slices[name]

    def __iter__(self) -> Iterator[Slice]:
        return iter(self._slices.values())

    @property
    def low(self) -> NDArray[np.uint8]:
        """Lower bound of every cell: (size,) uint8."""
        return self._bounds("low")

    @property
    def high(self) -> NDArray[np.uint8]:
        """Upper bound of every cell: (size,) uint8."""
        return self._bounds("high")

    def _bounds(self, which: str) -> NDArray[np.uint8]:
        return np.concatenate([np.full(prod(part.shape), getattr(part, which), np.uint8) for part in self])

    def views(self, observation: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return the named slices of an observation (…, size) as views (…, *shape)."""
        lead = observation.shape[:-1]
        return {part.name: observation[..., part.start : part.stop].reshape(lead + part.shape) for part in self}

    def as_json(self) -> list[dict[str, Any]]:
        """Return the slices as plain data, as agent manifests carry them."""
        names = ("name", "start", "stop", "shape", "low", "high", "meaning")
        return [{name: list(part.shape) if name == "shape" else getattr(part, name) for name in names} for part in self]

    def hash(self) -> str:
        """Return a digest of names, places and bounds: two layouts with one hash mean the same by every cell."""
        essence = [{key: value for key, value in part.items() if key != "meaning"} for part in self.as_json()]
        return hashlib.sha256(json.dumps(essence, sort_keys=True).encode()).hexdigest()[:16]

    def table(self) -> str:
        """Return the layout as a Markdown table."""
        rows = ["| slice | indices | shape | values | meaning |", "|---|---|---|---|---|"]
        for part in self:
            shape = " × ".join(map(str, part.shape))
            cells = (f"`{part.name}`", f"{part.start}–{part.stop - 1}", shape, f"{part.low}–{part.high}", part.meaning)
            rows.append(f"| {' | '.join(cells)} |")
        return "\n".join(rows)

    def describe(self, observation: NDArray[Any]) -> str:
        """Return one observation in words: a line for each slice that is not all zero."""
        lines = []
        for name, values in self.views(observation).items():
            if values.any():
                lines.append(f"{name}: {np.array2string(values, separator=' ', max_line_width=10_000)}")
        return "\n".join(lines)

"""Pieces of Markdown that pages and model cards are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; numbers' columns are for the reader to align."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def with_interval(value: float, interval: Sequence[float], digits: int = 3) -> str:
    """Return a figure with its 95 % interval."""
    low, high = interval
    return f"{value:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"

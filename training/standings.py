"""What a tournament came to: as data, as tables for the terminal, and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table

from ice_envs.games import find_game
from training.evaluate import ROUNDING, interval
from training.lineups import Lineup, Results, seed_for
from training.ratings import rate

RATING = 3  # what a seed is drawn for, after those of lineups
EXPLANATION = (
    "Rating: at 400 points more an agent wins ten times as often as the other at one table; at 0 it is as strong as "
    "the field's mean. Win share: the part of the games that the agent of the row won in one seat, the agent of the "
    "column in all others; a victory shared by k seats counts 1/k. + above the fair share, - below it, as the 95 % "
    "interval says. By seat: the mean over all tables at which the agent sat."
)


class Entrant(TypedDict):
    """An agent of a tournament: its name, what it was loaded from, and a digest of its file, if it has one."""

    name: str
    spec: str
    digest: str


class Rating(TypedDict):
    """An agent's rating at one table size, with its 95 % interval."""

    num_players: int
    agent: str
    rating: float
    interval: list[float]


class Duel(TypedDict):
    """An agent's win share in one seat, the opponent in all others, with its 95 % interval."""

    num_players: int
    agent: str
    opponent: str
    deals: int
    games: int
    win_share: float
    interval: list[float]
    fair_share: float


class BySeat(TypedDict):
    """An agent's win share in each seat, over all tables at which it sat."""

    num_players: int
    agent: str
    win_shares: list[float]


class TableResult(TypedDict):
    """What was played at one table: who sat there, a name for each seat, and what each of them won in its seat."""

    num_players: int
    agents: list[str]
    deals: int
    games: int
    win_shares: list[float]
    truncated: int


class Default(TypedDict):
    """Games that an agent lost by default, because it raised an error or chose what is illegal; the first error."""

    agent: str
    games: int
    first: str


class Standings(TypedDict):
    """The results of a tournament. Ratings are sorted, best first; what else there is, by names."""

    game: str
    rules_version: int
    options: dict[str, Any]
    num_players: list[int]
    games: int
    compositions: str
    seed: int
    agents: list[Entrant]
    ratings: list[Rating]
    duels: list[Duel]
    by_seat: list[BySeat]
    tables: list[TableResult]
    lost_by_default: list[Default]
    cpu: str
    date: str
    versions: dict[str, Any]
    command: str


def standings(results: Mapping[int, Mapping[Lineup, Results]], names: Sequence[str], seed: int) -> dict[str, Any]:
    """Return the fields of `Standings` that follow from the games; `names` are in order."""
    found: dict[str, Any] = {"ratings": [], "duels": [], "by_seat": [], "tables": []}
    for size, tables in results.items():
        found["ratings"] += _ratings(size, tables, names, seed)
        found["duels"] += [_duel(size, tables, one, other) for one in names for other in names if one != other]
        found["by_seat"] += [_by_seat(size, tables, name) for name in names]
        found["tables"] += [_table(lineup, played) for lineup, played in tables.items()]
    played = [part for tables in results.values() for part in tables.items()]
    found["lost_by_default"] = [_default(name, played) for name in names if _forfeits(name, played)]
    return found


def _ratings(size: int, tables: Mapping[Lineup, Results], names: Sequence[str], seed: int) -> list[Rating]:
    won = {lineup: played.shares.sum(axis=2, dtype=float) for lineup, played in tables.items()}
    rating, bounds = rate(won, names, seed_for(seed, size, RATING))
    rows = [
        Rating(num_players=size, agent=name, rating=float(points), interval=list(map(float, ends)))
        for name, points, ends in zip(names, rating, bounds, strict=True)
    ]
    return sorted(rows, key=lambda row: (-row["rating"], row["agent"]))


def _duel(size: int, tables: Mapping[Lineup, Results], one: str, other: str) -> Duel:
    lineup = tuple(sorted([one, *[other] * (size - 1)]))
    shares = tables[lineup].shares[:, lineup.index(one)].mean(axis=1, dtype=float)
    return Duel(
        num_players=size,
        agent=one,
        opponent=other,
        deals=len(shares),
        games=len(shares) * size,
        win_share=float(shares.mean()),
        interval=interval(shares, 0, 1),
        fair_share=1 / size,
    )


def _by_seat(size: int, tables: Mapping[Lineup, Results], name: str) -> BySeat:
    sat = [
        played.shares[:, place].mean(axis=0, dtype=float)
        for lineup, played in tables.items()
        for place, other in enumerate(lineup)
        if other == name
    ]
    return BySeat(num_players=size, agent=name, win_shares=np.mean(sat, axis=0).tolist())


def _table(lineup: Lineup, played: Results) -> TableResult:
    return TableResult(
        num_players=len(lineup),
        agents=list(lineup),
        deals=len(played.shares),
        games=len(played.shares) * len(lineup),
        win_shares=played.shares.mean(axis=(0, 2), dtype=float).tolist(),
        truncated=int(played.truncated.sum()),
    )


def _forfeits(name: str, played: Sequence[tuple[Lineup, Results]]) -> int:
    return sum(
        int(part.forfeits[:, [other == name for other in lineup]].sum()) for lineup, part in played if name in lineup
    )


def _default(name: str, played: Sequence[tuple[Lineup, Results]]) -> Default:
    first = next(part.failures[name] for _, part in played if name in part.failures)
    return Default(agent=name, games=_forfeits(name, played), first=first)


# ---- for the terminal ----


def show(found: Standings) -> RenderableType:
    """Return the standings as tables for a reader who knows nothing of us, 80 columns wide."""
    parts = _rating_table(found)
    for size in found["num_players"]:
        parts += [*_matrix(found, size), *_seat_table(found, size)]
    return Group(*parts, EXPLANATION, *_defaults(found))


def ranked(found: Standings, size: int) -> list[Rating]:
    """Return the ratings at a table size, best first."""
    return [row for row in found["ratings"] if row["num_players"] == size]


def duel(found: Standings, size: int, agent: str, opponent: str) -> Duel:
    """Return the duel of an agent, in one seat, and an opponent in all others."""
    return next(
        row for row in found["duels"] if (row["num_players"], row["agent"], row["opponent"]) == (size, agent, opponent)
    )


def verdict(row: Duel) -> str:
    """Return + or - if the interval excludes the fair share, else a space."""
    low, high = row["interval"]
    return "+" if low > row["fair_share"] + ROUNDING else "-" if high < row["fair_share"] - ROUNDING else " "


def _new_table(words: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in words:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _rating_table(found: Standings) -> list[RenderableType]:
    table = _new_table(("seats", "agent"), ("rating", "95 % interval"))
    for row in found["ratings"]:
        low, high = row["interval"]
        table.add_row(str(row["num_players"]), row["agent"], f"{row['rating']:+.0f}", f"{low:+.0f} … {high:+.0f}")
    return [f"Ratings in {found['game']}, from {found['games']:,} games of each table composition", table]


def _matrix(found: Standings, size: int) -> list[RenderableType]:
    """Return the win shares of each agent against each other; columns are numbered, as names may be long."""
    order = [row["agent"] for row in ranked(found, size)]
    table = _new_table(("agent",), [str(i + 1) for i in range(len(order))])
    for i, agent in enumerate(order):
        rows = [duel(found, size, agent, other) if other != agent else None for other in order]
        table.add_row(f"{i + 1} {agent}", *(f"{row['win_share']:.3f}{verdict(row)}" if row else "– " for row in rows))
    return [f"{size} seats: win share of each agent against each other (fair share {1 / size:.3f})", table]


def _seat_table(found: Standings, size: int) -> list[RenderableType]:
    table = _new_table(("agent",), [f"seat {seat}" for seat in range(size)])
    for row in found["by_seat"]:
        if row["num_players"] == size:
            table.add_row(row["agent"], *(f"{share:.3f}" for share in row["win_shares"]))
    return [f"{size} seats: win share by seat", table]


def _defaults(found: Standings) -> list[str]:
    return [
        f"{row['agent']} lost {row['games']:,} games by default; the first error: {row['first']}"
        for row in found["lost_by_default"]
    ]


# ---- as a picture ----


def draw(found: Standings, path: Path) -> None:
    """Draw, for each table size, the ratings with their intervals and the win shares as a heat map."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    sizes, count = found["num_players"], len(found["agents"])
    longest = max(len(entrant["name"]) for entrant in found["agents"])
    height = max(0.5 * count + 1.4 + 0.06 * longest, 2.6)
    figure = Figure(
        figsize=(12 + 0.12 * longest, height * len(sizes)), layout=ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.1)
    )
    title = find_game(found["game"]).title
    figure.suptitle(f"{title}: {found['games']:,} games of each table composition, 95 % intervals")
    rows = figure.subplots(len(sizes), 2, squeeze=False, width_ratios=(1.2, 1))
    for size, (left, right) in zip(sizes, rows, strict=True):
        _draw_ratings(left, ranked(found, size), f"{size} seats")
        _draw_matrix(figure, right, found, size)
    figure.savefig(path, dpi=100)


def _draw_ratings(axes: Any, rows: Sequence[Rating], title: str) -> None:
    points = np.array([row["rating"] for row in rows])
    ends = np.array([row["interval"] for row in rows])
    errors = np.maximum([points - ends[:, 0], ends[:, 1] - points], 0)
    axes.errorbar(points, range(len(rows)), xerr=errors, fmt="o", capsize=4, color="#0072B2")
    for i, row in enumerate(rows):
        label = f"{row['rating']:+.0f}".replace("-", "−")  # as the axis writes it
        axes.annotate(label, (points[i], i), (0, 7), textcoords="offset points", ha="center", size=9)
    axes.set_yticks(range(len(rows)), [row["agent"] for row in rows])
    axes.set(title=title, xlabel="rating (0: the field's mean strength)", ylim=(len(rows) - 0.5, -0.7))
    axes.margins(x=0.1)
    axes.grid(axis="x", alpha=0.3)


def _draw_matrix(figure: Any, axes: Any, found: Standings, size: int) -> None:
    from matplotlib.colors import TwoSlopeNorm

    order = [row["agent"] for row in ranked(found, size)]
    shares = np.full((len(order), len(order)), np.nan)
    for i, agent in enumerate(order):
        for j, other in enumerate(order):
            if i != j:
                shares[i, j] = duel(found, size, agent, other)["win_share"]
    image = axes.imshow(shares, cmap="PuOr", norm=TwoSlopeNorm(1 / size, 0, 1), aspect="auto")
    for (i, j), share in np.ndenumerate(shares):
        if i != j:
            extreme = share < 0.35 / size or share > 0.65 + 0.35 / size
            axes.text(j, i, f"{share:.3f}", ha="center", va="center", size=9, color="white" if extreme else "black")
    axes.set_xticks(range(len(order)), order, rotation=30, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(order)), order)
    axes.set(title=f"{size} seats: win share of the row, in one seat, against the column", facecolor="0.85")
    bar = figure.colorbar(image, ax=axes, ticks=[0, 1 / size, 1])
    bar.ax.set_yticklabels(["0", f"{1 / size:.2f} fair", "1"])

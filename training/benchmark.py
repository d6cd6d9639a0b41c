"""Measure how fast the games, training and the first use are, next to what others do in the same run.

python -m training.benchmark --env dokitto --json speeds.json
python -m training.benchmark --baseline docs/results/benchmark.json
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import Any, Literal, TypedDict

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table

from ice_envs.agents.manifest import check
from ice_envs.engine.jit import is_cold
from ice_envs.errors import IceError, whole_number
from ice_envs.files import check_writable, read_json, write_json
from ice_envs.games import find_game
from training import benchmark_agents, benchmark_games, benchmark_search, command_line
from training.benchmark_games import DIFFERENCE, QUICK, SECONDS, Bench, Effort, Measurement
from training.benchmark_learning import training
from training.command_line import INTERRUPTED, cpu_name

Section = Literal["batch", "aec", "search", "search_agents", "training", "agents", "startup"]
SECTIONS: dict[Section, tuple[str, Callable[[Bench], list[Measurement]]]] = {
    "batch": ("Many games at once (Batch), random moves", benchmark_games.batch),
    "aec": ("PettingZoo's interface (AEC), random moves", benchmark_games.aec),
    "search": ("What a search does, one thread", benchmark_games.search),
    "search_agents": ("Search agents, one thread", benchmark_search.agents),
    "training": ("Training, decisions learned from", training),
    "agents": ("Portable agents, one move at a time", benchmark_agents.agents),
    "startup": ("Imports and the first step, in fresh processes", benchmark_games.startup),
}
GOALS = {
    "16,384 games, observed: 2 threads over 1": 1.8,
    "raw loop": 40_000,
    "documented loop": 12_000,
    "simulated moves, tree search": 2_000_000,
    "one move of a tree search, first of a game": 0.05,
    "over the arithmetic alone": 0.7,
    "over stock MaskablePPO, its own defaults": 3,
    "one move from a JSON view": 0.001,
    "one move over HTTP, there and back": 0.005,
    f"over HTTP, {benchmark_agents.CLIENTS} clients at once": 500,
    "model file": 8,
    "import of ice_envs above its base": 0.2,
    "first step, cold cache": 15,
    "first step, warm cache": 1,
}
"""What we want to reach on two cores, by the measurement's name: at least so fast, or at most so many seconds or MB."""
BATCH = "1,024 games, 1 thread, observed"
BATCH_GOALS = {"dokitto": 4_000_000, "nokosu_dice": 2_500_000, "ice_split": 2_000_000, "kawaii": 2_000_000}
"""The same for the measurement BATCH, which depends on the game."""
FREE = 0.9
"""With less of a core than this before or after a section, the machine was busy with other work."""
LEAST = 0.6
"""A speed under this part of the baseline is a failure."""
EXPLANATION = (
    "Range: the lowest and the highest of the repeats, as parts of the median; where they are far apart, the machine "
    "was busy with other work. What is compared was measured in turn, and × is the median ratio of such pairs."
)


@dataclass(frozen=True)
class BenchmarkSettings:
    """Settings of the benchmark."""

    env: str = "dokitto"
    """The game."""
    only: list[Section] = field(default_factory=lambda: list(SECTIONS))
    """Which sections to run: batch, aec, search, search_agents, training, agents, startup."""
    num_players: int = 4
    """Seats at the table; training plays the table sizes of its own settings."""
    threads: int = 2
    """Threads of training, and of the batch that is compared with one thread."""
    seed: int = 0
    """Seed of everything that is drawn."""
    quick: bool = False
    """Measure for some seconds only: to see that it works, not how fast it is."""
    json: Path | None = None
    """Write the results to this file too, as a list of rows."""
    baseline: Path | None = None
    """Compare with such a file; exit with 1 if a speed is less than 60 % of what it is there."""


class BenchmarkRow(TypedDict):
    """One line of the JSON file. What could not be measured has null for value, min and max, and a note says why."""

    section: str
    name: str
    unit: str
    value: float
    """The median of the repeats."""
    min: float
    max: float
    repeats: int
    settings: dict[str, Any]
    note: str
    cpu: str
    date: str
    versions: dict[str, Any]


def main(settings: BenchmarkSettings) -> int:
    """Measure, show tables, write the JSON file and compare; return the exit code."""
    console = Console(stderr=True)
    bench = open_bench(settings, console)
    baseline = read_baseline(settings.baseline) if settings.baseline else None
    if settings.json:
        check_writable(settings.json)
    console.print(
        f"Measuring {', '.join(settings.only)}: {'some seconds' if settings.quick else 'about four minutes'}."
    )
    if is_cold():
        console.print("Compiling the game: this takes some seconds, the first time only.")
    rows: list[BenchmarkRow] = []
    stopped = False
    try:
        for section in dict.fromkeys(settings.only):
            rows += measure(section, bench)
    except KeyboardInterrupt:
        stopped = True
        console.print("Stopped: only finished sections are shown, and no file is written.")
    if rows:
        Console().print(results(rows))
    if stopped:
        return INTERRUPTED
    if settings.json:
        write_json(settings.json, rows)
    return compare(rows, baseline) if baseline is not None else 0


def open_bench(settings: BenchmarkSettings, console: Console) -> Bench:
    """Return what the sections need; raise IceError for settings that cannot be measured with."""
    if not settings.only:
        raise IceError(f"name at least one section: {', '.join(SECTIONS)}")
    game = find_game(settings.env)
    return Bench(
        game,
        game.check_table(settings.num_players),
        whole_number("threads", settings.threads, 1, 1024),
        whole_number("seed", settings.seed, 0, 1 << 63),
        QUICK if settings.quick else Effort(),
        console,
    )


def measure(section: Section, bench: Bench) -> list[BenchmarkRow]:
    """Return the rows of a section; their notes say so if other work took much of the processor."""
    before = benchmark_games.core_share()
    measurements = SECTIONS[section][1](bench)
    share = min(before, benchmark_games.core_share())
    return rows_of(
        section, measurements, f"the machine was busy, this got {share:.0%} of a core" if share < FREE else ""
    )


def rows_of(section: Section, measurements: Iterable[Measurement], note: str = "") -> list[BenchmarkRow]:
    """Return the rows of a section's measurements, with `note` where they have none of their own."""
    cpu, versions = cpu_name(), command_line.versions()
    date = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return [
        BenchmarkRow(
            section=section,
            name=found.name,
            unit=found.unit,
            **summary(found.values),  # type: ignore[typeddict-item]  # value, min, max
            repeats=len(found.values),
            settings=found.settings,
            note=found.note or note,
            cpu=cpu,
            date=date,
            versions=versions,
        )
        for found in measurements
    ]


def summary(values: Sequence[float]) -> dict[str, float | None]:
    """Return the median and the range of values, None if there are none."""
    if not values:
        return dict.fromkeys(("value", "min", "max"))
    return {"value": median(values), "min": min(values), "max": max(values)}


def lower_is_better(unit: str) -> bool:
    """Return whether less is better: of seconds and sizes, as opposed to speeds and ratios."""
    return unit in (SECONDS, DIFFERENCE, benchmark_agents.MEGABYTES)


def results(rows: Sequence[BenchmarkRow]) -> RenderableType:
    """Return the rows as a table for each section, 80 columns wide."""
    parts: list[RenderableType] = []
    for section, (title, _) in SECTIONS.items():
        mine = [row for row in rows if row["section"] == section]
        if mine:
            parts.append(section_table(title, mine))
            parts += [f"({note})\n" for note in dict.fromkeys(row["note"] for row in mine if row["value"]) if note]
    return Group(*parts, f"{rows[0]['cpu']}. {EXPLANATION}")


def section_table(title: str, rows: Sequence[BenchmarkRow]) -> Table:
    """Return the table of one section."""
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")
    table.add_column("what", overflow="fold")
    table.add_column("median", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name in ("range", "goal"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        if row["value"] is None:
            table.add_row(f"{row['name']}: {escape(row['note'])}")
        else:
            spread = f"{row['min'] / row['value']:.0%} – {row['max'] / row['value']:.0%}"
            table.add_row(row["name"], number(row["value"]), row["unit"], spread, goal_of(row))
    return table


def goal_of(row: BenchmarkRow) -> str:
    """Return the goal of a row and whether it is reached, or nothing."""
    goal = BATCH_GOALS.get(row["settings"]["env"]) if row["name"] == BATCH else GOALS.get(row["name"])
    if goal is None:
        return ""
    lower = lower_is_better(row["unit"])
    reached = row["value"] <= goal if lower else row["value"] >= goal
    return f"{'≤' if lower else '≥'} {number(goal)} {'✓' if reached else '✗'}"


def number(value: float) -> str:
    """Return a number with thousands separated, or with three digits if it is small."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def read_baseline(path: Path) -> list[BenchmarkRow]:
    """Return what was measured in an earlier JSON file; raise IceError if it is none."""
    rows = read_json(path)
    check(rows, list[dict[str, Any]], str(path))
    measured = [row for row in rows if row.get("value", 0) is not None]
    check(measured, list[BenchmarkRow], str(path))
    return measured


def compare(rows: Sequence[BenchmarkRow], baseline: Sequence[BenchmarkRow]) -> int:
    """Show each row's speed next to its baseline; return 1 if one is under `LEAST` of it, else 0.

    Rows are the same thing if name and settings are. Only speeds are judged: ratios are made of them, and times of
    fresh processes double from one run to the next for reasons outside of our code. Nothing is judged by a baseline
    from another processor. Raises IceError if no row is in the baseline.
    """
    earlier = {identity(row): row for row in baseline}
    pairs = [(row, earlier[identity(row)]) for row in rows if row["value"] is not None and identity(row) in earlier]
    if not pairs:
        raise IceError("the baseline holds nothing that was measured now: it was made with other settings")
    judged = all(now["cpu"] == before["cpu"] for now, before in pairs)
    table = Table(title="Next to the baseline", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")
    table.add_column("what", overflow="fold")
    for name in ("baseline", "now", "speed"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    slower = 0
    for now, before in pairs:
        part = now["value"] / before["value"]
        is_speed = now["unit"].endswith("/s")
        failed = is_speed and part < LEAST
        slower += failed
        speed = f"{part:.0%}" if is_speed else ""
        verdict = "too slow" if failed else ""
        table.add_row(f"{now['section']}: {now['name']}", number(before["value"]), number(now["value"]), speed, verdict)
    console = Console()
    console.print(table)
    if not judged:
        console.print(f"Not judged: the baseline is of another processor ({pairs[0][1]['cpu']}).")
    return int(judged and slower > 0)


def identity(row: BenchmarkRow) -> tuple[str, ...]:
    """Return what makes two rows measurements of the same thing."""
    return row["section"], row["name"], repr(sorted(row["settings"].items()))


if __name__ == "__main__":
    command_line.run(main, BenchmarkSettings, "training.benchmark")

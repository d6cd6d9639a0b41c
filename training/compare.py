"""Compare finished training runs: in what they differ, how well each did, and when.

python -m training.compare --runs my_run other_run --names "with memory" "without" --plot comparison.svg
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypedDict

from rich import box
from rich.console import Console, Group
from rich.table import Table

from ice_envs.agents.manifest import EvaluationRow, check
from ice_envs.errors import IceError
from ice_envs.files import check_writable, replacing, write_json
from ice_envs.games import find_game
from training import command_line
from training.markdown import with_interval
from training.run_folder import RunFolder

OF_THE_FOLDER = ("out", "resume")
"""Settings that say where a run lies, not what it does."""
PICTURES = (".svg", ".png")


@dataclass(frozen=True)
class CompareSettings:
    """What to compare."""

    runs: list[Path]
    """The folders of two or more finished runs of one game; the others are compared with the first."""
    names: list[str] = field(default_factory=list)
    """A name for each run, in the same order; none: those of the folders."""
    against: str = "greedy"
    """The opponent of the table and of the curves."""
    json: Path | None = None
    """Write everything to this file too."""
    plot: Path | None = None
    """Draw the win shares over time into this file too, an SVG or PNG picture."""


class CurvePoint(TypedDict):
    """An evaluation during a run: win shares by opponent and table size."""

    minutes: float
    decisions: int
    win_shares: dict[str, Any]


class ComparedRun(TypedDict):
    """A finished run; `settings` are those that differ between the runs, as far as this one has them."""

    name: str
    settings: dict[str, Any]
    minutes: float
    decisions: int
    machine: str | None
    versions: dict[str, Any]
    evaluation: list[EvaluationRow]
    curve: list[CurvePoint]


class Comparison(TypedDict):
    """Runs of one game, the first being the one that the others are compared with."""

    game: str
    rules_version: int
    against: str
    runs: list[ComparedRun]
    date: str
    versions: dict[str, Any]
    command: str


def main(settings: CompareSettings) -> None:
    """Compare, show a table and write the files asked for."""
    for file in filter(None, (settings.json, settings.plot)):
        check_writable(file)
    if settings.plot and settings.plot.suffix not in PICTURES:
        raise IceError(f"--plot draws {' or '.join(PICTURES)} files, not {settings.plot}")
    comparison = compare(settings.runs, settings.names, settings.against)
    Console(markup=False).print(show(comparison))
    if settings.json:
        write_json(settings.json, comparison)
    if settings.plot:
        with replacing(settings.plot) as partial:
            draw(comparison, partial)


def compare(folders: Sequence[Path], names: Sequence[str] = (), against: str = "greedy") -> Comparison:
    """Return what the runs in the folders have in common and apart; raise IceError for runs that do not compare."""
    names = list(names) or [folder.resolve().name for folder in folders]
    if len(folders) < 2:
        raise IceError("name two or more runs to compare")
    if len(names) != len(folders) or len(set(names)) < len(names):
        raise IceError(f"{len(folders)} runs need as many different names, not {', '.join(names)}")
    told = [RunFolder(folder).read_results() for folder in folders]
    games = list(dict.fromkeys(game.name for game, *_ in told))
    versions = {row["rules_version"] for *_, rows in told for row in rows}
    if len(games) > 1 or len(versions) > 1:
        what = " and ".join(games) if len(games) > 1 else f"{games[0]}'s rules of versions {sorted(versions)}"
        raise IceError(f"runs of different games do not compare: these are of {what}")
    chosen = [dict(flat(command_line.read_config(folder / "config.yaml"))) for folder in folders]
    runs = []
    for folder, name, values, (_, origin, history, rows) in zip(folders, names, differing(chosen), told, strict=True):
        if against not in {row["opponent"] for row in rows}:
            raise IceError(f"the run in {folder} was not evaluated against {against}")
        runs.append(
            ComparedRun(
                name=name,
                settings=values,
                minutes=round(origin["seconds"] / 60, 2),
                decisions=origin["decisions"],
                machine=origin.get("machine"),
                versions=dict(origin["versions"]),
                evaluation=rows,
                curve=[curve_point(point) for point in history],
            )
        )
    comparison = Comparison(
        game=games[0],
        rules_version=versions.pop(),
        against=against,
        runs=runs,
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        versions=command_line.versions(),
        command=command_line.typed(),
    )
    check(comparison, Comparison, "the comparison")
    return comparison


def flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every setting by its dotted name."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        elif prefix or name not in OF_THE_FOLDER:
            yield f"{prefix}{name}", value


def differing(chosen: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each of the flat settings, what of them is not the same in all."""
    names = dict.fromkeys(name for settings in chosen for name in settings)
    apart = [
        name
        for name in names
        if len({json.dumps(settings[name]) if name in settings else "" for settings in chosen}) > 1
    ]
    return [{name: settings[name] for name in apart if name in settings} for settings in chosen]


def curve_point(point: Mapping[str, Any]) -> CurvePoint:
    """Return a point of a run's history as a comparison keeps it."""
    return CurvePoint(
        minutes=round(point["seconds"] / 60, 3), decisions=point["decisions"], win_shares=dict(point["win_shares"])
    )


def sizes(comparison: Comparison) -> list[int]:
    """Return the table sizes at which a run was evaluated."""
    return sorted({row["num_players"] for run in comparison["runs"] for row in run["evaluation"]})


def header(comparison: Comparison) -> list[str]:
    """Return the names of the columns of `lines`."""
    return ["run", "differs in", "minutes", "decisions", *(f"{size} seats" for size in sizes(comparison))]


def lines(comparison: Comparison) -> Iterator[list[str]]:
    """Yield a line for each run: name, in what it differs from the first, minutes, decisions, final win shares."""
    first = comparison["runs"][0]["settings"]
    for run in comparison["runs"]:
        apart = [
            f"{name} {word(run['settings'], name)}, not {word(first, name)}"
            for name in {**first, **run["settings"]}
            if word(run["settings"], name) != word(first, name)
        ]
        shares = {
            row["num_players"]: with_interval(row["win_share"], row["interval"])
            for row in run["evaluation"]
            if row["opponent"] == comparison["against"]
        }
        yield [
            run["name"],
            "; ".join(apart),
            f"{run['minutes']:.1f}",
            f"{run['decisions']:,}",
            *(shares.get(size, "") for size in sizes(comparison)),
        ]


def word(settings: Mapping[str, Any], name: str) -> str:
    """Return a setting as one would write it on the command line."""
    if name not in settings:
        return "none"
    value = settings[name]
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "null" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def show(comparison: Comparison) -> Group:
    """Return the lines for a terminal, 80 columns wide."""
    game, against = find_game(comparison["game"]), comparison["against"]
    title = f"Runs in {game.title}: final win share against {against}, 95 % interval"
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("run", overflow="fold")
    for name in ("minutes", *header(comparison)[4:]):
        table.add_column(name, justify="right", no_wrap=True)
    apart = []
    for name, differs, minutes, _, *shares in lines(comparison):
        table.add_row(name, minutes, *(share.replace(" (", "\n").rstrip(")") for share in shares))
        apart += [f"{name}: {differs}"] if differs else []
    return Group(title, table, *apart)


def draw(comparison: Comparison, path: Path) -> None:
    """Draw the win shares over the minutes, a panel for each table size, as a picture that is the same every time."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    against, tables = comparison["against"], sizes(comparison)
    columns = min(len(tables), 2)
    rows = -(-len(tables) // columns)
    with mpl.rc_context({"svg.hashsalt": "ice_envs", "font.size": 11}):
        figure = Figure(figsize=(4.6 * columns, 3.3 * rows + 0.8), layout="constrained", facecolor="white")
        panels = list(figure.subplots(rows, columns, squeeze=False).flat)
        handles: dict[str, Any] = {}
        for panel, size in zip(panels, tables, strict=False):
            draw_panel(panel, comparison, size, handles)
        for panel in panels[len(tables) :]:
            panel.set_visible(False)
        labels = [name.replace("$", r"\$") for name in handles]
        figure.legend(list(handles.values()), labels, loc="outside lower center", ncols=min(len(handles), 3))
        figure.suptitle(f"{find_game(comparison['game']).title}: win share against {against}")
        figure.savefig(path, dpi=100, metadata={"Date": None} if path.suffix == ".svg" else None)


def draw_panel(panel: Any, comparison: Comparison, size: int, handles: dict[str, Any]) -> None:
    """Draw one table size: a curve for each run, and its final evaluation with the interval at the end."""
    for run in comparison["runs"]:
        points = [
            (point["minutes"], shares[str(size)])
            for point in run["curve"]
            if str(size) in (shares := point["win_shares"].get(comparison["against"], {}))
        ]
        (line,) = panel.plot(*zip(*points, strict=True), linewidth=1.6) if points else panel.plot([], [])
        handles[run["name"]] = line
        for row in run["evaluation"]:
            if (row["num_players"], row["opponent"]) == (size, comparison["against"]):
                low, high = row["interval"]
                reach = [[row["win_share"] - low], [high - row["win_share"]]]
                style = {"color": line.get_color(), "marker": "D", "markersize": 5, "capsize": 4}
                panel.errorbar([run["minutes"]], [row["win_share"]], reach, **style)
    panel.axhline(1 / size, color="0.35", linestyle=":", linewidth=1.2)
    panel.set(title=f"{size} seats", xlabel="minutes", ylabel="win share (dotted: fair)")
    panel.grid(alpha=0.3)


if __name__ == "__main__":
    command_line.run(main, CompareSettings, "training.compare")

"""The generated parts of the pages that tell results: from the files in docs/results, each written by a command."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ice_envs import find_game
from ice_envs.agents.manifest import EvaluationRow, check
from ice_envs.engine.game import Game
from ice_envs.errors import IceError
from ice_envs.files import read_json
from training.benchmark import BenchmarkRow, number, read_baseline
from training.docs_agents import headline
from training.handicaps import written
from training.markdown import table, with_interval
from training.nokosu_dice_rounds import HEADER, HITTERS_HEADER, RoundsRow, cells, hitters_cells

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"
STOCK = "stock MaskablePPO"
"""How the benchmark's rows begin that measure a stock learner with different numbers of games."""

SPEEDS = {
    ("batch", "1,024 games, 1 thread, observed"): "1,024 games side by side, observations written, 1 thread",
    ("batch", "16,384 games, 2 threads, observed"): "16,384 games, 2 threads",
    ("aec", "documented loop"): "one game in PettingZoo's documented loop",
    ("aec", "documented loop, connect_four"): "PettingZoo's own connect_four in that loop",
    ("aec", "raw loop"): "one game without PettingZoo's wrappers",
    ("aec", "raw loop, connect_four"): "connect_four without wrappers",
    ("search", "copies, hidden parts redrawn"): "games copied with the hidden cards redrawn, 1 thread",
    ("search", "imagined moves, random"): "moves of random playouts from one position, 1 thread",
    ("search_agents", "simulated moves, tree search"): "moves in the imagined games of search:1000, 1 thread",
    ("training", "taught by the search"): "decisions learned from with a search as teacher, playing included",
    ("training", "learning included"): "the same without a teacher (PPO)",
    ("training", STOCK): "the same network and settings in stock MaskablePPO",
    ("startup", "import of ice_envs above its base"): "import of ice_envs, above what it imports",
    ("startup", "first step, cold cache"): "first step ever, compiling included",
    ("startup", "first step, warm cache"): "first step of a later process",
}
"""What README shows of the benchmark: section and name of a row, and what that is in the words of a newcomer."""


def result_file(name: str, command: str) -> Path:
    """Return the path of a result file; raise IceError, with the command that makes it, if it is missing."""
    path = RESULTS / name
    if not path.exists():
        raise IceError(f"docs/results/{name} is missing: make it with {command} --json docs/results/{name}")
    return path


def evaluation_rows(game: Game, name: str, words: str, handicap: bool = False) -> list[EvaluationRow]:
    """Return an evaluation that these words ask for; raise IceError if the file is missing, damaged or of other rules.

    Args:
        game: the game, with its options as it comes in the box.
        name: the name of the file.
        words: what the command line has besides `--env` and `--json`.
        handicap: whether the agent must have had handicaps, or none.
    """
    command = f"python -m training.evaluate --env {game.name} {words}"
    rows: list[EvaluationRow] = read_json(result_file(name, command))
    check(rows, list[EvaluationRow], f"docs/results/{name}")
    wanted = (game.name, game.version, game.default_options(), handicap)
    for row in rows:
        if (row["game"], row["rules_version"], row["options"], "handicap" in row) != wanted:
            raise IceError(f"docs/results/{name} is not of {game.name} as it is now: make it anew with {command}")
    return rows


def results(name: str) -> str:
    """Return the win shares of the published agent, if there is one, of a default run, and of the greedy baseline."""
    game = find_game(name)
    trained = evaluation_rows(game, f"{name}_evaluation.json", "--agent <run>/agent.json")
    greedy = evaluation_rows(game, f"{name}_greedy.json", "--agent greedy")
    kinds = [(trained, "random"), (trained, "greedy"), (greedy, "random")]
    best = headline(game)
    header = ["seats", "fair share", *(f"published agent against {opponent}" for opponent in best)]
    header += ["default run against random", "default run against greedy", "greedy against random"]
    rows = []
    for size in game.table_sizes:
        found = [shares.get(size) for shares in best.values()]
        measured = [with_interval(row["win_share"], row["interval"]) if row else "" for row in found]
        rows.append(
            [size, f"{1 / size:.3f}", *measured, *(share(told, size, against, name) for told, against in kinds)]
        )
    sources = {
        **{f"published agent against {opponent}": list(shares.values()) for opponent, shares in best.items()},
        "default run": trained,
        "greedy against random": greedy,
    }
    return (
        f"{table(header, rows)}\n\n"
        "Win share (the part of the games won; a victory shared by *k* seats counts 1/*k*) with its 95 % interval. The "
        "agent sits in one seat, the named opponent in all others; every deal is played once in each seat. "
        f"Games at each table size: {'; '.join(f'{what} {games_and_date(told)}' for what, told in sources.items())}."
        + (f" [More about the published agent](docs/benchmarks.md#{anchor(game.title)})." if best else "")
    )


def games_and_date(rows: Sequence[EvaluationRow] | Sequence[RoundsRow]) -> str:
    """Return how many games were played for each of these rows, and when."""
    counts = " or ".join(f"{count:,}" for count in sorted({row["games"] for row in rows}))
    return f"{counts} ({' and '.join(sorted({row['date'][:10] for row in rows}))})"


def anchor(heading: str) -> str:
    """Return how a link names a heading of a page."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def search_strength(name: str) -> str:
    """Return how strong the search is with each budget that was measured, and the commands that found it out."""
    game = find_game(name)
    found = [
        evaluation_rows(game, path.name, f"--agent search:{path.stem.rpartition('_')[2]}")
        for path in sorted(RESULTS.glob(f"{name}_search_*.json"), key=lambda path: (len(path.name), path.name))
    ]
    if not found:
        words = f"--agent search:100 --opponents greedy --games 1200 --json docs/results/{name}_search_100.json"
        return f"`python -m training.evaluate --env {name} {words}` measures it."
    searches = {f"`{rows[0]['agent']}`": rows for rows in found}
    shares = [
        {(row["num_players"], row["opponent"]): with_interval(row["win_share"], row["interval"]) for row in rows}
        for rows in found
    ]
    lines = [
        (size, opponent, f"{1 / size:.3f}", *(told.get((size, opponent), "") for told in shares))
        for size, opponent in sorted(set().union(*shares))
    ]
    commands = "\n".join(dict.fromkeys(row["command"] for rows in found for row in rows))
    games = "; ".join(f"{name} {games_and_date(rows)}" for name, rows in searches.items())
    return (
        f"```bash\n{commands}\n```\n\n{table(('seats', 'opponent', 'fair', *searches), lines)}\n\n"
        f"Games at each table size: {games}."
    )


def rounds(name: str) -> str:
    """Return what happens in the rounds of a game with bids, from one file or several."""
    command = "python -m training.nokosu_dice_rounds"
    first = result_file(f"{name}_rounds.json", command)
    rows: list[RoundsRow] = []
    for path in (first, *sorted(RESULTS.glob(f"{name}_rounds_*.json"))):
        found: list[RoundsRow] = read_json(path)
        check(found, list[RoundsRow], f"docs/results/{path.name}")
        if any(row["rules_version"] != find_game(name).version for row in found):
            raise IceError(f"docs/results/{path.name} is not of {name} as it is now: make it anew with {command}")
        rows += found
    who = ("seats", "agent", "against")
    counts, hitters = (
        [(row["num_players"], row["agent"], row["opponent"], *told(row)) for row in rows]
        for told in (cells, hitters_cells)
    )
    commands = "\n".join(dict.fromkeys(row["command"] for row in rows))
    names = dict.fromkeys(row["agent"] for row in rows)
    by_agent = {name: [row for row in rows if row["agent"] == name] for name in names}
    games = "; ".join(f"{agent} {games_and_date(own)}" for agent, own in by_agent.items())
    return (
        f"```bash\n{commands}\n```\n\n"
        f"{table((*who, *HEADER), counts)}\n\n"
        "How many seats hit in a round, and how often:\n\n"
        f"{table((*who, *HITTERS_HEADER), hitters)}\n\n"
        f"Games in each line: {games}. Measured with {in_words(rows[0]['versions'])}."
    )


def share(rows: Sequence[EvaluationRow], num_players: int, opponent: str, name: str) -> str:
    """Return the win share at a table size against an opponent, with its interval."""
    for row in rows:
        if (row["num_players"], row["opponent"]) == (num_players, opponent):
            return with_interval(row["win_share"], row["interval"])
    raise IceError(f"docs/results has no evaluation of {name} at {num_players} seats against {opponent}")


def handicaps(name: str) -> str:
    """Return what handicaps cost an agent, and the command that found it out."""
    game = find_game(name)
    words = "--agent <run>/agent.json --opponents greedy --handicap 0 1 2 3 4"
    rows = evaluation_rows(game, f"{name}_handicap.json", words, handicap=True)
    first, sizes = rows[0], sorted({row["num_players"] for row in rows})
    shares = {
        (tuple(row["handicap"]), row["num_players"]): with_interval(row["win_share"], row["interval"]) for row in rows
    }
    if len(shares) < len(rows) or len(shares) % len(sizes):
        raise IceError(
            f"docs/results/{name}_handicap.json must hold one opponent, and all handicaps at each table size"
        )
    lines = [("fair share", *(f"{1 / size:.3f}" for size in sizes))]
    for handicap in sorted({handicap for handicap, _ in shares}):
        lines.append((written(game, handicap), *(shares[handicap, size] for size in sizes)))
    return (
        f"```bash\n{first['command']}\n```\n\n"
        f"{table(('handicap', *(f'{size} seats' for size in sizes)), lines)}\n\n"
        f"Win share of `{first['agent']}` with its 95 % interval, `{first['opponent']}` without handicap in all other "
        f"seats; {first['games']:,} games each, the same deals in every line. Measured {first['date'][:10]} with "
        f"{in_words(first['versions'])}."
    )


def speeds() -> str:
    """Return the figures of the benchmark that a newcomer may want to know."""
    command = "python -m training.benchmark"
    rows = read_baseline(result_file("benchmark.json", command))
    lines = [(words, *speed(rows, *key)) for key, words in SPEEDS.items()]
    first = rows[0]
    return (
        f"{table(('what', 'median', 'unit'), lines)}\n\n"
        f"Measured by `{command}` on {first['date'][:10]}: {first['cpu']}, with {in_words(first['versions'])}. "
        "More, and the spreads, in [docs/results/benchmark.json](docs/results/benchmark.json)."
    )


def speed(rows: Sequence[BenchmarkRow], section: str, name: str) -> tuple[str, str]:
    """Return median and unit of a row, of the stock learner's several rows those of the fastest."""
    found = [
        row
        for row in rows
        if row["section"] == section and (row["name"].partition(",")[0] if name == STOCK else row["name"]) == name
    ]
    if not found:
        raise IceError(
            f"docs/results/benchmark.json has not measured {name!r} in section {section}: make it anew, with "
            'pip install "pettingzoo[classic]" beforehand'
        )
    best = max(found, key=lambda row: row["value"])
    return number(best["value"]), best["unit"].removesuffix(" more")


def in_words(versions: Mapping[str, Any]) -> str:
    """Return the versions of what results depend on most."""
    names = {"python": "Python", "numpy": "NumPy", "numba": "Numba", "torch": "PyTorch"}
    return ", ".join(f"{words} {versions[name]}" for name, words in names.items())


PARTS: tuple[Callable[..., str], ...] = (results, search_strength, rounds, handicaps, speeds)
"""The parts that a page may ask for by their names."""

"""Write the generated parts of README.md and docs/ anew, from the code and from the result files in docs/results.

python -m training.docs
python -m training.docs --check

A generated part stands between `<!-- generated: NAME ARGUMENTS -->` and `<!-- end -->`; `BLOCKS` says what each is.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import docstring_parser
import gymnasium
import numpy as np
from numpy.typing import NDArray

from ice_envs import Batch, agents, find_game, games
from ice_envs.agents.manifest import EvaluationRow, check
from ice_envs.engine.game import Game, States
from ice_envs.errors import IceError, choose
from ice_envs.files import read_json, replacing
from training import command_line
from training.benchmark import BenchmarkRow, number, read_baseline
from training.nokosu_dice_rounds import HEADER, RoundsRow, cells
from training.run import TrainSettings
from training.run_folder import CONTENTS

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
MARKS = re.compile(r"<!-- generated: (.+?) -->\n.*?<!-- end -->", re.DOTALL)
OPENING = "<!-- generated:"
PLAYED_GAMES = 4000
EXAMPLE_SEED = 16
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
    ("search", "imagined moves, random"): "moves played by a search, 1 thread",
    ("training", "learning included"): "decisions learned from, playing included",
    ("training", STOCK): "the same network and settings in stock MaskablePPO",
    ("startup", "import of ice_envs above its base"): "import of ice_envs, above what it imports",
    ("startup", "first step, cold cache"): "first step ever, compiling included",
    ("startup", "first step, warm cache"): "first step of a later process",
}
"""What README shows of the benchmark: section and name of a row, and what that is in the words of a newcomer."""


@dataclasses.dataclass(frozen=True)
class DocsSettings:
    """What to do."""

    check: bool = False
    """Write nothing; exit with 1 if a page is not what would be written."""


def main(settings: DocsSettings) -> int:
    """Write the pages, or say which are out of date; return the exit code."""
    outdated = 0
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = filled(before, page)
        if before == after:
            continue
        outdated += 1
        name = page.relative_to(ROOT)
        if settings.check:
            print(f"{name} is not what the code and docs/results say: run python -m training.docs")
            continue
        with replacing(page) as partial:
            partial.write_text(after, encoding="utf-8", newline="\n")
        print(f"wrote {name}")
    if not outdated:
        print("All generated parts of README.md and docs/ are up to date.")
    return int(settings.check and outdated > 0)


def pages() -> list[Path]:
    """Return the pages that may have generated parts."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text: str, page: Path) -> str:
    """Return the text with its generated parts written anew; raise IceError for a part that is not known or open."""
    if len(MARKS.findall(text)) != text.count(OPENING):
        raise IceError(f"{page.name} has a line '{OPENING} …' without '<!-- end -->' before the next")
    return MARKS.sub(lambda found: f"{OPENING} {found[1]} -->\n\n{block(found[1], page)}\n\n<!-- end -->", text)


def block(words: str, page: Path) -> str:
    """Return one generated part."""
    name, *arguments = words.split()
    return BLOCKS[choose(f"generated part in {page.name}:", name, BLOCKS)](*arguments)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; numbers' columns are for the reader to align."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


# ---- from the code ----


def environments() -> str:
    """Return every environment with its ids, as the registries have them."""
    ids = {spec.kwargs["game"]: key for key, spec in gymnasium.registry.items() if key.startswith("ice_envs/")}
    rows = []
    for game in map(find_game, games()):
        seats = f"{game.table_sizes[0]}–{game.table_sizes[-1]}"
        title = f"[{game.title}](docs/games/{game.name}.md) ({game.title_ja})"
        module = f"ice_envs.{game.name}_v{game.version}"
        rows.append((title, seats, f"`{game.env_id}`", f"`{ids[game.name]}`", f"`{module}`"))
    return table(("game", "seats", "PettingZoo id", "Gymnasium id (one seat)", "module"), rows)


def options(name: str) -> str:
    """Return a game's rule options."""
    return fields(find_game(name).options_type, "option")


def settings() -> str:
    """Return the settings of training."""
    return fields(TrainSettings, "setting")


def fields(kind: type[Any], what: str) -> str:
    """Return the fields of a dataclass, and of those in it, with defaults and the docstrings below them."""
    return table((what, "default", "meaning"), described(kind))


def described(kind: type[Any], prefix: str = "") -> Iterable[tuple[str, str, str]]:
    """Yield name, default and meaning of each field of a dataclass."""
    meanings = {part.arg_name: part.description or "" for part in docstring_parser.parse_from_object(kind).params}
    values = kind()
    for field in (part.name for part in dataclasses.fields(kind)):
        value = getattr(values, field)
        if dataclasses.is_dataclass(value):
            yield from described(type(value), f"{prefix}{field}.")
        elif field not in meanings:
            raise IceError(f"{kind.__name__}.{field} has no docstring below it")
        else:
            meaning = " ".join(meanings[field].split()).replace("<", "&lt;")  # Markdown would take <game> for a tag
            yield f"`{prefix}{field}`", shown(value), meaning


def shown(value: Any) -> str:
    """Return a default as one would write it on the command line."""
    if isinstance(value, Mapping):
        return ", ".join(f"`{name}`: {part}" for name, part in value.items()) or "none"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return "null" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def specification(name: str) -> str:
    """Return the numbers that a learner needs to know of a game."""
    game = find_game(name)
    chosen = game.make_options({})
    sizes = game.table_sizes
    lowest = ", ".join(f"{-1 / (size - 1):.3g}" for size in sizes)
    ranges = (game.score_range(size, chosen) for size in sizes)
    rows = [
        ("seats", f"{', '.join(map(str, sizes))}"),
        ("actions", f"`Discrete({game.num_actions})`, one index set for all table sizes"),
        ("observation", f"`uint8` vector of shape `({game.layout.size},)`, one length for all table sizes"),
        ("action mask", f"`int8` vector of shape `({game.num_actions},)`"),
        ('reward `"win"`', f"{lowest} … 1 at {_seats(sizes)}"),
        ("points of a seat at the end", ", ".join(f"{low}–{high}" for low, high in ranges) + f" at {_seats(sizes)}"),
        ("longest game", f"{_each(game.longest_game(size, chosen) for size in sizes)} decisions at {_seats(sizes)}"),
        ("one game's record", f"{game.dtype.itemsize} bytes"),
        ("version of the rules", game.version),
        ("layout hash, labels hash", f"`{game.layout.hash()}`, `{game.labels_hash}`"),
    ]
    return table(("what", "value"), rows)


def _seats(sizes: Sequence[int]) -> str:
    return f"{', '.join(map(str, sizes))} seats"


def _each(numbers: Iterable[int]) -> str:
    return ", ".join(f"{value:,}" for value in numbers)


def observation(name: str) -> str:
    """Return the layout of a game's observation."""
    return find_game(name).layout.table()


def actions(name: str) -> str:
    """Return every action's index and labels."""
    game = find_game(name)
    labels = zip(range(game.num_actions), game.labels, game.labels_ja, strict=True)
    return table(("action", "label", "Japanese"), labels)


def example(game: Game, num_players: int, moves: int) -> tuple[States, int]:
    """Return one game after some random moves, and the seat to move."""
    batch = Batch(game, 1, seed=EXAMPLE_SEED, num_players=num_players)
    player = agents.load("random", game, seed=EXAMPLE_SEED)
    for _ in range(moves):
        batch.step(player.choose(batch.states))
    return batch.states, int(batch.states["to_move"][0])


def text(name: str, num_players: str, moves: str) -> str:
    """Return a table as text, as the seat to move sees it after some random moves."""
    game = find_game(name)
    states, seat = example(game, int(num_players), int(moves))
    return f"```text\n{game.to_text(states[0], seat)}\n```"


def view(name: str, num_players: str, moves: str) -> str:
    """Return what the seat to move knows after some random moves as JSON, a line for each field."""
    game = find_game(name)
    states, seat = example(game, int(num_players), int(moves))
    lines = (
        f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in game.to_view(states[0], seat).items()
    )
    return "```json\n{\n" + ",\n".join(lines) + "\n}\n```"


def history(name: str) -> str:
    """Return the version history in the docstring of a game's PettingZoo module."""
    page = import_module(f"ice_envs.{name}_v{find_game(name).version}").__doc__ or ""
    return page.partition("### Version History")[2].strip()


def files() -> str:
    """Return what is in the folder of a training run."""
    return f"```text\n{CONTENTS.strip()}\n```"


def rows(path: str) -> str:
    """Return a CSV file of the repository as a table; its lists (a|b) are written with commas."""
    with (ROOT / path).open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    return table(header, ([cell.replace("|", ", ") for cell in line] for line in lines))


def config(name: str) -> str:
    """Return the default settings of a game's training."""
    return f"```yaml\n{(command_line.CONFIGS / f'{name}.yaml').read_text(encoding='utf-8').strip()}\n```"


def statistics(name: str) -> str:
    """Return what play looks like if all seats play at random, and if all play the greedy baseline."""
    game = find_game(name)
    columns = [
        (size, spec, *played(game, size, agents.load(spec, game, seed=0)))
        for size in game.table_sizes
        for spec in agents.BUILT_IN
    ]
    header = ("seats", "all play", "decisions a game", "most", "legal actions", "forced", "rounds", "points", "shared")
    return f"{PLAYED_GAMES:,} games a line.\n\n{table(header, columns)}"


def played(game: Game, num_players: int, player: agents.Agent) -> tuple[str, ...]:
    """Return figures of `PLAYED_GAMES` games: the first at each place of a batch, so that short ones count no more."""
    batch = Batch(game, PLAYED_GAMES, seed=0, num_players=num_players)
    decisions, rounds = np.zeros((2, PLAYED_GAMES), np.int64)
    scores, shares = np.zeros((2, PLAYED_GAMES, num_players))
    live = np.ones(PLAYED_GAMES, np.bool_)
    asked = legal = forced = 0
    while live.any():
        choices: NDArray[np.int64] = batch.observe()[1][live].sum(axis=1, dtype=np.int64)
        asked, legal, forced = asked + len(choices), legal + choices.sum(), forced + (choices == 1).sum()
        decisions[live] += 1
        rounds[live] = batch.states["round_number"][live]
        ended = batch.step(player.choose(batch.states))[1] & live
        scores[ended], shares[ended] = batch.last_scores[ended], batch.last_shares[ended]
        live &= ~ended
    shared = ((shares > 0) & (shares < 1)).any(axis=1)
    return (
        f"{decisions.mean():.1f}",
        str(decisions.max()),
        f"{legal / asked:.1f}",
        f"{forced / asked:.0%}",
        f"{rounds.mean():.1f}",
        f"{scores.mean():.1f}",
        f"{shared.mean():.0%}",
    )


# ---- from the result files ----


def result_file(name: str, command: str) -> Path:
    """Return the path of a result file; raise IceError, with the command that makes it, if it is missing."""
    path = RESULTS / name
    if not path.exists():
        raise IceError(f"docs/results/{name} is missing: make it with {command} --json docs/results/{name}")
    return path


def evaluation_rows(game: Game, name: str, agent: str) -> list[EvaluationRow]:
    """Return the evaluation of an agent; raise IceError if the file is missing, damaged, or of other rules."""
    command = f"python -m training.evaluate --env {game.name} --agent {agent}"
    rows: list[EvaluationRow] = read_json(result_file(name, command))
    check(rows, list[EvaluationRow], f"docs/results/{name}")
    for row in rows:
        if (row["game"], row["rules_version"], row["options"]) != (game.name, game.version, game.default_options()):
            raise IceError(f"docs/results/{name} is not of {game.name} as it is now: make it anew with {command}")
    return rows


def results(name: str) -> str:
    """Return the win shares of the trained agent and of the greedy baseline."""
    game = find_game(name)
    trained = evaluation_rows(game, f"{name}_evaluation.json", "<run>/agent.json")
    greedy = evaluation_rows(game, f"{name}_greedy.json", "greedy")
    kinds = [(trained, "random"), (trained, "greedy"), (greedy, "random")]
    header = ("seats", "fair share", "trained against random", "trained against greedy", "greedy against random")
    rows = [
        (size, f"{1 / size:.3f}", *(share(found, size, opponent, name) for found, opponent in kinds))
        for size in game.table_sizes
    ]
    first = trained[0]
    games_each = " and ".join(f"{count:,}" for count in sorted({row["games"] for row in trained + greedy}))
    return (
        f"{table(header, rows)}\n\n"
        "Win share (the part of the games won; a victory shared by *k* seats counts 1/*k*) with its 95 % interval. The "
        "agent sits in one seat, the named opponent in all others; every deal is played once in each seat. "
        f"{games_each} games each; trained agent `{first['agent']}`, measured {first['date'][:10]} with "
        f"{_versions(first['versions'])}."
    )


def rounds(name: str) -> str:
    """Return what happens in the rounds of a game with bids."""
    rows: list[RoundsRow] = read_json(result_file(f"{name}_rounds.json", "python -m training.nokosu_dice_rounds"))
    check(rows, list[RoundsRow], f"docs/results/{name}_rounds.json")
    return table(HEADER, map(cells, rows))


def share(rows: Sequence[EvaluationRow], num_players: int, opponent: str, name: str) -> str:
    """Return the win share at a table size against an opponent, with its interval."""
    for row in rows:
        if (row["num_players"], row["opponent"]) == (num_players, opponent):
            low, high = row["interval"]
            return f"{row['win_share']:.3f} ({low:.3f}–{high:.3f})"
    raise IceError(f"docs/results has no evaluation of {name} at {num_players} seats against {opponent}")


def speeds() -> str:
    """Return the figures of the benchmark that a newcomer may want to know."""
    command = "python -m training.benchmark"
    rows = read_baseline(result_file("benchmark.json", command))
    lines = [(words, *speed(rows, *key)) for key, words in SPEEDS.items()]
    first = rows[0]
    return (
        f"{table(('what', 'median', 'unit'), lines)}\n\n"
        f"Measured by `{command}` on {first['date'][:10]}: {first['cpu']}, with {_versions(first['versions'])}. "
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


def _versions(versions: Mapping[str, Any]) -> str:
    names = {"python": "Python", "numpy": "NumPy", "numba": "Numba", "torch": "PyTorch"}
    return ", ".join(f"{words} {versions[name]}" for name, words in names.items())


BLOCKS: dict[str, Callable[..., str]] = {
    part.__name__: part
    for part in (
        *(environments, options, settings, specification, observation, actions, text, view, history, files, config),
        *(rows, statistics, rounds, results, speeds),
    )
}
"""The generated parts, by the name in the mark."""


if __name__ == "__main__":
    command_line.run(main, DocsSettings, "training.docs")

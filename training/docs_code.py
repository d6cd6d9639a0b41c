"""The generated parts of the pages that follow from the code, and from games that are played for them."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import docstring_parser
import gymnasium
import numpy as np
from numpy.typing import NDArray

from ice_envs import Batch, agents, find_game, games
from ice_envs.engine.game import Game, States
from ice_envs.errors import IceError
from training import ROOT, command_line
from training.markdown import table
from training.run import TrainSettings
from training.run_folder import CONTENTS

PLAYED_GAMES = 4000
EXAMPLE_SEED = 16


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


def view_fields(name: str) -> str:
    """Return what stands in a game's views."""
    properties = find_game(name).view_schema["properties"].items()
    return table(("field", "meaning"), ((f"`{field}`", part["description"]) for field, part in properties))


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


PARTS: tuple[Callable[..., str], ...] = (
    *(environments, options, settings, specification, observation, actions, text, view),
    *(view_fields, history, files, rows, config, statistics),
)
"""The parts that a page may ask for by their names."""

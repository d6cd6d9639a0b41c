"""The generated parts of docs/benchmarks.md: tournaments, from the files in docs/results."""

from __future__ import annotations

from collections.abc import Callable

from ice_envs import find_game
from ice_envs.agents.manifest import check
from ice_envs.engine.game import Game
from ice_envs.errors import IceError
from ice_envs.files import read_json
from training.docs_results import in_words, result_file
from training.markdown import table, with_interval
from training.standings import Standings, duel, ranked


def ladder(name: str) -> str:
    """Return a game's tournament: the command that plays it, and a table for each table size."""
    found = tournament(find_game(name))
    command = f"```bash\n{found['command']}\n```"
    tables = [
        f"**{size} seats**, fair share {1 / size:.3f}\n\n{standing(found, size)}" for size in found["num_players"]
    ]
    origin = (
        f"{found['games']:,} games of each table composition, seed {found['seed']}. Played on {found['date'][:10]}: "
        f"{found['cpu']}, with {in_words(found['versions'])}."
    )
    return "\n\n".join([command, *tables, origin])


def tournament(game: Game) -> Standings:
    """Return a game's tournament; raise IceError if the file is missing, damaged, or of other rules."""
    command = f"python -m training.tournament --env {game.name} --agents random greedy"
    name = f"{game.name}_ladder.json"
    found: Standings = read_json(result_file(name, command))
    check(found, Standings, f"docs/results/{name}")
    if (found["game"], found["rules_version"], found["options"]) != (game.name, game.version, game.default_options()):
        raise IceError(f"docs/results/{name} is not of {game.name} as it is now: make it anew with {command}")
    return found


def standing(found: Standings, size: int) -> str:
    """Return the ratings at a table size, best first, and the win shares of each agent against each other."""
    rows = ranked(found, size)
    lines = []
    for row in rows:
        shares = [
            "–" if row["agent"] == other["agent"] else _share(found, size, row["agent"], other["agent"])
            for other in rows
        ]
        low, high = row["interval"]
        lines.append((f"`{row['agent']}`", f"{row['rating']:+.0f} ({low:+.0f} … {high:+.0f})", *shares))
    return table(("agent", "rating", *(f"against `{row['agent']}`" for row in rows)), lines)


def _share(found: Standings, size: int, agent: str, opponent: str) -> str:
    row = duel(found, size, agent, opponent)
    return with_interval(row["win_share"], row["interval"])


PARTS: tuple[Callable[..., str], ...] = (ladder,)
"""The parts that a page may ask for by their names."""

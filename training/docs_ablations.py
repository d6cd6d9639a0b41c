"""The generated part of docs/training.md on what an ablation has shown, from the files in docs/results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ice_envs import find_game, games
from ice_envs.agents.manifest import check
from ice_envs.engine.game import Game
from ice_envs.errors import IceError
from ice_envs.files import read_json
from training import docs_results
from training.compare import Comparison, header, lines
from training.docs_results import in_words
from training.markdown import table


def ablations() -> str:
    """Return a section for each game whose ablation was recorded."""
    sections = [ablation(find_game(name)) for name in games() if _file(name).is_file()]
    return "\n\n".join(sections) or "No comparison has been recorded yet."


def ablation(game: Game) -> str:
    """Return the section of a game: the command, the table and the picture."""
    file, picture = f"docs/results/{game.name}_ablation.json", f"docs/figures/{game.name}_ablation.svg"
    found: Comparison = read_json(_file(game.name))
    check(found, Comparison, file)
    if (found["game"], found["rules_version"]) != (game.name, game.version):
        raise IceError(f"{file} is not of {game.name} as it is now: make it anew with python -m training.compare")
    if not (docs_results.RESULTS.parent.parent / picture).is_file():
        raise IceError(f"{picture} is missing: make it with the command in {file} and --plot {picture}")
    machines = " or ".join(dict.fromkeys(run["machine"] for run in found["runs"] if run["machine"]))
    commits = ", ".join(dict.fromkeys(f"`{str(run['versions'].get('commit'))[:10]}`" for run in found["runs"]))
    return (
        f"### {game.title}\n\n```bash\n{found['command']}\n```\n\n"
        f"{table(header(found), lines(found))}\n\n"
        f"![Win shares against {found['against']} over the minutes of each run](figures/{game.name}_ablation.svg)\n\n"
        f"Win share against `{found['against']}` of the best network of each run on fresh deals, in brackets the 95 % "
        f"interval: the points at the ends of the curves, which are the evaluations during the runs. Commits {commits}"
        f"{f'; {machines}' if machines else ''}; compared on {found['date'][:10]} with {in_words(found['versions'])}."
    )


def _file(name: str) -> Path:
    return docs_results.RESULTS / f"{name}_ablation.json"


PARTS: tuple[Callable[..., str], ...] = (ablations,)
"""The parts that a page may ask for by their names."""

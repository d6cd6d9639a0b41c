"""The generated parts of the pages that tell of published agents: from the manifests in checkpoints/."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ice_envs import find_game
from ice_envs.agents.manifest import EvaluationRow, Manifest, read_manifest
from ice_envs.engine.game import Game
from ice_envs.errors import IceError
from training import ROOT, model_card

CHECKPOINTS = ROOT / "checkpoints"


def manifest_path(name: str) -> Path:
    """Return where a game's published agent has its manifest."""
    return CHECKPOINTS / name / "agent.json"


def published_agent(game: Game) -> Manifest | None:
    """Return the manifest of a game's published agent, if there is one; raise IceError if it is of other rules."""
    path = manifest_path(game.name)
    if not path.is_file():
        return None
    found = read_manifest(path)
    if (found["game"], found["rules_version"], found["options"]) != (game.name, game.version, game.default_options()):
        raise IceError(f"checkpoints/{game.name}/agent.json is not of {game.name} as it is now: train it anew")
    return found


def published(name: str) -> str:
    """Return all that is known of a game's published agent."""
    game = find_game(name)
    found = published_agent(game)
    if found is None:
        return f"No agent of {game.title} is published yet; `python -m training.train --env {name}` trains one."
    adversaries = model_card.exploitability(found)
    parts = [
        f"`{found['name']}`, the agent in `checkpoints/{name}`. Its [card](../checkpoints/{name}/README.md) has every "
        "setting of its training.",
        model_card.strength(found),
        " ".join(model_card.weaknesses(found)),
        f"Its win share seat by seat:\n\n{model_card.seats(found)}",
        f"How it can be exploited:\n\n{adversaries}" if adversaries else "",
        f"Where it comes from:\n\n{model_card.origin(found)}",
    ]
    return "\n\n".join(filter(None, parts))


def headline(game: Game) -> dict[str, dict[int, EvaluationRow]]:
    """Return a published agent's results against the baseline and the longest search, if there are such, by size."""
    found = published_agent(game)
    rows: dict[str, dict[int, EvaluationRow]] = {}
    for row in found["evaluation"] if found else []:
        if "handicap" not in row:
            rows.setdefault(row["opponent"], {})[row["num_players"]] = row
    searches = [name for name in rows if re.fullmatch(r"search:\d+", name)]
    longest = sorted(searches, key=lambda name: int(name.partition(":")[2]))[-1:]
    return {name: rows[name] for name in ("greedy", *longest) if name in rows}


PARTS: tuple[Callable[..., str], ...] = (published,)
"""The parts that a page may ask for by their names."""

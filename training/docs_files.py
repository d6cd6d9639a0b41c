"""Files that are written whole from the code: schemas, what the examples were written for, and model cards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ice_envs import find_game, games
from ice_envs.agents.manifest import read_manifest
from ice_envs.engine.game import Game
from ice_envs.games.ice_split.deck import deck_rows, reconstruction
from training.model_card import model_card


def whole_files(root: Path) -> dict[Path, str]:
    """Return the content of each file, by its path in the repository at `root`."""
    known = {name: identity(find_game(name)) for name in games()}
    known["ice_split"]["deck"] = deck_rows(reconstruction())
    files = {root / "examples" / "shared" / "games.json": as_json(known)}
    for name in games():
        files[root / "docs" / "schemas" / f"{name}_view.json"] = as_json(find_game(name).view_schema)
        published = root / "checkpoints" / name / "agent.json"
        if published.is_file():
            files[published.with_name("README.md")] = model_card(read_manifest(published), find_game(name))
    return files


def identity(game: Game) -> dict[str, Any]:
    """Return what a front end must compare with a manifest before it plays."""
    found = {"rules_version": game.version, "layout_hash": game.layout.hash(), "labels_hash": game.labels_hash}
    data_hash = game.data_hash({})
    return found if data_hash is None else {**found, "data_hash": data_hash}


def as_json(value: Any) -> str:
    """Return plain data as the text of a JSON file."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"

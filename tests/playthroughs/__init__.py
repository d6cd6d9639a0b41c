"""Golden playthroughs: one game per table size in words and numbers, for a card player to check.

`python -m tests.playthroughs` writes them anew; `tests/test_playthroughs.py` fails where play differs from them.
A game's room is the module of its name here, with `transcript(num_players) -> str`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ice_envs import find_game, games


def settings() -> list[tuple[str, int]]:
    """Return every game with every table size."""
    return [(name, size) for name in games() for size in find_game(name).table_sizes]


def path(name: str, num_players: int) -> Path:
    return Path(__file__).parent / f"{name}_{num_players}.txt"


def transcript(name: str, num_players: int) -> str:
    """Play the game of this table size and return it as text."""
    text: str = import_module(f"tests.playthroughs.{name}").transcript(num_players)
    return text

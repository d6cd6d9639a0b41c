"""The games: one room each, with the same file names in every room."""

from __future__ import annotations

from importlib import import_module

from ice_envs.engine.game import Game
from ice_envs.errors import choose

VERSIONS = {"dokitto": 0, "nokosu_dice": 0, "ice_split": 0, "kawaii": 0}
"""The games, and the version of each one's rules, observations and actions: ids can be made without loading a game."""
NAMES = tuple(VERSIONS)
PARALLEL = ("kawaii",)
"""The games that also have the parallel face."""


def find_game(name: str | Game) -> Game:
    """Return a game by its name; raise IceError with the nearest name for an unknown one."""
    if isinstance(name, Game):
        return name
    return import_module(f"ice_envs.games.{choose('game', name, NAMES)}").GAME

"""The games: one room each, with the same file names in every room."""

from __future__ import annotations

from importlib import import_module

from ice_envs.engine.game import Game
from ice_envs.errors import choose

NAMES = ("dokitto", "nokosu_dice", "ice_split", "kawaii")
PARALLEL = ("kawaii",)
"""The games that also have the parallel face."""


def find_game(name: str | Game) -> Game:
    """Return a game by its name; raise IceError with the nearest name for an unknown one."""
    if isinstance(name, Game):
        return name
    return import_module(f"ice_envs.games.{choose('game', name, NAMES)}").GAME

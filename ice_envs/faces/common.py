"""What all faces share: spaces, the options of a reset, and showing the table."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import logger
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from ice_envs.engine.game import Game, States
from ice_envs.errors import IceError, choose, nearest

RENDER_MODES = ["ansi", "human"]
RENDER_FPS = 1
"""Moves a second at which a person can follow a card game."""


def observation_box(game: Game) -> Space[NDArray[np.uint8]]:
    """Return the space of the flat observation: (L,) uint8, within the layout's bounds."""
    return Box(game.layout.low, game.layout.high, dtype=np.uint8)


def check_options(game: Game, options: Mapping[str, Any], face: type) -> None:
    """Raise IceError for a keyword of a face that is none of the game's rule options, naming the nearest keyword."""
    arguments = [p.name for p in inspect.signature(face).parameters.values() if p.kind is not p.VAR_KEYWORD]
    names = game.default_options()
    for name in options:
        if name not in names:
            raise IceError(f"{game.name} has no option {name!r}{nearest(name, [*names, *arguments])}")


def reset_options(game: Game, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the game's rule options among those of a reset; other keys may be meant for a wrapper and are left alone.

    Raises IceError for `num_players`, which only a new environment can change.
    """
    if not options:
        return {}
    if "num_players" in options:
        raise IceError("num_players is set when the environment is made, not at reset")
    names = game.default_options()
    return {name: value for name, value in options.items() if name in names}


def check_render_mode(render_mode: str | None) -> str | None:
    """Return the render mode if there is such a one; raise IceError otherwise."""
    return None if render_mode is None else choose("render_mode", render_mode, RENDER_MODES)


def show(game: Game, states: States, seat: int, render_mode: str | None) -> str | None:
    """Show the game `states[0]` as one seat sees it: `"ansi"` returns the text, `"human"` prints it."""
    if render_mode is None:
        logger.warn("render() does nothing: make the environment with render_mode='ansi' or 'human'")
        return None
    text = game.to_text(states[0], seat)
    if render_mode == "ansi":
        return text
    print(text)
    return None

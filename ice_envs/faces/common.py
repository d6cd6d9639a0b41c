"""What all faces share: spaces, the options of a reset, and showing the table."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import logger
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.engine.generator import game_seeds
from ice_envs.errors import IceError, choose, nearest

RENDER_MODES = ["ansi", "human"]
RENDER_FPS = 1
"""Moves a second at which a person can follow a card game."""
ILLEGAL_REWARD = -1.0
"""What a seat gets whose illegal action ends the game."""


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


def next_game(game: Game, num_players: int, options: Mapping[str, Any], seed: int | None, before: States) -> States:
    """Return a new game (one record): game 0 of the seed; without one it goes on with the random stream of `before`.

    If `before` is empty, too, the system gives entropy. Raises IceError for a bad value of an option or of the seed.
    """
    goes_on = seed is None and len(before) == 1
    seeds = before["rng"].copy() if goes_on else game_seeds(seed, 1)
    return loops.new_states(game, (num_players,), options, seeds)


def checked_state(game: Game, num_players: int, state: bytes | States | np.record) -> States:
    """Return a copy of a state, bytes or a record, as one record; raise IceError for another game or table size."""
    dtype = game.dtype
    size = len(state) if isinstance(state, bytes) else state.nbytes
    if size != dtype.itemsize or not (isinstance(state, bytes) or state.dtype == dtype):
        raise IceError(f"the state is not one game of {game.name} ({dtype.itemsize} bytes)")
    states = (np.frombuffer(state, dtype) if isinstance(state, bytes) else np.asarray(state)).reshape(1).copy()
    if states["num_players"][0] != num_players:
        raise IceError(f"the state has {states['num_players'][0]} seats, this table {num_players}")
    return states


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

"""The games' ids in the registries of PettingZoo and Gymnasium. Entry points are strings: no game is loaded here."""

from __future__ import annotations

from collections.abc import Iterable

import gymnasium
import pettingzoo


def register(names: Iterable[str], parallel: Iterable[str]) -> None:
    """Register each game as `ice_envs/some_game-v0` (PettingZoo, AEC) and `ice_envs/SomeGame-v0` (Gymnasium).

    Those of `parallel` are in PettingZoo's registry of parallel environments, too.
    """
    for name in parallel:
        pettingzoo.register("parallel", f"ice_envs/{name}-v0", entry_point=f"ice_envs.{name}_v0:parallel_env")
    for name in names:
        pettingzoo.register("aec", f"ice_envs/{name}-v0", entry_point=f"ice_envs.{name}_v0:env")
        gymnasium.register(
            f"ice_envs/{name.title().replace('_', '')}-v0",
            entry_point="ice_envs.faces.gymnasium:SingleSeatEnv",
            vector_entry_point="ice_envs.faces.gymnasium:SingleSeatVectorEnv",
            kwargs={"game": name},
        )

"""The games' ids in the registries of PettingZoo and Gymnasium. Entry points are strings: no game is loaded here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import gymnasium
import pettingzoo


def register(versions: Mapping[str, int], parallel: Iterable[str]) -> None:
    """Register each game as `ice_envs/some_game-v0` (PettingZoo, AEC) and `ice_envs/SomeGame-v0` (Gymnasium).

    The numbers are the games' versions. Those of `parallel` are in PettingZoo's registry of parallel environments, too.
    """
    for name, version in versions.items():
        env_id, module = f"ice_envs/{name}-v{version}", f"ice_envs.{name}_v{version}"
        pettingzoo.register("aec", env_id, entry_point=f"{module}:env")
        if name in parallel:
            pettingzoo.register("parallel", env_id, entry_point=f"{module}:parallel_env")
        gymnasium.register(
            f"ice_envs/{name.title().replace('_', '')}-v{version}",
            entry_point="ice_envs.faces.gymnasium:SingleSeatEnv",
            vector_entry_point="ice_envs.faces.gymnasium:SingleSeatVectorEnv",
            kwargs={"game": name},
        )

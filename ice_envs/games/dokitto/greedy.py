"""The heuristic baseline of Dokitto! Ice. It reads only what the seat to move knows."""

from __future__ import annotations

from typing import Any

from ice_envs.engine.jit import compiled
from ice_envs.games.dokitto.rules import NUM_CARDS


@compiled
def greedy(state: Any) -> int:
    return 0

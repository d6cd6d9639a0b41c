"""Four tabletop ice-cream games as reinforcement-learning environments."""

from ice_envs import agents
from ice_envs.engine.batch import Batch
from ice_envs.errors import IceError, IllegalAction
from ice_envs.faces.registration import register
from ice_envs.games import NAMES, PARALLEL, VERSIONS, find_game

__all__ = ["Batch", "IceError", "IllegalAction", "agents", "find_game", "games"]

register(VERSIONS, PARALLEL)


def games() -> tuple[str, ...]:
    """Return the names of the games."""
    return NAMES

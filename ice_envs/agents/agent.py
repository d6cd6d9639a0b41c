"""What an agent is: something that chooses legal actions, many games at a time or one move for a front end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.errors import IceError, IllegalAction
from ice_envs.games import NAMES, find_game


@dataclass(frozen=True)
class Move:
    """One action: its index, and its label in English and Japanese."""

    action: int
    label: str
    label_ja: str


class Agent(ABC):
    """Chooses actions from what the seat to move knows, and from nothing else.

    Attributes:
        name: the spec it was loaded from, such as `"greedy"`, or a name of its own.
        game: the only game it plays; None if it plays whichever it is shown.
    """

    name: str
    game: Game | None

    @abstractmethod
    def choose(self, states: States) -> NDArray[np.int64]:
        """Return a legal action (N,) for the seat to move of each of N games, none of them over.

        The states are full records: an implementation observes them through `engine.loops` and never reads a field
        that the seat to move cannot know. They are the caller's, not to be changed.
        """

    def reseed(self, seed: int | np.random.SeedSequence) -> None:  # noqa: B027 – most agents draw nothing
        """Begin the agent's own random stream anew; agents that draw nothing have none."""

    def act(self, view: Mapping[str, Any]) -> Move:
        """Return the move for the seat that a JSON view (`game.to_view`) belongs to.

        Raises IceError if the view is of another game, is not one, or its seat is not to move.
        """
        return self.moves(self.read(view))[0]

    def read(self, view: Mapping[str, Any]) -> States:
        """Return a game (1,) as the seat that is to move sees it in a JSON view; raise IceError as `act` does."""
        game = self._game_of_view(view)
        states = game.from_view(view)
        if states[0].over:
            raise IceError("the game that the view shows is over: there is nothing to choose")
        if view["seat"] != states[0].to_move:
            raise IceError(f"the view is seat {view['seat']}'s, but seat {states[0].to_move} is to move")
        return states

    def moves(self, states: States) -> list[Move]:
        """Return what `choose` chooses, with labels."""
        game = self.game or game_of(states)
        return [
            Move(action, game.labels[action], game.labels_ja[action])
            for action in checked_choice(self, game, states).tolist()
        ]

    def _game_of_view(self, view: Mapping[str, Any]) -> Game:
        if not isinstance(view, Mapping) or "game" not in view:
            raise IceError("a view is a JSON object whose 'game' names the game, as Game.to_view writes it")
        if self.game is None:
            return find_game(view["game"])
        if view["game"] != self.game.name:
            raise IceError(f"agent {self.name!r} plays {self.game.name}, but the view is of {view['game']!r:.80}")
        return self.game


def game_of(states: States) -> Game:
    """Return the registered game that these records belong to; raise IceError if there is none."""
    for name in NAMES:
        if find_game(name).dtype == states.dtype:
            return find_game(name)
    raise IceError("the states are of no registered game: load the agent with game=…")


def checked_choice(agent: Agent, game: Game, states: States) -> NDArray[np.int64]:
    """Return the agent's choices (N,) int64; raise IllegalAction, naming agent and action, if one is not legal."""
    actions = np.asarray(agent.choose(states))
    if actions.shape != (len(states),) or actions.dtype.kind not in "iu":
        got = f"{actions.dtype} of shape {actions.shape}"
        raise IceError(f"agent {agent.name!r} must return {len(states)} whole numbers, not {got}")
    actions = actions.astype(np.int64, copy=False)
    wrong = loops.first_illegal(states, actions, game.num_actions)
    if wrong >= 0:
        why = loops.why_illegal(game, states[wrong : wrong + 1], int(actions[wrong]))
        raise IllegalAction(f"agent {agent.name!r} chose an illegal action: {why}")
    return actions

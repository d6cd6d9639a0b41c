"""Playing games of one table size to their ends, whoever sits at the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ice_envs.engine import loops
from ice_envs.engine.game import States

FORFEIT = -1
"""Instead of an action: the seat to move loses, and the game is over."""

Choose = Callable[[States, NDArray[np.int64]], NDArray[np.int64]]
"""Return an action (n,), or FORFEIT, for the seat to move of n games that go on, given their places (n,) among all."""


class Played(NamedTuple):
    """What N games of n seats came to. A forfeited game is not scored: its points and win shares are zero."""

    shares: NDArray[np.float64]
    """(N, n) win shares."""
    scores: NDArray[np.float64]
    """(N, n) points."""
    truncated: NDArray[np.bool_]
    """(N,) whether the limit on their length ended them."""
    forfeited: NDArray[np.int64]
    """(N,) the seat that forfeited the game, or −1."""


def play_out(states: States, choose: Choose) -> Played:
    """Play N started games of one table size to their ends, asking `choose` for all that go on at once."""
    num_players = int(states[0].num_players)
    scores, shares = np.zeros((2, len(states), num_players))
    truncated, forfeited = np.zeros(len(states), np.bool_), np.full(len(states), -1)
    live = np.arange(len(states))  # the places of the games that are not over
    while len(live):
        actions = choose(states, live)
        lost = actions == FORFEIT
        if lost.any():
            forfeited[live[lost]] = states["to_move"][lost]
            states, live, actions = states.take(np.flatnonzero(~lost)), live[~lost], actions[~lost]
        done, cut = np.zeros((2, len(live)), np.bool_)
        ended_scores, ended_shares, reward = np.zeros((3, len(live), num_players))
        loops.step_games(states, actions, loops.WIN, False, reward, done, cut, ended_scores, ended_shares)
        scores[live[done]], shares[live[done]] = ended_scores[done], ended_shares[done]
        truncated[live[done]] = cut[done]
        states, live = states.take(np.flatnonzero(~done)), live[~done]  # `take` copies records ten times faster
    return Played(shares, scores, truncated, forfeited)

"""The tricks of a round of Dokitto! Ice in the order of play, read back from the record."""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.jit import compiled
from ice_envs.games.dokitto.rules import DTYPE, NUM_CARDS, NUM_NUMBERS, open_trick, play_card, trick_winner


def played_tricks(state: Any) -> list[list[tuple[int, int]]]:
    """Return the round's tricks, the one on the table last, each as (seat, card) in the order of play."""
    order = np.zeros(NUM_CARDS, np.int64)
    count = write_order(np.asarray(state).reshape(1), np.zeros(1, DTYPE), order)
    num_players, played_by = int(state.num_players), state.played_by.tolist()
    plays = [(played_by[card] - 1, card) for card in order[:count].tolist()]
    return [plays[first : first + num_players] for first in range(0, count, num_players)]


@compiled
def write_order(states: Any, scratch: Any, order: Any) -> int:
    """Write the cards played in this round of `states[0]` in order; return how many. `scratch` is any one record."""
    state, table = states[0], scratch[0]
    laid = np.full((NUM_NUMBERS, state.num_players), -1)
    for card in range(NUM_CARDS):
        if state.played_by[card]:
            laid[state.played_trick[card] - 1, state.played_by[card] - 1] = card
    table.num_players = state.num_players + 1  # with a seat too many the trick stays open and shows who is ahead
    count, leader = 0, state.first_leader
    for trick in range(state.hand_size):
        open_trick(table, leader)
        for step in range(state.num_players):
            seat = (leader + step) % state.num_players
            if laid[trick, seat] < 0:
                return count
            table.to_move = seat
            play_card(table, laid[trick, seat])
            order[count] = laid[trick, seat]
            count += 1
        leader = trick_winner(table)
    return count


def flavors_of(bits: int, names: tuple[str, ...]) -> list[str]:
    """Return the names of a set of flavors."""
    return [name for flavor, name in enumerate(names) if int(bits) >> flavor & 1]


def numbers_of(bits: int) -> list[int]:
    """Return the numbers of a set of cards of one flavor."""
    return [place + 1 for place in range(NUM_NUMBERS) if int(bits) >> place & 1]

"""The tricks of a round of Dokitto! Ice in the order of play, read back from the record."""

from __future__ import annotations

from typing import Any

import numpy as np

from ice_envs.engine.jit import compiled
from ice_envs.games.dokitto.rules import DTYPE, FLAVORS, NUM_CARDS, NUM_NUMBERS, open_trick, play_card, trick_winner


def played_tricks(state: Any) -> list[list[tuple[int, int]]]:
    """Return the tricks of the round of a record, the one on the table last, each as (seat, card) in order of play."""
    order = np.zeros((NUM_CARDS, 2), np.int64)
    count = write_order(np.asarray(state).reshape(1), np.zeros(1, DTYPE), order)
    plays = [(seat, card) for seat, card in order[:count].tolist()]
    return [plays[first : first + int(state.num_players)] for first in range(0, count, int(state.num_players))]


@compiled
def write_order(states: Any, scratch: Any, order: Any) -> int:
    """Write seat and card (65, 2) of each play in the round of `states[0]`, in order; return how many there were."""
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
            order[count, 0], order[count, 1] = seat, laid[trick, seat]
            count += 1
        leader = trick_winner(table)
    return count


def flavors_of(bits: int) -> list[str]:
    """Return the names of a set of flavors."""
    return [name for flavor, name in enumerate(FLAVORS) if bits >> flavor & 1]


def numbers_of(bits: int) -> list[int]:
    """Return the numbers of a set of cards of one flavor."""
    return [place + 1 for place in range(NUM_NUMBERS) if bits >> place & 1]

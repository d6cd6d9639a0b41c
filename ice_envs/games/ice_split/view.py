"""What one seat of Ice Split knows, as plain JSON, both ways: for front ends that keep the rules themselves.

The fields are those of `schema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import States
from ice_envs.engine.jit import compiled
from ice_envs.engine.plain import legal_actions, plain_record
from ice_envs.errors import whole_number
from ice_envs.games import find_game
from ice_envs.games.ice_split.deck import FLAVORS, RECONSTRUCTION, deck_hash, deck_rows, reconstruction, unpacked
from ice_envs.games.ice_split.display import add_flavor, add_goal, appraise, clear_displays
from ice_envs.games.ice_split.reading import Reading, bits_of, cards_of
from ice_envs.games.ice_split.rules import DISPLAY_SIZE, DUPLICATE_GOALS, SEQUENCES, TWO_PAIRS
from ice_envs.games.ice_split.schema import PHASES

# ---- from the record to the view ----


def to_view(state: Any, seat: int) -> dict[str, Any]:
    """Return what `seat` knows of the game `state` (one record), as plain JSON data (see the module)."""
    game, table = find_game("ice_split"), plain_record(state)
    seat = whole_number("seat", seat, 0, table.num_players - 1)
    seats = range(table.num_players)
    chosen = table.starts[seat]
    view = {
        "game": game.name,
        "version": game.version,
        "num_players": table.num_players,
        "options": read_options(table),
        "seat": seat,
        "first_seat": table.first_seat,
        "hand": cards_of(table.hands[seat]),
        "market": cards_of(table.market),
        "deck_height": table.deck_size,
        "known": [cards_of(table.hands[other] & table.public) for other in seats],
        "public": cards_of(table.public),
        "displays": [_display(table, other, seat) for other in seats],
        "points": table.points[: table.num_players],
        "phase": PHASES[table.phase],
        "to_move": None if table.over else table.to_move,
        "start_card": chosen if chosen >= 0 else None,
        "over": bool(table.over),
    }
    if seat == view["to_move"]:
        view["legal_actions"] = legal_actions(game, state)
    return view


def read_options(table: SimpleNamespace) -> dict[str, Any]:
    """Return the options of a record (as `plain_record` gives it)."""
    return {
        "sequence": SEQUENCES[table.sequence],
        "two_pairs": TWO_PAIRS[table.two_pairs],
        "duplicate_goals": DUPLICATE_GOALS[table.duplicate_goals],
        "deck": RECONSTRUCTION if is_reconstruction(table) else deck_rows([unpacked(card) for card in table.cards]),
    }


def is_reconstruction(table: SimpleNamespace) -> bool:
    """Return whether a record's deck is the one that comes with this package."""
    return bool(table.deck_hash == deck_hash(reconstruction()))


def _display(table: SimpleNamespace, owner: int, seat: int) -> dict[str, list[dict[str, Any]]]:
    goals = table.goal_row[owner][: table.num_goals[owner]]
    flavors = table.flavor_row[owner][: table.num_flavors[owner]]
    known = table.public | (table.played[owner] if owner == seat else 0)
    known_goals = known | table.unique_goals
    return {
        "goals": [
            {"goal": table.goal_numbers[card], "card": card if known_goals >> card & 1 else None} for card in goals
        ],
        "flavors": [
            {"flavor": FLAVORS[table.cards[card] & 7], "card": card if known >> card & 1 else None} for card in flavors
        ],
    }


# ---- from the view to a record ----


def from_view(view: Mapping[str, Any]) -> States:
    """Return a game (one record, shape (1,)) that agrees with all the view's seat knows.

    What the seat cannot know is drawn by `determinize` from the view's "seed". Raises IceError, naming the field and
    what is wrong with it.
    """
    reading = Reading(view)
    states = reading.states
    state, turn = states[0], reading.turn
    for name in ("phase", "to_move", "first_seat", "over", "decisions"):
        states[name] = getattr(turn, name)
    padded = np.full((2, len(turn.hands), DISPLAY_SIZE), -1)
    for row, cards in zip(padded, reading.rows.values(), strict=True):
        for owner, laid in enumerate(cards):
            row[owner, : len(laid)] = laid
    lay_displays(states, *padded)
    left = reading.cards_left()
    for other, size in enumerate(turn.hands):
        known = reading.hand if other == reading.seat else reading.known[other]
        hand = [*known, *(left.pop() for _ in range(size - len(known)))]
        state.hands[other] = bits_of(hand)
        if turn.has_chosen(other):
            state.starts[other] = reading.start_card if other == reading.seat else hand[0]
    state.market, state.public = bits_of(reading.market), bits_of(reading.public)
    state.deck_size = len(left)
    state.deck[:] = 0
    state.deck[: len(left)] = left
    loops.draw_hidden(states, reading.seat, np.uint64(reading.seed))
    return states


@compiled
def lay_displays(states: Any, goals: Any, flavors: Any) -> None:
    """Lay the cards of each seat's rows (seats, 13), −1 past their ends, in the game `states[0]`."""
    clear_displays(states[0])
    for seat in range(len(goals)):
        for card in goals[seat]:
            if card >= 0:
                states[0].played[seat] |= 1 << card
                add_goal(states[0], seat, card)
        for card in flavors[seat]:
            if card >= 0:
                states[0].played[seat] |= 1 << card
                add_flavor(states[0], seat, card)
        if goals[seat, 0] >= 0:
            appraise(states[0], seat)

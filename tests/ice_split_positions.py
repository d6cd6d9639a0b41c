"""What the shared tests must know of Ice Split: its phases, its options, and what a seat cannot know.

Hand-built positions are in `tests/ice_split_tables.py`: they are reached by play from a deal.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from ice_envs import find_game
from ice_envs.games.ice_split.deck import COLUMNS, FLAVORS, deck_rows, reconstruction
from ice_envs.games.ice_split.rules import CHOOSE_START, DUPLICATE_GOALS, NUM_CARDS, SEQUENCES, TWO_PAIRS

GAME = find_game("ice_split")
PHASES = ("start", "play", "draw", "over")
HIDDEN = {"hands", "deck", "starts", "rng", "goal_row", "flavor_row", "played", "paying"}
"""Fields of the record of which a seat does not know all: the covered halves of the others' cards are among them."""
SECRETS = HIDDEN - {"rng"}
"""Of these, what is the game's: neither the generator nor scratch space."""

OTHER_GOALS = (
    "1,MAJORITY,mint,4", "2,NONE_OF,lemon|mint,3", "2,NONE_OF,vanilla|mint|pistachio,3", "3,EXACTLY_ONE,chocolate,4",
    "4,SEQUENCE,mint|mint,1", "4,SEQUENCE,lemon|vanilla,4", "4,SEQUENCE,vanilla|lemon|vanilla,7",
    "4,SEQUENCE,mint|lemon|chocolate|mint,19", "5,ALL_SEVEN,,12", "6,RIGHTMOST_IN,mint|strawberry|lemon,5",
    "6,RIGHTMOST_IN,vanilla|pistachio,5", "7,AT_MOST_THREE_KINDS,,6", "8,TWO_PAIRS,,5", "9,THREE_ADJACENT,,5",
    "10,FOUR_OF_A_KIND,,6", "11,MORE_FLAVORS_THAN_GOALS,,5", "12,MORE_GOALS_THAN_FLAVORS,,5",
)  # fmt: skip
OTHER_DECK = [
    dict(zip(COLUMNS, (str(card), FLAVORS[card * card % 7], *OTHER_GOALS[card % 17].split(",")), strict=True))
    for card in range(NUM_CARDS)
]
"""A deck in which every goal is there three times and more, and flavors are not equally many, as a file's rows."""

OPTION_SETS: list[dict[str, Any]] = [{}] + [
    {"sequence": sequence, "two_pairs": two_pairs, "duplicate_goals": duplicates, "deck": deck}
    for sequence, two_pairs, duplicates, deck in product(
        SEQUENCES, TWO_PAIRS, DUPLICATE_GOALS, (OTHER_DECK, deck_rows(reconstruction()))
    )
]
"""The game as the rulebook has it, then each combination of the options, with two decks each."""


def phases(states: Any) -> Any:
    """Return the index in PHASES of each game: (N,)."""
    return np.where(states["over"], 3, states["phase"])


def shuffle_hidden(state: Any, seat: int, rng: np.random.Generator) -> None:
    """Exchange unseen cards between the other hands, the deck, and what is covered in the other displays."""
    places = hidden_places(state, seat)
    cards = [card_at(state, place) for place in places]
    flavors, goals = (state.cards & 7).tolist(), state.goal_numbers.tolist()
    shown = {"goal_row": goals, "flavor_row": flavors}

    def fits(card: int, other: int, place: tuple[Any, ...]) -> bool:
        """Whether `other` shows at this place what `card` shows there."""
        halves = shown.get(place[0])
        return halves is None or halves[card] == halves[other]

    for a, b in rng.integers(len(places), size=(4 * len(places), 2)).tolist():
        if fits(cards[a], cards[b], places[a]) and fits(cards[b], cards[a], places[b]):
            cards[a], cards[b] = cards[b], cards[a]
    put_cards(state, seat, places, cards)
    for other in range(state.num_players):
        if other != seat and state.phase == CHOOSE_START and state.starts[other] >= 0:
            hand = [card for card in range(NUM_CARDS) if int(state.hands[other]) >> card & 1]
            state.starts[other] = rng.choice(hand)
    state.rng = rng.integers(2**64, dtype=np.uint64)


def hidden_places(state: Any, seat: int) -> list[tuple[Any, ...]]:
    """List where cards lie that the seat cannot know: the field, and where in it."""
    public = int(state.public)
    places: list[tuple[Any, ...]] = [("deck", index) for index in range(state.deck_size)]
    for other in range(state.num_players):
        if other != seat:
            hidden = int(state.hands[other]) & ~public
            places += [("hands", other, card) for card in range(NUM_CARDS) if hidden >> card & 1]
            for field, size in (("goal_row", state.num_goals), ("flavor_row", state.num_flavors)):
                row = state[field][other, : size[other]].tolist()
                places += [(field, other, index) for index, card in enumerate(row) if not public >> card & 1]
    return places


def card_at(state: Any, place: tuple[Any, ...]) -> int:
    return place[2] if place[0] == "hands" else int(state[place[0]][place[1:]])


def put_cards(state: Any, seat: int, places: list[tuple[Any, ...]], cards: list[int]) -> None:
    """Lay the cards where they are now, and keep what follows from it in step."""
    for place, card in zip(places, cards, strict=True):
        if place[0] != "hands":
            state[place[0]][place[1:]] = card
    for other in range(state.num_players):
        if other != seat:
            hand = [card for place, card in zip(places, cards, strict=True) if place[:2] == ("hands", other)]
            state.hands[other] = (int(state.hands[other]) & int(state.public)) | bits(hand)
            shown = state.goal_row[other, : state.num_goals[other]].tolist()
            flavors = state.flavor_row[other, : state.num_flavors[other]].tolist()
            state.played[other] = bits([*shown, *flavors])
            first = {int(state.goal_numbers[card]): card for card in reversed(shown)}
            state.paying[other] = bits(first.values() if state.duplicate_goals else shown)


def bits(cards: Any) -> int:
    return sum(1 << card for card in set(cards))

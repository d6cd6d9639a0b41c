"""What stands in a view of Ice Split."""

from ice_envs.engine.schema import (
    FLAG,
    NULL,
    TEXT,
    ViewFields,
    described,
    either,
    fields_of,
    list_of,
    one_of,
    whole,
)
from ice_envs.games.ice_split.deck import COLUMNS, FLAVORS, MOST_POINTS, NUM_CARDS, RECONSTRUCTION
from ice_envs.games.ice_split.rules import (
    DISPLAY_SIZE,
    DUPLICATE_GOALS,
    HAND_SIZE,
    MARKET_SIZE,
    MAX_PLAYERS,
    ROW_SIZE,
    SEQUENCES,
    TWO_PAIRS,
)

PHASES = ("start", "play", "draw")

_SEAT = whole(0, MAX_PLAYERS - 1)
_CARD = whole(0, NUM_CARDS - 1)
_MAYBE_CARD = either(_CARD, NULL)
_ROW = fields_of({column: either(TEXT, {"type": "integer"}) for column in COLUMNS})
_DISPLAY = {
    "goals": list_of(fields_of({"goal": _CARD, "card": _MAYBE_CARD}), 0, DISPLAY_SIZE),
    "flavors": list_of(fields_of({"flavor": one_of(FLAVORS), "card": _MAYBE_CARD}), 0, DISPLAY_SIZE),
}


VIEW_FIELDS = ViewFields(
    options={
        "sequence": one_of(SEQUENCES),
        "two_pairs": one_of(TWO_PAIRS),
        "duplicate_goals": one_of(DUPLICATE_GOALS),
        "deck": either({"const": RECONSTRUCTION}, list_of(_ROW, NUM_CARDS, NUM_CARDS)),
    },
    required=described(
        first_seat=(_SEAT, "who has the first turn"),
        hand=(list_of(_CARD, 0, HAND_SIZE, distinct=True), "the own cards, by number"),
        market=(list_of(_CARD, 0, MARKET_SIZE, distinct=True), "the open cards"),
        deck_height=(whole(0, NUM_CARDS), "how many cards lie in the deck"),
        known=(
            list_of(list_of(_CARD, 0, HAND_SIZE, distinct=True), 2, MAX_PLAYERS),
            "of each seat the cards in its hand that came from the market",
        ),
        public=(
            list_of(_CARD, 0, NUM_CARDS, distinct=True),
            "all cards of which everybody has seen both halves: what is or has been in the market, and revealed start "
            "cards",
        ),
        displays=(
            list_of(fields_of(_DISPLAY), 2, MAX_PLAYERS),
            "of each seat its goals and its flavors, the start card first in both, then as they were played: goal is "
            "the lowest card that has this goal, card is null if the seat cannot know it",
        ),
        phase=(one_of(PHASES), "what is decided: a start card, a card to play, or a card to draw"),
        to_move=(either(_SEAT, NULL), "whose turn it is, null when the game is over"),
        start_card=(_MAYBE_CARD, "the own start card, chosen but not revealed yet, and still in the hand, or null"),
        over=(FLAG, "whether the game is over"),
    ),
    optional=described(
        points=(
            list_of(whole(0, MOST_POINTS * ROW_SIZE), 2, MAX_PLAYERS),
            "each seat's points of the goals met now; ignored when a view is read",
        ),
    ),
)

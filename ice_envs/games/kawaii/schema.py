"""What stands in a view of Kawaii."""

from ice_envs.engine.schema import (
    FLAG,
    NULL,
    ViewFields,
    described,
    either,
    fields_of,
    list_of,
    one_of,
    whole,
)
from ice_envs.games.kawaii.cards import FLAVORS, NAMES, NUM_CARDS, NUM_ICES, SHAPES
from ice_envs.games.kawaii.rules import (
    FAVORITES,
    FEWEST_ROUND_POINTS,
    LONGEST_SHIFT,
    MAX_PLAYERS,
    MOST_ROUND_POINTS,
    MOST_TICKS,
    NUM_ROUNDS,
    SLOWEST_REACTION,
    TALLEST_PILE,
    TOKENS_EACH,
)

MOST_TOKENS = TOKENS_EACH * MAX_PLAYERS

_SEAT = whole(0, MAX_PLAYERS - 1)
_MAYBE_SEAT = either(_SEAT, NULL)
_MAYBE_CARD = either(one_of(NAMES), NULL)
_PILES = list_of(_SEAT, 0, MAX_PLAYERS, distinct=True)
_TICK = whole(0, SLOWEST_REACTION)
_POINTS = whole(NUM_ROUNDS * FEWEST_ROUND_POINTS, NUM_ROUNDS * (MOST_ROUND_POINTS + MOST_TOKENS))
_HANDICAP = {"type": "array", "prefixItems": [whole(0, LONGEST_SHIFT), whole(0, MOST_TICKS)], "minItems": 2}


def _each(item: dict[str, object]) -> dict[str, object]:
    """Return the schema of a list with an item for each seat."""
    return list_of(item, 2, MAX_PLAYERS)


VIEW_FIELDS = ViewFields(
    options={
        "window_ticks": whole(1, MOST_TICKS),
        "reaction_ticks": whole(1, MOST_TICKS),
        "handicaps": list_of({**_HANDICAP, "maxItems": 2}, 0, MAX_PLAYERS),
        "flipper_delay": whole(0, MOST_TICKS),
        "favorites": one_of(FAVORITES),
        "memory": FLAG,
    },
    required=described(
        round=(whole(1, NUM_ROUNDS), "number of the round, from 1"),
        starter=(_SEAT, "who flipped its first card"),
        totals=(_each(_POINTS), "each seat's points of the finished rounds"),
        favorites=(
            _each(either(fields_of({"flavor": one_of(FLAVORS), "shape": one_of(SHAPES)}), NULL)),
            "of each seat its favorites, null if not known: the others' until the game is over",
        ),
        tokens=(_each(whole(0, MOST_TOKENS)), "tokens that each seat holds"),
        reserves=(_each(whole(0, TALLEST_PILE)), "cards that each seat has still to flip"),
        piles=(
            _each(list_of(_MAYBE_CARD, 0, TALLEST_PILE)),
            "of each seat its cards from the bottom, null for a card that cannot be seen",
        ),
        captured=(
            _each(list_of(_MAYBE_CARD, 0, NUM_CARDS)),
            "of each seat the cards it has taken, in any order; null as above",
        ),
        flipper=(_SEAT, "who flipped the last card"),
        last_captures=(_each(_MAYBE_SEAT), "of each pile who took it at the last tick in which any was taken, or null"),
        after_capture=(FLAG, "whether the window follows a capture"),
        tick=(_TICK, "tick of the window"),
        reactions=(
            _each(either(_TICK, NULL)),
            "of each seat the tick at which it is asked in this window, null if not known: known are the own one, that "
            "of the seat to move, and those of seats that have slapped something",
        ),
        claims=(_each(_PILES), "of each seat the piles (by owner) that it slapped in earlier ticks of this window"),
        committed=(_PILES, "the piles that this seat has committed to in this very tick"),
        to_move=(_MAYBE_SEAT, "who decides, null when the game is over"),
        over=(FLAG, "whether the game is over"),
    ),
    optional=described(
        possible_favorites=(
            _each(list_of(one_of(NAMES[:NUM_ICES]), 0, NUM_ICES, distinct=True)),
            "only for favorites of the whole game, without memory: of each seat the ice creams that may be its "
            "favorite by the points made so far",
        ),
    ),
)

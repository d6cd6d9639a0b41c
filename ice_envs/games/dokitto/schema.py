"""What stands in a view of Dokitto! Ice."""

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
from ice_envs.games.dokitto.rules import (
    CONE_SIZE,
    FLAVORS,
    FLAVORS_IN_PLAY,
    HAND_SIZES,
    HIGHEST_TARGET,
    LOW_WIN_TILES,
    MAX_PLAYERS,
    MOST_ROUNDS,
    NEXT_LEADERS,
    NUM_NUMBERS,
    TILES_PER_FLAVOR,
)

PHASES = ("play", "take_tile")
FEWEST_FLAVORS = FLAVORS_IN_PLAY[2]
MOST_POINTS = HIGHEST_TARGET - 1 + 2 * CONE_SIZE

_SEAT = whole(0, MAX_PLAYERS - 1)
_FLAVOR = one_of(FLAVORS)
_FLAVOR_SET = list_of(_FLAVOR, distinct=True)
_CARD = {"flavor": _FLAVOR, "number": whole(1, NUM_NUMBERS)}
_PLAY = {"seat": _SEAT, **_CARD, "trick": whole(1, HAND_SIZES[-1])}
_CONE = {"tiles": list_of(_FLAVOR, 0, CONE_SIZE), "toppings": _FLAVOR_SET}
_STACKS = [(name, whole(0, TILES_PER_FLAVOR)) for name in FLAVORS]

VIEW_FIELDS = ViewFields(
    options={
        "target_score": whole(1, HIGHEST_TARGET),
        "max_rounds": whole(1, MOST_ROUNDS),
        "stars_per_flavor": whole(0, TILES_PER_FLAVOR),
        "next_leader": one_of(NEXT_LEADERS),
        "low_win_tile": one_of(LOW_WIN_TILES),
    },
    required=described(
        round=(whole(1, MOST_ROUNDS), "number of the round, from 1"),
        first_leader=(_SEAT, "who led its first trick"),
        hand=(list_of(fields_of(_CARD), 0, HAND_SIZES[-1], distinct=True), "own cards"),
        played=(
            list_of(fields_of(_PLAY), 0, MAX_PLAYERS * HAND_SIZES[-1], distinct=True),
            "this round's cards as they were played, the trick on the table last",
        ),
        tiles=(
            fields_of(dict(_STACKS[:FEWEST_FLAVORS]), dict(_STACKS[FEWEST_FLAVORS:])),
            "how many tiles of each flavor are left",
        ),
        toppings=(_FLAVOR_SET, "flavors whose topping is not taken yet"),
        cones=(
            list_of(fields_of(_CONE), 2, MAX_PLAYERS),
            "tiles and toppings on each seat's cone, in any order: when they were taken is recorded nowhere",
        ),
        totals=(list_of(whole(0, MOST_POINTS), 2, MAX_PLAYERS), "each seat's points of the finished rounds"),
        phase=(one_of(PHASES), "whether a card is played, or a trick's winner takes a tile"),
        to_move=(either(_SEAT, NULL), "whose turn it is, null when the game is over"),
        over=(FLAG, "whether the game is over"),
        truncated=(FLAG, "whether it is over by the limit of rounds"),
    ),
    optional=described(
        tile_choices=(_FLAVOR_SET, "only in phase take_tile: flavors that the trick's winner may choose among"),
    ),
)

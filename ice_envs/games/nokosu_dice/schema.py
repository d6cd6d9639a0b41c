"""What stands in a view of Nokosu Dice."""

from typing import Any

from ice_envs.engine.schema import (
    FLAG,
    NULL,
    Schema,
    ViewFields,
    described,
    either,
    fields_of,
    list_of,
    one_of,
    whole,
)
from ice_envs.games.nokosu_dice.items import COLORS, NUM_FACES, NUM_NUMBERS
from ice_envs.games.nokosu_dice.rules import BONUSES, HIT_BONUS, TIES, ZERO_BONUS, ZERO_CALLS
from ice_envs.games.nokosu_dice.setup import HAND_SIZES, MAX_PLAYERS, MOST_TRICKS, OWN_ROLLS, PICKS

PHASES = ("draft", "call", "play")
SECRET = "secret"
KINDS = ("card", "die")
MOST_POINTS = MAX_PLAYERS * (HIT_BONUS * (MAX_PLAYERS - 1) + ZERO_BONUS)

_SEAT = whole(0, MAX_PLAYERS - 1)
_FACE: dict[str, Any] = {"color": one_of(COLORS)}
_CARD = {**_FACE, "number": whole(0, NUM_NUMBERS - 1)}
_DIE = {**_FACE, "number": whole(1, NUM_FACES)}
_MOST_DICE = PICKS * MAX_PLAYERS


def _play(kind: str, item: dict[str, Any]) -> Schema:
    return fields_of({"seat": _SEAT, "item": {"const": kind}, **item, "trick": whole(1, MOST_TRICKS)})


VIEW_FIELDS = ViewFields(
    options={"zero_call": one_of(ZERO_CALLS), "tie": one_of(TIES), "bonus": one_of(BONUSES)},
    required=described(
        round=(whole(1, MAX_PLAYERS), "number of the round, from 1"),
        dealer=(_SEAT, "who deals"),
        hand=(list_of(fields_of(_CARD), 0, HAND_SIZES[-1], distinct=True), "own cards"),
        rolled=(
            list_of(list_of(fields_of(_DIE), 0, OWN_ROLLS[-1]), 3, MAX_PLAYERS),
            "of each seat the dice that it rolled for itself",
        ),
        drafted=(list_of(fields_of({"seat": _SEAT, **_DIE}), 0, _MOST_DICE), "the dice drafted, in order"),
        middle=(
            list_of(fields_of(_DIE), 1, _MOST_DICE + 1),
            "the dice that still lie in the middle; when one is left, it makes the trumps",
        ),
        calls=(
            list_of(fields_of({"seat": _SEAT, "returns": either(fields_of(_DIE), {"const": SECRET}, NULL)}), 0, 4),
            "the decisions about zero, in order: the die returned, null for no call, or secret",
        ),
        played=(
            list_of(either(_play(KINDS[0], _CARD), _play(KINDS[1], _DIE)), 0, MAX_PLAYERS * MOST_TRICKS),
            "this round's cards and dice as they were played, the trick on the table last",
        ),
        totals=(list_of(whole(0, MOST_POINTS), 3, MAX_PLAYERS), "each seat's points of the finished rounds"),
        phase=(one_of(PHASES), "what is decided: a die to draft, a zero call, or a card or die to play"),
        to_move=(either(_SEAT, NULL), "whose turn it is, null when the game is over"),
        over=(FLAG, "whether the game is over"),
    ),
    optional={},
)

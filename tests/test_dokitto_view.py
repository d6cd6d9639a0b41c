"""The JSON view of Dokitto! Ice both ways, and the table as text."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from ice_envs import IceError
from ice_envs.engine.game import States
from tests import dokitto_positions
from tests.dokitto_positions import GAME, legal_codes, play, position
from tests.helpers import masks
from tests.rooms import random_states
from tests.views import ThereAndBack, set_to, there_and_back, without

# ---- there and back, on random positions of all phases with all options ----


@pytest.fixture(scope="module", params=GAME.table_sizes)
def sent(request: pytest.FixtureRequest) -> ThereAndBack:
    return there_and_back(dokitto_positions, request.param)


def test_what_the_seat_sees_of_hidden_fields_is_rebuilt(sent: ThereAndBack):
    states, seats, rebuilt = sent
    own = np.arange(len(states)), seats
    assert np.array_equal(states["hands"][own], rebuilt["hands"][own])
    cards = np.bitwise_count(np.stack([states["hands"], rebuilt["hands"]])).sum(3)
    assert np.array_equal(*cards)


# ---- one table by hand ----


def table() -> States:
    """Three seats in their third trick: player_2 has won a strawberry tile with its star, player_0 chose chocolate."""
    states = position(
        "s1 s5 s12 c4 c9 m2 m8 m11",
        "s3 c2 c7 c11 c13 m1 m5 m13",
        "s7 s13 c3 c8 m6 m7 m9 m12",
        stars="s1 c2 m3",
        totals=(4, 0, 6),
        fields={"round_number": 2},
    )
    return play(states, "s12 s3 s13 s7 s5 c7 +c m8 m5")


VIEW: dict[str, Any] = json.loads("""
{
  "game": "dokitto", "version": 0, "num_players": 3, "seat": 2,
  "options": {
    "target_score": 10, "max_rounds": 50, "stars_per_flavor": 1, "next_leader": "last_winner", "low_win_tile": "choice"
  },
  "round": 2, "first_leader": 0, "to_move": 2, "phase": "play", "over": false, "truncated": false,
  "hand": [
    {"flavor": "chocolate", "number": 3}, {"flavor": "chocolate", "number": 8}, {"flavor": "matcha", "number": 6},
    {"flavor": "matcha", "number": 7}, {"flavor": "matcha", "number": 9}, {"flavor": "matcha", "number": 12}
  ],
  "played": [
    {"seat": 0, "flavor": "strawberry", "number": 12, "trick": 1},
    {"seat": 1, "flavor": "strawberry", "number": 3, "trick": 1},
    {"seat": 2, "flavor": "strawberry", "number": 13, "trick": 1},
    {"seat": 2, "flavor": "strawberry", "number": 7, "trick": 2},
    {"seat": 0, "flavor": "strawberry", "number": 5, "trick": 2},
    {"seat": 1, "flavor": "chocolate", "number": 7, "trick": 2},
    {"seat": 0, "flavor": "matcha", "number": 8, "trick": 3},
    {"seat": 1, "flavor": "matcha", "number": 5, "trick": 3}
  ],
  "tiles": {"strawberry": 2, "chocolate": 2, "matcha": 3},
  "toppings": ["chocolate", "matcha"],
  "cones": [
    {"tiles": ["chocolate"], "toppings": []},
    {"tiles": [], "toppings": []},
    {"tiles": ["strawberry"], "toppings": ["strawberry"]}
  ],
  "totals": [4, 0, 6],
  "legal_actions": [
    {"action": 31, "label": "play matcha 6", "label_ja": "抹茶の6を出す"},
    {"action": 32, "label": "play matcha 7", "label_ja": "抹茶の7を出す"},
    {"action": 34, "label": "play matcha 9", "label_ja": "抹茶の9を出す"},
    {"action": 37, "label": "play matcha 12", "label_ja": "抹茶の12を出す"}
  ]
}
""")


def test_the_view_in_full():
    assert GAME.to_view(table()[0], 2) == VIEW


def test_only_the_seat_to_move_is_told_what_is_legal():
    waiting = GAME.to_view(table()[0], 0)
    assert waiting["to_move"] == 2
    assert "legal_actions" not in waiting


def test_a_view_with_a_choice_of_tiles():
    states = play(table(), "m6 s1 c13 c3")
    for seat in range(3):
        view = GAME.to_view(states[0], seat)
        assert (view["phase"], view["to_move"]) == ("take_tile", 0)
        assert view["tile_choices"] == ["strawberry", "chocolate"]
        assert legal_codes(GAME.from_view(view)) == "+s +c"
        assert view.get("legal_actions", [{}])[-1].get("label") == ("take a chocolate tile" if seat == 0 else None)


def finished() -> States:
    """Two seats at the end of a game: player_0 busts in the fifth trick of the third round."""
    states = position(
        "s2 s13 c3 c13 m1 m13", "s1 s3 c1 c2 m2 m12", stars="c1", totals=(5, 9), fields={"round_number": 3}
    )
    return play(states, "s13 s1 c13 c1 m13 m2 m1 m12 c2 c3")


def test_a_view_of_a_finished_game():
    view = GAME.to_view(finished()[0], 1)
    assert (view["over"], view["phase"], view["to_move"]) == (True, "play", None)
    assert view["totals"] == [5, 10]
    assert GAME.to_view(GAME.from_view(view)[0], 1) == view
    for name, value, reason in (
        ("over", False, "over is false, but the cards played end the round"),
        ("totals", [10, 10], r"totals\[0\] must be from 0 to 9, not 10"),
        ("totals", [5, 0], r"totals\[1\] must be from 1 to 10, not 0"),
        ("totals", [5, 3], "truncated is false, but over and totals say the contrary"),
    ):
        with pytest.raises(IceError, match=reason):
            GAME.from_view(view | {name: value})
    with pytest.raises(IceError, match="over is true, but nobody has 10 points and round 3 is not the last"):
        GAME.from_view(view | {"totals": [5, 3], "truncated": True})
    GAME.from_view(view | {"totals": [5, 3], "truncated": True, "options": {"max_rounds": 3}})


def test_a_card_after_the_end_of_the_round_is_refused():
    view = GAME.to_view(finished()[0], 1)
    view["played"].append({"seat": 1, "trick": 6} | view["hand"].pop())
    with pytest.raises(IceError, match=r"played\[10\] is played after the end of the round"):
        GAME.from_view(view)


def test_optional_fields_and_defaults_can_be_left_out():
    view = {name: value for name, value in VIEW.items() if name != "legal_actions"} | {"options": {}}
    assert GAME.to_view(GAME.from_view(view)[0], 2) == VIEW


def test_tiles_are_read_in_any_order():
    states = play(position("s2 c3 m1 s13 c13 m13", "s3 c2 m2 s1 c1 m12"), "s13 s1 c13 c1 m13 m2")
    view = GAME.to_view(states[0], 0)
    assert view["cones"][0]["tiles"] == ["strawberry", "chocolate", "matcha"]
    mixed = deepcopy(view)
    mixed["cones"][0]["tiles"].reverse()
    mixed["cones"][0]["toppings"].reverse()
    mixed["toppings"].reverse()
    assert GAME.to_view(GAME.from_view(mixed)[0], 0) == view


def test_one_view_one_game_and_the_seed_chooses_which():
    first, again, other = (GAME.from_view(VIEW | {"seed": seed}) for seed in (0, 0, 2**64 - 1))
    assert first.tobytes() == again.tobytes() == GAME.from_view(VIEW).tobytes()
    assert not np.array_equal(first["hands"], other["hands"])
    assert first.shape == (1,)
    assert first.dtype == GAME.dtype


def test_a_rebuilt_game_plays_on():
    states = GAME.from_view(VIEW)
    assert legal_codes(states) == "m6 m7 m9 m12"
    play(states, "m12")
    assert (int(states[0].to_move), int(states[0].trick)) == (2, 3)


# ---- views that nobody can have ----


def all_of(*changes: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    def change(view: dict[str, Any]) -> None:
        for one in changes:
            one(view)

    return change


WRONG = {
    # names and shapes
    "the view lacks the field 'hand'": without("hand"),
    "the view has no field 'toping' (did you mean 'toppings'?)": set_to("toping", value=[]),
    "unknown game 'sorbet' (valid: dokitto)": set_to("game", value="sorbet"),
    "version is 7, but this is version 0 of dokitto": set_to("version", value=7),
    "num_players must be from 2 to 5, not 6": set_to("num_players", value=6),
    "num_players must be a whole number from 2 to 5, not '3'": set_to("num_players", value="3"),
    "options has no field 'target' (did you mean 'target_score'?)": set_to("options", "target", value=10),
    "options must be an object with named fields, not []": set_to("options", value=[]),
    "target_score must be from 1 to 30, not 0": set_to("options", "target_score", value=0),
    "seat must be from 0 to 2, not 3": set_to("seat", value=3),
    "seed must be from 0 to 18446744073709551615, not -1": set_to("seed", value=-1),
    "round must be from 1 to 50, not 51": set_to("round", value=51),
    "first_leader must be from 0 to 2, not 3": set_to("first_leader", value=3),
    "over must be true or false, not 0": set_to("over", value=0),
    "unknown phase 'plai' (did you mean 'play'?)": set_to("phase", value="plai"),
    # cards
    "hand must be a list, not {}": set_to("hand", value={}),
    "hand[0] lacks the field 'number'": without("hand", 0, "number"),
    "hand[0] has no field 'flavour' (did you mean 'flavor'?)": set_to("hand", 0, "flavour", value="matcha"),
    "unknown flavor in hand[0]: 'choclate' (did you mean 'chocolate'?)": set_to("hand", 0, "flavor", value="choclate"),
    "unknown flavor in hand[0]: 'grape' (valid: strawberry, chocolate, matcha)": set_to(
        "hand", 0, "flavor", value="grape"
    ),
    "hand[0].number must be from 1 to 13, not 14": set_to("hand", 0, "number", value=14),
    "hand[0].number must be a whole number from 1 to 13, not True": set_to("hand", 0, "number", value=True),
    "hand[1] is chocolate 3, but so is hand[0]": set_to("hand", 1, "number", value=3),
    "played[7] is matcha 6, but so is hand[2]": set_to("played", 7, "number", value=6),
    "hand has 5 cards, but by the cards played seat 2 holds 6": without("hand", 0),
    # the order of play
    "played[0].seat must be from 0 to 2, not 3": set_to("played", 0, "seat", value=3),
    "played[7].seat is 2, but seat 1 was to play": set_to("played", 7, "seat", value=2),
    "played[0].seat is 0, but seat 1 was to play": set_to("first_leader", value=1),
    "played[6].trick is 2, but the card was played to trick 3": set_to("played", 6, "trick", value=2),
    "played[7].trick must be from 1 to 8, not 0": set_to("played", 7, "trick", value=0),
    "played[5] is chocolate 7, but seat 1 could follow with strawberry 9": all_of(
        set_to("played", 7, "flavor", value="strawberry"), set_to("played", 7, "number", value=9)
    ),
    "played[2] is matcha 13, but seat 2 could follow with strawberry 7": all_of(
        set_to("played", 2, "flavor", value="matcha"), set_to("played", 2, "number", value=13)
    ),
    "cones and tiles show none that can have been taken after played[2]": all_of(
        set_to("played", 1, "flavor", value="chocolate"), set_to("played", 1, "number", value=1)
    ),
    # tiles and toppings
    "cones must have 3 entries, not 2": without("cones", 1),
    "cones[1] lacks the field 'tiles'": without("cones", 1, "tiles"),
    "the number of cones[1].tiles must be from 0 to 3, not 4": set_to("cones", 1, "tiles", value=["matcha"] * 4),
    "tiles lacks the field 'matcha'": without("tiles", "matcha"),
    "tiles has no field 'grape' (valid: strawberry, chocolate, matcha)": set_to("tiles", "grape", value=3),
    "tiles.chocolate is 3 and 1 lie on the cones, which is not 3": set_to("tiles", "chocolate", value=3),
    "cones and tiles show none that can have been taken after played[5]": all_of(
        set_to("cones", 0, "tiles", value=["matcha"]),
        set_to("tiles", value={"strawberry": 2, "chocolate": 3, "matcha": 2}),
    ),
    "cones[1].tiles has 1, but by the cards played the seat has taken 0": all_of(
        set_to("cones", 1, "tiles", value=["matcha"]), set_to("tiles", "matcha", value=2)
    ),
    "toppings names matcha twice": set_to("toppings", value=["matcha", "chocolate", "matcha"]),
    "toppings and the cones' toppings name chocolate 0 times, which must be once": set_to("toppings", value=["matcha"]),
    "toppings and the cones' toppings name strawberry 2 times, which must be once": set_to(
        "toppings", value=["strawberry", "chocolate", "matcha"]
    ),
    "cones[1].toppings cannot name chocolate: there is no chocolate tile on that cone": all_of(
        set_to("toppings", value=["matcha"]), set_to("cones", 1, "toppings", value=["chocolate"])
    ),
    "cones[2].toppings cannot name strawberry: no tile has a star": set_to("options", "stars_per_flavor", value=0),
    "toppings cannot name chocolate: a star of the 3 is not among the 2 tiles left": set_to(
        "options", "stars_per_flavor", value=3
    ),
    # where the game stands
    "to_move is 1, but by the cards played it is 2": set_to("to_move", value=1),
    "to_move is None, but by the cards played it is 2": set_to("to_move", value=None),
    "over is true, but the cards played do not end the round": set_to("over", value=True),
    "truncated is true, but over and totals say the contrary": set_to("truncated", value=True),
    "phase is 'take_tile', but by the cards played it is 'play'": set_to("phase", value="take_tile"),
    "tile_choices is ['matcha'], but by the cards it is []": set_to("tile_choices", value=["matcha"]),
    "totals must have 3 entries, not 2": without("totals", 0),
    "totals[2] must be from 0 to 6, not 7": set_to("totals", 2, value=7),
    "totals[0] must be from 0 to 0, not 4": set_to("round", value=1),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_view_is_refused_with_its_reason(message: str):
    view = deepcopy(VIEW)
    WRONG[message](view)
    with pytest.raises(IceError) as error:
        GAME.from_view(view)
    assert str(error.value) == message


def test_a_view_that_is_no_object_is_refused():
    with pytest.raises(IceError, match="the view must be an object"):
        GAME.from_view([])  # type: ignore[arg-type]


@pytest.mark.parametrize("seat", [3, -1])
def test_a_seat_that_is_not_at_the_table_is_refused(seat: int):
    for reader in (GAME.to_view, GAME.to_text):
        with pytest.raises(IceError, match="seat must be from 0 to 2"):
            reader(table()[0], seat)


def test_voids_that_leave_too_few_cards_are_refused():
    """player_2 has shown that it holds chocolate alone; four chocolates are not enough for its six cards."""
    hands = ("s1 s2 s3 s4 s5 s6 s13 m13", "c1 m1 m2 m3 m4 m5 m6 m7", "c3 c4 c5 c6 c7 c8 c9 c10")
    view = GAME.to_view(play(position(*hands), "s13 c1 c9 +s m1 c10 m13 +m")[0], 0)
    assert GAME.from_view(view).shape == (1,)
    view["hand"] = [{"flavor": "chocolate", "number": number} for number in (3, 4, 5, 6, 7, 8)]
    with pytest.raises(IceError, match="voids that leave too few unseen cards for the hands of seats 2"):
        GAME.from_view(view)


@pytest.mark.parametrize("size", GAME.table_sizes)
def test_a_damaged_view_is_refused_or_agrees_with_itself(size: int):
    """Whatever is changed, from_view says no in words or gives a game that the changed view describes."""
    rng = np.random.default_rng(size)
    states = np.concatenate(list(random_states(dokitto_positions, size, 30, seed=size).values()))
    accepted, refused = 0, []
    for state in np.repeat(states, 10):
        seat = int(rng.integers(size))
        view = json.loads(json.dumps(GAME.to_view(state, seat)))
        damage(view, rng)
        try:
            rebuilt = GAME.from_view(view)[0]
        except IceError as error:
            refused.append(str(error))
        else:
            accepted += 1
            assert in_order(GAME.to_view(rebuilt, view["seat"])) == in_order(view)
            assert masks(GAME, np.array([rebuilt], GAME.dtype)).any() == (not view["over"])
    assert accepted > 20
    assert len(refused) > 5 * len(states)
    assert not any("\n" in reason for reason in refused)


def in_order(view: dict[str, Any]) -> dict[str, Any]:
    """Return what from_view reads of a view, with the lists whose order says nothing sorted."""
    sets = {name: sorted(view.get(name, [])) for name in ("toppings", "tile_choices")}
    hand = sorted((card["flavor"], card["number"]) for card in view["hand"])
    cones = [{name: sorted(flavors) for name, flavors in cone.items()} for cone in view["cones"]]
    options = GAME.default_options() | view["options"]
    left_out = {"legal_actions": None, "seed": None}
    return view | sets | left_out | {"hand": hand, "cones": cones, "options": options}


def damage(view: dict[str, Any], rng: np.random.Generator) -> None:
    """Change one number, name or flag, or drop or double one entry, somewhere in the view."""
    places = [(box, key) for box, key in leaves(view) if key != "legal_actions"]
    box, key = places[rng.integers(len(places))]
    value = box[key]
    if isinstance(value, bool):
        box[key] = not value
    elif isinstance(value, int):
        box[key] = value + int(rng.choice([-1, 1, 2]))
    elif isinstance(value, list) and value and rng.random() < 0.8:
        value.pop(rng.integers(len(value))) if rng.random() < 0.5 else value.append(value[0])
    elif isinstance(value, str):
        box[key] = str(rng.choice(["strawberry", "chocolate", "matcha", "grape", "play", "take_tile"]))
    else:
        box[key] = [None, {}, 0][rng.integers(3)]


def leaves(box: Any) -> list[tuple[Any, Any]]:
    """Return every place in nested dictionaries and lists, as (container, key)."""
    keys = range(len(box)) if isinstance(box, list) else list(box)
    found = [(box, key) for key in keys]
    for key in keys:
        if isinstance(box[key], dict | list):
            found += leaves(box[key])
    return found


# ---- the table as text ----

SEEN_BY_2 = """\
Dokitto! Ice   round 2   trick 3 of 8   target 10
player_2 plays a card

              points  cards  cone                                void in
  player_0    4 + 1       5  chocolate
  player_1    0           5  -                                   strawberry
> player_2    6 + 2       6  strawberry*

  tiles left  strawberry 2   chocolate 2*   matcha 3*   (* with topping)

  trick       player_0  matcha 8  < ahead: highest number, as all are of one flavor
              player_1  matcha 5

  hand of 2   chocolate 3 8  matcha 6 7 9 12

  tricks      player_0  player_1  player_2
         1    > S12       S3       [S13]
         2     [S5]       C7      > S7"""

OPEN = """\
Dokitto! Ice   round 2   trick 4 of 8   target 10
player_0 has won the trick and takes a tile: strawberry or chocolate

              points  cards  cone                                void in
> player_0    4 + 2       4  chocolate matcha
  player_1    0           4  -                                   strawberry
  player_2    6 + 2       4  strawberry*                         strawberry

  tiles left  strawberry 2   chocolate 2*   matcha 2*   (* with topping)

  trick       player_0  strawberry 1  < won: lowest number, as flavors are mixed
              player_1  chocolate 13
              player_2  chocolate 3

  hand of 0   chocolate 4 9  matcha 2 11
  hand of 1   chocolate 2 11  matcha 1 13
  hand of 2   chocolate 8  matcha 7 9 12

  tricks      player_0  player_1  player_2
         1    > S12       S3       [S13]
         2     [S5]       C7      > S7
         3    >[M8]       M5        M6"""

OVER = """\
Dokitto! Ice   over after round 3
player_1 has most points
player_0 dropped the cone in the last trick

              points  cards  cone                                void in
  player_0    5           1  strawberry chocolate* matcha
  player_1    10          1  matcha

  tiles left  strawberry 2*   chocolate 2   matcha 1*   (* with topping)

  hand of 1   strawberry 3

  tricks      player_0  player_1
         1    >[S13]      S1
         2    >[C13]      C1
         3    >[M13]      M2
         4    > M1       [M12]
         5     [C3]     > C2"""


def test_text_for_a_seat():
    assert GAME.to_text(table()[0], 2) == SEEN_BY_2


def test_text_with_all_hands_while_a_tile_is_chosen():
    assert GAME.to_text(play(table(), "m6 s1 c13 c3")[0], None) == OPEN


def test_text_of_a_finished_game():
    states = finished()
    assert GAME.to_text(states[0], 1) == OVER
    states["totals"], states["truncated"] = 7, 1
    assert GAME.to_text(states[0], 1).splitlines()[:2] == [
        "Dokitto! Ice   cut off after round 3",
        "player_0 and player_1 have most points",
    ]

"""The JSON view of Nokosu Dice both ways, and the table as text."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from ice_envs import IceError
from ice_envs.engine.game import States
from tests import nokosu_dice_positions as room
from tests.helpers import apply_games, masks, started
from tests.nokosu_dice_positions import GAME
from tests.nokosu_dice_tables import CoreTable
from tests.views import ThereAndBack, set_to, there_and_back, without

# ---- there and back, on random positions of all phases with all options ----


@pytest.fixture(scope="module", params=GAME.table_sizes)
def sent(request: pytest.FixtureRequest) -> ThereAndBack:
    return there_and_back(room, request.param)


def test_what_the_seat_sees_of_hidden_fields_is_rebuilt(sent: ThereAndBack):
    states, seats, rebuilt = sent
    own = np.arange(len(states)), seats
    for name in ("hands", "commits"):
        assert np.array_equal(states[name][own], rebuilt[name][own])
    assert np.array_equal(*np.bitwise_count(np.stack([states["hands"], rebuilt["hands"]])))
    assert np.array_equal(states["commits"] < 0, rebuilt["commits"] < 0)


# ---- one table by hand ----


def table(moves: int, num_players: int = 3, seed: int = 1, **options: Any) -> States:
    """Return a game after as many moves, each the first legal one, but nobody calls zero except seat 1."""
    states = started(GAME, num_players, seed=seed, **options)
    for _ in range(moves):
        mask = masks(GAME, states)
        action = mask.argmax(1)
        if mask[0, -1] and states[0].to_move != 1:
            action[:] = GAME.num_actions - 1
        apply_games(states, action)
    return states


def legal_labels(view: dict[str, Any]) -> list[str]:
    return [move["label"] for move in view["legal_actions"]]


def test_only_the_seat_to_move_is_told_what_is_legal():
    states = table(20)
    for seat in range(3):
        view = GAME.to_view(states[0], seat)
        assert ("legal_actions" in view) == (view["to_move"] == seat)
    labels = legal_labels(GAME.to_view(states[0], int(states[0].to_move)))
    assert labels == [GAME.labels[action] for action in np.flatnonzero(masks(GAME, states)[0])]


def test_a_secret_call_is_known_to_its_seat_alone():
    states = table(11, zero_call="secret")
    made = [call["seat"] for call in GAME.to_view(states[0], 0)["calls"]]
    assert len(made) == 2
    for seat in range(3):
        for call in GAME.to_view(states[0], seat)["calls"]:
            own = call["seat"] == seat
            assert (call["returns"] == "secret") != own
            assert not own or (call["returns"] is None) == (seat != 1)


def test_an_open_call_is_known_to_all():
    states = table(12)
    views = [GAME.to_view(states[0], seat) for seat in range(3)]
    assert views[0]["calls"] == views[1]["calls"] == views[2]["calls"]
    assert {call["seat"]: call["returns"] is None for call in views[0]["calls"]} == {0: True, 1: False, 2: True}


def test_optional_fields_and_defaults_can_be_left_out():
    view = GAME.to_view(table(20)[0], 2)
    short = {name: value for name, value in view.items() if name != "legal_actions"} | {"options": {}}
    assert GAME.to_view(GAME.from_view(short)[0], 2) == view


def test_one_view_one_game_and_the_seed_chooses_which():
    view = GAME.to_view(table(20)[0], 2)
    first, again, other = (GAME.from_view(view | {"seed": seed}) for seed in (0, 0, 2**64 - 1))
    assert first.tobytes() == again.tobytes() == GAME.from_view(view).tobytes()
    assert not np.array_equal(first["hands"], other["hands"])
    assert first.shape == (1,)
    assert first.dtype == GAME.dtype


def test_a_view_of_a_finished_game():
    states = table(144)
    view = GAME.to_view(states[0], 1)
    assert (view["over"], view["phase"], view["to_move"], view["hand"]) == (True, "play", None, [])
    assert GAME.to_view(GAME.from_view(view)[0], 1) == view
    with pytest.raises(IceError, match="over is true, but round 2 of 3 is not the last"):
        GAME.from_view(view | {"round": 2})
    extra = {"seat": 0, "item": "die", "color": "red", "number": 1, "trick": 12}
    with pytest.raises(IceError, match=r"played\[36\] is played after the end of the round"):
        GAME.from_view(view | {"played": [*view["played"], extra]})


# ---- views that nobody can have ----


WRONG = {
    # names and shapes
    "the view lacks the field 'hand'": without("hand"),
    "the view has no field 'midle' (did you mean 'middle'?)": set_to("midle", value=[]),
    "unknown game 'kawaii' (valid: nokosu_dice)": set_to("game", value="kawaii"),
    "version is 7, but this is version 0 of nokosu_dice": set_to("version", value=7),
    "num_players must be from 3 to 4, not 5": set_to("num_players", value=5),
    "options has no field 'ties' (did you mean 'tie'?)": set_to("options", "ties", value="last"),
    "unknown tie 'lst' (did you mean 'last'?)": set_to("options", "tie", value="lst"),
    "seat must be from 0 to 2, not 3": set_to("seat", value=3),
    "seed must be from 0 to 18446744073709551615, not -1": set_to("seed", value=-1),
    "round must be from 1 to 3, not 4": set_to("round", value=4),
    "dealer must be from 0 to 2, not 3": set_to("dealer", value=3),
    "over must be true or false, not 0": set_to("over", value=0),
    "over is true, but what was played says the contrary": set_to("over", value=True),
    "unknown phase 'plai' (did you mean 'play'?)": set_to("phase", value="plai"),
    "phase is 'call', but by the moves made it is 'play'": set_to("phase", value="call"),
    "totals must have 3 entries, not 2": without("totals", 0),
    "totals[1] must be from 0 to 0, not 3": set_to("totals", 1, value=3),
    # cards and dice
    "hand must be a list, not {}": set_to("hand", value={}),
    "hand[0] lacks the field 'number'": without("hand", 0, "number"),
    "unknown color in hand[0]: 'rde' (did you mean 'red'?)": set_to("hand", 0, "color", value="rde"),
    "hand[0].number must be from 0 to 7, not 8": set_to("hand", 0, "number", value=8),
    "hand[0] is purple 1, which is not used by 3 seats": set_to("hand", 0, value={"color": "purple", "number": 1}),
    "rolled must have 3 entries, not 2": without("rolled", 0),
    "rolled[1] must have 1 entries, not 0": set_to("rolled", 1, value=[]),
    "rolled[0][0].number must be from 1 to 6, not 0": set_to("rolled", 0, 0, "number", value=0),
    "rolled[0][0] is a purple die too many: there are no more of that color": set_to(
        "rolled", 0, 0, "color", value="purple"
    ),
    "drafted and middle have 9 dice together, not 10": without("middle", 0),
    "unknown item in played[0]: 'dye' (did you mean 'die'?)": set_to("played", 0, "item", value="dye"),
    # moves
    "calls[0].returns must be an object with named fields, not 4": set_to("calls", 0, "returns", value=4),
    "played[0].trick must be from 1 to 12, not 0": set_to("played", 0, "trick", value=0),
    "played[0].trick is 2, but the item was played to trick 1": set_to("played", 0, "trick", value=2),
    "played[0] is played before all seats have made their calls": set_to("calls", value=[]),
}


@pytest.mark.parametrize("reason", WRONG)
def test_a_view_that_nobody_can_have_is_refused(reason: str):
    view = deepcopy(GAME.to_view(table(20)[0], 2))
    WRONG[reason](view)
    with pytest.raises(IceError) as caught:
        GAME.from_view(view)
    assert str(caught.value) == reason


def test_a_hand_with_a_card_too_few_or_twice_is_refused():
    view = GAME.to_view(table(20)[0], 2)
    count = len(view["hand"])
    with pytest.raises(IceError, match=f"hand has {count - 1} cards, but by the cards played seat 2 holds {count}"):
        GAME.from_view(view | {"hand": view["hand"][1:]})
    with pytest.raises(IceError, match=rf"hand\[{count}\] is .* but so is hand\[0\]"):
        GAME.from_view(view | {"hand": [*view["hand"], view["hand"][0]]})


def test_a_turn_of_another_seat_is_refused():
    view = GAME.to_view(table(20)[0], 2)
    seat = view["to_move"]
    with pytest.raises(IceError, match=f"to_move is None, but by the moves made it is {seat}"):
        GAME.from_view(view | {"to_move": None})
    for name in ("drafted", "calls", "played"):
        first = view[name][0]
        wrong = [first | {"seat": (first["seat"] + 1) % 3}, *view[name][1:]]
        with pytest.raises(IceError, match=rf"{name}\[0\].seat is .*, but it was the turn of seat {first['seat']}"):
            GAME.from_view(view | {name: wrong})


def test_secret_calls_are_refused_where_they_are_known():
    view = GAME.to_view(table(12)[0], 2)
    calls = deepcopy(view["calls"])
    calls[0]["returns"] = "secret"
    with pytest.raises(IceError, match=r"calls\[0\].returns is 'secret', but seat 2 knows of that call"):
        GAME.from_view(view | {"calls": calls})
    secret = GAME.to_view(table(11, zero_call="secret")[0], 2)
    for call in secret["calls"]:
        if call["seat"] == 1:
            call["returns"] = secret["rolled"][1][0]
    with pytest.raises(IceError, match="must be 'secret': not all seats have made their calls"):
        GAME.from_view(secret)


def test_the_last_die_cannot_have_been_played():
    view = GAME.to_view(table(144)[0], 2)
    keeper = next(call["seat"] for call in view["calls"] if call["returns"] is None)
    state = GAME.from_view(view)[0]
    kind = int(np.flatnonzero(state.dice[keeper])[0])
    die = {"item": "die", "color": ("red", "yellow", "green", "blue")[kind // 6], "number": kind % 6 + 1}
    played = deepcopy(view["played"])
    last = max(i for i, entry in enumerate(played) if entry["seat"] == keeper)
    played[last] |= die
    with pytest.raises(IceError, match=rf"played\[{last}\] is .*, but seat {keeper}"):
        GAME.from_view(view | {"played": played})


def test_voids_that_leave_too_few_cards_are_refused():
    """player_1 has shown that it holds green cards alone; its five are all that player_0 has not seen."""
    hands = ("y5 y4 y3 y2 r5 r4 r3 b5 b4 R1", "g0 g1 g2 g3 g4 g5 b0 b1 b2 G1", "y0 y1 y6 r0 r1 r2 r6 b3 b6 Y4")
    table = CoreTable.position(*hands, phase="draft", pool="Y1 Y2 Y3 G2 G3 G4 B1 B2 B3 R6", to_move=0)
    table.play("Y1 G2 B1 Y2 G3 B2 Y3 G4 B3 - - - y5 b0 y0 r5 b1 r0 b5 b2 b3 b4 g0 B1")
    view = GAME.to_view(table.states[0], 0)
    assert GAME.from_view(view).shape == (1,)
    view["hand"][0] = {"color": "green", "number": 1}
    with pytest.raises(IceError, match="voids that leave too few unseen cards for the hands of seats 1"):
        GAME.from_view(view)


@pytest.mark.parametrize("seat", [3, -1, True])
def test_a_seat_that_is_not_at_the_table_is_refused(seat: Any):
    for face in (GAME.to_view, GAME.to_text):
        with pytest.raises(IceError, match="seat must be"):
            face(table(3)[0], seat)

"""The JSON view of Kawaii both ways, and the table as text."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ice_envs import IceError, agents
from ice_envs.engine.game import States
from ice_envs.games.kawaii.cards import COPIES
from tests import kawaii_positions
from tests.helpers import determinized, finished, masks, observations
from tests.kawaii_positions import GAME, OPTION_SETS, kinds_on_the_table, play, window
from tests.views import ThereAndBack, set_to, there_and_back, without

OPEN_WITHOUT_MEMORY = {"piles", "captured", "left"}


# ---- there and back, on random positions of all phases with all options ----


@pytest.fixture(scope="module", params=GAME.table_sizes)
def sent(request: pytest.FixtureRequest) -> ThereAndBack:
    return there_and_back(kawaii_positions, request.param)


def test_what_the_seat_sees_of_hidden_fields_is_rebuilt(sent: ThereAndBack):
    states, _, rebuilt = sent
    seen = (states["memory"] == 0) | (states["over"] != 0)
    for name in OPEN_WITHOUT_MEMORY:
        assert np.array_equal(states[name][seen], rebuilt[name][seen])


def test_no_card_is_lost(sent: ThereAndBack):
    states, _, rebuilt = sent
    for i in range(0, len(states), 7):
        assert np.array_equal(kinds_on_the_table(states[i : i + 1]), kinds_on_the_table(rebuilt[i : i + 1]))


def test_options_are_read_back():
    for options in OPTION_SETS:
        states = window("s1", "c1 X", "*", left="v1 v2", **options)
        told = GAME.to_view(states[0], 0)["options"]
        assert GAME.make_options(told) == GAME.make_options(options)


# ---- one table by hand ----


def table(**options: Any) -> States:
    """Four seats at tick 1: player_2 has taken a pile at tick 0, player_3 has committed unseen, player_0 decides."""
    states = window(
        "s1 m4",
        "c2 X",
        "v3 v3",
        "b5 *",
        tokens=(2, 1, 2, 2),
        captured=("s2 s3", "", "X", ""),
        left="b1 m2 m3 c1 v1 v2",
        reactions=(1, 2, 0, 1),
        flipper=1,
        fields={"round_number": 2, "totals": (5, 9, -1, 4, 0), "starter": 2},
        **options,
    )
    return play(states, 0b1000, 0b0001)  # player_2 takes the pile of player_1, player_3 slaps its own


def full_deck(states: States) -> States:
    """Put the cards that a hand-built table lacks to the captured cards of player_1, so that there are 55."""
    state = states[0]
    lacking = COPIES - kinds_on_the_table(states)
    state.captured[1] += lacking
    return states


def view(seat: int = 0, **options: Any) -> dict[str, Any]:
    return dict(json.loads(json.dumps(GAME.to_view(full_deck(table(**options))[0], seat))))


def test_the_view_in_full():
    told = view()
    captured = told.pop("captured")
    assert captured[0] == ["strawberry cup", "strawberry popsicle"]
    assert captured[2] == ["chocolate cup", "closed shop", "closed shop"]
    legal = told.pop("legal_actions")
    assert [entry["action"] for entry in legal] == [0, 1, 4, 5, 8, 9, 12]
    assert legal[1] == {"action": 1, "label": "take your own pile", "label_ja": "自分の山を取る"}
    label = "take the piles two and three seats to the left"
    assert legal[-1] == {"action": 12, "label": label, "label_ja": "2つ左と3つ左の山を取る"}
    assert told == {
        "game": "kawaii",
        "version": 0,
        "num_players": 4,
        "options": {
            "window_ticks": 3,
            "reaction_ticks": 3,
            "handicaps": [],
            "flipper_delay": 0,
            "favorites": "each_round",
            "memory": False,
        },
        "seat": 0,
        "round": 2,
        "starter": 2,
        "totals": [5, 9, -1, 4],
        "favorites": [{"flavor": "strawberry", "shape": "cone"}, None, None, None],
        "tokens": [2, 2, 1, 2],
        "reserves": [1, 1, 2, 2],
        "piles": [["strawberry cone", "mint sundae"], [], ["vanilla popsicle"] * 2, ["blueberry sandwich", "cherry"]],
        "flipper": 1,
        "last_captures": [None, 2, None, None],
        "after_capture": False,
        "tick": 1,
        "reactions": [1, None, 0, None],
        "claims": [[], [], [1], []],
        "committed": [],
        "to_move": 0,
        "over": False,
    }


def test_a_seat_sees_its_own_commitment_alone():
    assert view(3)["committed"] == [3]
    assert view(3)["reactions"] == [1, None, 0, 1]
    assert view(1)["committed"] == []
    assert "legal_actions" not in view(3)
    rebuilt = GAME.from_view(view(3))
    assert rebuilt["pending"][0].tolist() == [0, 0, 0, 8, 0]


def test_with_memory_only_top_cards_are_told():
    told = view(memory=True)
    assert told["piles"] == [[None, "mint sundae"], [], [None, "vanilla popsicle"], [None, "cherry"]]
    assert told["captured"][0] == ["strawberry cup", "strawberry popsicle"]
    assert told["captured"][2] == [None] * 3
    assert GAME.to_view(GAME.from_view(told)[0], 0) == told


def test_whole_game_favorites_are_told_as_far_as_points_tell():
    states = full_deck(table(favorites="whole_game"))
    states["possible"][0, 1] = 1 << 12
    told = GAME.to_view(states[0], 0)
    assert told["possible_favorites"][1] == ["vanilla popsicle"]
    drawn = GAME.from_view(told)
    assert (drawn["favorite_flavor"][0, 1], drawn["favorite_shape"][0, 1]) == (2, 2)
    told["possible_favorites"][1] = ["strawberry cup"]
    with pytest.raises(IceError, match="possible_favorites leaves no way in which all seats have different favorites"):
        GAME.from_view(told)


def test_one_view_one_game_and_the_seed_chooses_which():
    first, again, other = (GAME.from_view(view() | {"seed": seed}) for seed in (0, 0, 2**64 - 1))
    assert first.tobytes() == again.tobytes() == GAME.from_view(view()).tobytes()
    assert not np.array_equal(first["deck"], other["deck"])
    assert first.shape == (1,)
    assert first.dtype == GAME.dtype


def test_a_rebuilt_game_plays_on():
    states = GAME.from_view(view())
    assert np.flatnonzero(masks(GAME, states)[0]).tolist() == [0, 1, 4, 5, 8, 9, 12]
    play(states, 4)
    while states[0].tick == 1 and states[0].pending.any():
        play(states, 0)  # player_1, if it reacts in this tick, too
    assert states[0].taken_by[2] in (0, 3), "player_3 may have slapped the same pile"


# ---- a person at the table, who reacts when it likes ----

SEATS = 4
PAGE = (Path(__file__).parent.parent / "docs" / "games" / "kawaii.md").read_text(encoding="utf-8")


def paces() -> dict[str, dict[str, Any]]:
    """Read the options that the page has for people, by what is wanted."""
    found: dict[str, dict[str, Any]] = {}
    last: dict[str, Any] = {}
    for wanted, told in re.findall(r"^\| (.+) \| (?:any|\d+ ms) \| (.+) \|$", PAGE, re.MULTILINE):
        options = eval(f"dict({', '.join(re.findall('`(.+?)`', told))})", {"seats": SEATS})
        last = {**last, **options} if wanted.startswith("the same") else options
        found[wanted] = last
    return found


def test_the_page_has_a_pace_for_everybody():
    assert len(paces()) == 7
    assert list(paces().values())[4] == {
        "window_ticks": 15,
        "reaction_ticks": 6,
        "flipper_delay": 2,
        "handicaps": [[6, 6], [3, 0], [3, 0], [3, 0]],
    }


@pytest.mark.parametrize("after_capture", [False, True])
@pytest.mark.parametrize("pace", paces().values(), ids=paces())
def test_a_person_may_slap_at_any_tick(pace: dict[str, Any], after_capture: bool):
    """The person slaps at tick 1, the agents react as late as they can; whoever is asked gets a move from its view."""
    handicaps = pace.get("handicaps", [])[1:] + [[0, 0]] * SEATS
    slow = [shift + pace.get("reaction_ticks", 3) + widen - 1 for shift, widen in handicaps[: SEATS - 1]]
    states = full_deck(
        window(
            *("X", "c3", "X", "m1"),
            left="b1 m2 m3 c1",
            reactions=(1, *slow),
            flipper=1,
            fields={"after_capture": after_capture},
            **pace,
        )
    )
    agent, told = agents.load("greedy"), []
    while len(told) < SEATS and states["reserves"].sum() == 4:
        seat = int(states["to_move"][0])
        told.append(json.loads(json.dumps(GAME.to_view(states[0], seat))))
        read = GAME.from_view(told[-1])
        assert GAME.to_view(read[0], seat) == told[-1]
        seen = observations(GAME, read, [seat])[0]
        assert ((GAME.layout.low <= seen) & (seen <= GAME.layout.high)).all()
        assert finished(GAME, read, seed=1)["over"].all()
        move = agent.act(told[-1]).action
        play(states, 0b0100 if seat == 0 else move)  # the person takes the pile of player_2
    later = [view for view in told if view["claims"][0]]
    assert len(later) == (SEATS - 1 if slow[0] > 1 else 0)
    assert all(view["reactions"][0] == 1 for view in later)


def test_a_person_may_be_slower_than_any_draw():
    told = view(window_ticks=15) | {"tick": 10, "reactions": [10, None, 9, None]}
    read = GAME.from_view(told)
    assert read["reactions"][0, [0, 2]].tolist() == [10, 9]
    for later in ([11, None, 9, None], [10, None, 11, None]):
        with pytest.raises(IceError, match=r"reactions\[[02]\] must be from 0 to 10, not 11"):
            GAME.from_view(told | {"reactions": later})


# ---- views that nobody can have ----


WRONG = {
    "the view lacks the field 'piles'": without("piles"),
    "the view has no field 'pils' (did you mean 'piles'?)": set_to("pils", value=[]),
    "version is 7, but this is version 0 of kawaii": set_to("version", value=7),
    "num_players must be from 2 to 5, not 6": set_to("num_players", value=6),
    "options has no field 'window' (did you mean 'window_ticks'?)": set_to("options", "window", value=3),
    "window_ticks must be from 1 to 30, not 0": set_to("options", "window_ticks", value=0),
    "memory must be true or false, not 1": set_to("options", "memory", value=1),
    "handicaps[0] must have 2 entries, not 1": set_to("options", "handicaps", value=[[1]]),
    "the shift in handicaps[0] must be from 0 to 100, not 101": set_to("options", "handicaps", value=[[101, 0]]),
    "handicaps has 5 entries, but the table has 4 seats": set_to("options", "handicaps", value=[[0, 1]] * 5),
    "seat must be from 0 to 3, not 4": set_to("seat", value=4),
    "round must be from 1 to 3, not 4": set_to("round", value=4),
    "over is true, but round 2 is not the last of 3": set_to("over", value=True),
    "totals[1] must be from -6 to 99, not 100": set_to("totals", 1, value=100),
    "tokens must have 4 entries, not 3": without("tokens", 0),
    "tokens are 13 together, but 4 seats begin with 2 each": set_to("tokens", 0, value=8),
    "reserves are 7 cards, but 49 of 55 lie open or are captured": set_to("reserves", 0, value=2),
    "unknown card in piles[0][0]: 'strawbery cone' (did you mean 'strawberry cone'?)": set_to(
        "piles", 0, 0, value="strawbery cone"
    ),
    "piles and captured show 3 cards 'cherry', but there are 2": set_to("piles", 0, 0, value="cherry"),
    "favorites[1] must be null: until the end seat 0 cannot know it": set_to(
        "favorites", 1, value={"flavor": "mint", "shape": "cup"}
    ),
    "favorites[0] must be an object with named fields, not None": set_to("favorites", 0, value=None),
    "unknown shape in favorites[0]: 'cap' (did you mean 'cup'?)": set_to("favorites", 0, "shape", value="cap"),
    "the view has possible_favorites, which belongs to whole-game favorites without `memory`": set_to(
        "possible_favorites", value=[[]] * 4
    ),
    "tick must be from 0 to 2, not 3": set_to("tick", value=3),
    "to_move must be a whole number from 0 to 3, not None": set_to("to_move", value=None),
    "to_move is 2, which must react at tick 1 and have no claims yet": set_to("to_move", value=2),
    "reactions[1] must be null: seat 0 cannot know it": set_to("reactions", 1, value=2),
    "reactions[2] is 2, but the seat has slapped something before tick 1": set_to("reactions", 2, value=2),
    "reactions[0] must be from 0 to 2, not 3": set_to("reactions", 0, value=3),
    "reactions[2] must be from 0 to 2, not -1": set_to("reactions", 2, value=-1),
    "a pile in claims[2] must be from 0 to 3, not 4": set_to("claims", 2, value=[4]),
    "committed is [0], to which seat 0 cannot commit in this tick": set_to("committed", value=[0]),
    "last_captures[1] must be from 0 to 3, not 4": set_to("last_captures", 1, value=4),
}


@pytest.mark.parametrize("reason", WRONG)
def test_a_wrong_view_is_refused(reason: str):
    told = deepcopy(view())
    WRONG[reason](told)
    with pytest.raises(IceError) as error:
        GAME.from_view(told)
    assert str(error.value).startswith(reason)


def test_a_seat_without_a_token_cannot_be_asked():
    told = view() | {"tokens": [0, 2, 1, 2]}
    with pytest.raises(IceError, match="to_move is 0, but that seat has no token, or there is no pile to take"):
        GAME.from_view(told)


def test_covered_cards_cannot_be_named():
    told = view(memory=True)
    told["piles"][0][0] = "strawberry cone"
    with pytest.raises(IceError, match=r"piles\[0\]\[0\] is 'strawberry cone', but must be null: with `memory`"):
        GAME.from_view(told)


# ---- the text ----


def test_the_text_in_full():
    text = GAME.to_text(table()[0], 0)
    assert text.splitlines()[:2] == [
        "Kawaii   round 2 of 3   tick 1 of 3   6 cards to flip",
        "player_1 flipped last; player_0 decides",
    ]
    assert "> player_0         5       2        1" in text
    assert "  pile of 3   b5 *" in text
    assert "  player_2 has slapped pile 1" in text
    assert "  player_0 likes strawberry and every cone (strawberry cone is s1)" in text
    assert "player_3 likes" not in text
    assert "player_3 likes" in GAME.to_text(table()[0], None)


def test_the_text_covers_what_memory_covers():
    text = GAME.to_text(table(memory=True)[0], 0)
    assert "  pile of 3   ?  *" in text
    assert "  taken by 2  ?  ?  ?" in text
    assert "  taken by 2  c2 X  X" in GAME.to_text(table(memory=True)[0], 2)


def test_hidden_parts_leave_view_and_text_as_they_are():
    states = np.repeat(full_deck(table()), 50)
    other = determinized(states, np.zeros(50), np.arange(50))
    assert len({state.tobytes() for state in other}) == 50
    for state in other:
        assert GAME.to_view(state, 0) == GAME.to_view(states[0], 0)
        assert GAME.to_text(state, 0) == GAME.to_text(states[0], 0)


# ---- labels ----


@pytest.mark.parametrize(
    ("piles", "label", "label_ja"),
    [
        ([], "let it pass", "見送る"),
        ([0], "take your own pile", "自分の山を取る"),
        ([1], "take the pile one seat to the left", "左隣の山を取る"),
        ([3], "take the pile three seats to the left", "3つ左の山を取る"),
        ([0, 2], "take your own pile and the pile two seats to the left", "自分と2つ左の山を取る"),
        ([1, 4], "take the piles one and four seats to the left", "左隣と4つ左の山を取る"),
        (
            [0, 1, 2, 4],
            "take your own pile and the piles one, two and four seats to the left",
            "自分と左隣と2つ左と4つ左の山を取る",
        ),
    ],
)
def test_labels_name_piles_as_seen_from_the_seat(piles: list[int], label: str, label_ja: str):
    action = sum(1 << place for place in piles)
    assert (GAME.labels[action], GAME.labels_ja[action]) == (label, label_ja)

"""The JSON view of Ice Split both ways, and the table as text."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from ice_envs import IceError
from ice_envs.engine.game import States
from tests import ice_split_positions
from tests.helpers import masks
from tests.ice_split_positions import GAME, HIDDEN, OTHER_DECK
from tests.ice_split_tables import CoreTable, deal, new_table
from tests.views import ThereAndBack, there_and_back

View = dict[str, Any]


# ---- there and back, on random positions of all phases with all options ----


@pytest.fixture(scope="module", params=GAME.table_sizes)
def sent(request: pytest.FixtureRequest) -> ThereAndBack:
    return there_and_back(ice_split_positions, request.param)


def test_what_the_seat_sees_of_hidden_fields_is_rebuilt(sent: ThereAndBack):
    states, seats, rebuilt = sent
    own = np.arange(len(states)), seats
    for name in HIDDEN - {"rng", "deck"}:
        assert np.array_equal(states[name][own], rebuilt[name][own]), name
    assert np.array_equal(*np.bitwise_count(np.stack([states["hands"], rebuilt["hands"]])))


# ---- one table by hand ----


def table() -> States:
    """Two seats in their second turn: the second one has laid a flavor that was in the market, and a covered goal."""
    dealt = deal("0 1 2 42", "10 11 12 43", market="30 31 32 33", pile="50 51 52 53")
    found = new_table("compiled", dealt).play("s0 s10 g1 m31 g43 m30 f31 b f30")
    assert isinstance(found, CoreTable)
    return found.states


def flavor(name: str, card: int | None) -> View:
    return {"flavor": name, "card": card}


def goal(number: int, card: int | None) -> View:
    return {"goal": number, "card": card}


VIEW: View = {
    "game": "ice_split",
    "version": 0,
    "num_players": 2,
    "options": {
        "sequence": "contiguous",
        "two_pairs": "adjacent",
        "duplicate_goals": "each",
        "deck": "reconstruction",
    },
    "seat": 0,
    "first_seat": 0,
    "hand": [2, 42, 52],
    "market": [32, 33, 50, 51],
    "deck_height": 48,
    "known": [[], []],
    "public": [0, 10, 30, 31, 32, 33, 50, 51],
    "displays": [
        {"goals": [goal(0, 0), goal(1, 1)], "flavors": [flavor("vanilla", 0), flavor("mint", 31)]},
        {"goals": [goal(10, 10), goal(42, None)], "flavors": [flavor("mint", 10), flavor("strawberry", 30)]},
    ],
    "points": [0, 3],
    "phase": "draw",
    "to_move": 1,
    "start_card": None,
    "over": False,
}


def test_the_view_in_full():
    assert GAME.to_view(table()[0], 0) == VIEW


def test_the_seat_to_move_is_told_what_is_legal_and_knows_its_covered_cards():
    view = GAME.to_view(table()[0], 1)
    assert view["displays"][1]["goals"] == [goal(10, 10), goal(42, 43)]
    assert view["displays"][0]["goals"] == [goal(0, 0), goal(1, 1)], "only card 1 has this goal"
    assert view["legal_actions"] == [
        {"action": 221, "label": "take card 32 from the market", "label_ja": "場のカード32を取る"},
        {"action": 222, "label": "take card 33 from the market", "label_ja": "場のカード33を取る"},
        {"action": 239, "label": "take card 50 from the market", "label_ja": "場のカード50を取る"},
        {"action": 240, "label": "take card 51 from the market", "label_ja": "場のカード51を取る"},
        {"action": 252, "label": "draw from the deck", "label_ja": "山札から引く"},
    ]
    assert np.flatnonzero(masks(GAME, table())[0]).tolist() == [221, 222, 239, 240, 252]


def test_a_start_card_is_told_to_its_owner_alone():
    found = new_table("compiled", deal("0 1 2 3", "10 11 12 13", "20 21 22 23")).play("s3 s11")
    assert isinstance(found, CoreTable)
    views = [GAME.to_view(found.states[0], seat) for seat in range(3)]
    assert [view["start_card"] for view in views] == [3, 11, None]
    assert [view["hand"] for view in views] == [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]
    assert GAME.from_view(views[0])[0].starts[0] == 3
    with pytest.raises(IceError, match="start_card is 4, which is not in hand"):
        GAME.from_view(views[0] | {"start_card": 4})
    with pytest.raises(IceError, match="start_card must be a whole number from 0 to 62, not None"):
        GAME.from_view(views[0] | {"start_card": None})
    with pytest.raises(IceError, match="start_card is 20, but the seat has none that is chosen and not revealed"):
        GAME.from_view(views[2] | {"start_card": 20})


def test_optional_fields_and_defaults_can_be_left_out():
    view = {name: value for name, value in VIEW.items() if name != "points"} | {"options": {}}
    assert GAME.to_view(GAME.from_view(view)[0], 0) == VIEW


def test_another_deck_is_in_the_view():
    view = deepcopy(VIEW)
    view["options"]["deck"] = OTHER_DECK
    with pytest.raises(IceError, match=r"displays\[0\].flavors\[1\] has card 31, which has another flavor"):
        GAME.from_view(view)
    view["options"]["deck"] = "deck.csv"
    with pytest.raises(IceError, match=r"options.deck must be 'reconstruction' or a list of rows, not 'deck.csv'"):
        GAME.from_view(view)


def test_one_view_one_game_and_the_seed_chooses_which():
    first, again, other = (GAME.from_view(VIEW | {"seed": seed}) for seed in (0, 0, 2**64 - 1))
    assert first.tobytes() == again.tobytes() == GAME.from_view(VIEW).tobytes()
    assert not np.array_equal(first["hands"], other["hands"])


# ---- views that contradict themselves ----


def changed(change: Callable[[View], None]) -> View:
    view = deepcopy(VIEW)
    change(view)
    return view


def put(*path: Any) -> Callable[[View], None]:
    """Return a change that puts the last of `path` at the place that the others name."""

    def change(view: View) -> None:
        *way, last, value = path
        place: Any = view
        for step in way:
            place = place[step]
        place[last] = value

    return change


REFUSED = [
    (put("seat", 2), "seat must be from 0 to 1, not 2"),
    (put("version", 1), "version is 1, but this is version 0 of ice_split"),
    (put("hand", [2, 42, 42]), "hand names card 42 twice"),
    (put("hand", [2, 42]), "the number of cards in hand is 2, but by the displays and the turn it is 3"),
    (put("hand", [2, 42, 63]), "hand[2] must be from 0 to 62, not 63"),
    (put("hand", [2, 42, 32]), "hand has card 32, but so has market"),
    (put("market", [32, 33, 50]), "the number of cards in market is 3, but by the displays and the turn it is 4"),
    (put("deck_height", 47), "deck_height is 47, but by the displays and the turn it is 48"),
    (put("known", [[2]]), "known must have 2 entries, not 1"),
    (put("known", [[3], []]), "known[0] must be cards of the own hand"),
    (put("known", [[], [3, 4, 5]]), "known[1] has 3 cards, but the hand has 2"),
    (put("known", [[2], []]), "public lacks card 2, which everybody has seen in hand"),
    (put("public", [0, 10, 30, 31, 32, 33, 50]), "public lacks card 51, which everybody has seen in market"),
    (put("public", [*VIEW["public"], 60]), "public has card 60, which is nowhere else in the view"),
    (put("public", [*VIEW["public"], 2]), "public has card 2 of the own hand, which known[0] lacks"),
    (
        put("public", [0, 10, 31, 32, 33, 50, 51]),
        "displays[1] names card 30, which the seat cannot know: public lacks it",
    ),
    (put("displays", 0, "goals", 1, "card", None), "displays[0] must name every card: it is the own one"),
    (put("displays", 0, "goals", 1, "goal", 2), "displays[0].goals[1] has card 1, which has another goal"),
    (
        put("displays", 1, "goals", 1, "goal", 43),
        "displays[1].goals[1].goal is 43, but the lowest card with that goal is 42",
    ),
    (put("displays", 1, "flavors", 1, "flavor", "mnt"), "(did you mean 'mint'?)"),
    (
        put("displays", 1, "flavors", 1, "flavor", "mint"),
        "displays[1].flavors[1] has card 30, which has another flavor",
    ),
    (put("displays", 1, "goals", 0, "card", None), "displays[1] must have the start card first"),
    (
        put("displays", 0, "goals", [goal(0, 0)]),
        "displays have [2, 3] cards from the first seat on, which do not fit",
    ),
    (put("phase", "play"), "to_move is 1, but by the displays it is 0"),
    (put("phase", "start"), "displays have [3, 3] cards from the first seat on, which do not fit phase 'start'"),
    (put("phase", "drw"), "unknown phase 'drw' (did you mean 'draw'?)"),
    (put("first_seat", 1), "to_move is 1, but by the displays it is 0"),
    (put("to_move", None), "to_move is None, but by the displays it is 1"),
    (put("over", True), "over is true, but the displays have [3, 3] cards"),
    (put("start_card", 2), "start_card is 2, but the seat has none that is chosen and not revealed"),
    (put("seed", -1), "seed must be from 0 to 18446744073709551615, not -1"),
    (put("wrong", 1), "the view has no field 'wrong'"),
]


@pytest.mark.parametrize(("change", "reason"), REFUSED, ids=[reason[:40] for _, reason in REFUSED])
def test_a_view_that_contradicts_itself_is_refused(change: Callable[[View], None], reason: str):
    with pytest.raises(IceError) as caught:
        GAME.from_view(changed(change))
    assert reason in str(caught.value)


def test_halves_that_no_unseen_card_has_are_refused():
    """Both cards that ask for all seven are in the own hand."""
    view = changed(put("hand", [42, 43, 52]))
    with pytest.raises(IceError, match=r"displays\[1\].goals\[1\] shows a half that no unseen card has left"):
        GAME.from_view(view)


def test_play_before_the_start_cards_is_refused():
    view = GAME.to_view(new_table("compiled", deal("0 1 2 3", "10 11 12 13")).states[0], 0)  # type: ignore[attr-defined]
    with pytest.raises(IceError, match="displays have \\[0, 0\\] cards from the first seat on, which do not fit phase"):
        GAME.from_view(view | {"phase": "play"})


# ---- text ----

TEXT = """\
Ice Split   a reconstructed deck
player_1 draws

  player_0   0 points   3 of 13 cards
    goals   - most strawberry (4)   - most chocolate (4)
    flavors vanilla mint

> player_1   3 points   3 of 13 cards
    goals   - all seven (12)   * no lemon, pistachio (3)
    flavors mint strawberry

  market (deck: 48 cards)
    card 32: lemon      / pistachio > vanilla > blueberry (6)
    card 33: blueberry  / vanilla > chocolate > pistachio (6)
    card 50: pistachio  / right end chocolate or lemon (5)
    card 51: chocolate  / at most three kinds (6)

  hand of player_0
    card  2: strawberry / most mint (4)
    card 42: vanilla    / all seven (12)
    card 52: lemon      / at most three kinds (6)"""


def test_the_text_in_full():
    assert GAME.to_text(table()[0], 0) == TEXT
    everything = GAME.to_text(table()[0], None)
    assert "  hand of player_1\n    card 11: chocolate  / strawberry or" not in everything
    assert "    card 11: lemon      / no vanilla, blueberry (3)" in everything
    with pytest.raises(IceError, match="seat must be from 0 to 1, not 2"):
        GAME.to_text(table()[0], 2)


def test_cards_known_from_the_market_are_in_the_text():
    found = new_table("compiled", deal("0 1 2 3", "10 11 12 13", market="30 31 32 33")).play("s0 s10 g1 m31")
    assert isinstance(found, CoreTable)
    lines = GAME.to_text(found.states[0], 1).splitlines()
    assert lines[lines.index("  hand of player_0, from the market") + 1].startswith("    card 31: mint")


def test_the_text_of_a_finished_game_says_who_wins():
    states = table()
    states["over"], states["points"], states["num_players"] = 1, 7, 2
    assert GAME.to_text(states[0], 0).splitlines()[1] == "player_0 and player_1 share the win"
    states["points"] = [[7, 8, 0, 0]]
    assert GAME.to_text(states[0], 0).splitlines()[1] == "player_1 wins"

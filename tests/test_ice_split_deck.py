"""The deck of Ice Split as data: each way in which a file is malformed, and what another deck changes."""

from __future__ import annotations

import csv
import json
import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ice_envs import Batch, IceError, ice_split_v0
from ice_envs.agents import load
from ice_envs.agents.manifest import interface
from ice_envs.games.ice_split.deck import COLUMNS, deck_hash, deck_rows, packed, read_deck, reconstruction, unpacked
from tests import portable_agents
from tests.ice_split_lockstep import deck_rows as file_rows
from tests.ice_split_positions import GAME, OTHER_DECK

PATH = Path(ice_split_v0.__file__).parent / "games" / "ice_split" / "deck.csv"


def write(path: Path, rows: list[dict[str, Any]], columns: tuple[str, ...] = COLUMNS) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def changed(card: int, **cells: Any) -> list[dict[str, Any]]:
    """Return the rows of the reconstruction with some cells of one card changed."""
    return [{**row, **cells} if row["card_id"] == str(card) else row for row in file_rows()]


MALFORMED = [
    ({"card_id": "63"}, "card_id must be from 0 to 62, not 63"),
    ({"card_id": "x"}, "card_id must be a whole number from 0 to 62, not 'x'"),
    ({"card_id": "-1"}, "card_id must be a whole number from 0 to 62, not '-1'"),
    ({"card_id": "3"}, "card_id 3 is there twice"),
    ({"flavor": "mnit"}, "unknown flavor 'mnit' (did you mean 'mint'?)"),
    ({"goal_type": "SEQUENC"}, "unknown goal_type 'SEQUENC' (did you mean 'SEQUENCE'?)"),
    ({"goal_no": "5"}, "goal_no of SEQUENCE must be 4, not '5'"),
    ({"goal_flavors": "mint"}, "SEQUENCE must name 2 to 4 flavors, not 1"),
    ({"goal_flavors": "mint|lemon|mint|lemon|mint"}, "SEQUENCE must name 2 to 4 flavors, not 5"),
    ({"goal_flavors": "mint|melon"}, "unknown flavor in goal_flavors 'melon' (did you mean 'lemon'?)"),
    ({"points": "0"}, "points of SEQUENCE must be from 1 to 19, not 0"),
    ({"points": "20"}, "points of SEQUENCE must be from 1 to 19, not 20"),
    ({"points": "4.5"}, "points of SEQUENCE must be a whole number from 1 to 19, not '4.5'"),
    ({"points": "9" * 5000}, f"points of SEQUENCE must be a whole number from 1 to 19, not '{'9' * 79}"),
    ({"goal_type": "MAJORITY", "goal_no": "1", "goal_flavors": ""}, "MAJORITY must name 1 flavor, not 0"),
    ({"goal_type": "NONE_OF", "goal_no": "2", "goal_flavors": "mint"}, "NONE_OF must name 2 to 3 flavors, not 1"),
    (
        {"goal_type": "NONE_OF", "goal_no": "2", "goal_flavors": "mint|mint"},
        "NONE_OF must name different flavors, not 'mint|mint'",
    ),
    ({"goal_type": "EXACTLY_ONE", "goal_no": "3"}, "EXACTLY_ONE must name 1 flavor, not 2"),
    ({"goal_type": "RIGHTMOST_IN", "goal_no": "6"}, "points of RIGHTMOST_IN must be 5, not '4'"),
    ({"goal_type": "ALL_SEVEN", "goal_no": "5"}, "ALL_SEVEN must name 0 flavors, not 2"),
    (
        {"goal_type": "ALL_SEVEN", "goal_no": "5", "goal_flavors": "", "points": "13"},
        "points of ALL_SEVEN must be 12, not '13'",
    ),
]


@pytest.mark.parametrize(("cells", "reason"), MALFORMED, ids=[reason[:30] for _, reason in MALFORMED])
def test_a_malformed_row_is_refused_with_its_line(tmp_path: Path, cells: dict[str, str], reason: str):
    path = write(tmp_path / "deck.csv", changed(21, **cells))
    with pytest.raises(IceError) as caught:
        GAME.make_options({"deck": path})
    assert str(caught.value) == f"deck {path}, line 23: {reason}"
    with pytest.raises(IceError) as caught:
        GAME.make_options({"deck": changed(21, **cells)})
    assert str(caught.value) == f"deck, row 22: {reason}"


def test_a_malformed_file_is_refused(tmp_path: Path):
    path = tmp_path / "deck.csv"
    for text, reason in (
        (None, f"cannot read the deck {path}: No such file or directory"),
        (b"\xff\xfe\x00", f"cannot read the deck {path}: 'utf-8' codec can't decode"),
        (b"", f"deck {path}, line 1: the columns must be {','.join(COLUMNS)}, not nothing"),
        (b"card_id,flavour\n", f"deck {path}, line 1: the columns must be {','.join(COLUMNS)}, not card_id,flavour"),
        (PATH.read_bytes().replace(b"0,vanilla,1", b"0,1"), f"deck {path}, line 2: a row must have the 6 cells"),
        (PATH.read_bytes().replace(b"0,vanilla", b"0,,vanilla"), f"deck {path}, line 2: a row must have the 6 cells"),
        (PATH.read_bytes().rsplit(b"\n62,")[0], f"deck {path} has 62 cards, not 63: card_id 62 is missing"),
    ):
        if text is not None:
            path.write_bytes(text)
        with pytest.raises(IceError) as caught:
            GAME.make_options({"deck": str(path)})
        assert str(caught.value).startswith(reason)


@pytest.mark.parametrize("deck", [7, None, [1, 2], {"card_id": 0}])
def test_what_is_no_deck_is_refused(deck: Any):
    with pytest.raises(
        IceError, match="deck must be 'reconstruction', the path of a CSV file or a list of its rows, not"
    ):
        GAME.make_options({"deck": deck})


def test_goals_without_order_are_the_same_however_they_are_printed():
    """The one with three flavors is the NONE_OF that the reconstruction lacks."""
    first, other = ("|".join(order) for order in (("mint", "vanilla", "lemon"), ("lemon", "mint", "vanilla")))
    assert read_deck(changed(7, goal_flavors=first)) == read_deck(changed(7, goal_flavors=other))
    assert read_deck(changed(21, goal_flavors="mint|lemon")) != read_deck(changed(21, goal_flavors="lemon|mint"))


def test_every_card_is_packed_and_unpacked():
    for deck in (reconstruction(), read_deck(OTHER_DECK)):
        assert tuple(unpacked(packed(card)) for card in deck) == deck
        assert read_deck(deck_rows(deck)) == deck
        assert max(packed(card) for card in deck) < 1 << 30


def test_a_deck_is_what_it_says_wherever_it_came_from(tmp_path: Path):
    """A copy of the file, in another order, is the reconstruction; another deck is written out in the options."""
    shuffled = np.random.default_rng(1).permutation(np.array(file_rows(), object)).tolist()
    options = GAME.make_options({"deck": write(tmp_path / "deck.csv", shuffled)})
    assert options == GAME.make_options({})
    assert asdict(options)["deck"] == "reconstruction"
    own = GAME.make_options({"deck": write(tmp_path / "other.csv", OTHER_DECK)})
    assert own == GAME.make_options({"deck": asdict(own)["deck"]})
    assert len(asdict(own)["deck"]) == 63
    assert pickle.loads(pickle.dumps(own)).cards == own.cards


def test_a_file_may_begin_with_the_mark_that_spreadsheets_write(tmp_path: Path):
    path = tmp_path / "deck.csv"
    path.write_bytes(b"\xef\xbb\xbf" + PATH.read_bytes().replace(b"\n", b"\r\n"))
    assert read_deck(path) == reconstruction()


def test_each_deck_has_a_hash():
    assert GAME.data_hash({}) == f"{deck_hash(reconstruction()):016x}"
    assert GAME.data_hash({"deck": OTHER_DECK}) == f"{deck_hash(read_deck(OTHER_DECK)):016x}" != GAME.data_hash({})
    batch = Batch(GAME, 2, num_players=2, deck=changed(21, points="5"))
    assert set(batch.states["deck_hash"].tolist()).isdisjoint([deck_hash(reconstruction())])


def test_the_environment_says_that_the_deck_is_a_reconstruction():
    env = ice_split_v0.env()
    (note,) = env.metadata["notes"]
    assert f"the default deck is a reconstruction ({GAME.data_hash({})})" in note


def test_the_deck_is_in_the_package():
    """A wheel holds what pyproject.toml names."""
    settings = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert 'ice_envs = ["py.typed", "games/*/*.csv"]' in settings
    assert PATH.match("ice_envs/games/*/*.csv")


# ---- agents ----


def test_an_agent_plays_only_with_the_deck_it_was_trained_with(tmp_path: Path):
    agent = load(portable_agents.export(tmp_path, GAME))
    actions = agent.choose(Batch(GAME, 3, num_players=2, two_pairs="apart").states)
    assert len(actions) == 3
    with pytest.raises(IceError) as caught:
        agent.choose(Batch(GAME, 3, num_players=2, deck=OTHER_DECK).states)
    own, other = GAME.data_hash({}), GAME.data_hash({"deck": OTHER_DECK})
    assert f"'tiny' was trained with deck_hash {own}, and cannot play with deck_hash {other}" in str(caught.value)


def test_a_manifest_says_with_which_deck_the_agent_was_trained(tmp_path: Path):
    path = portable_agents.export(tmp_path, GAME)
    manifest = json.loads(path.read_text())
    assert (manifest["data_hash"], manifest["options"]["deck"]) == (GAME.data_hash({}), "reconstruction")
    assert interface(GAME, options={"deck": OTHER_DECK})["data_hash"] == GAME.data_hash({"deck": OTHER_DECK})
    del manifest["data_hash"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(IceError, match=r"agent.json lacks 'data_hash', which tells with which data of ice_split"):
        load(path)


# ---- the reconstruction ----


def test_the_reconstruction_is_balanced():
    cards = reconstruction()
    flavors = sorted({card.flavor for card in cards})
    assert [sum(card.flavor == flavor for card in cards) for flavor in flavors] == [9] * 7
    pairs = [
        pair for card in cards if card.goal == "SEQUENCE" for pair in zip(card.named, card.named[1:], strict=False)
    ]
    assert len(pairs) == len(set(pairs)) == 42
    assert {(len(card.named), card.points) for card in cards if card.goal == "SEQUENCE"} == {(2, 4), (3, 6), (4, 9)}

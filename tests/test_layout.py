"""The layout: one list of named slices from which everything about observations is derived."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ice_envs import find_game, games
from ice_envs.engine.layout import Layout
from tests.face_helpers import in_process

PARTS = [
    ("hand", (2, 3), 0, 1, "own cards"),
    ("round", (1,), 1, 9, "number of the round"),
    ("tiles", (2,), 0, 3, "left in each stack"),
]


def test_slices_follow_one_another():
    layout = Layout(PARTS)
    assert [(part.name, part.start, part.stop) for part in layout] == [("hand", 0, 6), ("round", 6, 7), ("tiles", 7, 9)]
    assert layout.size == 9
    assert layout["tiles"].meaning == "left in each stack"


def test_bounds_are_given_for_every_cell():
    layout = Layout(PARTS)
    assert layout.low.tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0]
    assert layout.high.tolist() == [1, 1, 1, 1, 1, 1, 9, 3, 3]
    assert layout.low.dtype == layout.high.dtype == np.uint8


def test_views_are_the_observations_own_memory():
    observation = np.zeros((4, 9), np.uint8)
    views = Layout(PARTS).views(observation)
    assert {name: view.shape for name, view in views.items()} == {"hand": (4, 2, 3), "round": (4, 1), "tiles": (4, 2)}
    views["hand"][3, 1, 0] = 1
    assert observation[3, 3] == 1
    assert observation.sum() == 1


def test_two_slices_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two slices of a layout have one name"):
        Layout([PARTS[0], PARTS[0]])


@pytest.mark.parametrize(
    "changed",
    [
        [PARTS[1], PARTS[0], PARTS[2]],
        [("hands", *PARTS[0][1:]), *PARTS[1:]],
        [("hand", (3, 2), *PARTS[0][2:]), *PARTS[1:]],
        [*PARTS[:2], ("tiles", (2,), 0, 4, "left in each stack")],
        PARTS[:2],
    ],
    ids=["order", "name", "shape", "bounds", "one less"],
)
def test_hash_changes_with_what_a_cell_means(changed: list):
    assert Layout(changed).hash() != Layout(PARTS).hash()


def test_hash_does_not_change_with_the_words():
    assert Layout([("hand", (2, 3), 0, 1, "cards held"), *PARTS[1:]]).hash() == Layout(PARTS).hash()


def test_table_has_a_row_for_each_slice():
    assert Layout(PARTS).table().splitlines() == [
        "| slice | indices | shape | values | meaning |",
        "|---|---|---|---|---|",
        "| `hand` | 0–5 | 2 × 3 | 0–1 | own cards |",
        "| `round` | 6–6 | 1 | 1–9 | number of the round |",
        "| `tiles` | 7–8 | 2 | 0–3 | left in each stack |",
    ]


def test_describe_leaves_out_what_is_all_zero():
    observation = np.array([0, 1, 0, 0, 0, 1, 4, 0, 0], np.uint8)
    assert Layout(PARTS).describe(observation) == "hand: [[0 1 0]\n [0 0 1]]\nround: [4]"


def test_as_json_is_plain_data():
    rows = Layout(PARTS).as_json()
    assert json.loads(json.dumps(rows)) == rows
    assert rows[0] == {
        "name": "hand", "start": 0, "stop": 6, "shape": [2, 3], "low": 0, "high": 1, "meaning": "own cards",
    }  # fmt: skip


@pytest.mark.parametrize("name", games())
def test_bounds_of_the_games_fit_their_cells(name: str):
    layout = find_game(name).layout
    assert all(0 <= part.low < part.high <= 255 for part in layout)
    assert all(part.meaning for part in layout)
    assert Layout([(p.name, p.shape, p.low, p.high, p.meaning) for p in layout]).hash() == layout.hash()


def test_layouts_are_the_same_in_plain_python():
    code = "from ice_envs import find_game, games; print(*(find_game(name).layout.hash() for name in games()))"
    told = in_process(code, NUMBA_DISABLE_JIT="1")
    assert told.stdout.split() == [find_game(name).layout.hash() for name in games()], told.stderr

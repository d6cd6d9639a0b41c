"""Kinds: a game with flavors or colors in another order is the same game, and the network knows it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch

from ice_envs import find_game, games
from ice_envs.engine import loops
from ice_envs.engine.game import Game
from tests.rooms import positions_of, positions_to_move
from training.network import ActorCritic, NetworkShape, kind_cells, new_model

WITH_KINDS = [name for name in games() if find_game(name).kinds]


def order_of(game: Game) -> list[int]:
    """Return a new place for each kind; the last one stays, since it is not in play at every table."""
    last = len(game.kinds.names) - 1
    return [*range(1, last), 0, last]


def renamed(game: Game, value: Any, order: list[int]) -> Any:
    """Return a view in which each kind has the name of the kind that takes its place."""
    names = game.kinds.names
    new = {names[kind]: names[place] for kind, place in enumerate(order)}
    if isinstance(value, dict):
        return {new.get(key, key): renamed(game, part, order) for key, part in value.items() if key != "legal_actions"}
    if isinstance(value, list):
        return [renamed(game, part, order) for part in value]
    return new.get(value, value) if isinstance(value, str) else value


def reordered(cells: Any, rows: list[list[int]], order: list[int]) -> Any:
    """Return (N, …) cells with those of each kind, a row each, where the order puts them."""
    moved, rows = cells.copy(), np.array(rows)
    moved[:, rows[order]] = cells[:, rows]
    return moved


@pytest.mark.parametrize("name", WITH_KINDS)
def test_renaming_the_kinds_in_a_view_reorders_their_slices_and_actions_and_nothing_else(name: str):
    game = find_game(name)
    states = positions_to_move(positions_of(name), game.table_sizes[-1])[::10]
    order = order_of(game)
    others = []
    for state in states:
        view = json.loads(json.dumps(game.to_view(state, int(state.to_move))))
        others.append(game.from_view(renamed(game, view, order)))
    observation, mask = loops.observed(game, states)
    other, other_mask = loops.observed(game, np.concatenate(others))
    rows = kind_cells(game)
    coded = [game.layout[part] for part in positions_of(name).CODED_BY_KIND]
    kept = np.ones(game.layout.size, bool)
    for part in coded:
        kept[part.start : part.stop] = False
    assert (reordered(observation, rows, order)[:, kept] == other[:, kept]).all()
    assert (reordered(mask, game.kinds.actions, order) == other_mask).all()
    assert (observation[:, kept] != other[:, kept]).any(axis=1).mean() > 0.9  # they were not all alike before


@pytest.mark.parametrize("name", WITH_KINDS)
def test_the_network_answers_to_reordered_kinds_with_reordered_scores_and_the_same_value(name: str):
    game = find_game(name)
    network = ActorCritic(new_model(game, NetworkShape([24, 16], [12, 8], [8]), 1e-3, 0, "cpu").policy)
    rng, order = np.random.default_rng(0), order_of(game)
    observation = rng.integers(0, game.layout.high + 1, (50, game.layout.size)).astype(np.uint8)
    mask = np.ones((50, game.num_actions), np.int8)
    scores, value = network.answer(observation, mask)
    again, same = network.answer(reordered(observation, kind_cells(game), order), mask)
    torch.testing.assert_close(reordered(scores.numpy(), game.kinds.actions, order), again.numpy(), atol=1e-6, rtol=0)
    torch.testing.assert_close(value, same, atol=1e-5, rtol=0)
    assert scores.std() > 1e-3


@pytest.mark.parametrize("name", WITH_KINDS)
def test_labels_of_the_kinds_actions_differ_by_the_kinds_names_alone(name: str):
    game = find_game(name)
    first, *others = game.kinds.names
    for kind, row in zip(others, game.kinds.actions[1:], strict=True):
        same = [game.labels[action].replace(first, kind) for action in game.kinds.actions[0]]
        assert [game.labels[action] for action in row] == same

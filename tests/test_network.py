"""The network that scores all actions alike: which cells it reads, what it adds, and that it is saved and exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from ice_envs import agents, find_game
from ice_envs.errors import IceError
from tests.portable_agents import evaluation_row
from training.export import export, positions
from training.network import ActionScorer, ActorCritic, action_cells, new_model
from training.run_folder import Origin

GAME = find_game("nokosu_dice")
SLICES = ["own", "own_chance", "promise"]


@pytest.fixture(scope="module")
def model() -> MaskablePPO:
    return new_model(GAME, [16], 1e-3, 1, "cpu", SLICES, [8, 4])


def test_each_action_has_its_cell_of_each_slice():
    cells = np.array(action_cells(GAME, SLICES))
    assert cells.shape == (71, 3)
    for column, name in enumerate(SLICES):
        part = GAME.layout[name]
        assert cells[:70, column].tolist() == list(range(part.start, part.start + 70))
    assert cells[70].tolist() == [-1, -1, GAME.layout["promise"].stop - 1]  # of no call nothing but its promise is said
    assert action_cells(GAME, []) == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("own_chanse", "unknown slice 'own_chanse' (did you mean 'own_chance'?)"),
        ("dice", "the slice 'dice' has more cells than nokosu_dice has actions"),
    ],
)
def test_slices_that_do_not_describe_actions(name: str, sentence: str):
    with pytest.raises(IceError) as error:
        action_cells(GAME, ["own", name])
    assert str(error.value) == sentence


def test_what_is_learned_of_one_action_is_known_of_all():
    """Two actions whose cells are exchanged exchange their scores; what is not known of an action counts as 0."""
    torch.manual_seed(0)
    scorer = ActionScorer(np.array([[0, 2], [1, 3], [4, -1]]), 5, [8, 4])
    observation, features = torch.rand(6, 5), torch.rand(6, 5)
    scores = scorer(observation, features)
    assert scores.shape == (6, 3)
    assert not torch.allclose(scores[:, 0], scores[:, 1], atol=1e-3)
    exchanged = scorer(observation[:, [1, 0, 3, 2, 4]], features)
    torch.testing.assert_close(exchanged[:, [1, 0, 2]], scores)
    known = ActionScorer(np.array([[0, 2], [1, 3], [4, 5]]), 5, [8, 4])
    known.load_state_dict({**scorer.state_dict(), "cells": known.cells, "known": known.known})
    torch.testing.assert_close(known(torch.cat([observation, torch.zeros(6, 1)], 1), features), scores)


def test_an_untrained_network_adds_each_score_to_the_logit_of_its_action(model: MaskablePPO):
    network = ActorCritic(model.policy)
    observation, _ = (torch.from_numpy(part).float() for part in positions(GAME, 20))
    features = network.trunk(observation)
    assert features.shape == (20, 16 + 71)
    head = torch.nn.functional.linear(features[:, :16], network.action_head.weight[:, :16], network.action_head.bias)
    logits, _ = network(observation, torch.ones(20, 71))
    torch.testing.assert_close(logits, head + features[:, 16:])


def test_it_is_the_same_from_its_file_and_as_a_portable_agent(model: MaskablePPO, tmp_path: Path):
    network = ActorCritic(model.policy)
    observation, mask = positions(GAME, 50)
    logits, _ = network.answer(observation, mask)
    model.save(tmp_path / "model.zip")
    loaded = ActorCritic(MaskablePPO.load(tmp_path / "model.zip", device="cpu").policy)
    assert torch.equal(loaded.answer(observation, mask)[0], logits)
    training = Origin(
        algorithm="none", decisions=0, seconds=0.0, seed=5, num_players=[3, 4], options={}, reward="win", settings="",
        versions={},
    )  # fmt: skip
    rows = [{**evaluation_row(GAME), "num_players": size} for size in GAME.table_sizes]
    export(network, GAME, tmp_path, "scorer", training, rows)
    agent = agents.load(tmp_path / "agent.json", GAME)
    np.testing.assert_allclose(agent.answer(observation, mask)[0], logits.numpy(), atol=1e-4)

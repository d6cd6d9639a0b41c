"""The network that scores all actions alike: which cells it reads, what it adds, and that it is saved and exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from ice_envs import agents, find_game, games
from tests.portable_agents import evaluation_row
from training.export import export, positions
from training.network import ActorCritic, NetworkShape, action_cells, new_model
from training.run_folder import Origin

GAME = find_game("nokosu_dice")


@pytest.fixture(scope="module")
def model() -> MaskablePPO:
    return new_model(GAME, NetworkShape([16], [12], [8, 4]), 1e-3, 1, "cpu")


@pytest.mark.parametrize("name", [name for name in games() if find_game(name).action_slices])
def test_each_action_has_its_cell_of_each_slice(name: str):
    game = find_game(name)
    cells = np.array(action_cells(game))
    assert cells.shape == (game.num_actions, len(game.action_slices))
    for column, part in zip(cells.T, map(game.layout.__getitem__, game.action_slices), strict=True):
        count = part.stop - part.start
        assert column[:count].tolist() == list(range(part.start, part.stop))
        assert (column[count:] == game.layout.size).all()  # of these actions nothing is said


def test_what_is_learned_of_one_action_is_known_of_all(model: MaskablePPO):
    """Two actions of one kind whose cells are exchanged exchange their scores; what is not said of an action is 0."""
    trunk, scorer = model.policy.features_extractor, model.policy.action_net.scorer
    kinds, whole, actions = trunk.split(trunk(torch.from_numpy(positions(GAME, 20)[0]).float()))
    assert actions.shape == (20, 71, len(GAME.action_slices))
    assert not actions[:, 70, 0].any()
    actions = torch.rand_like(actions)
    order = [1, 0, *range(2, 71)]
    scores, exchanged = scorer(kinds, whole, actions), scorer(kinds, whole, actions[:, order])
    assert scores.shape == (20, 71)
    assert not torch.allclose(scores[:, 0], scores[:, 1], atol=1e-5)
    torch.testing.assert_close(exchanged[:, order], scores)


def test_the_score_of_an_action_is_added_to_that_of_its_kind_or_of_the_whole(model: MaskablePPO):
    network = ActorCritic(model.policy)
    trunk, head = model.policy.features_extractor, model.policy.action_net
    observation = torch.from_numpy(positions(GAME, 20)[0]).float()
    logits, _ = network(observation, torch.ones(20, 71))
    kinds, whole, actions = trunk.split(trunk(observation))
    scorer_free = logits - head.scorer(kinds, whole, actions)
    for kind, row in enumerate(GAME.kinds.actions):
        torch.testing.assert_close(scorer_free[:, list(row)], head.each(kinds[:, kind]))
    torch.testing.assert_close(scorer_free[:, 70:], head.others(whole))


@pytest.mark.parametrize("shape", [([16], [], [8]), ([16], [12], []), ([16], [], [])], ids=["scorer", "kinds", "plain"])
def test_kinds_and_scorer_can_be_left_out(shape: tuple[list[int], ...]):
    model = new_model(GAME, NetworkShape(*shape), 1e-3, 1, "cpu")
    _, kind_hidden, action_hidden = shape
    trunk, head = model.policy.features_extractor, model.policy.action_net
    assert trunk.kinds == (len(GAME.kinds.names) if kind_hidden else 0)
    assert (head.scorer is not None) == bool(action_hidden)
    assert trunk.features_dim == 16 + trunk.kinds * 12 + bool(action_hidden) * 71 * len(GAME.action_slices)
    observation, mask = positions(GAME, 20)
    logits, value = ActorCritic(model.policy).answer(observation, np.ones_like(mask))
    assert logits.shape == (20, 71)
    assert value.shape == (20,)
    assert logits.std(dim=0).min() > 0  # each action's score depends on the position


def test_it_is_the_same_from_its_file_and_as_a_portable_agent(model: MaskablePPO, tmp_path: Path):
    network = ActorCritic(model.policy)
    observation, mask = positions(GAME, 50)
    logits, _ = network.answer(observation, mask)
    model.save(tmp_path / "model.zip")
    loaded = ActorCritic(MaskablePPO.load(tmp_path / "model.zip", device="cpu").policy)
    assert torch.equal(loaded.answer(observation, mask)[0], logits)
    training = Origin(
        algorithm="none", decisions=0, seconds=0.0, seed=5, num_players=[3, 4], options={}, reward="win", settings="",
        command="", machine="", versions={},
    )  # fmt: skip
    rows = [{**evaluation_row(GAME), "num_players": size} for size in GAME.table_sizes]
    export(network, GAME, tmp_path, "scorer", training, rows)
    agent = agents.load(tmp_path / "agent.json", GAME)
    np.testing.assert_allclose(agent.answer(observation, mask)[0], logits.numpy(), atol=1e-4)

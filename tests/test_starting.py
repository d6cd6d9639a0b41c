"""A run begins with the network of another run or of an exported agent."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from ice_envs import games
from ice_envs.agents.portable import load_portable
from ice_envs.errors import IceError
from ice_envs.games import find_game
from tests import portable_agents
from tests.front_ends import ORIGIN, PUBLISHED
from training import starting
from training.export import export, positions
from training.network import ActorCritic, NetworkShape, new_model
from training.starting import shape_of, starting_model

GAME = find_game("dokitto")
ALIKE = NetworkShape([16, 16], [16, 16], [16, 16])
"""Matrices of one shape, which only their order tells apart."""


def parameters(network: ActorCritic) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in network.named_parameters()}


@pytest.mark.parametrize("name", games())
@pytest.mark.parametrize("shape", [NetworkShape([64, 32], [16, 8], [8]), ALIKE, NetworkShape([24])])
def test_what_was_exported_is_what_a_run_begins_with(name: str, shape: NetworkShape, tmp_path: Path):
    game = find_game(name)
    network = ActorCritic(new_model(game, shape, 1e-3, 1, "cpu").policy)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)  # biases of zero would be alike
    before = parameters(network)
    rows = [{**portable_agents.evaluation_row(game), "num_players": size} for size in game.table_sizes]
    path = export(network, game, tmp_path, "new", ORIGIN, rows)
    after = parameters(ActorCritic(starting_model(path, game).policy))
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("name", games())
def test_a_published_agent_can_learn_on(name: str):
    game, path = find_game(name), PUBLISHED / name / "agent.json"
    model = starting_model(path, game)
    assert shape_of(model)["hidden"] == [256, 256]
    observation, mask = positions(game, 64)
    logits, values = ActorCritic(model.policy).answer(observation, mask)
    expected_logits, expected_values = load_portable(path, game).answer(observation, mask)
    assert logits.numpy() == pytest.approx(expected_logits, abs=1e-4)
    assert values.numpy() == pytest.approx(expected_values, abs=1e-4)


def test_an_agent_of_another_game_is_nothing_to_begin_with():
    with pytest.raises(IceError, match=r"kawaii/agent.json plays kawaii, not dokitto"):
        starting_model(PUBLISHED / "kawaii" / "agent.json", GAME)


def test_a_model_of_other_layers_is_refused_in_a_sentence(tmp_path: Path):
    path = portable_agents.export(tmp_path, GAME)
    with pytest.raises(IceError, match=r"agent.json can be played but not learned on: its layers are not those of"):
        starting_model(path, GAME)


def test_weights_in_the_wrong_place_are_noticed(monkeypatch: pytest.MonkeyPatch):
    put, path = starting.put, PUBLISHED / "dokitto" / "agent.json"

    def exchange(weights, network):
        assert put(weights, network)
        with torch.no_grad():
            network.value_head.layer.weight.copy_(network.value_head.layer.weight.flip(1))
        return True

    monkeypatch.setattr(starting, "put", exchange)
    with pytest.raises(IceError, match="can be played but not learned on"):
        starting_model(path, GAME)


@pytest.mark.parametrize("bias", ["trunk.layers.1.whole.bias", "action_head.each.bias"])
def test_a_model_that_lacks_a_layer_is_refused(bias: str, monkeypatch: pytest.MonkeyPatch):
    put = starting.put
    monkeypatch.setattr(starting, "put", lambda weights, network: put(without(weights, bias), network))
    with pytest.raises(IceError, match="can be played but not learned on"):
        starting_model(PUBLISHED / "dokitto" / "agent.json", GAME)


def without(weights, name):
    return {other: array for other, array in weights.items() if other != name}

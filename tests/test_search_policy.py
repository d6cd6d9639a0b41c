"""Search guided by the policy in an agent.json: priors, batches, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ice_envs import agents, find_game
from ice_envs.agents import search as search_module
from ice_envs.agents.search import SearchAgent
from ice_envs.engine import loops, search, tree
from ice_envs.engine.game import SearchHints
from ice_envs.errors import IceError
from tests import portable_agents
from tests.face_helpers import games, tables
from tests.helpers import masks, observations, started
from tests.rooms import positions_of, random_states
from tests.test_agents import positions, sentence
from tests.test_hidden_information import changed_fields, shuffled
from tests.test_search import alike, some_positions

GAME = find_game("dokitto")


def guided(folder, game, simulations, **arguments):
    """Return a search by a tiny linear policy of the game."""
    policy = agents.load(portable_agents.export(folder, game), game)
    return SearchAgent(f"search:{simulations}+{folder / 'agent.json'}", game, policy=policy, **arguments)


def fitting(game, states):
    """Return the positions with the game's own data, such as its deck, with which the policy was trained."""
    if game.data_field is None:
        return states
    own = started(game, game.table_sizes[0])[game.data_field]
    return states[states[game.data_field] == own]


def priors(game, states):
    """Return the policy's probabilities in the positions, worked out without the model."""
    observation, mask = observations(game, states, states["to_move"])
    logits, _ = portable_agents.answers(game, observation, mask)
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)


@games
def test_is_loaded_by_its_spec_and_plays(name, tmp_path):
    game = find_game(name)
    states = fitting(game, some_positions(name, 30))
    assert len(states) > 5
    spec = f"search:40+{portable_agents.export(tmp_path, game)}"
    agent = agents.load(spec)
    assert (agent.name, agent.game) == (spec, game)
    found = agent.search(states)
    legal = masks(game, states)
    assert legal[np.arange(len(states)), found.actions].all()
    assert found.visits.sum(axis=1).tolist() == np.where(legal.sum(axis=1) == 1, 1, 40).tolist()
    assert not alike(found, agents.load("search:40", name).search(states))


def test_the_root_has_the_policys_probabilities(tmp_path):
    states = positions()
    forest = tree.new_forest(GAME, len(states), 10, guided=True)
    search.plant(states, forest, False, True)
    agent = guided(tmp_path, GAME, 10)
    agent._answer(GAME, forest, forest.counts)
    expected, legal = priors(GAME, states), masks(GAME, states)
    for i in np.flatnonzero(legal.sum(axis=1) > 1):
        edges = forest.edges[i][: forest.counts[i, tree.EDGES]]
        assert [int(edge.action) for edge in edges] == np.flatnonzero(legal[i]).tolist()
        assert [float(edge.prior) for edge in edges] == pytest.approx(expected[i][legal[i] == 1], abs=2e-4)


def test_the_likeliest_action_is_tried_first_and_played_if_nothing_is_better(tmp_path):
    states = positions()
    found = guided(tmp_path, GAME, 1).search(states)
    assert found.actions.tolist() == priors(GAME, states).argmax(axis=1).tolist()


def test_the_model_is_asked_for_all_positions_at_once(tmp_path, monkeypatch):
    agent, states = guided(tmp_path, GAME, 25), started(GAME, 4, 30)
    asked, answer = [], agent.policy.answer
    monkeypatch.setattr(agent.policy, "answer", lambda *rows: asked.append(len(rows[0])) or answer(*rows))
    agent.search(states)
    assert asked[0] == 30
    assert 1 < len(asked) <= 25, "at most once for a simulation"
    assert np.mean(asked) > 5


def test_nodes_of_the_searching_seat_have_priors_and_no_others(tmp_path):
    states = started(GAME, 3, 4, seed=2)
    agent = guided(tmp_path, GAME, 200, num_threads=1)
    agent.game = replace(GAME, search=SearchHints(spread=3.0))  # so that others choose in the tree
    agent.search(states)
    [forest] = agent._forests["dokitto"]
    with_prior = without = 0
    for i in range(4):
        for node in forest.nodes[i][: forest.counts[i, tree.NODES]]:
            edge, given = int(node.first), []
            while edge >= 0:
                given.append(forest.edges[i][edge].prior > 0)
                edge = int(forest.edges[i][edge].following)
            assert len(set(given)) <= 1
            with_prior += any(given)
            without += len(given) > 0 and not any(given)
    assert with_prior > 20
    assert without > 20


def test_one_seed_one_result_on_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(search_module, "LARGEST_GROUP", 16)
    states = positions(100)
    one, many = (guided(tmp_path, GAME, 30, seed=4, num_threads=threads).search(states) for threads in (1, 4))
    assert alike(one, many)


@tables
def test_rests_on_nothing_hidden(name, num_players, tmp_path):
    room = positions_of(name)
    agent = guided(tmp_path, room.GAME, 30)
    for phase, found in random_states(room, num_players, 25, seed=5).items():
        if phase != "over":
            states = fitting(room.GAME, found)
            assert len(states) > 5
            hidden = shuffled(room, states, states["to_move"], 1)
            changed = np.any([changed_fields(states, hidden)[name] for name in room.SECRETS], axis=0)
            assert changed.mean() > 0.6, f"{phase}: hardly anything was hidden, so nothing is proved"
            agent.reseed(1)
            before = agent.search(states)
            agent.reseed(1)
            assert alike(before, agent.search(hidden)), phase


def test_by_time_too(tmp_path):
    path = portable_agents.export(tmp_path, GAME)
    states = positions(4)
    actions = agents.load(f"search:3ms+{path}").choose(states)
    assert loops.first_illegal(states, actions, GAME.num_actions) == -1


def test_refuses_what_the_policy_cannot_play(tmp_path):
    path = portable_agents.export(tmp_path, find_game("kawaii"))
    with pytest.raises(IceError, match="plays kawaii, not dokitto") as error:
        agents.load(f"search:10+{path}", "dokitto")
    sentence(error)
    path = portable_agents.export(tmp_path, GAME, seats=[2, 3])
    with pytest.raises(IceError, match="plays with") as error:
        agents.load(f"search:10+{path}").choose(started(GAME, 4))
    sentence(error)

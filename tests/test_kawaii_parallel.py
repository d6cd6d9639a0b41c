"""The parallel face of Kawaii: PettingZoo's tests, and the same game as in the AEC face."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from ice_envs import Batch, IceError, IllegalAction, kawaii_v0
from ice_envs.faces.parallel import ParallelCardGameEnv
from tests.face_helpers import plain, random_action
from tests.kawaii_positions import GAME, OPTION_SETS
from tests.toy import TOY

sizes = pytest.mark.parametrize("num_players", GAME.table_sizes)


def choices(env: Any, told: Any, rng: np.random.Generator) -> dict[str, int]:
    return {agent: random_action(told[agent]["action_mask"], rng) for agent in env.agents}


@sizes
def test_passes_pettingzoos_tests(num_players: int, capsys: pytest.CaptureFixture[str]):
    parallel_api_test(kawaii_v0.parallel_env(num_players=num_players), num_cycles=2000)
    parallel_seed_test(lambda: kawaii_v0.parallel_env(num_players=num_players))
    capsys.readouterr()


def test_is_in_the_registry():
    env = pettingzoo.make("parallel", "ice_envs/kawaii-v0", num_players=3)
    assert isinstance(env.unwrapped, ParallelCardGameEnv)
    assert len(env.reset(seed=1)[0]) == 3


@sizes
@pytest.mark.parametrize("options", OPTION_SETS, ids=str)
def test_both_faces_play_the_same_game(num_players: int, options: dict[str, Any]):
    """Rewards, masks, observations of the asked and the whole record agree at every tick of two games."""
    env = kawaii_v0.parallel_env(num_players=num_players, reward="score", **options)
    aec = kawaii_v0.raw_env(num_players=num_players, reward="score", **options)
    rng = np.random.default_rng(num_players)
    for seed in (0, None):
        told, _ = env.reset(seed=seed)
        aec.reset(seed=seed)
        while env.agents:
            assert env.get_state() == aec.get_state()
            actions, asked = choices(env, told, rng), env.asked()
            gained = dict.fromkeys(env.agents, 0.0)
            for agent in asked:
                assert aec.agent_selection == agent
                assert plain(aec.observe(agent)) == plain(told[agent]), "another one of the tick has been seen"
                aec.step(actions[agent])
                gained = {name: gained[name] + aec.rewards[name] for name in gained}
            told, rewards, terminations, truncations, infos = env.step(actions)
            assert rewards == gained
            assert set(terminations.values()) == {not env.agents}
            assert not any(truncations.values())
            assert all(plain(infos[a]["action_mask"]) == plain(told[a]["action_mask"]) for a in told)
        assert env.get_state() == aec.get_state()
        assert all(aec.terminations.values())


def test_who_is_not_asked_may_only_pass():
    env, rng, idle = kawaii_v0.parallel_env(), np.random.default_rng(0), 0
    told, _ = env.reset(seed=0)
    while env.agents:
        for agent in env.agents:
            mask = told[agent]["action_mask"]
            assert mask[0] == 1
            assert (mask.sum() > 1) == (agent in env.asked())
            idle += mask.sum() == 1
        told = env.step(choices(env, told, rng))[0]
    assert idle > 50
    assert not any(observation["action_mask"].any() for observation in told.values())


def test_a_step_is_a_tick():
    env = kawaii_v0.parallel_env(reaction_ticks=1)
    env.reset(seed=0)
    assert len(env.asked()) == 4
    state = np.frombuffer(env.get_state(), GAME.dtype)[0]
    order = [f"player_{(int(state.flipper) + 1 + step) % 4}" for step in range(4)]
    assert env.asked() == order
    env.step(dict.fromkeys(env.agents, 0))
    after = np.frombuffer(env.get_state(), GAME.dtype)[0]
    assert int(after.reserves.sum()) == int(state.reserves.sum()) - 1


def test_an_illegal_action_loses():
    env = kawaii_v0.parallel_env()
    env.reset(seed=0)
    idle = next(agent for agent in env.agents if agent not in env.asked())
    _, rewards, terminations, _, infos = env.step(dict.fromkeys(env.agents, 0) | {idle: 1})
    assert rewards == {agent: -1.0 if agent == idle else 0.0 for agent in env.possible_agents}
    assert all(terminations.values())
    assert infos[idle]["illegal_action"] == 1
    assert env.agents == []


def test_an_illegal_action_is_refused():
    env = kawaii_v0.parallel_env(illegal="raise")
    env.reset(seed=0)
    before, passing = env.get_state(), dict.fromkeys(env.agents, 0)
    asked = env.asked()
    idle = next(agent for agent in env.agents if agent not in asked)
    with pytest.raises(IllegalAction, match=f"'take your own pile' .1. is illegal for {idle}, which is not asked"):
        env.step(passing | {idle: 1})
    with pytest.raises(IllegalAction, match=f"is illegal for {asked[-1]}; legal: let it pass"):
        env.step(passing | {asked[-1]: 31})
    assert env.get_state() == before


def test_bad_input_is_refused():
    env = kawaii_v0.parallel_env()
    with pytest.raises(IceError, match="the game has not begun or is over: call reset"):
        env.step({})
    env.reset(seed=0)
    passing = dict.fromkeys(env.agents, 0)
    with pytest.raises(IceError, match="actions lacks 'player_3': every agent acts in every step"):
        env.step(dict.fromkeys(env.agents[:3], 0))
    with pytest.raises(IceError, match="there is no agent 'player_9'"):
        env.step(passing | {"player_9": 0})
    with pytest.raises(IceError, match="action of player_1 must be from 0 to 31, not 32"):
        env.step(passing | {"player_1": 32})
    with pytest.raises(IceError, match=r"kawaii has no option 'window' \(did you mean 'window_ticks'"):
        kawaii_v0.parallel_env(window=3)
    with pytest.raises(IceError, match="unknown illegal 'lse'"):
        kawaii_v0.parallel_env(illegal="lse")
    with pytest.raises(IceError, match="has no parallel face"):
        ParallelCardGameEnv(TOY)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_play_on(copied: Any):
    env = kawaii_v0.parallel_env()
    told, _ = env.reset(seed=5)
    rng = np.random.default_rng(5)
    for _ in range(20):
        told = env.step(choices(env, told, rng))[0]
    other = copied(env)
    for _ in range(20):
        actions = choices(env, told, rng)
        mine, theirs = env.step(actions), other.step(actions)
        assert plain(mine) == plain(theirs)
        told = mine[0]


def test_states_come_back():
    env = kawaii_v0.parallel_env()
    told, _ = env.reset(seed=7)
    rng = np.random.default_rng(7)
    for _ in range(20):
        told, _, _, _, infos = env.step(choices(env, told, rng))
    saved, here = env.get_state(), plain((told, infos))
    steps = []
    while env.agents:
        actions = choices(env, told, rng)
        told, *others = env.step(actions)
        steps.append((actions, plain([told, *others])))
    end, last = env.get_state(), plain([told, others[-1]])
    other = kawaii_v0.parallel_env()
    for state in (saved, np.frombuffer(saved, GAME.dtype)[0]):
        assert plain(other.set_state(state)) == here
        assert [plain(other.step(actions)) for actions, _ in steps] == [step for _, step in steps]
        assert other.agents == []
    other.set_state(saved)
    assert plain(other.set_state(end)) == last
    assert other.agents == []


def test_states_that_do_not_fit_are_refused():
    env = kawaii_v0.parallel_env(num_players=3)
    env.reset(seed=0)
    before = env.get_state()
    for state in (b"", before[:-1], np.zeros(2, GAME.dtype), np.zeros(1, TOY.dtype)):
        with pytest.raises(IceError, match="the state is not one game of kawaii"):
            env.set_state(state)
    with pytest.raises(IceError, match="the state has 4 seats, this table 3"):
        env.set_state(Batch(GAME, 1, num_players=4).states)
    assert env.get_state() == before


def test_renders_the_table():
    env = kawaii_v0.parallel_env(render_mode="ansi")
    env.reset(seed=0)
    assert env.render().startswith("Kawaii   round 1 of 3")

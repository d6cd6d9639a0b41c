"""The PettingZoo face: resets, actions, copies and rendering. Numbers in comments are the rows of the checklist."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest

from ice_envs import Batch, IceError, IllegalAction, find_game
from ice_envs.faces.aec import CardGameEnv, wrapped
from tests.face_helpers import (
    SHORT,
    aec_transcript,
    aec_turns,
    core_mask,
    core_record,
    digest,
    games,
    in_process,
    module,
    plain,
    random_action,
    tables,
)
from tests.toy import PASS, TAKE, TOY

# ---------------------------------------------------------------------------------------------- seeds and resets


@tables
def test_a_reset_in_mid_game_is_a_fresh_start(name: str, num_players: int):  # 19
    fresh = module(name).env(num_players=num_players)
    fresh.reset(seed=5)
    expected = aec_transcript(fresh)
    env = module(name).env(num_players=num_players)
    for moves in (0, 1, 7, 10_000):
        env.reset(seed=6)
        for _, _turn in zip(range(moves), aec_turns(env, np.random.default_rng(0)), strict=False):
            pass
        env.reset(seed=5)
        assert env.agents == env.possible_agents
        assert set(env.rewards.values()) == {0}
        assert aec_transcript(env) == expected


def test_a_reset_between_two_dead_turns_is_a_fresh_start():  # 19
    env, fresh = (module("dokitto").env(**SHORT["dokitto"]) for _ in range(2))
    env.reset(seed=6)
    turns = aec_turns(env, np.random.default_rng(0))
    while not any(env.terminations.values()):
        next(turns)
    env.step(None)
    env.step(None)
    env.reset(seed=5)
    fresh.reset(seed=5)
    assert aec_transcript(env) == aec_transcript(fresh)
    assert env.agent_selection == fresh.agent_selection


@tables
def test_an_illegal_action_loses_and_the_next_game_is_whole(name: str, num_players: int):  # 19, 26
    env = module(name).env(num_players=num_players)
    env.reset(seed=5)
    loser = env.agent_selection
    illegal = int(np.flatnonzero(env.observe(loser)["action_mask"] == 0)[0])
    env.step(illegal)
    assert env.rewards == {agent: -1 if agent == loser else 0 for agent in env.possible_agents}
    told = [(agent, *last[1:4]) for agent, last in aec_turns(env, np.random.default_rng(0))]
    assert sorted(told) == [(agent, -1 if agent == loser else 0, True, True) for agent in env.possible_agents]
    env.reset(seed=5)
    fresh = module(name).env(num_players=num_players)
    fresh.reset(seed=5)
    assert aec_transcript(env) == aec_transcript(fresh)


def test_nothing_offers_an_action_once_an_illegal_one_ended_the_game():
    env = module("dokitto").env()
    env.reset(seed=0)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0]))
    for _, last in aec_turns(env, np.random.default_rng(0)):
        assert not last[0]["action_mask"].any()
        assert not last[4]["action_mask"].any()


def test_one_seed_is_one_game_in_every_process():  # 20
    code = "from tests.face_helpers import digest; print(digest())"
    first, second = in_process(code, PYTHONHASHSEED="1"), in_process(code, PYTHONHASHSEED="2")
    assert (first.stderr, second.stderr) == ("", "")
    assert first.stdout.strip() == second.stdout.strip() == digest()


@games
def test_one_seed_is_one_game_again_and_again(name: str):  # 20
    env, other = module(name).env(), module(name).env()
    env.reset(seed=11)
    first = aec_transcript(env)
    env.reset(seed=11)
    other.reset(seed=11)
    assert first == aec_transcript(env) == aec_transcript(other)
    other.reset(seed=12)
    assert first != aec_transcript(other)


@games
def test_global_random_generators_are_neither_used_nor_heeded(name: str):  # 21
    env = module(name).env()
    env.reset(seed=1)
    expected = aec_transcript(env)
    env.reset(seed=1)
    told, rng = [], np.random.default_rng(0)
    for agent in env.agent_iter():
        random.seed(len(told))
        np.random.seed(len(told))  # noqa: NPY002 – the global generator is what is tested
        before = random.getstate(), np.random.get_state()  # noqa: NPY002
        last = env.last()
        told.append((agent, plain(last), dict(env.rewards)))
        env.step(None if last[2] or last[3] else random_action(last[0]["action_mask"], rng))
        after = random.getstate(), np.random.get_state()  # noqa: NPY002
        assert plain(list(before)) == plain(list(after))
    assert told == expected


@games
def test_resets_without_a_seed_go_on_with_the_stream(name: str):  # 22
    def four_games() -> list[bytes]:
        env, states = module(name).raw_env(), []
        for seed in (3, None, None, None):
            env.reset(seed=seed)
            states.append(env.get_state())
        return states

    states = four_games()
    assert states == four_games()
    assert len(set(states)) == 4


@games
def test_the_first_reset_without_a_seed_takes_entropy(name: str):
    first, second = module(name).raw_env(), module(name).raw_env()
    first.reset()
    second.reset()
    assert first.get_state() != second.get_state()


@tables
def test_a_seed_is_game_0_of_a_batch(name: str, num_players: int):
    env = module(name).raw_env(num_players=num_players)
    env.reset(seed=9)
    assert env.get_state() == Batch(name, 3, seed=9, num_players=num_players).states[:1].tobytes()


def test_reset_options_are_for_one_game():  # 23
    env = module("dokitto").raw_env(stars_per_flavor=2)
    env.reset(seed=0, options={"target_score": 5, "options": 1})
    assert (core_record(env).target_score, core_record(env).stars_per_flavor) == (5, 2)
    env.reset()
    assert core_record(env).target_score == 10
    env.reset(seed=0, options={"stars_per_flavor": 0})
    without = core_record(env).stars.tolist()
    env.reset(seed=0)
    assert core_record(env).stars.tolist() != without
    with pytest.raises(IceError, match="target_score must be from 1"):
        env.reset(options={"target_score": 0})
    with pytest.raises(IceError, match="num_players is set when the environment is made"):
        env.reset(options={"num_players": 3})


# -------------------------------------------------------------------------------------------------------- actions


@games
@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.int8, np.array])
@pytest.mark.parametrize("wrapping", ["env", "raw_env"])
def test_whole_numbers_of_all_kinds_are_actions(name: str, kind: Any, wrapping: str):  # 24
    env = getattr(module(name), wrapping)()
    env.reset(seed=0)
    action = int(env.observe(env.agent_selection)["action_mask"].argmax())
    env.step(kind(action))
    expected = module(name).raw_env()
    expected.reset(seed=0)
    expected.step(action)
    assert env.get_state() == expected.get_state()


@games
@pytest.mark.parametrize("action", [0.0, np.float32(1), np.array(1.0), True, np.True_, None, "0", [0], np.array([0])])
def test_what_is_no_whole_number_is_refused(name: str, action: Any):  # 24
    env = module(name).raw_env()
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(IceError, match="action must be a whole number from 0 to"):
        env.step(action)
    assert env.get_state() == before


@games
@pytest.mark.parametrize("action", [-1, 10_000, 10**30])
def test_what_is_out_of_range_is_refused(name: str, action: int):  # 24
    env = module(name).raw_env()
    env.reset(seed=0)
    with pytest.raises(IceError, match=f"action must be from 0 to {env.game.num_actions - 1}, not {action}"):
        env.step(action)


@games
@pytest.mark.parametrize("action", [0.0, None, -1, 10_000])
def test_the_wrapped_environment_asserts_the_action_space(name: str, action: Any):  # 24
    env = module(name).env()
    env.reset(seed=0)
    with pytest.raises(AssertionError, match="action is not in action space"):
        env.step(action)


@tables
def test_an_illegal_action_is_named_and_changes_nothing(name: str, num_players: int):  # 25
    env = module(name).raw_env(num_players=num_players)
    env.reset(seed=2)
    rng, refused = np.random.default_rng(2), 0
    while not any(env.terminations.values()):
        mask = core_mask(env)
        before = env.get_state(), dict(env.rewards), plain(env.infos), env.agent_selection
        for action in rng.choice(np.flatnonzero(mask == 0), 3):
            with pytest.raises(IllegalAction) as caught:
                env.step(action)
            assert env.game.labels[action] in str(caught.value)
            assert all(env.game.labels[legal] in str(caught.value) for legal in np.flatnonzero(mask))
            assert (env.get_state(), dict(env.rewards), plain(env.infos), env.agent_selection) == before
            refused += 1
        env.step(random_action(mask, rng))
    assert refused > 30


def test_a_dead_agent_takes_only_none():
    env = module("dokitto").raw_env(**SHORT["dokitto"])
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    while not any(env.terminations.values()):
        env.step(random_action(core_mask(env), rng))
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(0)


# --------------------------------------------------------------------------------------------------------- copies


def in_mid_game(env: Any, moves: int = 9) -> Any:
    env.reset(seed=8)
    rng = np.random.default_rng(1)
    for _ in range(moves):
        env.step(random_action(env.last()[0]["action_mask"], rng))
    return env


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("wrapping", ["env", "raw_env"])
@tables
def test_copies_go_on_from_the_middle(name: str, num_players: int, wrapping: str, duplicate: Any):  # 35
    env = in_mid_game(getattr(module(name), wrapping)(num_players=num_players, reward="score"))
    twin, third = duplicate(env), duplicate(env)
    expected = aec_transcript(env, 2)
    assert aec_transcript(twin, 2) == expected
    assert aec_transcript(third, 3) != expected
    env.reset()
    twin.reset()
    assert env.get_state() == twin.get_state()


@tables
def test_states_come_back(name: str, num_players: int):  # 35
    env = in_mid_game(module(name).env(num_players=num_players))
    saved = env.get_state()
    expected = aec_transcript(env, 2)
    env.set_state(saved)
    assert env.agents == env.possible_agents
    assert aec_transcript(env, 2) == expected
    other = module(name).env(num_players=num_players)
    other.reset(seed=77)
    other.last()
    other.set_state(np.frombuffer(saved, find_game(name).dtype)[0])
    assert aec_transcript(other, 2) == expected


def test_a_state_after_an_illegal_end_is_judged_anew():
    env = module("dokitto").env()
    env.reset(seed=0)
    before = env.get_state()
    legal = int(env.last()[0]["action_mask"].argmax())
    env.step(int(env.last()[0]["action_mask"].argmin()))
    assert all(env.terminations.values())
    env.set_state(before)
    env.step(legal)
    assert not any(env.terminations.values())


def test_a_state_of_a_batch_can_be_looked_at():
    batch = Batch("dokitto", 5, seed=1, num_players=4)
    env = module("dokitto").raw_env()
    env.set_state(batch.states[3])
    assert env.get_state() == batch.states[3:4].tobytes()
    assert (env.observe(env.agent_selection)["observation"] == batch.observe()[0][3]).all()
    batch.states["over"] = 1
    env.set_state(batch.states[2:3])
    assert all(env.terminations.values())


def test_states_that_do_not_fit_are_refused():
    env = module("dokitto").raw_env()
    env.reset(seed=0)
    for state in (b"", env.get_state()[:-1], np.zeros(2, env.game.dtype), np.zeros(1, TOY.dtype)):
        with pytest.raises(IceError, match="is not one game of dokitto"):
            env.set_state(state)
    with pytest.raises(IceError, match="the state has 2 seats, this table 4"):
        env.set_state(Batch("dokitto", 1, num_players=2).states)


# ------------------------------------------------------------------------------------------------ rendering, closing


def test_text_shows_the_table_of_the_agent_to_move():  # 36
    env = wrapped(CardGameEnv(TOY, 2, render_mode="ansi"))
    env.reset(seed=0)
    assert env.render() == "seat 0 sees 0 points after 0 decisions"
    env.step(TAKE)
    assert env.render() == "seat 1 sees 0 points after 1 decisions"
    env.step(PASS)
    assert env.render() == "seat 0 sees 1 points after 2 decisions"


def test_human_mode_prints_after_every_move(capsys: pytest.CaptureFixture[str]):
    env = CardGameEnv(TOY, 2, render_mode="human")
    env.reset(seed=0)
    env.step(TAKE)
    expected = "seat 0 sees 0 points after 0 decisions\nseat 1 sees 0 points after 1 decisions\n"
    assert capsys.readouterr().out == expected
    assert env.render() is None


def test_render_without_a_mode_says_so():
    env = CardGameEnv(TOY, 2)
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="make the environment with render_mode="):
        assert env.render() is None


@games
def test_text_needs_no_display(name: str):  # 36
    code = f"from ice_envs import {name}_v0; e = {name}_v0.env(render_mode='ansi'); e.reset(seed=0); print(e.render())"
    result = in_process(code, SDL_VIDEODRIVER="")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


@games
def test_closing_is_always_allowed(name: str):  # 37
    for wrapping in ("env", "raw_env"):
        env = getattr(module(name), wrapping)()
        env.close()
        env.reset(seed=0)
        env.close()
        env.close()

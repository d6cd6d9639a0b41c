"""The vector face of Gymnasium. Numbers in comments are the rows of the checklist for a native package."""

from __future__ import annotations

import copy
import re
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from ice_envs import Batch, IceError, IllegalAction
from ice_envs.faces.gymnasium import SingleSeatEnv, SingleSeatVectorEnv
from tests.face_helpers import (
    EPISODE_STEPS,
    SHORT,
    Lowest,
    games,
    gym_id,
    plain,
    random_action,
    tables,
    vector_transcript,
)
from tests.toy import NEVER, PASS, TAKE, TOY


class GameOfSeed(gymnasium.Wrapper):
    """A single environment that takes a vector environment's seed and plays its game `i`."""

    def __init__(self, env: Any, game: int) -> None:
        super().__init__(env)
        self.options = {"game": game}

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return self.env.reset(seed=seed, options=None if seed is None else self.options)


def same_games_one_by_one(num_envs: int, **arguments: Any) -> SyncVectorEnv:
    """Return Gymnasium's own vector environment over single environments that play the games of one seed."""
    makers = [lambda i=i: GameOfSeed(SingleSeatEnv(**arguments), i) for i in range(num_envs)]
    return SyncVectorEnv(makers, autoreset_mode=AutoresetMode.SAME_STEP)


@tables
def test_a_vector_of_games_equals_as_many_single_games(name: str, num_players: int):  # 32
    for reward in ("win", "score", "margin"):
        arguments = {"game": name, "num_players": num_players, "opponents": "greedy", "reward": reward, **SHORT[name]}
        env, single = SingleSeatVectorEnv(num_envs=64, **arguments), same_games_one_by_one(64, **arguments)
        told = vector_transcript(env, env.reset(seed=5), EPISODE_STEPS[name])
        assert told == vector_transcript(single, single.reset(seed=[5] * 64), EPISODE_STEPS[name])
        ends = sum(sum(step[4].get("_final_obs", ("", (), b""))[2]) for step in told[1:])
        assert ends >= 64  # every game has ended and begun anew about once


def test_illegal_actions_in_a_vector_equal_those_of_single_games():  # 26, 32
    arguments = {"game": "dokitto", "opponents": "greedy", **SHORT["dokitto"]}
    env, single = SingleSeatVectorEnv(num_envs=16, **arguments), same_games_one_by_one(16, **arguments)
    env.reset(seed=1)
    single.reset(seed=[1] * 16)
    rng, illegal = np.random.default_rng(0), 0
    for _ in range(30):
        actions = rng.integers(70, size=16)
        told = env.step(actions)
        assert plain(told) == plain(single.step(actions))
        illegal += told[4].get("final_info", {}).get("_illegal_action", np.zeros(1)).sum()
    assert illegal > 300


def test_games_do_not_depend_on_how_many_there_are():  # 32
    few, many = (SingleSeatVectorEnv("dokitto", num, opponents="greedy") for num in (3, 40))
    assert (few.reset(seed=4)[0] == many.reset(seed=4)[0][:3]).all()


def test_drawing_opponents_follow_the_seed():  # 20
    env, other = (SingleSeatVectorEnv("dokitto", 8, opponents="random", **SHORT["dokitto"]) for _ in range(2))
    expected = vector_transcript(env, env.reset(seed=5), 40)
    assert vector_transcript(other, other.reset(seed=5), 40) == expected
    assert vector_transcript(env, env.reset(seed=5), 40) == expected
    assert vector_transcript(env, env.reset(seed=6), 40) != expected


@games
def test_gymnasium_makes_the_vector(name: str):  # 30
    env = gymnasium.make_vec(gym_id(name), num_envs=64, opponents="random", **SHORT[name])
    assert isinstance(env.unwrapped, SingleSeatVectorEnv)
    assert isinstance(env.metadata["autoreset_mode"], AutoresetMode)
    recorded = RecordEpisodeStatistics(env)
    _, infos = recorded.reset(seed=0)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(1000):
        if ends > 64:
            break
        observation, reward, terminated, truncated, infos = recorded.step(
            [random_action(mask, rng) for mask in infos["action_mask"]]
        )
        assert env.observation_space.contains(observation)
        assert (reward.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
        assert (env.unwrapped.action_masks() == infos["action_mask"]).all()
        ends += (terminated | truncated).sum()
        assert ("episode" in infos) == (terminated | truncated).any()
    assert recorded.episode_count == ends > 64


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED, "SameStep"])
def test_other_autoreset_modes_are_refused(mode: Any):  # 31
    with pytest.raises(IceError, match=re.escape("use AutoresetMode.SAME_STEP")):
        SingleSeatVectorEnv("dokitto", 2, autoreset_mode=mode)
    with pytest.raises(IceError, match="reset_mask is for"):
        SingleSeatVectorEnv("dokitto", 2).reset(options={"reset_mask": np.array([True, False])})


def test_six_steps_written_out():  # 31
    env = SingleSeatVectorEnv(TOY, 3, num_players=2, seat=0, opponents="greedy", reward="score")
    observation, _ = env.reset(seed=0)
    assert observation[:, 0].tolist() == [0, 0, 0]
    steps = [
        # actions           decisions, own points     reward     terminated  decisions of final_obs
        ([TAKE, PASS, NEVER], [2, 2, 0], [1, 0, 0], [1, 0, -1], [0, 0, 1], [None, None, 0]),
        ([TAKE, PASS, TAKE], [0, 0, 2], [0, 0, 1], [1, 0, 1], [1, 1, 0], [4, 4, None]),
        ([TAKE, TAKE, TAKE], [2, 2, 0], [1, 1, 0], [1, 1, 1], [0, 0, 1], [None, None, 4]),
        ([PASS, NEVER, PASS], [0, 0, 2], [0, 0, 0], [0, -1, 0], [1, 1, 0], [4, 2, None]),
        ([PASS, PASS, NEVER], [2, 2, 0], [0, 0, 0], [0, 0, -1], [0, 0, 1], [None, None, 2]),
        ([NEVER, TAKE, TAKE], [0, 0, 2], [0, 0, 1], [-1, 1, 1], [1, 1, 0], [2, 4, None]),
    ]
    for actions, decisions, points, reward, terminated, final in steps:
        observation, told_reward, told_terminated, truncated, infos = env.step(actions)
        assert observation[:, :2].T.tolist() == [decisions, points]
        assert told_reward.tolist() == reward
        assert told_terminated.tolist() == list(map(bool, terminated))
        assert not truncated.any()
        assert infos["action_mask"].tolist() == [[1, 1, 0]] * 3
        assert [None if last is None else last[0] for last in infos["final_obs"]] == final
        assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == list(map(bool, terminated))
        over = [decisions == 4 for decisions in final]
        assert infos["final_info"].get("_scores", np.zeros(3, bool)).tolist() == over


def test_what_an_end_tells_written_out():  # 31
    env = SingleSeatVectorEnv(TOY, 2, num_players=2, seat=1, opponents="greedy", cut=True)
    env.reset(seed=0)
    env.step([PASS, TAKE])
    _, reward, terminated, truncated, infos = env.step([TAKE, TAKE])
    assert (terminated.tolist(), truncated.tolist()) == ([False, False], [True, True])
    assert reward.tolist() == [-1.0, 0.0]
    final = infos["final_info"]
    assert final["scores"].tolist() == [[1, 2], [2, 2]]
    assert final["win_shares"].tolist() == [[0, 1], [0.5, 0.5]]
    assert final["seat"].tolist() == [1, 1]
    assert not final["action_mask"].any()
    assert "illegal_action" not in final


def test_a_game_that_ends_before_the_learners_first_turn_is_no_episode():
    env = SingleSeatVectorEnv(TOY, 40, num_players=3, opponents="greedy", length=1)
    assert env.reset(seed=0)[1]["seat"].tolist() == [0] * 40


def test_points_from_before_the_first_turn_come_with_the_first_reward():
    env = SingleSeatEnv(TOY, 2, seat=1, opponents="greedy", reward="margin")
    env.reset(seed=0)
    assert env.step(TAKE)[1] == -1 + 1 - 1
    env.reset()
    env.reset()
    assert env.step(TAKE)[1] == -1 + 1 - 1


def test_adjacent_seeds_share_no_deal():  # 33
    deals = []
    for seed in (0, 1):
        env = SingleSeatVectorEnv("dokitto", 1024, opponents="greedy")
        env.reset(seed=seed)
        states = env._games.states
        deals += [hands.tobytes() for hands in states["hands"] + states["played"][:, None]]
    assert len(set(deals)) == 2048
    assert (Batch("dokitto", 1024, seed=0, num_players=4).states["rng"] == env_seeds(0)).all()


def env_seeds(seed: int) -> Any:
    env = SingleSeatVectorEnv("dokitto", 1024, opponents="greedy")
    env.reset(seed=seed)
    return env._games.states["rng"]


def test_what_is_handed_out_stays_as_it_was():  # 15, 34
    env = SingleSeatVectorEnv("dokitto", 32, opponents="random", **SHORT["dokitto"])
    told = [env.reset(seed=0)]
    copies = [copy.deepcopy(told[0])]
    rng = np.random.default_rng(0)
    for _ in range(30):
        told.append(env.step([random_action(mask, rng) for mask in told[-1][-1]["action_mask"]]))
        copies.append(copy.deepcopy(told[-1]))
    assert plain(told) == plain(copies)
    told[-1][0][:] = 0
    told[-1][-1]["action_mask"][:] = 0
    assert env.action_masks().any(axis=1).all()


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([0], "actions must be 2 whole numbers, not int64 of shape (1,)"),
        ([0.0, 1.0], "actions must be 2 whole numbers, not float64"),
        ([True, False], "actions must be 2 whole numbers, not bool"),
        ([0, 70], "action must be from 0 to 69, not 70"),
        ([-1, 0], "action must be from 0 to 69, not -1"),
    ],
)
def test_bad_actions_are_named(actions: Any, words: str):  # 24
    env = SingleSeatVectorEnv("dokitto", 2, opponents="random")
    env.reset(seed=0)
    before = env._games.states.tobytes()
    with pytest.raises(IceError, match=re.escape(words)):
        env.step(actions)
    assert env._games.states.tobytes() == before


def test_an_illegal_action_can_be_refused_and_no_game_moves():  # 25
    env = SingleSeatVectorEnv("dokitto", 3, opponents="random", illegal="raise")
    _, infos = env.reset(seed=0)
    actions = infos["action_mask"].argmax(axis=1)
    actions[1] = infos["action_mask"][1].argmin()
    before = env._games.states.tobytes()
    with pytest.raises(IllegalAction, match=re.escape(f"game 1: {env._games.game.labels[actions[1]]!r}")):
        env.step(actions)
    assert env._games.states.tobytes() == before


def test_an_opponent_that_breaks_the_rules_is_named():
    class Cheat(Lowest):
        def choose(self, states: Any) -> Any:
            return np.full(len(states), NEVER)

    with pytest.raises(IllegalAction, match="agent 'lowest' chose an illegal action: 'never'"):
        SingleSeatEnv(TOY, 2, seat=1, opponents=Cheat(3)).reset(seed=0)

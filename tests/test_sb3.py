"""The face of Stable-Baselines3. Numbers in comments are the rows of the checklist for a native package."""

from __future__ import annotations

import pickle
import random
import re
from typing import Any

import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor

from ice_envs import IceError, IllegalAction, find_game
from ice_envs.faces.gymnasium import SingleSeatEnv, SingleSeatVectorEnv
from ice_envs.faces.sb3 import SB3VecEnv
from tests.face_helpers import CUT, EPISODE_STEPS, SHORT, cut_tables, games, in_process, plain, random_action, tables
from tests.toy import NEVER, PASS, TAKE, TOY


class MasksUsed(BaseCallback):
    """Sees every action of the rollouts, and the mask under which it was chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen = 0

    def _on_step(self) -> bool:
        masks = self.locals["action_masks"]
        actions = self.locals["actions"]
        assert masks[np.arange(len(actions)), actions].all()
        assert not masks.all(axis=1).any()
        assert not any("illegal_action" in info for info in self.locals["infos"])
        self.chosen += len(actions)
        return True


@games
@pytest.mark.parametrize("single", [True, False])
def test_maskable_ppo_trains_with_masks(name: str, single: bool):  # 29
    env: Any = SingleSeatEnv(name, opponents="random") if single else SB3VecEnv(name, 32, opponents="random")
    steps, rollout = (256, 256) if single else (2048, 64)
    model = MaskablePPO("MlpPolicy", env, n_steps=rollout, batch_size=256, n_epochs=1, seed=0)
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    seen = MasksUsed()
    model.learn(steps, callback=seen)
    assert seen.chosen == steps
    assert any((old != new).any() for old, new in zip(before, model.policy.parameters(), strict=True))


@tables
def test_it_plays_the_games_of_the_vector_environment(name: str, num_players: int):  # 32
    arguments = {"num_players": num_players, "opponents": "greedy", "reward": "score", **SHORT[name]}
    env, vector = SB3VecEnv(name, 8, seed=3, **arguments), SingleSeatVectorEnv(name, 8, **arguments)
    observation, (expected, infos) = env.reset(), vector.reset(seed=3)
    assert (observation == expected).all()
    assert [info["seat"] for info in env.reset_infos] == infos["seat"].tolist()
    rng, ends = np.random.default_rng(0), 0
    for _ in range(2 * EPISODE_STEPS[name]):
        assert (np.stack(env.env_method("action_masks")) == infos["action_mask"]).all()
        actions = np.array([random_action(mask, rng) for mask in infos["action_mask"]])
        observation, reward, done, told = env.step(actions)
        expected, expected_reward, terminated, truncated, infos = vector.step(actions)
        assert plain(observation) == plain(expected)
        assert (reward.dtype, done.dtype) == (np.float32, np.bool_)
        assert reward.tolist() == expected_reward.tolist()
        assert done.tolist() == (terminated | truncated).tolist()
        for row in np.flatnonzero(done):
            assert plain(told[row].pop("terminal_observation")) == plain(infos["final_obs"][row])
            assert told[row].pop("TimeLimit.truncated") is False
            for key, value in told[row].items():
                assert plain(np.asarray(value)) == plain(np.asarray(infos["final_info"][key][row]))
            ends += 1
        assert [told[row] for row in np.flatnonzero(~done)] == [{}] * (~done).sum()
    assert ends >= 8


def test_six_steps_written_out():  # 31
    env = SB3VecEnv(TOY, 2, num_players=2, seat=0, opponents="greedy", reward="score", seed=0)
    assert env.reset()[:, 0].tolist() == [0, 0]
    steps = [
        # actions        decisions  reward   done           decisions of terminal_observation
        ([TAKE, PASS], [2, 2], [1, 0], [False, False], [None, None]),
        ([TAKE, NEVER], [0, 0], [1, -1], [True, True], [4, 2]),
        ([PASS, TAKE], [2, 2], [0, 1], [False, False], [None, None]),
        ([NEVER, TAKE], [0, 0], [-1, 1], [True, True], [2, 4]),
        ([NEVER, TAKE], [0, 2], [-1, 1], [True, False], [0, None]),
        ([TAKE, PASS], [2, 0], [1, 0], [False, True], [None, 4]),
    ]
    for actions, decisions, reward, done, final in steps:
        observation, told_reward, told_done, infos = env.step(np.array(actions))
        assert observation[:, 0].tolist() == decisions
        assert told_reward.tolist() == reward
        assert told_done.tolist() == done
        assert [info["terminal_observation"][0] if info else None for info in infos] == final
        assert [info.get("illegal_action") for info in infos] == [
            NEVER if action == NEVER else None for action in actions
        ]


@cut_tables
def test_a_game_cut_short_is_a_time_limit(name: str, num_players: int):
    env = SB3VecEnv(name, 4, num_players=num_players, opponents="random", seed=0, **CUT[name])
    env.reset()
    rng, ends = np.random.default_rng(0), 0
    for _ in range(60):
        actions = np.array([random_action(mask, rng) for mask in env.env_method("action_masks")])
        for info in env.step(actions)[3]:
            ends += info.get("TimeLimit.truncated", False)
            assert not info or info["TimeLimit.truncated"] is True
    assert ends >= 4


def test_attributes_and_methods():
    env = SB3VecEnv("dokitto", 5, opponents="random")
    env.reset()
    assert is_masking_supported(env)
    assert is_masking_supported(VecMonitor(env))
    masks = get_action_masks(env)
    assert (masks.shape, masks.dtype) == ((5, 70), np.bool_)
    assert [method().tolist() for method in env.get_attr("action_masks")] == masks.tolist()
    assert (np.stack(env.env_method("action_masks", indices=[3, 1])) == masks[[3, 1]]).all()
    assert (env.env_method("action_masks", indices=2)[0] == masks[2]).all()
    assert env.get_attr("render_mode") == [None] * 5
    assert env.get_attr("game", indices=0) == ["dokitto"]
    assert not env.has_attr("no_such_thing")
    with pytest.raises(AttributeError, match="no attribute 'no_such_thing'"):
        env.get_attr("no_such_thing")
    with pytest.raises(AttributeError, match="no method 'render'"):
        env.env_method("render")
    with pytest.raises(AttributeError, match="no attribute 'game' to set"):
        env.set_attr("game", "other")
    assert env.env_is_wrapped(TimeLimit) == [False] * 5
    env.close()
    env.close()


def test_seeds():  # 20, 21, 22
    env = SB3VecEnv("dokitto", 6, opponents="random", seed=1)
    random.seed(0)
    first, second = env.reset().tolist(), env.reset().tolist()
    assert first != second
    assert env.seed(1) == [1] * 6
    random.seed(1)
    np.random.seed(5)  # noqa: NPY002 – the global generator must not matter
    assert (env.reset().tolist(), env.reset().tolist()) == (first, second)
    before = np.random.get_state()  # noqa: NPY002
    seeds = env.seed()
    assert plain(list(before)) == plain(list(np.random.get_state()))  # noqa: NPY002
    assert len(set(seeds)) == 1
    assert env.reset().tolist() not in (first, second)
    assert SB3VecEnv("dokitto", 6, opponents="random").reset().tolist() != first


def test_options_of_a_reset():  # 23
    env = SB3VecEnv("dokitto", 2, opponents="random")
    env.set_options({"target_score": 5, "unknown": 1})
    env.reset()
    assert env._games.states["target_score"].tolist() == [5, 5]
    env.reset()
    assert env._games.states["target_score"].tolist() == [10, 10]
    env.set_options([{"target_score": 5}, {}])
    with pytest.raises(IceError, match=re.escape("give set_options() one dictionary")):
        env.reset()


def test_what_is_handed_out_stays_as_it_was():  # 34
    env = SB3VecEnv("dokitto", 8, opponents="random", seed=0, **SHORT["dokitto"])
    told: list[Any] = [env.reset()]
    copies = [plain(told[0])]
    rng = np.random.default_rng(0)
    for _ in range(25):
        masks = env.env_method("action_masks")
        told += [masks, env.step(np.array([random_action(mask, rng) for mask in masks]))]
        copies += [plain(told[-2]), plain(told[-1])]
    assert plain(told) == copies


def test_copies_go_on_from_the_middle():  # 35
    env = SB3VecEnv("dokitto", 4, opponents="random", seed=0, **SHORT["dokitto"])
    env.reset()
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(25):
        actions = np.array([mask.argmax() for mask in env.env_method("action_masks")])
        assert plain(env.step(actions)) == plain(twin.step(actions))


def test_bad_input_is_named():  # 24, 25
    with pytest.raises(IceError, match="did you mean 'num_envs'"):
        SB3VecEnv("dokitto", num_env=3)
    env = SB3VecEnv("dokitto", 2, opponents="random", illegal="raise")
    env.reset()
    with pytest.raises(IceError, match="actions must be 2 whole numbers, not float64"):
        env.step(np.array([0.0, 0.0]))
    actions = np.array([mask.argmin() for mask in env.env_method("action_masks")])
    with pytest.raises(IllegalAction, match=re.escape(repr(find_game("dokitto").labels[actions[0]]))):
        env.step(actions)


def test_without_stable_baselines_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['stable_baselines3'] = None\n"
        "try:\n    import ice_envs.faces.sb3\n"
        "except Exception as error:\n    print(type(error).__name__, error)"
    )
    result = in_process(code)
    assert result.stderr == ""
    assert result.stdout == 'IceError SB3VecEnv needs Stable-Baselines3: pip install "ice_envs[train]"\n'

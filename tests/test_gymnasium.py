"""The Gymnasium faces. Numbers in comments are the rows of the checklist for a native package."""

from __future__ import annotations

import copy
import pickle
import random
import re
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_for_sb3

from ice_envs import IceError, IllegalAction, find_game
from ice_envs.agents import RandomAgent
from ice_envs.faces.gymnasium import SingleSeatEnv, SingleSeatVectorEnv
from ice_envs.games import NAMES
from tests.face_helpers import (
    CUT,
    SHORT,
    Lowest,
    cut_tables,
    games,
    gym_id,
    gym_transcript,
    in_process,
    plain,
    random_action,
    tables,
    vector_transcript,
)
from tests.helpers import masks, observations
from tests.toy import PASS, TAKE, TOY


def play_out(env: Any, seed: int | None = None) -> list[tuple[Any, ...]]:
    """Return what every step of one random episode told, the reset first."""
    observation, info = env.reset(seed=seed)
    told, rng = [(observation, 0.0, False, False, info)], np.random.default_rng(seed)
    while not (told[-1][2] or told[-1][3]):
        told.append(env.step(random_action(told[-1][4]["action_mask"], rng)))
    return told


# ---------------------------------------------------------------------------------------------- identity and creation


def test_importing_the_package_is_light_and_registers_everything():  # 1, 2
    code = "import sys, ice_envs; print({'torch', 'stable_baselines3', 'pygame', 'matplotlib'} & set(sys.modules))"
    result = in_process(code)
    assert (result.stdout, result.stderr) == ("set()\n", "")


@games
def test_gymnasiums_import_syntax_makes_the_environment(name: str):  # 2
    code = f"import gymnasium as g; print(g.make('ice_envs:{gym_id(name)}', opponents='random').reset(seed=0)[0].shape)"
    result = in_process(code)
    assert (result.stdout, result.stderr) == (f"({find_game(name).layout.size},)\n", "")


@games
def test_ids_carry_the_version(name: str):  # 6
    assert gymnasium.spec(gym_id(name)).version == find_game(name).version
    assert sorted(key for key in gymnasium.registry if key.startswith("ice_envs/")) == sorted(map(gym_id, NAMES))


@tables
def test_gymnasiums_checker_is_content(name: str, num_players: int):  # 27: warnings are errors here
    for opponents in ("random", "greedy"):
        check_env(gymnasium.make(gym_id(name), num_players=num_players, opponents=opponents).unwrapped)


@tables
def test_stable_baselines_checker_is_content(name: str, num_players: int):  # 28: warnings are errors here
    for opponents in ("random", "greedy"):
        check_env_for_sb3(gymnasium.make(gym_id(name), num_players=num_players, opponents=opponents).unwrapped)


def test_checkers_are_content_with_a_small_game():
    check_env_for_sb3(SingleSeatEnv(TOY, 2))


@pytest.mark.parametrize("face", [SingleSeatEnv, SingleSeatVectorEnv])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"game": "dokito"}, "did you mean 'dokitto'"),
        ({"num_players": 7}, "2 to 5 seats"),
        ({"seat": 4}, "seat, if not 'random', must be from 0 to 3, not 4"),
        ({"seat": "randm"}, "seat, if not 'random', must be a whole number from 0 to 3"),
        ({"illegal": "lost"}, "did you mean 'lose'"),
        ({"reward": "points"}, "valid: win, score, margin"),
        ({"opponent": "greedy"}, "did you mean 'opponents'"),
        ({"opponents": "greddy"}, "greddy"),
        ({"opponents": ["greedy", "random"]}, "a table of 4 has 3 opponents, not 2"),
        ({"opponents": 3}, "an opponent is an agent's spec"),
        ({"opponents": [None] * 3}, "an opponent is an agent's spec"),
        ({"opponents": RandomAgent(TOY)}, "opponent 'random' plays toy, not dokitto"),
        ({"target_score": 99}, "target_score must be from 1"),
        ({"render_mode": "rgb_array"}, "rgb_array"),
    ],
)
def test_bad_arguments_are_named(face: Any, arguments: dict[str, Any], words: str):
    with pytest.raises(IceError, match=re.escape(words)):
        face(**{"game": "dokitto", **arguments})


# --------------------------------------------------------------------------------------------------- one environment


@tables
def test_an_episode_is_in_order(name: str, num_players: int):  # 8, 9, 11, 13, 15
    game = find_game(name)
    env = SingleSeatEnv(name, num_players, opponents="random", reward="score", **SHORT[name])
    for seed in range(40):
        told = play_out(env, seed)
        for observation, reward, terminated, truncated, info in told:
            assert env.observation_space.contains(observation)
            assert observation.dtype == np.uint8
            assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)
            assert info["action_mask"].dtype == np.int8
            assert info["action_mask"].any() == (not terminated)
        assert len({id(info["action_mask"]) for *_, info in told}) == len(told)
        assert not any(np.shares_memory(told[-1][0], earlier[0]) for earlier in told[:-1])
        final, info = env._games.states[0], told[-1][4]
        points, shares = np.zeros((2, num_players))
        game.rules.score(final, points)
        game.rules.win_share(final, shares)
        assert info["scores"].tolist() == np.roll(points, -info["seat"]).tolist()
        assert info["win_shares"].tolist() == np.roll(shares, -info["seat"]).tolist()
        assert sum(reward for _, reward, *_ in told) == info["scores"][0]


@tables
def test_masks_and_observations_are_those_of_the_rules(name: str, num_players: int):  # 10, 11
    game = find_game(name)
    env = SingleSeatEnv(name, num_players, opponents="random", **SHORT[name])
    rng = np.random.default_rng(0)
    for seed in range(40):
        observation, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            states = env._games.states
            mask = masks(game, states)[0]
            assert states[0].to_move == info["seat"]
            assert (observation == observations(game, states, [info["seat"]])[0]).all()
            assert (mask == info["action_mask"]).all()
            assert env.action_masks().dtype == np.bool_
            assert (mask == env.action_masks()).all()
            assert mask[env.action_space.sample(info["action_mask"])]
            observation, _, terminated, _, info = env.step(random_action(mask, rng))
        assert not env.action_masks().any()


def test_win_rewards_follow_the_win_shares():
    env = SingleSeatEnv("dokitto", 4, opponents="random", **SHORT["dokitto"])
    for seed in range(30):
        told = play_out(env, seed)
        assert [reward for _, reward, *_ in told[:-1]] == [0.0] * (len(told) - 1)
        assert told[-1][1] == (4 * told[-1][4]["win_shares"][0] - 1) / 3


@cut_tables
def test_a_game_cut_short_is_truncated_and_not_terminated(name: str, num_players: int):
    told = play_out(SingleSeatEnv(name, num_players, opponents="random", **CUT[name]), 0)
    assert told[-1][2:4] == (False, True)
    assert "scores" in told[-1][4]


def test_the_seat_is_drawn_for_every_episode():
    env = SingleSeatEnv(TOY, 3)
    seats = [env.reset(seed=0)[1]["seat"]] + [env.reset()[1]["seat"] for _ in range(299)]
    assert np.bincount(seats, minlength=3).min() > 70
    assert seats == [env.reset(seed=0)[1]["seat"]] + [env.reset()[1]["seat"] for _ in range(299)]
    assert {SingleSeatEnv(TOY, 3, seat=2).reset(seed=seed)[1]["seat"] for seed in range(20)} == {2}


def test_a_list_of_opponents_sits_clockwise_from_the_learner():
    left, right = Lowest(3), Lowest(3)
    env = SingleSeatEnv(TOY, 3, seat=1, opponents=[left, right], length=9)
    env.reset(seed=0)
    env.step(PASS)
    env.step(PASS)
    assert np.concatenate(left.asked).tolist() == [2, 2]
    assert np.concatenate(right.asked).tolist() == [0, 0, 0]


def test_an_illegal_action_ends_the_episode_with_a_loss():  # 19, 26
    env = SingleSeatEnv("dokitto", opponents="random", reward="score")
    expected = plain(play_out(env, 1))
    for seed in range(20):
        observation, info = env.reset(seed=seed)
        illegal = int(np.flatnonzero(info["action_mask"] == 0)[seed])
        last, reward, terminated, truncated, info = env.step(illegal)
        assert (reward, terminated, truncated) == (-1.0, True, False)
        assert info["illegal_action"] == illegal
        assert "scores" not in info
        assert not info["action_mask"].any()
        assert not env.action_masks().any()
        assert (last == observation).all()
        with pytest.raises(IceError, match=re.escape("call reset() first")):
            env.step(0)
    assert plain(play_out(env, 1)) == expected


def test_an_illegal_action_can_be_refused():  # 25
    env = SingleSeatEnv("dokitto", opponents="random", illegal="raise")
    _, info = env.reset(seed=0)
    before, told = env._games.states.tobytes(), info["action_mask"].copy()
    illegal = int(np.flatnonzero(told == 0)[0])
    with pytest.raises(
        IllegalAction, match=re.escape(f"{env._games.game.labels[illegal]!r} ({illegal}) is illegal for")
    ):
        env.step(illegal)
    assert env._games.states.tobytes() == before
    assert (env.action_masks() == told).all()
    assert env.step(int(told.argmax()))[2:4] == (False, False)


@pytest.mark.parametrize("illegal", ["lose", "raise"])
@pytest.mark.parametrize("action", [1.0, True, None, -1, 70, [0], np.array([0])])
def test_what_is_no_action_is_refused(illegal: str, action: Any):  # 24
    env = SingleSeatEnv("dokitto", opponents="random", illegal=illegal)
    env.reset(seed=0)
    with pytest.raises(IceError, match="action must be"):
        env.step(action)


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.array])
def test_whole_numbers_of_all_kinds_are_actions(kind: Any):  # 24
    env = SingleSeatEnv(TOY, 2, seat=0)
    env.reset(seed=0)
    assert env.step(kind(TAKE))[4]["seat"] == 0
    assert env._games.states["points"][0].tolist() == [1, 1, 0]


def test_stepping_before_a_reset_is_refused():
    with pytest.raises(IceError, match=re.escape("call reset() first")):
        SingleSeatEnv("dokitto").step(0)
    with pytest.raises(IceError, match=re.escape("call reset() first")):
        SingleSeatVectorEnv("dokitto", 2).step([0, 0])


@games
def test_one_seed_is_one_game(name: str):  # 20, 22
    def transcript(seed: int) -> list[Any]:
        env = SingleSeatEnv(name, opponents="random", **SHORT[name])
        return gym_transcript(env, env.reset(seed=seed), 60)

    assert transcript(1) == transcript(1)
    assert transcript(1) != transcript(2)
    env = SingleSeatEnv(name, opponents="random")
    starts = [plain(env.reset(seed=seed)) for seed in (3, None, None, None)]
    assert len({repr(start) for start in starts}) == 4
    assert starts == [plain(env.reset(seed=seed)) for seed in (3, None, None, None)]


def test_the_first_reset_without_a_seed_takes_entropy_and_says_which():
    first, second = SingleSeatEnv("dokitto", opponents="random"), SingleSeatEnv("dokitto", opponents="random")
    told = plain(first.reset())
    assert told != plain(second.reset())
    assert told == plain(second.reset(seed=first.np_random_seed))


def test_global_random_generators_are_neither_used_nor_heeded():  # 21
    env = SingleSeatEnv("dokitto", opponents="random")
    expected = plain(play_out(env, 1))
    observation, info = env.reset(seed=1)
    told, rng = [(observation, 0.0, False, False, info)], np.random.default_rng(1)
    while not told[-1][2]:
        random.seed(len(told))
        np.random.seed(len(told))  # noqa: NPY002 – the global generator is what is tested
        before = random.getstate(), np.random.get_state()  # noqa: NPY002
        told.append(env.step(random_action(told[-1][4]["action_mask"], rng)))
        assert plain(list(before)) == plain([random.getstate(), np.random.get_state()])  # noqa: NPY002
    assert plain(told) == expected


def test_reset_options():  # 23
    env = SingleSeatEnv("dokitto", opponents="random")
    env.reset(seed=0, options={"target_score": 5, "options": 1})
    assert env._games.states[0].target_score == 5
    env.reset(seed=0)
    assert env._games.states[0].target_score == 10
    for options, words in (
        ({"target_score": 0}, "target_score must be from 1"),
        ({"num_players": 3}, "num_players is set when"),
        ({"game": -1}, "options['game'] must be from 0"),
        ({"game": 1}, "give reset() the seed too"),
    ):
        with pytest.raises(IceError, match=re.escape(words)):
            env.reset(options=options)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@tables
def test_copies_go_on_from_the_middle(name: str, num_players: int, duplicate: Any):  # 35
    env = SingleSeatEnv(name, num_players, opponents="random", reward="score")
    _, info = env.reset(seed=0)
    start = env.step(int(info["action_mask"].argmax()))
    twin = duplicate(env)
    assert gym_transcript(env, (start[0], start[4]), 90) == gym_transcript(twin, (start[0], start[4]), 90)
    vector = SingleSeatVectorEnv(name, 3, num_players, opponents="random", reward="score")
    start = vector.reset(seed=0)
    twin = duplicate(vector)
    assert vector_transcript(vector, start, 60) == vector_transcript(twin, start, 60)


def test_text_shows_the_learners_view(capsys: pytest.CaptureFixture[str]):  # 36
    env = SingleSeatEnv(TOY, 2, seat=1, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == "seat 1 sees 0 points after 1 decisions"
    env.step(TAKE)
    assert env.render() == "seat 1 sees 1 points after 3 decisions"
    env = SingleSeatEnv(TOY, 2, seat=1, render_mode="human")
    env.reset(seed=0)
    assert env.render() is None
    assert capsys.readouterr().out == "seat 1 sees 0 points after 1 decisions\n" * 2
    with pytest.warns(UserWarning, match="make the environment with render_mode="):
        assert SingleSeatEnv(TOY, 2).render() is None


@pytest.mark.parametrize("make", [gymnasium.make, lambda name: gymnasium.make_vec(name, num_envs=2)])
@games
def test_closing_is_always_allowed(name: str, make: Any):  # 37
    env = make(gym_id(name)).unwrapped
    env.close()
    env.reset(seed=0)
    env.close()
    env.close()

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
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from stable_baselines3.common.env_checker import check_env as check_env_for_sb3

from ice_envs import Batch, IceError, IllegalAction, find_game
from ice_envs.agents import RandomAgent
from ice_envs.faces.gymnasium import SingleSeatEnv, SingleSeatVectorEnv
from ice_envs.games import NAMES
from tests.face_helpers import (
    CUT,
    SHORT,
    TABLES,
    Lowest,
    gym_id,
    gym_transcript,
    in_process,
    plain,
    random_action,
    vector_transcript,
)
from tests.helpers import masks, observations
from tests.toy import NEVER, PASS, TAKE, TOY

tables = pytest.mark.parametrize(("name", "num_players"), TABLES)
games = pytest.mark.parametrize("name", NAMES)


def lowest(name: str) -> Lowest:
    return Lowest(find_game(name).num_actions)


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


@tables
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


# ------------------------------------------------------------------------------------------------ many environments


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
        told = vector_transcript(env, env.reset(seed=5), 25)
        assert told == vector_transcript(single, single.reset(seed=[5] * 64), 25)
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
    for _ in range(30):
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

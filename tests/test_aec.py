"""The PettingZoo face. Numbers in comments are the rows of the checklist for a native package."""

from __future__ import annotations

import re
import warnings
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    BaseWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

from ice_envs import Batch, IceError, IllegalAction, find_game
from ice_envs.engine import loops
from ice_envs.faces.aec import CardGameEnv, wrapped
from ice_envs.games import NAMES
from tests.face_helpers import (
    CUT,
    SHORT,
    TABLES,
    aec_turns,
    core_mask,
    core_points,
    cut_tables,
    games,
    in_process,
    module,
    random_action,
    tables,
)
from tests.toy import NEVER, PASS, TAKE, TOY

GAMES_PER_TABLE = 250  # times four or more table sizes: a thousand games of each game


class Seen(NamedTuple):
    """One turn of a game played by the documented loop, and what else could be seen just then."""

    agent: str
    live: bool
    last: Any
    mask_of_rules: Any
    other: Any
    rewards: dict[str, float]


class Played(NamedTuple):
    env: Any
    turns: list[Seen]
    points: dict[str, float]


@pytest.fixture(scope="module", params=TABLES, ids=str)
def played(request: pytest.FixtureRequest) -> list[Played]:
    """Random games at one table size, each turn noted."""
    name, num_players = request.param
    env = module(name).env(num_players=num_players, reward="score", **SHORT[name])
    return [play(env, seed) for seed in range(GAMES_PER_TABLE)]


def play(env: Any, seed: int) -> Played:
    env.reset(seed=seed)
    turns, rng = [], np.random.default_rng(seed)
    for agent, last in aec_turns(env, rng):
        other = env.possible_agents[(env.possible_agents.index(agent) + 1) % len(env.possible_agents)]
        turns.append(Seen(agent, agent in env.agents, last, core_mask(env), env.observe(other), dict(env.rewards)))
    return Played(env, turns, dict(zip(env.possible_agents, core_points(env)[0], strict=True)))


# ---------------------------------------------------------------------------------------------- identity and creation


@games
def test_both_spellings_of_an_id_make_the_environment(name: str):  # 3
    game = find_game(name)
    assert pettingzoo.spec("aec", f"ice_envs/{name}-v{game.version}") is pettingzoo.spec(
        "aec", f"ice_envs/{name}_v{game.version}"
    )
    env = pettingzoo.make("aec", game.env_id, num_players=game.table_sizes[0])
    assert str(env) == f"{name}_v{game.version}"
    assert len(env.possible_agents) == game.table_sizes[0]


@games
def test_the_module_follows_the_convention(name: str):  # 4
    assert isinstance(module(name).env(), OrderEnforcingWrapper)
    assert isinstance(module(name).raw_env(), module(name).raw_env)
    assert issubclass(module(name).raw_env, CardGameEnv)
    code = f"from ice_envs import {name}_v0; {name}_v0.env().reset(seed=0); print({name}_v0.raw_env)"
    result = in_process(code)
    assert (result.returncode, result.stderr) == (0, "")


@games
def test_version_is_the_same_everywhere(name: str):  # 6
    game, page = find_game(name), module(name).__doc__
    newest = re.search(r"### Version History\s+\* v(\d+):", page)
    assert newest is not None
    assert int(newest[1]) == game.version
    assert module(name).raw_env.metadata["name"] == module(name).env().metadata["name"] == f"{name}_v{game.version}"
    assert pettingzoo.spec("aec", f"ice_envs/{name}").id == game.env_id


@games
def test_the_page_agrees_with_the_game(name: str):
    game = find_game(name)
    rows = dict(re.findall(r"^\| ([\w ]+?) +\| (.+?) +\|$", module(name).__doc__, re.MULTILINE))
    assert rows["Creation"] == f'`pettingzoo.make("aec", "{game.env_id}")`'
    assert rows["Number of agents"] == f"{game.table_sizes[0]} to {game.table_sizes[-1]} (default 4)"
    assert rows["Action Values"] == f"Discrete({game.num_actions})"
    assert rows["Observation Shape"] == f"({game.layout.size},)"
    assert rows["Observation Values"] == f"[{game.layout.low.min()}, {game.layout.high.max()}]"
    for option in game.default_options():
        assert f"`{option}`" in module(name).__doc__


@games
def test_wrappers_are_those_of_the_classic_games(name: str):
    env = module(name).env()
    kinds = [OrderEnforcingWrapper, AssertOutOfBoundsWrapper, TerminateIllegalWrapper, CardGameEnv]
    for kind in kinds:
        assert isinstance(env, kind)
        env = getattr(env, "env", None)
    assert module(name).env().metadata["is_parallelizable"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"num_players": 6}, "dokitto is played by 2 to 5 seats, not 6"),
        ({"num_players": True}, "not True"),
        ({"reward": "wins"}, "did you mean 'win'"),
        ({"render_mode": "rgb"}, "valid: ansi, human"),
        ({"target_scor": 5}, "did you mean 'target_score'"),
        ({"num_player": 5}, "did you mean 'num_players'"),
        ({"target_score": 0}, "target_score must be from 1"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], words: str):
    with pytest.raises(IceError, match=re.escape(words)):
        module("dokitto").env(**arguments)


# ------------------------------------------------------------------------------------------ PettingZoo's own tests


class OtherSeed(BaseWrapper):
    """Resets with another seed than it is told, so that `api_test`, which knows only seed 0, sees other games."""

    def __init__(self, env: Any, seed: int) -> None:
        super().__init__(env)
        self.offset = 1000 * seed

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(None if seed is None else self.offset + seed, options)


@tables
def test_api_test_over_fifty_seeds(name: str, num_players: int):  # 7: two hundred for a game of four table sizes
    for seed in range(50):
        env = OtherSeed(module(name).env(num_players=num_players, **SHORT[name]), seed)
        with warnings.catch_warnings():
            # PettingZoo says both of every dictionary observation but those of a list of its own games.
            warnings.filterwarnings("ignore", "Observation is not a NumPy array")
            warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
            api_test(env, num_cycles=100)


@tables
def test_seed_test(name: str, num_players: int):
    seed_test(lambda: module(name).env(num_players=num_players), num_cycles=100)


@games
def test_render_test(name: str):  # 36
    render_test(module(name).env, custom_tests={"ansi": lambda text: isinstance(text, str)})


# --------------------------------------------------------------------------------------------- what a turn tells


def test_ends_are_built_in_bools(played: list[Played]):  # 8
    for game in played:
        for seen in game.turns:
            assert type(seen.last[2]) is bool
            assert type(seen.last[3]) is bool
            assert seen.live
        assert [seen.last[2] for seen in game.turns[-len(game.points) :]] == [True] * len(game.points)


def test_masks_agree_and_leave_the_player_to_move_a_choice(played: list[Played]):  # 9, 10, 11
    for game in played:
        for seen in game.turns:
            observation, _, terminated, truncated, info = seen.last
            mask = observation["action_mask"]
            assert mask.dtype == np.int8
            assert mask.shape == seen.mask_of_rules.shape
            assert mask.any() == (not (terminated or truncated))
            assert (mask == seen.mask_of_rules).all()
            assert (info["action_mask"] == mask).all()
            assert info["action_mask"].dtype == np.int8


def test_sampling_with_the_mask_is_legal(played: list[Played]):  # 10
    for game in played[:20]:
        for seen in game.turns[: -len(game.points)]:
            mask = seen.last[0]["action_mask"]
            assert mask[game.env.action_space(seen.agent).sample(mask)] == 1


def test_nobody_sees_anothers_mask(played: list[Played]):  # 12
    for game in played:
        for seen in game.turns:
            assert not seen.other["action_mask"].any()


def test_observations_are_as_declared(played: list[Played]):  # 13
    for game in played:
        for seen in game.turns:
            space = game.env.observation_space(seen.agent)
            for observation in (seen.last[0], seen.other):
                assert space.contains(observation)
                assert observation["observation"].dtype == space["observation"].dtype == np.uint8
                assert observation["action_mask"].dtype == space["action_mask"].dtype


def test_what_is_handed_out_is_never_shared(played: list[Played]):  # 15
    for game in played[:20]:
        told = [seen.last[0] for seen in game.turns] + [seen.other for seen in game.turns]
        arrays = [array for observation in told for array in observation.values()]
        arrays += [seen.last[4]["action_mask"] for seen in game.turns]
        starts = {array.__array_interface__["data"][0] for array in arrays}
        assert len(starts) == len({id(array) for array in arrays})
        states = game.env.unwrapped._states
        assert not any(np.shares_memory(array, states) for array in arrays)
        for first, second in pairwise(told):
            for name in first:
                assert not np.shares_memory(first[name], second[name])


def test_rewards_arrive_once_and_stay_readable(played: list[Played]):  # 17
    for game in played:
        received = dict.fromkeys(game.points, 0.0)
        for seen in game.turns:
            received[seen.agent] += seen.last[1]
        assert received == game.points
        mover, *dead = game.turns[-len(game.points) - 1 :]  # the others may have scored since they were asked
        assert [seen.last[1] for seen in dead if seen.agent == mover.agent] == [dead[0].rewards[mover.agent]]


def test_everybody_gets_one_dead_turn(played: list[Played]):  # 18
    for game in played:
        dead = [seen.agent for seen in game.turns if seen.last[2] or seen.last[3]]
        assert sorted(dead) == sorted(game.points)
        assert game.turns[-len(dead) :] == [seen for seen in game.turns if seen.last[2]]
    assert played[-1].env.agents == []


def test_ten_thousand_games_never_ask_with_an_empty_mask():  # 9
    for name in NAMES:
        batch = Batch(name, 1000, seed=1, num_players=find_game(name).table_sizes, **SHORT[name])
        ended, words = 0, np.random.default_rng(1)
        actions = np.zeros(1000, np.int64)
        while ended < 10_000:
            mask = batch.observe()[1]
            assert mask.any(axis=1).all()
            loops.random_actions(mask, words.integers(1 << 64, dtype=np.uint64), actions)
            ended += batch.step(actions)[1].sum()


@tables
def test_win_rewards_are_zero_sum_and_follow_the_win_shares(name: str, num_players: int):
    env = module(name).env(num_players=num_players)
    for seed in range(20):
        env.reset(seed=seed)
        received = dict.fromkeys(env.possible_agents, 0.0)
        for agent, last in aec_turns(env, np.random.default_rng(seed)):
            received[agent] += last[1]
        shares = core_points(env)[1]
        assert list(received.values()) == [(num_players * share - 1) / (num_players - 1) for share in shares]
        assert sum(received.values()) == pytest.approx(0)


@cut_tables
def test_a_game_cut_short_is_truncated_and_not_terminated(name: str, num_players: int):
    env = module(name).env(num_players=num_players, **CUT[name])
    env.reset(seed=0)
    turns = [last for _, last in aec_turns(env, np.random.default_rng(0))]
    assert not any(terminated for _, _, terminated, _, _ in turns)
    assert [truncated for _, _, _, truncated, _ in turns[-num_players:]] == [True] * num_players
    assert env.agents == []


@tables
def test_consumers_that_read_rewards_after_each_step_see_all(name: str, num_players: int):  # 40: Tianshou's order
    env = module(name).env(num_players=num_players, reward="score")
    env.reset(seed=3)
    received, rng = np.zeros(num_players), np.random.default_rng(3)
    while True:
        env.step(random_action(env.observe(env.agent_selection)["action_mask"], rng))
        received += [env.rewards[agent] for agent in env.possible_agents]
        if any(env.terminations.values()):
            break
    assert received.tolist() == core_points(env)[0]


@tables
def test_consumers_that_wait_for_all_to_end_see_it(name: str, num_players: int):  # 40: RLlib's order
    for options in (SHORT[name], CUT.get(name, {})):
        env = module(name).env(num_players=num_players, reward="score", **options)
        env.reset(seed=4)
        received, rng = dict.fromkeys(env.possible_agents, 0.0), np.random.default_rng(4)
        while True:
            observation = env.last()[0]
            env.step(random_action(observation["action_mask"], rng))
            told = {}
            while env.agents:
                agent = env.agent_selection
                _, reward, terminated, truncated, _ = env.last()
                told[agent] = (terminated, truncated)
                received[agent] += reward
                if not (terminated or truncated):
                    break
                env.step(None)
            if all(terminated for terminated, _ in told.values()) or all(truncated for _, truncated in told.values()):
                break
        assert list(received.values()) == core_points(env)[0]
        assert len(told) == num_players


@games
def test_spaces_are_the_same_objects_at_every_call(name: str):
    env = module(name).env()
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert env.observation_space(agent) == env.observation_space("player_0")


# -------------------------------------------------------------------------------------------- written out by hand


@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        ("score", [[1, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]]),
        ("margin", [[1, -0.5, -0.5], [0, 0, 0], [-0.5, -0.5, 1], [1, -0.5, -0.5]]),
        ("win", [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, -0.5, -0.5]]),
    ],
)
def test_rewards_of_every_step(reward: str, expected: list[list[float]]):
    env = wrapped(CardGameEnv(TOY, 3, reward))
    env.reset(seed=0)
    told = []
    for action in (TAKE, PASS, TAKE, TAKE):
        env.step(action)
        told.append(list(env.rewards.values()))
    assert told == expected


def test_last_gives_what_came_since_the_agents_last_turn():
    env = wrapped(CardGameEnv(TOY, 3, "margin"))
    env.reset(seed=0)
    told = []
    for action in (TAKE, PASS, TAKE, TAKE, None, None, None):
        told.append((env.agent_selection, env.last()[1]))
        env.step(action)
    assert told[:4] == [("player_0", 0), ("player_1", -0.5), ("player_2", -0.5), ("player_0", 0.5)]
    assert dict(told[4:]) == {"player_0": 1.0, "player_1": -1.0, "player_2": 0.5}


def test_a_wrong_action_of_the_toy_is_named():
    env = CardGameEnv(TOY, 2)
    env.reset(seed=0)
    with pytest.raises(
        IllegalAction, match=re.escape("'never' (2) is illegal for player_0; legal: pass (0), take (1)")
    ):
        env.step(NEVER)

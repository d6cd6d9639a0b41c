"""The PettingZoo face. Numbers in comments are the rows of the checklist for a native package."""

from __future__ import annotations

import copy
import pickle
import random
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
    aec_transcript,
    aec_turns,
    core_mask,
    core_points,
    core_record,
    digest,
    in_process,
    module,
    plain,
    random_action,
)
from tests.toy import NEVER, PASS, TAKE, TOY

tables = pytest.mark.parametrize(("name", "num_players"), TABLES)
games = pytest.mark.parametrize("name", NAMES)

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
    env = pettingzoo.make("aec", game.env_id, num_players=2)
    assert str(env) == f"{name}_v{game.version}"
    assert len(env.possible_agents) == 2


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
        assert game.turns[-len(game.points)].rewards == game.points  # a game of one round: all points come at its end


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


@tables
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
    for options in (SHORT[name], CUT[name]):
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

"""Self-play: advantages along each seat's own chain, and every learning seat's decision learned from exactly once."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from ice_envs import agents, find_game
from ice_envs.engine import loops
from ice_envs.engine.batch import Batch
from ice_envs.errors import IllegalAction
from tests.chains import compiled, naive, slow
from tests.helpers import masks
from training.network import ActorCritic, NetworkShape, new_model
from training.selfplay import Opponents, SelfPlay, sample

GAME = find_game("dokitto")
GAMMA, TRACE = 0.9, 0.7


@pytest.fixture(autouse=True)
def one_thread():
    """The network's arithmetic on one thread: the same sums in the same order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# advantages

# One game of three seats, seven steps; the fourth ends it. Seat 1 brought a decision along that has earned 1 so far.
HAND = {
    "seat": np.array([[0], [1], [0], [2], [1], [0], [1]]),
    "reward": np.array([[0, 0, 0], [2, 0, 0], [1, 0, 0], [-2, 3, -1], [5, 1, 0], [0, 4, 0], [7, 1, 9]])[:, None],
    "done": np.array([[0], [0], [0], [1], [0], [0], [0]], np.bool_),
    "value": np.array([4, 2, 6, 8, 1, 3, 2, 0, 10, 0]),  # of the seven decisions, then of those brought along
    "carried": np.array([[False, True, False]]),
    "earned": np.array([[0, 1, 0]]),
    "gamma": 0.5,
    "trace": 0.5,
}


def check_hand_example(function):
    found = function(**HAND)
    # seat 0, first game:   step 2 earns 1 and, by seat 2's move, −2: −1 − 6 = −7
    #                       step 0 earns 2 by seat 1's move:          2 + ½·6 − 4 + ¼·(−7) = −0.75
    # seat 1, first game:   step 1 earns 3 by seat 2's move:          3 − 2 = 1
    #       brought along:  1 until then, 0 at step 0:                1 + ½·2 − 10 + ¼·1 = −7.75
    # seat 2, first game:   step 3:                                   −1 − 8 = −9
    # seat 1, second game:  step 4 earns 1, and 4 by seat 0's move:   5 + ½·2 − 1 = 5; what follows is not known yet
    nan = np.nan
    np.testing.assert_allclose(found.advantage, [-0.75, 1, -7, -9, 5, nan, nan, nan, -7.75, nan])
    # seat 0 waits at step 5 with the 7 of step 6; seat 1 at step 6 with 1; seat 2 has not decided in the second game
    assert found.pending.tolist() == [[5, 6, -1]]
    assert found.pending_earned.tolist() == [[7, 1, 0]]


@pytest.mark.parametrize("function", [compiled, slow])
def test_advantages_computed_by_hand(function):
    check_hand_example(function)


def test_the_next_decision_of_anybody_would_be_caught():
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_hand_example(lambda **rollout: compiled(**rollout, function=naive))


def random_rollout(rng, steps, games, seats, endings=0.15):
    """Return a rollout in which any seat may move at any time; seats past a game's table size never do."""
    sizes = rng.integers(1, seats + 1, games)
    reward = rng.normal(size=(steps, games, seats)) * (rng.random((steps, games, seats)) < 0.4)
    return {
        "seat": rng.integers(0, sizes, (steps, games)),
        "reward": reward * (np.arange(seats) < sizes[:, None]),
        "done": rng.random((steps, games)) < endings,
        "value": rng.normal(size=games * (steps + seats)),
        "carried": (rng.random((games, seats)) < 0.5) & (np.arange(seats) < sizes[:, None]),
        "earned": rng.normal(size=(games, seats)),
    }


@pytest.mark.parametrize("seed", range(20))
def test_advantages_agree_with_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    steps, games, seats = rng.integers(1, 20), rng.integers(1, 8), rng.integers(2, 6)
    rollout = random_rollout(rng, steps, games, seats, endings=rng.choice([0, 0.1, 0.5]))
    gamma, trace = rng.choice([GAMMA, 1.0]), rng.choice([TRACE, 1.0, 0.0])
    found, expected = compiled(**rollout, gamma=gamma, trace=trace), slow(**rollout, gamma=gamma, trace=trace)
    np.testing.assert_allclose(found.advantage, expected.advantage, atol=1e-4)
    np.testing.assert_array_equal(found.pending, expected.pending)
    waiting = expected.pending >= 0
    np.testing.assert_allclose(found.pending_earned[waiting], expected.pending_earned[waiting], atol=1e-4)


def in_parts(rollout, cuts, trace):
    """Return the advantages (T·N,) and the last pending rows, the rollout being cut in parts that carry decisions over.

    Rows are those of the whole rollout.
    """
    steps, games = rollout["seat"].shape
    seats = rollout["reward"].shape[2]
    advantage = np.full(steps * games, np.nan)
    rows, earned = np.full((games, seats), -1), np.zeros((games, seats))
    for first, stop in zip([0, *cuts], [*cuts, steps], strict=True):
        here = np.concatenate([np.arange(first * games, stop * games), rows.reshape(-1)])
        part = {name: rollout[name][first:stop] for name in ("seat", "reward", "done")}
        found = compiled(
            **part, value=rollout["value"][here], carried=rows >= 0, earned=earned, gamma=GAMMA, trace=trace
        )
        ready = np.flatnonzero(~np.isnan(found.advantage))
        assert np.isnan(advantage[here[ready]]).all(), "a decision was learned from twice"
        advantage[here[ready]] = found.advantage[ready]
        rows = np.where(found.pending >= 0, here[found.pending], -1)
        earned = found.pending_earned
    return advantage, rows


def whole_in_one_part(rollout, cuts):
    """Return which decisions (T·N,) become ready in the part in which their game ends: no trace is cut off."""
    seat, done = rollout["seat"], rollout["done"]
    steps, games = seat.shape
    found = np.zeros((steps, games), np.bool_)
    for step in range(steps):
        for game in range(games):
            ends = np.flatnonzero(done[step:, game])
            again = np.flatnonzero(seat[step + 1 :, game] == seat[step, game])
            if len(ends):
                end = step + ends[0]
                ready = min(end, step + 1 + again[0]) if len(again) else end
                found[step, game] = np.searchsorted(cuts, ready, "right") == np.searchsorted(cuts, end, "right")
    return found.reshape(-1)


@pytest.mark.parametrize("seed", range(5))
def test_three_rollouts_in_a_row_equal_one_long_one(seed):
    rng = np.random.default_rng(seed)
    steps, games, seats, cuts = 36, 6, 4, [11, 23]
    rollout = random_rollout(rng, steps, games, seats) | {"carried": np.zeros((games, seats), np.bool_)}
    for trace in (0.0, TRACE):
        advantage, rows = in_parts(rollout, cuts, trace)
        whole = compiled(**rollout, gamma=GAMMA, trace=trace)
        expected = whole.advantage[: steps * games]
        np.testing.assert_array_equal(rows, whole.pending)
        np.testing.assert_array_equal(np.isnan(advantage), np.isnan(expected))
        same = ~np.isnan(expected) if trace == 0 else whole_in_one_part(rollout, cuts)
        assert same.sum() > 100
        np.testing.assert_allclose(advantage[same], expected[same], atol=1e-4)


# self-play


class Recorder(Batch):
    """A batch that notes down what is played."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.played, self.rewards, self.ends = [], [], []

    def step(self, actions):
        self.played.append(self.states.copy())
        reward, done = super().step(actions)
        self.rewards.append(reward.copy())
        self.ends.append(done.copy())
        return reward, done


def network(seed=0, hidden=8):
    return ActorCritic(new_model(GAME, NetworkShape([hidden], [hidden], [8]), 1e-3, seed, "cpu").policy)


def fixed(name, games, seats, of_games=slice(None)):
    """Return an opponent that plays some seats of some games."""
    where = np.zeros((games, 5), np.bool_)
    where[of_games, seats] = True
    return Opponents(agents.load(name, GAME), where)


def self_play(games=24, opponents=(), horizon=12, gamma=1.0, trace=0.95, threads=1, reward="win", kind=Recorder):
    batch = kind(GAME, games, 3, (2, 3, 4, 5), threads, reward, target_score=5)
    return SelfPlay(batch, network(), list(opponents), horizon, gamma, trace)


def rollouts(play, count=8):
    return [play.rollout(seed) for seed in np.random.SeedSequence(1).spawn(count)]


def essence(states):
    """Return each record's bytes, by which a decision is known again: its number and the game's generator are in it."""
    return [state.tobytes() for state in states]


MIXED = [fixed("random", 24, slice(1, None), slice(0, 8)), fixed("greedy", 24, [0, 2], slice(8, 14))]


@pytest.mark.parametrize("opponents", [[], MIXED], ids=["all seats learn", "some are fixed"])
def test_each_decision_of_a_learning_seat_is_learned_from_exactly_once(opponents):
    play = self_play(opponents=opponents)
    learning = ~sum((part.seats for part in opponents), start=np.zeros((24, 5), np.bool_))
    learned = [state for decisions in rollouts(play) for state in essence(decisions.states)]
    played = play.batch.played
    assert len(played) == 8 * 12
    mine = [state for step in played for state in essence(step[learning[np.arange(24), step["to_move"]]])]
    waiting = essence(play.waiting().states[play.carried.reshape(-1)])
    assert max(Counter(mine).values()) == 1, "two decisions cannot be told apart, so nothing is proved"
    assert Counter(learned) + Counter(waiting) == Counter(mine)
    assert len(learned) > 0.8 * len(mine)
    assert (len(mine) < 8 * 12 * 24) == bool(opponents)


@pytest.mark.parametrize("opponents", [[], MIXED], ids=["all seats learn", "some are fixed"])
@pytest.mark.parametrize("reward", ["win", "score", "margin"])
def test_what_decisions_earn_sums_to_what_the_games_paid(reward, opponents):
    play = self_play(opponents=opponents, gamma=1.0, trace=0.0, reward=reward)
    for weights in play.network.value_head.parameters():
        torch.nn.init.zeros_(weights)  # so an advantage is what was earned until the next decision
    earned = sum(decisions.advantage.sum(dtype=np.float64) for decisions in rollouts(play))
    earned += play.earned[play.carried].sum(dtype=np.float64)
    learning = ~sum((part.seats for part in opponents), start=np.zeros((24, 5), np.bool_))
    paid = sum(step[learning].sum(dtype=np.float64) for step in play.batch.rewards)
    magnitude = sum(np.abs(step[learning]).sum(dtype=np.float64) for step in play.batch.rewards)
    assert magnitude > 20
    assert earned == pytest.approx(paid, abs=1e-3)


def test_a_decision_comes_with_what_was_seen_and_thought_when_it_was_made():
    play = self_play(opponents=MIXED)
    for decisions in rollouts(play, 4):
        count = len(decisions.action)
        observation, mask = np.zeros_like(decisions.observation), np.zeros_like(decisions.mask)
        loops.observe_games(decisions.states, observation, mask, np.zeros(count, np.int64))
        np.testing.assert_array_equal(decisions.observation, observation)
        np.testing.assert_array_equal(decisions.mask, mask)
        assert mask[np.arange(count), decisions.action].all()
        logits, value = play.network.answer(observation, mask)
        chosen = torch.log_softmax(logits, 1)[np.arange(count), decisions.action]
        np.testing.assert_allclose(decisions.value, value, atol=1e-5)
        np.testing.assert_allclose(decisions.log_probability, chosen, atol=1e-5)
        assert np.isfinite(decisions.advantage).all()


def test_the_network_that_chose_is_asked_not_the_one_that_learned_since():
    """Decisions carried over keep the value and the probability that they were made with."""
    play = self_play()
    play.rollout(np.random.SeedSequence(0))
    before = play.waiting().map(np.copy)
    was_carried = play.carried.reshape(-1).copy()
    for parameter in play.network.parameters():
        torch.nn.init.ones_(parameter)
    decisions = play.rollout(np.random.SeedSequence(1))
    place = {state: row for row, state in enumerate(essence(decisions.states))}
    common = [
        (place[state], row) for row, state in enumerate(essence(before.states)) if was_carried[row] and state in place
    ]
    assert len(common) > 50
    for now, then in common:
        assert decisions.value[now] == before.value[then]
        assert decisions.log_probability[now] == before.log_probability[then]


def played(**how):
    play = self_play(kind=Batch, **how)
    return [[part.tobytes() for part in decisions] for decisions in rollouts(play, 4)]


@pytest.mark.usefixtures("small_chunks")
def test_a_seed_plays_the_same_with_any_number_of_threads():
    first = played(opponents=MIXED)
    assert played(opponents=MIXED, threads=2) == first
    assert played(opponents=MIXED) == first
    assert played() != first


def test_rollouts_of_other_seeds_differ():
    play = self_play(kind=Batch)
    states = play.batch.states.copy()
    first = play.rollout(np.random.SeedSequence(0))
    for seed, same in ((0, True), (1, False)):
        again = self_play(kind=Batch)
        assert np.array_equal(again.batch.states, states)
        assert np.array_equal(again.rollout(np.random.SeedSequence(seed)).action, first.action) == same


def test_an_opponent_that_cheats_is_stopped():
    opponent = fixed("greedy", 24, slice(None))
    opponent.agent.choose = lambda states: np.full(len(states), GAME.num_actions - 1)
    with pytest.raises(IllegalAction, match="take a vanilla tile"):
        self_play(opponents=[opponent]).rollout(np.random.SeedSequence(0))


# sampling


def test_actions_are_drawn_with_their_probabilities():
    policy = network()
    torch.nn.init.normal_(policy.action_head.each.weight, std=0.3, generator=torch.Generator().manual_seed(0))
    states = Batch(GAME, 1, seed=4, num_players=4).states
    observation, mask = np.zeros((1, GAME.layout.size), np.uint8), masks(GAME, states)
    loops.observe_games(states, observation, mask, np.zeros(1, np.int64))
    logits, value = policy.answer(observation, mask)
    probability = torch.softmax(logits, 1)[0].numpy()
    draws = 20_000
    action, log_probability, values = sample(
        policy, observation.repeat(draws, 0), mask.repeat(draws, 0), np.random.default_rng(0)
    )
    counts = np.bincount(action, minlength=GAME.num_actions)
    assert counts[mask[0] == 0].sum() == 0
    assert (probability > 0.02).sum() > 3
    deviation = np.sqrt(draws * probability * (1 - probability)) + 1
    assert (np.abs(counts - draws * probability) < 4.5 * deviation).all()
    np.testing.assert_allclose(log_probability, np.log(probability[action]), atol=1e-4)
    np.testing.assert_allclose(values, value.item(), atol=1e-5)

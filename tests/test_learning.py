"""Learning: a toy game that PPO solves, a teacher that a network comes to agree with, and losses computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import training.selfplay
from ice_envs import find_game
from ice_envs.engine import loops
from ice_envs.engine.batch import Batch
from ice_envs.errors import IceError
from tests.chains import naive
from tests.toy_game import KEEP, KEEP_OR_SWAP, NUM_CARDS, SWAP, TURNS
from training.network import ActorCritic, NetworkShape, new_model
from training.ppo import PPO
from training.selfplay import Decisions, SelfPlay
from training.teacher import Lessons, Memory, Teacher, TeacherSettings, centered, search_gains, tree_values

DOKITTO = find_game("dokitto")


@pytest.fixture(autouse=True)
def one_thread():
    """The network's arithmetic on one thread: the same sums in the same order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# the toy game, solved


def solved():
    """Return the best action (TURNS, NUM_CARDS) and by how much of a win share it is better, in equilibrium."""
    wins = np.tri(NUM_CARDS, k=-1) + np.eye(NUM_CARDS) / 2
    others_card = np.full(NUM_CARDS, 1 / NUM_CARDS)
    for _ in range(20):  # answer the other's answer until nothing changes
        share = wins @ others_card
        swap, margin = np.zeros((2, TURNS, NUM_CARDS))
        for turn in reversed(range(TURNS)):
            margin[turn] = share.mean() - share
            swap[turn] = margin[turn] > 0
            share = np.maximum(share, share.mean())
        card = np.full(NUM_CARDS, 1 / NUM_CARDS)
        for turn in range(TURNS):
            card = np.where(swap[turn], 0, card) + (card * swap[turn]).sum() / NUM_CARDS
        if np.allclose(card, others_card):
            return np.where(swap, SWAP, KEEP), np.abs(margin)
        others_card = card
    raise AssertionError("the answers go round in circles")


def test_the_toy_has_one_clear_solution():
    best, margin = solved()
    assert best.tolist() == [[SWAP, SWAP, KEEP]] * 2
    assert margin.min() > 0.09


def test_the_toy_runs_on_the_generic_engine():
    batch = Batch(KEEP_OR_SWAP, 4000, seed=0)
    shares = []
    for step in range(2 * TURNS):
        observation, mask, seat = batch.observe()
        assert (seat == step % 2).all()
        assert mask.all()
        action = np.where((seat == 0) & (observation[:, NUM_CARDS - 1] == 0), SWAP, KEEP)  # seat 0 plays well
        reward, done = batch.step(action)
        assert done.all() == (step == 2 * TURNS - 1)
        shares.append(reward[:, 0].mean())
    # the highest card is drawn at once with 1/3, else with 1/3, else with 1/3: 19/27; the other's is any card
    expected = 19 / 27 * (2 / 3) + 4 / 27 * 0 - 4 / 27 * (2 / 3)
    assert shares[:-1] == [0, 0, 0]
    assert shares[-1] == pytest.approx(expected, abs=0.04)


def optimal_rate(network):
    """Return how probable the best action is, on average over what can be seen."""
    seen = [[card == 0, card == 1, card == 2, turn] for turn in range(TURNS) for card in range(NUM_CARDS)]
    logits, _ = network.answer(np.array(seen, np.uint8), np.ones((len(seen), 2), np.int8))
    return torch.softmax(logits, 1)[np.arange(len(seen)), solved()[0].reshape(-1)].mean().item()


def trained_on_the_toy(seed=0, iterations=20):
    model = new_model(KEEP_OR_SWAP, NetworkShape([16], [], [8]), 3e-3, seed, "cpu")
    network, optimizer = ActorCritic(model.policy), model.policy.optimizer
    play = SelfPlay(Batch(KEEP_OR_SWAP, 256, seed), network, [], horizon=16, gamma=1.0, trace=0.95)
    learner = PPO(minibatch=512)
    for iteration in range(iterations):
        playing, learning = np.random.SeedSequence(seed, spawn_key=(iteration,)).spawn(2)
        learner.learn(network, optimizer, play.rollout(playing), learning)
    return network


def test_training_solves_the_toy():
    assert optimal_rate(trained_on_the_toy(iterations=0)) == pytest.approx(0.5, abs=0.1)
    assert optimal_rate(trained_on_the_toy()) > 0.95


def test_training_on_chains_of_anybodys_decisions_does_not(monkeypatch):
    monkeypatch.setattr(training.selfplay, "chain_advantages", naive)
    assert optimal_rate(trained_on_the_toy()) < 0.75


def test_training_repeats_itself_bit_for_bit():
    first, second, other = (
        [parameter.detach().numpy().tobytes() for parameter in trained_on_the_toy(seed, 2).parameters()]
        for seed in (0, 0, 1)
    )
    assert first == second != other


# PPO


class Fixed(nn.Module):
    """A network whose answers are its parameters, whatever it is asked."""

    def __init__(self, logits, value):
        super().__init__()
        self.logits, self.value = nn.Parameter(torch.tensor(logits)), nn.Parameter(torch.tensor(value))

    def forward(self, observation, mask):
        return self.logits, self.value[:, None]


def test_the_losses_of_two_decisions_computed_by_hand():
    network = Fixed([[0.0, np.log(3.0)], [0.0, 0.0]], [1.0, -1.0])  # probabilities ¼ ¾ and ½ ½
    losses = PPO(clip=0.2, entropy=0.1, value_weight=0.5)._losses(
        network,
        torch.zeros(2, 3),
        torch.ones(2, 2),
        action=torch.tensor([1, 0]),
        log_probability=torch.log(torch.tensor([0.5, 0.8])),  # the ratios: 1.5, clipped to 1.2, and 0.625, to 0.8
        advantage=torch.tensor([2.0, -1.0]),
        returns=torch.tensor([0.0, 1.0]),
    )
    found = {name: loss.item() for name, loss in losses.items()}
    policy_loss = -(1.2 * 2.0 + 0.8 * -1.0) / 2  # a positive advantage gains no more than 1.2, a negative loses 0.8
    entropy = (-(np.log(0.25) / 4 + np.log(0.75) * 3 / 4) + np.log(2)) / 2
    assert found == pytest.approx(
        {
            "policy_loss": policy_loss,
            "value_loss": (1**2 + 2**2) / 2,
            "entropy": entropy,
            "loss": policy_loss + 0.5 * 2.5 - 0.1 * entropy,
            "kl": ((0.5 - np.log(1.5)) + (-0.375 - np.log(0.625))) / 2,
            "clipped": 1.0,
        },
        abs=1e-6,
    )


def decisions(**parts):
    """Return decisions with what PPO does not look at left empty."""
    count = len(parts["action"])
    empty = {"states": np.zeros(count), "observation": np.zeros((count, 1)), "mask": np.ones((count, 2))}
    arrays = {"log_probability": np.full(count, np.log(0.5)), "value": np.zeros(count)} | parts
    return Decisions(**empty, **{name: np.asarray(part) for name, part in arrays.items()})


class Table(nn.Module):
    """One situation, two actions."""

    def __init__(self):
        super().__init__()
        self.logits, self.value = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1))

    def forward(self, observation, mask):
        rows = len(observation)
        return self.logits.expand(rows, 2), self.value.expand(rows, 1)


def test_one_step_of_learning_computed_by_hand():
    network = Table()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    history = decisions(action=[0, 1] * 8, advantage=np.float32([3.0, 1.0] * 8), value=np.float32([0.5] * 16))
    learner = PPO(epochs=1, minibatch=16, entropy=0.0, value_weight=0.5, max_grad_norm=1e9)
    losses = learner.learn(network, optimizer, history, np.random.SeedSequence(0))
    # the advantages 3 and 1 become ±0.968 of a standard deviation; a logit moves log ½ by ½
    assert network.logits.tolist() == pytest.approx([0.0484, -0.0484], abs=1e-4)
    # the returns are 3.5 and 1.5: ½ · (0 − return)² falls by ½ · 2 · 2.5 on average
    assert network.value.item() == pytest.approx(0.1 * 2.5)
    assert losses["value_loss"] == pytest.approx((3.5**2 + 1.5**2) / 2)
    assert losses["explained_variance"] == pytest.approx(0, abs=1e-6)  # a constant value explains nothing


def test_long_gradients_are_shortened():
    network = Table()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    history = decisions(action=[0, 1] * 8, advantage=np.float32([3.0, 1.0] * 8))
    PPO(epochs=1, minibatch=16, max_grad_norm=0.5).learn(network, optimizer, history, np.random.SeedSequence(0))
    moved = torch.cat([network.logits, network.value])
    assert moved.norm().item() == pytest.approx(0.1 * 0.5, abs=1e-5)


def test_each_decision_is_learned_from_once_an_epoch_in_minibatches_of_a_decent_size():
    learner = PPO(epochs=3, minibatch=100)
    for rows, sizes in ((250, {125}), (99, {99}), (301, {101, 100})):
        batches = list(learner._minibatches(rows, torch.Generator().manual_seed(0)))
        assert {len(batch) for batch in batches} == sizes
        assert torch.equal(torch.cat(batches).sort().values, torch.arange(rows).repeat_interleave(3))
    orders = [torch.cat(list(PPO(1, 9)._minibatches(50, torch.Generator().manual_seed(seed)))) for seed in (0, 0, 1)]
    assert torch.equal(orders[0], orders[1])
    assert not torch.equal(orders[0], orders[2])


@pytest.mark.parametrize(
    ("settings", "changes", "words"),
    [
        (PPO, {"epochs": 0}, "ppo.epochs must be from 1"),
        (PPO, {"minibatch": 0}, "ppo.minibatch must be from 1"),
        (PPO, {"clip": -0.1}, "ppo.clip must be at least 0, not -0.1"),
        (PPO, {"entropy": float("nan")}, "ppo.entropy must be at least 0, not nan"),
        (TeacherSettings, {"share": 1.5}, "teacher.share must be from 0 to 1, not 1.5"),
        (TeacherSettings, {"playouts": 0}, "teacher.playouts must be from 1"),
        (TeacherSettings, {"temperature": 0.0}, "teacher.temperature must be at least 1e-06, not 0"),
        (TeacherSettings, {"minibatch": 0}, "teacher.minibatch must be from 1"),
        (TeacherSettings, {"imitate_until": 0.1}, "teacher.imitate_until needs a teacher.greedy_bonus"),
        (TeacherSettings, {"passes": 0}, "teacher.passes must be from 1"),
        (TeacherSettings, {"memory": -1}, "teacher.memory must be from 0"),
        (TeacherSettings, {"passes": 2}, "teacher.passes of more than 1 need a teacher.memory"),
    ],
)
def test_settings_that_cannot_be_learned_with_are_refused(settings, changes, words):
    with pytest.raises(IceError, match=words):
        settings(**changes)


# the teacher


def test_centering_keeps_what_a_softmax_sees():
    scores = torch.tensor([[1.0, 2.0, 6.0, 100.0], [5.0, -1e9, 7.0, -1e9]])
    legal = torch.tensor([[1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    found = centered(scores, legal)
    assert found.tolist() == [[-2, -1, 3, 0], [-1, 0, 1, 0]]
    assert torch.equal(centered(scores + 10 * legal, legal), found)
    assert centered(scores[:1], torch.tensor([[3.0, 1.0, 0.0, 0.0]])).tolist() == [[-0.25, 0.75, 0, 0]]


def positions(count, seed):
    """Return D decisions of a random network at all table sizes, with more than one legal action."""
    network = ActorCritic(new_model(DOKITTO, NetworkShape([8], [8], [8]), 1e-3, seed, "cpu").policy)
    play = SelfPlay(Batch(DOKITTO, 64, seed, (2, 3, 4, 5)), network, [], 2 * count // 64, 1.0, 0.95)
    found = play.rollout(np.random.SeedSequence(seed))
    real = np.flatnonzero(found.mask.sum(axis=1) > 1)[:count]
    return found.map(lambda part: part[real])


def taught_by(settings, method="flat"):
    memory = Memory(DOKITTO, settings.memory)
    return Teacher(DOKITTO, settings, 0.5, max_grad_norm=0.5, threads=1, memory=memory, method=method)


def lessons(count, first=0):
    numbers = np.arange(first, first + count)
    scores, weights = np.zeros((2, count, DOKITTO.num_actions), np.float16)
    scores[:, 3], weights[:, 5] = numbers, -numbers
    states = np.zeros(count, DOKITTO.dtype)
    states["decisions"] = numbers
    return Lessons(states, scores, weights, np.float32(numbers))


def test_a_memory_keeps_the_newest_lessons_whole():
    memory, generator = Memory(DOKITTO, 10), np.random.default_rng(0)
    assert len(memory.draw(5, generator).returns) == 0
    for first, count, expected in ((0, 4, range(4)), (4, 7, range(1, 11)), (11, 25, range(26, 36))):
        memory.add(lessons(count, first))
        drawn = memory.draw(300, generator)
        assert set(drawn.returns) == set(expected)
        for part in (drawn.states["decisions"], drawn.scores[:, 3], -drawn.weights[:, 5]):
            assert (part == drawn.returns).all()


def test_each_lesson_is_learned_from_as_often_as_there_are_passes(monkeypatch):
    learned = []
    monkeypatch.setattr(Teacher, "_step", lambda self, network, optimizer, rows: learned.append(rows) or (0.0, 0.0))
    teacher = taught_by(TeacherSettings(playouts=1, skilled=0, minibatch=64, passes=3, memory=1000))
    for seed in range(2):
        teacher.learn(None, None, positions(200, seed), np.random.SeedSequence(seed))
    sizes = [len(rows.returns) for rows in learned]
    first, second = (len(positions(200, seed).action) for seed in range(2))
    assert sum(sizes) == first + 3 * second  # at first there is nothing to repeat
    assert min(sizes) >= 64
    assert teacher.memory.added == first + second


def test_decisions_without_a_choice_teach_nothing():
    model = new_model(DOKITTO, NetworkShape([8], [8], [8]), 1e-3, 0, "cpu")
    network = ActorCritic(model.policy)
    before = [parameter.clone() for parameter in network.parameters()]
    batch = Batch(DOKITTO, 4)
    observation, _, _ = batch.observe()
    only = np.eye(DOKITTO.num_actions, dtype=np.int8)[:4]
    numbers = np.zeros(4, np.float32)
    forced = Decisions(batch.states, observation, only, np.arange(4), numbers, numbers, numbers)
    teacher = taught_by(TeacherSettings())
    assert teacher.learn(network, model.policy.optimizer, forced, np.random.SeedSequence(0)) == {}
    assert all(torch.equal(a, b) for a, b in zip(before, network.parameters(), strict=True))


def test_the_network_comes_to_play_as_the_baseline_that_it_imitates():
    teacher = taught_by(TeacherSettings(minibatch=256, greedy_bonus=1.0), "greedy")
    model = new_model(DOKITTO, NetworkShape([64], [32], [8]), 3e-3, 0, "cpu")
    network = ActorCritic(model.policy)
    play = SelfPlay(Batch(DOKITTO, 256, 0, (2, 3, 4, 5)), network, [], 16, 1.0, 0.95)
    unseen = positions(1000, 1)
    greedy = np.empty(1000, np.int64)
    loops.greedy_actions(unseen.states, greedy)

    def agreement():
        return (network.answer(unseen.observation, unseen.mask)[0].argmax(dim=1).numpy() == greedy).mean()

    before = agreement()
    for seed in np.random.SeedSequence(0).spawn(6):
        teacher.learn(network, model.policy.optimizer, play.rollout(seed), np.random.SeedSequence(1))
    assert agreement() > before + 0.15


def test_the_network_comes_to_agree_with_the_search():
    settings = TeacherSettings(playouts=4, skilled=2, minibatch=256)
    teacher = taught_by(settings)
    model = new_model(DOKITTO, NetworkShape([64], [32], [8]), 1e-3, 0, "cpu")
    network = ActorCritic(model.policy)
    play = SelfPlay(Batch(DOKITTO, 256, 0, (2, 3, 4, 5)), network, [], 16, 1.0, 0.95)
    unseen = positions(1000, 1)
    thorough = TeacherSettings(playouts=40, skilled=20)
    gains = search_gains(DOKITTO, unseen.states, thorough, np.random.SeedSequence(7), 1)
    among_legal = np.where(unseen.mask == 1, gains, -np.inf)
    best, mean = among_legal.max(axis=1).mean(), (gains.sum(axis=1) / unseen.mask.sum(axis=1)).mean()

    def compared():
        """Return how often network and search agree, and what part of the possible gain the network finds."""
        choice = network.answer(unseen.observation, unseen.mask)[0].argmax(dim=1).numpy()
        gain = gains[np.arange(len(choice)), choice].mean()
        return (choice == among_legal.argmax(axis=1)).mean(), (gain - mean) / (best - mean)

    _, part_before = compared()
    lessons = [play.rollout(seed) for seed in np.random.SeedSequence(0).spawn(4)]
    losses = [
        teacher.learn(network, model.policy.optimizer, lesson, np.random.SeedSequence(1))["teacher_loss"]
        for lesson in (*lessons, lessons[0])
    ]
    agreement, part = compared()
    chance = (1 / unseen.mask.sum(axis=1)).mean()
    assert agreement > chance + 0.04  # three standard errors
    assert part > max(part_before, 0) + 0.1
    assert losses[-1] < losses[0]  # the same lesson


def test_the_tree_that_the_network_guides_does_not_depend_on_threads():
    network = ActorCritic(new_model(DOKITTO, NetworkShape([8], [8], [8]), 1e-3, 0, "cpu").policy)
    found = positions(100, 3)
    once, again = (
        tree_values(DOKITTO, found.states, network, 60, np.random.SeedSequence(5), threads) for threads in (1, 2)
    )
    for first, second in zip(once, again, strict=True):
        assert (first == second).all()
    values, visits = once
    assert (visits.sum(axis=1) == 60).all()
    assert (visits[found.mask == 0] == 0).all()
    assert values.min() >= 0
    assert values.max() <= 1


def test_the_network_learns_what_the_tree_finds():
    settings = TeacherSettings(simulations=60, tree_temperature=0.02, minibatch=64, passes=4, memory=4000)
    teacher = taught_by(settings, "tree")
    model = new_model(DOKITTO, NetworkShape([64], [32], [8]), 3e-3, 0, "cpu")
    network = ActorCritic(model.policy)
    unseen = positions(500, 1)
    values, visits = tree_values(DOKITTO, unseen.states, network, 1000, np.random.SeedSequence(9), 1)
    among_tried = np.where(visits > 0, values, -np.inf)

    def missed():
        """Return by how much the network's choices are worse than the best."""
        choice = network.answer(unseen.observation, unseen.mask)[0].argmax(dim=1).numpy()
        return (among_tried.max(axis=1) - values[np.arange(len(choice)), choice]).mean()

    before = missed()
    for seed in range(6):
        teacher.learn(network, model.policy.optimizer, positions(500, 10 + seed), np.random.SeedSequence(seed))
    assert missed() < 0.8 * before

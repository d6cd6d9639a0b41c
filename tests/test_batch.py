"""Many games at once are the same games as one at a time, whatever the order, the threads or the seed's company."""

from __future__ import annotations

import gc
import os
import pickle
import random
import threading
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from ice_envs import Batch, IceError, IllegalAction
from ice_envs.engine import batch as batch_module
from ice_envs.engine import crew, loops
from tests.dokitto_positions import GAME, card_index, position
from tests.helpers import apply_games, masks, observations, results, started

MIXED = (2, 3, 4, 5)


def play_on(batch: Batch, steps: int, seed: int = 0) -> list[bytes]:
    """Step by random actions; return all that the batch said at each step, as bytes."""
    actions, said = np.zeros(batch.num_games, np.int64), []
    for step in range(steps):
        observation, mask, seat = batch.observe()
        loops.random_actions(mask, np.uint64(seed * 1_000_003 + step), actions)
        said.append(b"".join(array.tobytes() for array in (observation, mask, seat, actions)))
        reward, done = batch.step(actions)
        arrays = (reward, done, batch.truncated, batch.last_scores, batch.last_shares, batch.states)
        said.append(b"".join(array.tobytes() for array in arrays))
    return said


def test_a_batch_equals_its_games_stepped_one_at_a_time():
    batch = Batch(GAME, 12, seed=4, num_players=MIXED, target_score=4)
    singles = [started(GAME, MIXED[i % 4], 12, seed=4, target_score=4)[i : i + 1] for i in range(12)]
    actions, ended = np.zeros(12, np.int64), 0
    for step in range(400):
        observation, mask, seat = batch.observe()
        for i, single in enumerate(singles):
            assert single.tobytes() == batch.states[i : i + 1].tobytes()
            mover = int(single[0].to_move)
            alone, allowed = observations(GAME, single, [mover])
            assert (seat[i], observation[i].tobytes(), mask[i].tobytes()) == (mover, alone.tobytes(), allowed.tobytes())
        loops.random_actions(mask, np.uint64(step), actions)
        _, done = batch.step(actions)
        for i, single in enumerate(singles):
            apply_games(single, actions[i : i + 1])
            assert done[i] == single[0].over
            if single[0].over:
                scores, shares = results(single)
                assert np.array_equal(batch.last_scores[i], scores[0, :5].astype(np.float32))
                assert np.array_equal(batch.last_shares[i], shares[0, :5].astype(np.float32))
                loops.start_games(single)
                ended += 1
    assert ended > 20


def test_table_sizes_are_dealt_out_in_turn():
    batch = Batch(GAME, 6, num_players=(4, 2))
    assert batch.states["num_players"].tolist() == [4, 2, 4, 2, 4, 2]
    assert Batch(GAME, 3, num_players=3).states["num_players"].tolist() == [3, 3, 3]
    assert Batch(GAME, 2).states["num_players"].tolist() == [5, 5]
    assert Batch(GAME, 2, num_players=np.array([2, 4])).states["num_players"].tolist() == [2, 4]
    assert Batch(GAME, 2, num_players=np.int64(4)).states["num_players"].tolist() == [4, 4]


def test_seats_past_the_table_get_zeros():
    batch = Batch(GAME, 8, num_players=MIXED, reward="margin", target_score=1)
    play_on(batch, 200)
    absent = np.arange(5) >= batch.states["num_players"][:, None]
    reward, _ = batch.step(masks(GAME, batch.states).argmax(1))
    for array in (reward, batch.last_scores, batch.last_shares):
        assert array.shape == (8, 5)
        assert not array[absent].any()
    assert batch.last_scores.any(1).all()


def test_a_game_that_ends_begins_anew_and_its_last_scores_stay_readable():
    batch = Batch(GAME, 1, num_players=3)
    batch.states[:] = position("s5", "s12", "s7", cones="c*/m/", totals=(9, 8, 1))
    for card in ("s5", "s12"):
        _, done = batch.step([card_index(card)])
        assert (done[0], batch.last_scores.any()) == (False, False)
    _, done = batch.step([card_index("s7")])
    state = batch.states[0]
    assert done[0]
    assert (state.over, state.decisions, state.round_number, state.totals.any()) == (0, 0, 1, False)
    for _ in range(5):
        assert batch.last_scores.tolist() == [[11, 10, 1]]
        assert batch.last_shares.tolist() == [[1, 0, 0]]
        _, done = batch.step(masks(GAME, batch.states).argmax(1))
        assert not done[0]


def test_truncated_tells_the_games_cut_by_the_limit():
    batch = Batch(GAME, 2, num_players=2, max_rounds=3)
    for i, points in enumerate([(0, 0), (0, 9)]):
        fields = {"round_number": 3}
        batch.states[i : i + 1] = position("s5", "s12", totals=points, fields=fields, max_rounds=3)
    batch.step([card_index("s5")] * 2)
    assert batch.truncated.tolist() == [False, False]
    _, done = batch.step([card_index("s12")] * 2)
    assert done.tolist() == [True, True]
    assert batch.truncated.tolist() == [True, False]
    batch.step(masks(GAME, batch.states).argmax(1))
    assert batch.truncated.tolist() == [False, False]


@pytest.mark.parametrize(("reward", "final"), [("win", [1, -0.5, -0.5]), ("score", [2, 2, 0]), ("margin", [1, 1, -2])])
def test_rewards_at_the_end_of_the_game(reward: str, final: list[float]):
    batch = Batch(GAME, 1, num_players=3, reward=reward)
    batch.states[:] = position("s5", "s12", "s7", cones="c*/m/", totals=(9, 8, 1))
    for card in ("s5", "s12"):
        assert not batch.step([card_index(card)])[0].any()
    assert batch.step([card_index("s7")])[0].tolist() == [final]


@pytest.mark.parametrize(("reward", "paid"), [("win", [0, 0, 0]), ("score", [0, 3, 1]), ("margin", [-2, 2.5, -0.5])])
def test_rewards_at_the_end_of_a_round(reward: str, paid: list[float]):
    """Seat 0 busts: seats 1 and 2 score their cones, and the game goes on."""
    batch = Batch(GAME, 1, num_players=3, reward=reward)
    batch.states[:] = position("s13 c1", "s1 c2", "s2 c3", cones="sss/c*m/m", totals=(5, 0, 2))
    for card in ("s13", "s1"):
        assert not batch.step([card_index(card)])[0].any()
    given, done = batch.step([card_index("s2")])
    assert (given.tolist(), done[0]) == ([paid], False)


@pytest.mark.parametrize("reward", loops.REWARDS)
def test_rewards_of_a_game_add_up(reward: str):
    """Summed over a game: win and margin to zero over the seats, score to each seat's points."""
    batch = Batch(GAME, 64, seed=3, num_players=MIXED, reward=reward)
    sums, actions, ended = np.zeros((64, 5)), np.zeros(64, np.int64), 0
    for step in range(500):
        loops.random_actions(batch.observe()[1], np.uint64(step), actions)
        given, done = batch.step(actions)
        sums += given
        expected = batch.last_scores if reward == "score" else 0
        found = sums if reward == "score" else sums.sum(1)
        assert np.allclose(np.where(done.reshape(-1, *[1] * (found.ndim - 1)), found - expected, 0), 0, atol=1e-5)
        sums[done] = 0
        ended += done.sum()
    assert ended > 64


# ---- threads, seeds, copies ----


@pytest.mark.usefixtures("small_chunks")
def test_results_do_not_depend_on_the_number_of_threads():
    """101 games: the last chunk is smaller than the others."""
    said = [play_on(Batch(GAME, 101, 1, MIXED, threads, target_score=3), 250) for threads in (1, 2, 3)]
    assert said[0] == said[1] == said[2]


@pytest.mark.usefixtures("small_chunks")
def test_masks_and_random_actions_do_not_depend_on_the_number_of_threads():
    batches = [Batch(GAME, 33, 1, MIXED, threads) for threads in (1, 2, 3)]
    for step in range(30):
        alone = batches[0].mask()
        assert np.array_equal(alone, masks(GAME, batches[0].states))
        for batch in batches[1:]:
            assert np.array_equal(batch.mask(), alone)
            assert np.array_equal(batch.random_actions(step), batches[0].random_actions(step))
        for batch in batches:
            batch.step(batch.random_actions(step))
    assert len({batch.states.tobytes() for batch in batches}) == 1


@pytest.mark.usefixtures("small_chunks")
def test_what_is_written_between_two_calls_is_seen_by_all_threads():
    batch, other = Batch(GAME, 40, 1, 4, 3), Batch(GAME, 40, 2, 4)
    held = batch.states
    for step in range(50):
        held[:] = other.states
        assert [array.tobytes() for array in batch.observe()] == [array.tobytes() for array in other.observe()]
        for each in (batch, other):
            each.step(other.random_actions(step))
        batch.reset(step)
        assert batch.states.tobytes() == Batch(GAME, 40, step, 4).states.tobytes()


@pytest.mark.usefixtures("small_chunks")
def test_threads_end_with_their_batch():
    before = set(threading.enumerate())
    batch = Batch(GAME, 8, num_threads=3)
    batch.observe()
    started = set(threading.enumerate()) - before
    assert len(started) == 2
    del batch
    gc.collect()
    for thread in started:
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.usefixtures("small_chunks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")  # which is what is tested
def test_a_forked_process_plays_on_without_the_threads():
    batch, expected = (Batch(GAME, 20, 1, 4, threads) for threads in (3, 1))
    play_on(batch, 10)
    play_on(expected, 10)
    child = os.fork()
    if child == 0:
        try:
            same = play_on(batch, 10, seed=1) == play_on(expected, 10, seed=1)
        finally:
            os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert play_on(batch, 10, seed=1) == play_on(expected, 10, seed=1)


@pytest.mark.usefixtures("small_chunks")
def test_an_interrupted_wait_spoils_nothing(monkeypatch: pytest.MonkeyPatch):
    """Ctrl-C while another thread still works on its chunk: the next call waits for it first."""
    batch, expected = (Batch(GAME, 20, 1, 4, threads) for threads in (2, 1))
    play_on(batch, 5)
    play_on(expected, 5)
    with monkeypatch.context() as patch:
        patch.setattr(crew, "take_part", interrupted(crew.take_part))
        with pytest.raises(KeyboardInterrupt):
            batch.observe()
    assert play_on(batch, 10, seed=1) == play_on(expected, 10, seed=1)


def interrupted(take_part: Any) -> Any:
    """Return a function that posts a job, leaves it to the helpers, and interrupts its caller."""

    def post(board: Any, work: Any, me: int, job: int) -> bool:
        if me > 0:
            return take_part(board, work, me, job)
        board[crew._FINISHED] = 0
        for thread in range(2):
            board[crew._POSTED + thread * crew._LINE] = job << 32 | 5 * thread  # ten chunks
        raise KeyboardInterrupt

    return post


def test_plain_python_does_the_work_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batch_module, "PLAIN", True)
    before = set(threading.enumerate())
    batch = Batch(GAME, 1024, num_threads=2)
    batch.observe()
    assert set(threading.enumerate()) <= before


@pytest.mark.usefixtures("small_chunks")
def test_more_threads_than_games_do_no_harm():
    assert play_on(Batch(GAME, 2, 1, 2, 5), 20) == play_on(Batch(GAME, 2, 1, 2, 1), 20)


def test_a_seed_gives_the_same_games_again():
    batch = Batch(GAME, 20, 7, MIXED)
    first = play_on(batch, 100)
    batch.reset(7)
    batch.last_scores[:], batch.last_shares[:] = 0, 0
    assert play_on(batch, 100) == first
    assert play_on(Batch(GAME, 20, np.random.SeedSequence(7), MIXED), 100) == first
    assert play_on(Batch(GAME, 20, 8, MIXED), 100) != first


def test_no_seed_gives_other_games_each_time():
    batch = Batch(GAME, 4, None)
    first = batch.states.tobytes()
    batch.reset()
    assert batch.states.tobytes() != first


def test_a_longer_batch_begins_with_the_games_of_a_shorter_one():
    short, long = Batch(GAME, 8, 2, MIXED), Batch(GAME, 20, 2, MIXED)
    play_on(short, 50)
    play_on(long, 50)
    assert long.states[:8].tobytes() == short.states.tobytes()


@pytest.mark.parametrize("num_players", MIXED)
def test_runs_with_adjacent_seeds_share_no_deal(num_players: int):
    deals = [{hands.tobytes() for hands in Batch(GAME, 1024, seed, num_players).states["hands"]} for seed in (0, 1)]
    assert [len(found) for found in deals] == [1024, 1024]
    assert not deals[0] & deals[1]


@pytest.mark.parametrize("travel", [np.copy, deepcopy, lambda states: pickle.loads(pickle.dumps(states))])
def test_states_are_copied_and_restored(travel: Any):
    batch = Batch(GAME, 30, 5, MIXED, target_score=3)
    play_on(batch, 40)
    kept = travel(batch.states)
    assert (kept.dtype, kept.tobytes()) == (batch.states.dtype, batch.states.tobytes())
    scores, shares = batch.last_scores.copy(), batch.last_shares.copy()
    after = play_on(batch, 120, seed=1)
    assert kept.tobytes() != batch.states.tobytes()
    batch.states[:], batch.last_scores[:], batch.last_shares[:] = kept, scores, shares
    assert play_on(batch, 120, seed=1) == after


def test_global_generators_are_neither_read_nor_moved():
    first = play_on(Batch(GAME, 8, 1, MIXED), 50)
    random.seed(99)
    np.random.seed(99)  # noqa: NPY002  # the legacy generator is the one to leave alone
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    assert play_on(Batch(GAME, 8, 1, MIXED), 50) == first
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002


# ---- bad input ----


def illegal_in(batch: Batch, game: int) -> int:
    """Return a card that the seat to move of this game does not hold."""
    return int(masks(GAME, batch.states)[game].argmin())


def test_an_illegal_action_is_named_and_no_game_is_stepped():
    batch = Batch(GAME, 4, 3, num_players=2)
    batch.states[2:3] = position("s5 c12 m1", "s6 s9 m3")
    actions = masks(GAME, batch.states).argmax(1)
    actions[2] = card_index("s9")
    before = batch.states.tobytes(), batch.last_scores.tobytes()
    with pytest.raises(IllegalAction) as caught:
        batch.step(actions)
    assert str(caught.value) == (
        "game 2: 'play strawberry 9' (8) is illegal for player_0; "
        "legal: play strawberry 5 (4), play chocolate 12 (24), play matcha 1 (26)"
    )
    assert (batch.states.tobytes(), batch.last_scores.tobytes()) == before
    actions[2] = card_index("s5")
    batch.step(actions)


@pytest.mark.parametrize("action", [-1, 70, 10**9])
def test_an_action_out_of_range_is_illegal(action: int):
    batch = Batch(GAME, 1, 3, num_players=2)
    before = batch.states.tobytes()
    with pytest.raises(IllegalAction, match=rf"game 0: action {action} is illegal for player_\d; legal: play "):
        batch.step([action])
    assert batch.states.tobytes() == before


@pytest.mark.usefixtures("small_chunks")
def test_a_card_of_another_seat_is_illegal_for_every_number_of_threads():
    for threads in (1, 2, 3):
        batch = Batch(GAME, 7, 3, num_players=3, num_threads=threads)
        actions = masks(GAME, batch.states).argmax(1)
        actions[5] = illegal_in(batch, 5)
        before = batch.states.tobytes()
        with pytest.raises(IllegalAction, match="game 5: "):
            batch.step(actions)
        assert batch.states.tobytes() == before


@pytest.mark.parametrize(
    "actions", [np.zeros(3), np.zeros(2, np.int64), np.zeros((3, 1), np.int64), 0, None, ["a", "b", "c"], [True] * 3]
)
def test_actions_must_be_one_whole_number_for_each_game(actions: Any):
    batch = Batch(GAME, 3, num_players=2)
    before = batch.states.tobytes()
    with pytest.raises(IceError, match="actions must be 3 whole numbers, one for each game, not"):
        batch.step(actions)
    assert batch.states.tobytes() == before


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint8, np.uint64, list])
def test_whole_numbers_of_any_type_are_taken(kind: Any):
    batch = Batch(GAME, 3, 1, num_players=2)
    actions = masks(GAME, batch.states).argmax(1)
    expected = Batch(GAME, 3, 1, num_players=2)
    expected.step(actions)
    batch.step(actions.tolist() if kind is list else actions.astype(kind))
    assert batch.states.tobytes() == expected.states.tobytes()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"game": "dokito"}, "unknown game 'dokito' (did you mean 'dokitto'?)"),
        ({"num_games": 0}, "num_games must be from 1 to 16777216, not 0"),
        ({"num_games": 2.5}, "num_games must be a whole number from 1 to 16777216, not 2.5"),
        ({"num_threads": 0}, "num_threads must be from 1 to 1024, not 0"),
        ({"num_players": 6}, "dokitto is played by 2 to 5 seats, not 6"),
        ({"num_players": (4, 1)}, "dokitto is played by 2 to 5 seats, not 1"),
        ({"num_players": 0}, "dokitto is played by 2 to 5 seats, not 0"),
        ({"num_players": ()}, "num_players must be a table size, or at least one of several"),
        ({"num_players": "all"}, "dokitto is played by 2 to 5 seats, not 'a'"),
        ({"reward": "margins"}, "unknown reward 'margins' (did you mean 'margin'?)"),
        ({"target_scor": 3}, "dokitto has no option 'target_scor' (did you mean 'target_score'?)"),
        ({"max_rounds": 0}, "max_rounds must be from 1 to 100, not 0"),
    ],
)
def test_bad_arguments_are_refused_with_one_sentence(arguments: dict[str, Any], sentence: str):
    with pytest.raises(IceError) as caught:
        Batch(**{"game": "dokitto", "num_games": 4} | arguments)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("seed", [-1, 1 << 64, 1.5, None])
def test_a_bad_seed_of_random_actions_is_refused_with_one_sentence(seed: Any):
    batch = Batch(GAME, 4)
    with pytest.raises(IceError, match=r"seed must be (from|a whole number from) 0 to 18446744073709551615, not"):
        batch.random_actions(seed)


def test_states_are_overwritten_in_place_only():
    batch = Batch(GAME, 4)
    with pytest.raises(AttributeError):
        batch.states = batch.states.copy()


@pytest.mark.parametrize("seed", [-1, 1.5, "one"])
def test_a_bad_seed_is_refused_with_one_sentence(seed: Any):
    with pytest.raises(IceError) as caught:
        Batch(GAME, 4, seed)
    assert str(caught.value) == f"seed must be a whole number of at least 0, not {seed!r}"

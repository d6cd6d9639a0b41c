"""Evaluation: its statistics against a computation by hand, its games against slow ones, and what it refuses."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from ice_envs import agents, find_game
from ice_envs.agents.manifest import EvaluationRow, check
from ice_envs.engine import loops
from ice_envs.engine.generator import game_seeds
from ice_envs.errors import IceError, IllegalAction
from tests.helpers import apply_games, masks, results
from training import command_line
from training import evaluate as evaluation
from training.evaluate import EVALUATION_DEALS, EvaluationSettings, Outcomes, evaluate, interval, summary

GAME = find_game("dokitto")
OUTSIDE = ("date", "versions", "command")  # what a row holds besides its result


class Lowest(agents.Agent):
    """Plays the legal action with the lowest index."""

    name, game = "lowest", GAME

    def choose(self, states):
        return masks(GAME, states).argmax(axis=1)


class Highest(Lowest):
    """Plays the legal action with the highest index."""

    name = "highest"

    def choose(self, states):
        return GAME.num_actions - 1 - masks(GAME, states)[:, ::-1].argmax(axis=1)


def result(row):
    return {key: value for key, value in row.items() if key not in OUTSIDE}


# statistics

DEALS = Outcomes(
    shares=np.array([[1, 0], [0.5, 1], [1, 0.5]]),
    scores=np.array([[10.0, 3], [10, 11], [12, 9]]),
    opponents_scores=np.array([[8.0, 12], [10, 9], [7, 9]]),
    truncated=np.array([[False, False], [True, False], [False, False]]),
)


def test_statistics_of_three_deals_computed_by_hand():
    found = summary(DEALS)
    assert found["win_share"] == pytest.approx(4 / 6)
    assert (found["wins"], found["shared_wins"], found["losses"]) == pytest.approx((3 / 6, 2 / 6, 1 / 6))
    assert found["truncated"] == pytest.approx(1 / 6)
    assert (found["mean_score"], found["opponents_mean_score"]) == pytest.approx((55 / 6, 55 / 6))
    # deals won by halves: 0.50, 0.75, 0.75; their deviation is 0.144338, 4.302653 / √3 times it 0.358554
    assert found["interval"] == pytest.approx([2 / 3 - 0.358554, 1.0], abs=1e-5)
    # margins of the deals: −3.5, 1.0, 2.5; their deviation is 3.122499
    assert found["margin"] == pytest.approx(0)
    assert found["margin_interval"] == pytest.approx([-7.75672, 7.75672], abs=1e-4)
    first, second = found["per_seat"]
    assert (first["seat"], first["games"], first["win_share"], first["mean_score"]) == (
        0,
        3,
        pytest.approx(5 / 6),
        32 / 3,
    )
    assert (second["seat"], second["win_share"], second["mean_score"]) == (1, 0.5, 23 / 3)
    assert first["interval"] == pytest.approx([5 / 6 - 4.302653 * 0.288675 / 3**0.5, 1.0], abs=1e-5)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.7062), (2, 4.3027), (4, 2.7764), (5, 2.5706), (10, 2.2281), (30, 2.0423), (1000, 1.9623)],
)
def test_intervals_take_students_t_from_the_printed_tables(freedom, quantile):
    values = np.arange(freedom + 1.0)
    error = values.std(ddof=1) / len(values) ** 0.5
    assert interval(values) == pytest.approx(
        [values.mean() - quantile * error, values.mean() + quantile * error], abs=5e-5 * error
    )


def test_nineteen_intervals_of_twenty_hold_the_truth():
    draws = np.random.default_rng(1).random((2000, 8))
    held = np.mean([low <= 0.5 <= high for low, high in map(interval, draws)])
    assert 0.93 < held < 0.97


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.34, 0.4, "better"), (0.3, 0.33, "worse"), (0.3, 0.34, "unclear"), (1 / 3 - 1e-16, 1 / 3 - 1e-16, "unclear")],
)
def test_the_verdict_says_on_which_side_of_the_fair_share_the_interval_lies(low, high, words):
    assert evaluation.verdict({"interval": [low, high], "fair_share": 1 / 3}) == words


# games


def slowly(agent, opponent, num_players, deals, seed, options):
    """Return shares and scores (D, n, n) of each deal with the agent in each seat, one game at a time."""
    words = np.random.SeedSequence(seed, spawn_key=(EVALUATION_DEALS,)).spawn(3)[0]
    shares, scores = np.zeros((2, deals, num_players, num_players))
    for deal, word in enumerate(game_seeds(words, deals)):
        for seat in range(num_players):
            state = loops.new_states(GAME, [num_players], options, np.array([word]))
            while not state[0].over:
                player = agent if state[0].to_move == seat else opponent
                apply_games(state, player.choose(state))
            final_scores, final_shares = results(state)
            scores[deal, seat], shares[deal, seat] = final_scores[0, :num_players], final_shares[0, :num_players]
    return shares, scores


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_a_row_agrees_with_games_played_one_by_one(num_players):
    options = {"target_score": 7, "low_win_tile": "winning_card"}
    shares, scores = slowly(Lowest(), Highest(), num_players, 12, 4, options)
    row = evaluate(Lowest(), Highest(), GAME, num_players, 12 * num_players, 4, options)
    own = np.arange(num_players)
    assert row["win_share"] == pytest.approx(shares[:, own, own].mean())
    assert row["mean_score"] == pytest.approx(scores[:, own, own].mean())
    assert [seat["win_share"] for seat in row["per_seat"]] == pytest.approx(shares[:, own, own].mean(axis=0))
    assert [seat["mean_score"] for seat in row["per_seat"]] == pytest.approx(scores[:, own, own].mean(axis=0))
    others = (scores.sum(axis=2) - scores[:, own, own]) / (num_players - 1)
    assert row["opponents_mean_score"] == pytest.approx(others.mean())
    assert row["options"] == {**GAME.default_options(), **options}


def test_agent_and_opponent_are_not_mixed_up():
    ahead = evaluate(agents.load("greedy", GAME), agents.load("random", GAME), GAME, 4, 800)
    behind = evaluate(agents.load("random", GAME), agents.load("greedy", GAME), GAME, 4, 800)
    assert ahead["interval"][0] > ahead["fair_share"] == 0.25
    assert behind["interval"][1] < behind["fair_share"]
    assert (ahead["agent"], ahead["opponent"]) == (behind["opponent"], behind["agent"]) == ("greedy", "random")
    assert ahead["margin_interval"][0] > 0 > behind["margin_interval"][1]


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_equals_get_the_fair_share(num_players):
    row = evaluate(Lowest(), Lowest(), GAME, num_players, 60 * num_players)
    assert row["win_share"] == pytest.approx(1 / num_players)  # each deal is the same game in every seat
    assert row["interval"] == pytest.approx([1 / num_players] * 2)
    assert row["margin"] == pytest.approx(0)


def test_a_row_depends_on_its_arguments_alone(monkeypatch):
    drawing, other = agents.load("random", GAME, 1), agents.load("random", GAME, 2)
    first = evaluate(drawing, Lowest(), GAME, 3, 300, seed=9)
    assert result(evaluate(drawing, Lowest(), GAME, 3, 300, seed=9)) == result(first)  # though its stream has moved on
    assert json.dumps(result(evaluate(other, Lowest(), GAME, 3, 300, seed=9))) == json.dumps(result(first))
    assert result(evaluate(drawing, Lowest(), GAME, 3, 300, seed=10)) != result(first)
    against = evaluate(Lowest(), drawing, GAME, 3, 300, seed=9)
    assert result(evaluate(Lowest(), drawing, GAME, 3, 300, seed=9)) == result(against)
    fixed = evaluate(Lowest(), Highest(), GAME, 3, 300)
    monkeypatch.setattr(evaluation, "BLOCK", 7)
    assert result(evaluate(Lowest(), Highest(), GAME, 3, 300)) == result(fixed)


def test_opponents_get_the_same_deals_and_seeds_do_not():
    rows = [
        evaluate(Lowest(), other, GAME, 4, 40, seed) for other, seed in ((Lowest(), 0), (Highest(), 0), (Lowest(), 1))
    ]
    assert rows[0]["deals_hash"] == rows[1]["deals_hash"] != rows[2]["deals_hash"]
    assert (rows[0]["deals"], rows[0]["games"], len(rows[0]["per_seat"])) == (10, 40, 4)


def test_a_truncated_game_is_counted():
    row = evaluate(Lowest(), Highest(), GAME, 2, 20, options={"max_rounds": 1, "target_score": 30})
    assert row["truncated"] == 1


# what is refused


@pytest.mark.parametrize(
    ("games", "table_sizes", "words"),
    [
        (100, [3], "100 games are not .* at 3 seats: take 99"),
        (1000, [2, 3, 4, 5], "1000 games are not .* at 2, 3, 4, 5 seats: take 1020"),
        (4, [4], "take 8"),
        (1, [2, 3, 4, 5], "take 60"),
        (0, [4], "games must be from 1"),
        (-4, [4], "games must be from 1"),
    ],
)
def test_games_that_do_not_split_over_the_seats_are_refused(games, table_sizes, words):
    with pytest.raises(IceError, match=words) as error:
        evaluation.check_games(games, table_sizes)
    if "take" in words:
        evaluation.check_games(int(str(error.value).rsplit(" ", 1)[1]), table_sizes)  # the advice is good


def test_an_agent_of_another_game_is_refused():
    foreign = Lowest()
    foreign.game = replace(GAME, name="sorbet")
    for players in ((foreign, Lowest()), (Lowest(), foreign)):
        with pytest.raises(IceError, match="agent 'lowest' plays sorbet, not dokitto"):
            evaluate(*players, GAME, 4, 40)


def test_an_illegal_action_names_the_agent():
    cheat = Highest()
    cheat.choose = lambda states: np.full(len(states), GAME.num_actions - 1)
    with pytest.raises(IllegalAction, match=r"agent 'highest' chose an illegal action: 'take a vanilla tile' \(69\)"):
        evaluate(Lowest(), cheat, GAME, 4, 40)


def test_a_negative_seed_is_refused():
    with pytest.raises(IceError, match="seed must be from 0"):
        evaluate(Lowest(), Highest(), GAME, 4, 40, seed=-1)


# the command


def run(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        command_line.run(evaluation.main, EvaluationSettings, "training.evaluate", arguments=words)
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_the_command_writes_a_row_for_each_table_size_and_opponent(capsys, tmp_path):
    file = tmp_path / "rows.json"
    words = ["--agent", "random", "--opponents", "random", "random", "--num_players", "2", "3", "--games", "60"]
    code, out, _ = run(capsys, *words, "--seed", "3", "--options.target_score", "5", "--json", str(file))
    assert code == 0
    assert "random plays dokitto (60 games a line)" in out
    rows = json.loads(file.read_text())
    check(rows, list[EvaluationRow])
    assert [(row["num_players"], row["games"], row["seed"]) for row in rows] == [(2, 60, 3), (3, 60, 3)] * 2
    assert {row["options"]["target_score"] for row in rows} == {5}
    one, other = agents.load("random", GAME), agents.load("random", GAME)
    again = [evaluate(one, other, GAME, size, 60, 3, {"target_score": 5}) for size in (2, 3)]
    assert [result(row) for row in rows] == [result(row) for row in again] * 2


def test_the_tables_explain_themselves_in_eighty_columns():
    rows = [evaluate(Lowest(), Highest(), GAME, size, 120) for size in GAME.table_sizes]
    rows[0]["opponent"] = "a-very-long-name-of-an-opponent"
    out = io.StringIO()
    Console(file=out, width=80).print(evaluation.results_table(rows))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in out.getvalue()
    for row in rows:
        assert f"{row['win_share']:.3f}" in out.getvalue()
        assert f"{row['interval'][0]:.3f}–{row['interval'][1]:.3f}" in out.getvalue()
    assert "Fair share: what it would be if agent and opponents were equally good" in " ".join(out.getvalue().split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--agent", "gredy"], "unknown agent 'gredy' (did you mean 'greedy'?)"),
        (["--agent", "random", "--opponents", "greddy"], "unknown agent 'greddy' (did you mean 'greedy'?)"),
        (["--agent", "random", "--env", "dokito"], "unknown game 'dokito' (did you mean 'dokitto'?)"),
        (["--agent", "random", "--num_players", "6"], "dokitto is played by 2 to 5 seats, not 6"),
        (["--agent", "random", "--games", "7"], "7 games are not two or more whole deals"),
        (["--agent", "random", "--opponent", "random"], "unknown flag --opponent (did you mean '--opponents'?)"),
        (
            ["--agent", "random", "--options.target_scor", "5"],
            "no option 'target_scor' (did you mean 'target_score'?)",
        ),
        (["--agent", "random", "--options.target_score", "many"], "target_score must be a whole number from 1 to 30"),
        (["--agent", "random", "--json", "nowhere/rows.json"], "cannot write nowhere/rows.json: there is no folder"),
        (["--agent", "nowhere/agent.json"], "cannot read nowhere/agent.json: No such file or directory"),
        (["--agent", "random", "--opponents=[]"], "name at least one opponent"),
        ([], "agent"),
    ],
)
def test_the_command_answers_bad_input_with_one_sentence(capsys, words, sentence):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_the_command_stopped_by_ctrl_c_shows_what_it_has_and_writes_nothing(capsys, tmp_path, monkeypatch):
    def stop(*arguments):
        if len(arguments[0].seen) == 1:
            raise KeyboardInterrupt
        arguments[0].seen.append(arguments)
        return evaluate(Lowest(), Highest(), GAME, 2, 20)

    monkeypatch.setattr(Lowest, "seen", [], raising=False)
    monkeypatch.setattr(agents, "load", lambda spec, game: Lowest())
    monkeypatch.setattr(evaluation, "evaluate", stop)
    code, out, err = run(capsys, "--agent", "lowest", "--games", "60", "--json", str(tmp_path / "rows.json"))
    assert (code, list(tmp_path.iterdir())) == (130, [])
    assert "lowest plays dokitto" in out
    assert "Stopped: only finished lines are shown, and no file is written." in err


def test_the_command_runs_as_a_module():
    words = [sys.executable, "-m", "training.evaluate", "--agent", "random", "--opponents", "random"]
    done = subprocess.run([*words, "--num_players", "4", "--games", "8"], capture_output=True, text=True, check=True)
    assert "Win share by seat of the agent" in done.stdout
    assert "Traceback" not in done.stderr
    broken = subprocess.run([*words, "--gmaes", "8"], capture_output=True, text=True, check=False)
    assert (broken.returncode, broken.stderr) == (2, "unknown flag --gmaes (did you mean '--games'?)\n")

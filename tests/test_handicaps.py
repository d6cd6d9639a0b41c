"""Handicaps: the evaluated agent's move with it, cost it wins and are shown as a curve; training draws them."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from rich.console import Console

from ice_envs import IceError, agents, find_game, games
from ice_envs.agents.manifest import EvaluationRow, check
from ice_envs.engine import loops
from ice_envs.engine.game import States
from tests.test_evaluate import result, run
from tests.training_runs import begun, command
from training import evaluate as evaluation
from training import exploit, handicaps
from training.evaluate import evaluate
from training.handicaps import read_handicaps, seat_options, written

GAME = find_game("kawaii")
SLOWED = [name for name in games() if find_game(name).handicap]


class Passing(agents.Agent):
    """Lets everything pass, and notes the ticks at which it is asked."""

    name, game = "passing", GAME

    def __init__(self) -> None:
        self.ticks: set[int] = set()

    def choose(self, states: Any) -> Any:
        self.ticks |= set(states["tick"].tolist())
        return np.zeros(len(states), np.int64)


def row(handicap: tuple[int, ...] | None, **options: Any) -> EvaluationRow:
    greedy = agents.load("greedy", GAME)
    return evaluate(greedy, greedy, GAME, 4, 1200, options=options, handicap=handicap)


# ---- what is played ----


@pytest.mark.parametrize("name", SLOWED)
@pytest.mark.parametrize("num_players", [2, 5])
def test_no_handicap_is_the_game_as_it_is_and_a_handicap_is_in_the_agents_seat_alone(name: str, num_players: int):
    game = find_game(name)
    assert game.handicap is not None
    option, none = game.handicap.option, list(game.handicap.none)
    handicap = [number + 1 for number in none]
    assert seat_options(game, {}, num_players, None) == [{}] * num_players
    for seat, options in enumerate(seat_options(game, {}, num_players, handicap)):
        assert options == {option: [handicap if other == seat else none for other in range(num_players)]}
        game.check_options(num_players, options)
    seed = np.array([7], np.uint64)
    plain = loops.new_states(game, [num_players], {}, seed)
    for options in seat_options(game, {}, num_players, none):
        assert loops.new_states(game, [num_players], options, seed).tobytes() == plain.tobytes()


def test_the_agents_handicap_takes_the_place_of_its_seats_own():
    base = {"window_ticks": 9, "handicaps": [[1, 0], [2, 0]]}
    assert seat_options(GAME, base, 3, [5, 1]) == [
        {"window_ticks": 9, "handicaps": [[5, 1], [2, 0], [0, 0]]},
        {"window_ticks": 9, "handicaps": [[1, 0], [5, 1], [0, 0]]},
        {"window_ticks": 9, "handicaps": [[1, 0], [2, 0], [5, 1]]},
    ]
    assert base["handicaps"] == [[1, 0], [2, 0]]


def test_the_agent_alone_is_slowed_down_wherever_it_sits():
    agent, opponent = Passing(), Passing()
    evaluate(agent, opponent, GAME, 3, 60, options={"window_ticks": 30}, handicap=(10, 2))
    assert (agent.ticks, opponent.ticks) == (set(range(10, 15)), {0, 1, 2})


def test_the_slower_the_agent_the_less_it_wins():
    rows = [row(None), row((0, 0)), row((1, 0)), row((3, 0))]
    assert result(rows[1]) == {**result(rows[0]), "handicap": [0, 0]}
    assert rows[1]["win_share"] == pytest.approx(0.25)  # equals: each deal is the same game in every seat
    assert rows[1]["interval"][0] > rows[2]["interval"][1]
    assert rows[2]["interval"][0] > rows[3]["interval"][1]
    assert len({found["deals_hash"] for found in rows}) == 1
    assert [found.get("handicap") for found in rows] == [None, [0, 0], [1, 0], [3, 0]]
    assert all(found["options"] == GAME.default_options() for found in rows)


def test_opponents_may_be_slow_too():
    assert row((0, 0), handicaps=[[1, 0]] * 4)["interval"][0] > 0.25
    assert row(None, handicaps=[[1, 0]] * 4)["win_share"] == pytest.approx(0.25)


# ---- words ----


@pytest.mark.parametrize(
    ("word", "handicap", "short"),
    [("4", (4, 0), "4"), ("4+2", (4, 2), "4+2"), ("0", (0, 0), "0"), ("0+0", (0, 0), "0"), ("0+30", (0, 30), "0+30")],
)
def test_a_word_names_a_handicap(word: str, handicap: tuple[int, ...], short: str):
    assert read_handicaps(GAME, [word]) == [handicap]
    assert written(GAME, handicap) == short


def test_each_handicap_is_read_once():
    assert read_handicaps(GAME, ["0", "3", "3+0", "3+1", "0"]) == [(0, 0), (3, 0), (3, 1)]
    assert read_handicaps(find_game("dokitto"), []) == []


# ---- the command ----

SMALL = ["--env", "kawaii", "--agent", "greedy", "--opponents", "greedy", "random", "--games", "24"]


def test_the_command_shows_and_writes_the_curve(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    files = [tmp_path / "rows.json", tmp_path / "curve"]
    words = [*SMALL, "--num_players", "3", "4", "--handicap", "0", "2", "2+1", "--options.flipper_delay", "1"]
    code, out, _ = run(capsys, *words, "--json", str(files[0]), "--plot", str(files[1]))
    assert code == 0
    rows = json.loads(files[0].read_text())
    check(rows, list[EvaluationRow])
    told = [(found["opponent"], found["num_players"], found["handicap"]) for found in rows]
    assert told == [
        (opponent, size, handicap)
        for opponent in ("greedy", "random")
        for size in (3, 4)
        for handicap in ([0, 0], [2, 0], [2, 1])
    ]
    assert {found["options"]["flipper_delay"] for found in rows} == {1}
    for found in rows:
        assert f"{found['win_share']:.3f}" in out
    assert "Handicap: ticks added to the agent's reaction." in " ".join(out.split())
    with Image.open(files[1]) as picture:
        assert (picture.format, picture.size) == ("PNG", (1200, 450))
        assert len(picture.convert("L").histogram()) - picture.convert("L").histogram().count(0) > 20


def test_handicaps_of_every_seat_are_options(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    file = tmp_path / "rows.json"
    words = [*SMALL, "--num_players", "3", "--options.handicaps", "[[1, 0], [2, 3]]", "--options.memory", "true"]
    assert run(capsys, *words, "--json", str(file))[0] == 0
    rows = json.loads(file.read_text())
    assert [found["options"]["handicaps"] for found in rows] == [[[1, 0], [2, 3]]] * 2
    assert [found["options"]["memory"] for found in rows] == [True] * 2
    assert not any("handicap" in found for found in rows)


def test_the_curve_has_a_line_for_each_table_size_and_further_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    from matplotlib.figure import Figure

    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    greedy = agents.load("greedy", GAME)
    rows = [
        evaluate(greedy, greedy, GAME, size, 24, handicap=handicap)
        for size in (2, 3)
        for handicap in ((4, 1), (0, 0), (4, 0))
    ]
    handicaps.draw_curve(rows, tmp_path / "curve.png")
    (panel,) = drawn[0].axes
    assert [text.get_text() for text in panel.get_legend().get_texts()] == [
        "2 seats",
        "2 seats, handicap …+1",
        "3 seats",
        "3 seats, handicap …+1",
    ]
    lines = [container[0].get_xydata().tolist() for container in panel.containers]
    shares = [found["win_share"] for found in rows]
    assert lines == [
        [[0, shares[1]], [4, shares[2]]],
        [[4, shares[0]]],
        [[0, shares[4]], [4, shares[5]]],
        [[4, shares[3]]],
    ]


def test_tables_with_handicaps_are_eighty_columns_wide():
    rows = [{**row((100, 30)), "opponent": "a-very-long-name-of-an-opponent", "agent": "x"}] * 2
    out = io.StringIO()
    Console(file=out, width=80).print(evaluation.results_table(rows))
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert "…" not in out.getvalue()
    assert out.getvalue().count("100+30") == 4


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--env", "dokitto", "--handicap", "1"], "dokitto has no handicaps (games that have: kawaii)"),
        (["--handicap", "fast"], "a handicap must be whole numbers joined by +, such as 4 or 4+2, not 'fast'"),
        (["--handicap", "1.5"], "a handicap must be whole numbers joined by +, such as 4 or 4+2, not '1.5'"),
        (["--handicap", "4+"], "a handicap must be whole numbers joined by +, such as 4 or 4+2, not '4+'"),
        (["--handicap", "1+2+3"], "the handicap 1+2+3 has 3 numbers, but there are at most 2"),
        (["--handicap", "0", "101"], "the shift in handicaps[0] must be from 0 to 100, not 101"),
        (["--handicap", "-1"], "the shift in handicaps[0] must be from 0 to 100, not -1"),
        (["--handicap", "1+31"], "the widening in handicaps[0] must be from 0 to 30, not 31"),
        (["--handicap"], "argument --handicap: expected one argument"),
        (["--handicap", "1", "--plot", "curve.png"], "--plot draws a curve, which takes two or more values"),
        (["--plot", "curve.png"], "--plot draws a curve, which takes two or more values of --handicap"),
        (["--handicap", "0", "1", "--plot", "nowhere/curve.png"], "cannot write nowhere/curve.png: there is no folder"),
        (["--options.handicaps", "[[1, 2], [3]]"], "handicaps[1] must have 2 entries, not 1"),
        (["--options.handicaps", "4"], "handicaps must be a list, not 4"),
        (
            ["--num_players", "5", "3", "--options.handicaps", "[[1,0],[1,0],[1,0],[1,0]]"],
            "handicaps has 4 entries, but the table has 3 seats",
        ),
        (
            ["--num_players", "3", "--handicap", "2", "--options.handicaps", "[[1,0],[1,0],[1,0],[1,0]]"],
            "handicaps has 4 entries, but the table has 3 seats",
        ),
    ],
)
def test_the_command_answers_bad_handicaps_with_one_sentence(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
):
    code, out, err = run(capsys, "--agent", "greedy", "--env", "kawaii", "--games", "120", *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_game_without_handicaps_refuses_one():
    with pytest.raises(IceError, match="kawaii has no handicaps"):
        evaluate(Passing(), Passing(), replace(GAME, handicap=None), 3, 60, handicap=(1, 0))


# ---- training ----

TRAINED = ["--env", "kawaii", "--games", "600", "--threads", "1", "--hidden", "8", "--kind_hidden", "8"]


def trained_states(folder: Path, *words: str) -> States:
    """Return the games that a run with these flags begins with."""
    return begun(*TRAINED, *words, "--out", str(folder)).self_play.batch.states


def handicaps_of(states: States) -> NDArray[np.int8]:
    """Return each seat's handicap (N, seats, 2)."""
    return np.stack([states["shift"], states["widen"]], axis=2)


def test_in_a_part_of_the_games_every_seat_trains_with_a_handicap_of_its_own(tmp_path: Path):
    states = trained_states(tmp_path / "run", "--handicapped", "0.5")
    found, seated = handicaps_of(states), np.arange(5) < states["num_players"][:, None]
    handicapped = found.any(axis=(1, 2))
    assert 0.42 < handicapped.mean() < 0.58
    assert not found[~seated].any()
    pairs, counts = np.unique(found[seated & handicapped[:, None]], axis=0, return_counts=True)
    assert pairs.tolist() == [[shift, widen] for shift in range(4) for widen in range(4)]
    assert counts.min() > 0.6 * counts.mean()
    plain = trained_states(tmp_path / "plain", "--handicapped", "0")
    assert states[~handicapped].tobytes() == plain[~handicapped].tobytes()
    assert not handicaps_of(plain).any()


def test_what_is_drawn_holds_from_game_to_game_and_takes_effect(tmp_path: Path):
    batch = begun(*TRAINED, "--handicapped", "0.5", "--num_players", "2", "--out", str(tmp_path)).self_play.batch
    before, earliest, ended = handicaps_of(batch.states), np.full((600, 5), 100), np.zeros(600, np.bool_)
    for seed in range(300):
        batch.mask()
        seats = np.arange(600), batch.states["to_move"]
        earliest[seats] = np.minimum(earliest[seats], batch.states["tick"])
        ended |= batch.step(batch.random_actions(seed))[1]
    assert ended.all()
    assert np.array_equal(handicaps_of(batch.states), before)
    assert np.array_equal(earliest[:, :2], before[:, :2, 0])


def test_a_run_draws_its_handicaps_from_its_seed_and_keeps_them(tmp_path: Path):
    words = ["--handicapped", "0.5"]
    first = trained_states(tmp_path / "first", *words)
    assert trained_states(tmp_path / "same", *words).tobytes() == first.tobytes()
    assert begun("--resume", str(tmp_path / "first")).self_play.batch.states.tobytes() == first.tobytes()
    other = trained_states(tmp_path / "other", *words, "--seed", "1")
    assert not np.array_equal(handicaps_of(other), handicaps_of(first))
    with pytest.raises(IceError, match=r"handicapped cannot change when a run is continued: it was 0.5, not 0.2"):
        begun("--resume", str(tmp_path / "first"), "--handicapped", "0.2")


def test_drawn_handicaps_take_the_place_of_those_in_the_options(tmp_path: Path):
    words = ["--num_players", "3", "--options.handicaps", "[[9, 0], [0, 9]]", "--options.flipper_delay", "2"]
    states = trained_states(tmp_path / "run", *words, "--handicapped", "0.5")
    found = handicaps_of(states)
    given = (found == [[9, 0], [0, 9], [0, 0], [0, 0], [0, 0]]).all(axis=(1, 2))
    assert 0.42 < given.mean() < 0.58
    assert found[~given].max() == 3
    assert set(states["flipper_delay"]) == {2}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--env", "dokitto", "--handicapped", "0.1"], "dokitto has no handicaps (games that have: kawaii)"),
        (["--env", "kawaii", "--handicapped", "1.5"], "handicapped must be from 0 to 1, not 1.5"),
        (["--env", "dokitto", "--handicapped", "-1"], "handicapped must be from 0 to 1, not -1"),
    ],
)
def test_training_refuses_handicaps_that_cannot_be(words: list[str], sentence: str, tmp_path: Path):
    code, out, err = command(*words, "--out", str(tmp_path / "run"))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
    assert not (tmp_path / "run").exists()


def test_a_response_learns_the_game_in_which_it_is_measured():
    assert exploit.recipe(exploit.ExploitSettings(env="kawaii", agent="greedy")).handicapped == 0

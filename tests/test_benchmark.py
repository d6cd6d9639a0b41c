"""The benchmark: that it measures what it says, in turn, and what it makes of a baseline. No speed is asserted here."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pettingzoo
import pytest
import torch
from rich.console import Console

from ice_envs import find_game, games
from ice_envs.agents.manifest import check
from ice_envs.engine.playouts import action_values
from ice_envs.errors import IceError
from tests.helpers import masks
from training import benchmark, benchmark_agents, benchmark_games, benchmark_learning, command_line
from training.benchmark import GOALS, SECTIONS, BenchmarkRow, BenchmarkSettings, Measurement, compare, rows_of
from training.benchmark_games import DIFFERENCE, QUICK, RATIO, SECONDS, Bench
from training.docs_agents import manifest_path

GAME = find_game("dokitto")
BENCH = Bench(GAME, 4, 1, 0, QUICK, Console(file=io.StringIO()))
BASELINE = Path(__file__).parent.parent / "docs" / "results" / "benchmark.json"


def run(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        command_line.run(benchmark.main, BenchmarkSettings, "training.benchmark", arguments=words)
    out, err = capsys.readouterr()
    return stop.value.code, out, err


# the clock


def test_a_speed_is_all_the_work_over_all_the_time(monkeypatch):
    ticks = iter([10.0, 10.4, 10.8, 11.2, 99.0])
    monkeypatch.setattr(benchmark_games.time, "perf_counter", lambda: next(ticks))
    assert benchmark_games.speed(lambda: 6, 1.0) == pytest.approx(18 / 1.2)


def test_what_is_compared_is_measured_in_turn():
    order = []
    values = BENCH.in_turn("letters", [lambda: order.append("A") or 1.0, lambda: order.append("B") or 2.0], 3)
    assert (order, values) == (list("ABABAB"), [[1.0] * 3, [2.0] * 3])


def test_a_ratio_is_of_neighbors_in_time():
    assert benchmark_games.ratios([2, 9], [1, 3]) == [2, 3]


# the sections


def test_the_command_measures_the_games_and_writes_rows(capsys, tmp_path):
    file = tmp_path / "rows.json"
    code, out, _ = run(capsys, "--quick", "--only", "batch", "aec", "search", "--num_players", "3", "--json", str(file))
    rows = json.loads(file.read_text())
    assert code == 0
    check([row for row in rows if row["value"] is not None], list[BenchmarkRow])
    assert [row["section"] for row in rows] == ["batch"] * 19 + ["aec"] * 4 + ["search"] * 4
    assert len({benchmark.identity(row) for row in rows}) == len(rows)
    for row in rows:
        if "connect_four" not in row["name"]:
            assert 0 < row["min"] <= row["value"] <= row["max"]
            assert (row["repeats"], row["settings"]["num_players"]) == (QUICK.repeats, 3)
    for section in ("batch", "aec", "search"):
        assert SECTIONS[section][0] in out


def test_batches_are_played_with_each_number_of_games_and_threads(monkeypatch):
    class Played:
        kinds: ClassVar = []

        def __init__(self, bench, *kind):
            self.kinds.append(kind)

        def work(self):
            return 1

    monkeypatch.setattr(benchmark_games, "RandomPlay", Played)
    found = benchmark_games.batch(replace(BENCH, threads=2))
    assert Played.kinds == [(n, t, o) for n in (1, 64, 1024, 16384) for t in (1, 2) for o in (True, False)]
    assert [measured.settings["games"] for measured in found if measured.unit == RATIO] == [64, 1024, 16384]


@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
def test_random_play_plays_as_many_moves_as_it_says(threads, observed):
    play = benchmark_games.RandomPlay(BENCH, 5, threads, observed)
    for _ in range(24):  # too few for any game to end
        play.round()
    assert play.batch.states["decisions"].tolist() == [24] * 5
    assert {play.work() for _ in range(30)} == {5 * (benchmark_games.CHUNK // 5)}
    assert play.batch.last_shares.any()  # games have ended and begun anew


def test_pettingzoo_loops_play_on_over_the_ends_of_games():
    raw, documented = benchmark_games.aec_loops(GAME.env_id, 0, num_players=2, target_score=1)
    assert raw() == benchmark_games.CHUNK
    assert raw() == benchmark_games.CHUNK
    first, second = documented(), documented()
    assert min(first, second) >= 12  # six cards in each of two hands
    assert max(first, second) <= GAME.longest_game(2, GAME.make_options({"target_score": 1}))


def test_a_neighbor_that_cannot_be_imported_is_a_row_that_says_so(monkeypatch):
    monkeypatch.setattr(benchmark_games, "NEIGHBOR", "tests/absent-v0")
    pettingzoo.register("aec", "tests/absent-v0", entry_point="no_such_module:env")
    rows = rows_of("aec", benchmark_games.aec(BENCH))
    assert [row["value"] is None for row in rows] == [False, False, True, True]
    assert {row["note"] for row in rows} == {"", 'not measured: pip install "pettingzoo[classic]"'}
    assert 'pip install "pettingzoo[classic]"' in " ".join(shown(benchmark.results(rows)).split())


def test_a_neighbor_that_can_be_imported_is_measured(monkeypatch):
    monkeypatch.setattr(benchmark_games, "NEIGHBOR", GAME.env_id)
    found = benchmark_games.aec(BENCH)
    assert [len(measured.values) for measured in found] == [QUICK.repeats] * 4
    assert [measured.settings["env"] for measured in found] == ["dokitto"] * 2 + [GAME.env_id] * 2


@pytest.mark.parametrize("skilled", [0, 2, 3])  # of three playouts; the last one tells
def test_imagined_moves_are_counted_along_the_same_playouts(skilled):
    states = benchmark_games.midgame_states(BENCH)
    searched, counted = np.zeros(2, GAME.dtype), np.zeros(2, GAME.dtype)
    values = np.zeros((len(states), GAME.num_actions), np.float32)
    action_values(states, 3, skilled, 1.0, np.uint64(7), searched, 0, values)
    moves = benchmark_games.count_imagined_moves(states, 3, skilled, np.uint64(7), counted, GAME.num_actions)
    assert searched.tobytes() == counted.tobytes()  # the last playout ended alike
    assert moves > 3 * masks(GAME, states).sum()  # more than the tried actions alone
    forced = states[masks(GAME, states).sum(axis=1) == 1]
    for state in forced[:20]:
        game = np.asarray(state, GAME.dtype).reshape(1)
        moves = benchmark_games.count_imagined_moves(game, 1, skilled, np.uint64(7), counted, GAME.num_actions)
        assert moves == counted[1].decisions - game[0].decisions


def test_copies_are_whole_and_redrawn_ones_keep_what_the_seat_sees():
    states = benchmark_games.midgame_states(BENCH)
    assert len(np.unique(states["trick"])) > 1  # in all phases
    scratch = np.zeros_like(states)
    benchmark_games.copy_games(states, scratch)
    assert scratch.tobytes() == states.tobytes()
    benchmark_games.imagine_games(states, scratch, np.uint64(0))
    rows, mover = np.arange(len(states)), states["to_move"]
    assert (scratch["hands"][rows, mover] == states["hands"][rows, mover]).all()
    assert (scratch["hands"] != states["hands"]).any()


def test_the_bound_makes_the_passes_that_training_makes():
    run = benchmark_learning.new_run(BENCH, taught=False)
    benchmark_learning.learn_work(run)
    decisions = benchmark_learning.learn_work(run)
    bound = benchmark_learning.Arithmetic(run, decisions)
    before = [parameter.clone() for parameter in bound._network.parameters()]
    theirs, ours = passes(run.network, run.learn), passes(bound._network, bound.work)
    assert bound.work() == decisions
    for learning in (False, True):
        rows_of_training, rows_of_bound = theirs[learning], ours[learning]
        assert len(rows_of_training) == len(rows_of_bound) > 1
        assert sum(rows_of_bound) == pytest.approx(sum(rows_of_training), rel=0.1)
    assert all(torch.equal(old, new) for old, new in zip(before, bound._network.parameters(), strict=True))


def passes(network, work):
    """Return the rows of each pass without and with gradients."""
    found = {False: [], True: []}
    hook = network.register_forward_hook(lambda _, inputs, __: found[torch.is_grad_enabled()].append(len(inputs[0])))
    work()
    hook.remove()
    return found


def test_stock_learns_with_our_network_from_as_many_decisions_as_it_says():
    run = benchmark_learning.new_run(BENCH, taught=False)
    model = benchmark_learning.stock_learner(run, 64, 3)
    assert [part.shape for part in model.policy.parameters()] == [part.shape for part in run.model.policy.parameters()]
    before = [part.clone() for part in model.policy.parameters()]
    assert benchmark_learning.stock_work(model) == model.num_timesteps == 4 * QUICK.minibatch
    assert any(not torch.equal(old, new) for old, new in zip(before, model.policy.parameters(), strict=True))


def test_training_is_measured_next_to_the_bound_and_to_stock():
    found = benchmark_learning.training(BENCH)
    assert [(measured.name, measured.unit) for measured in found] == [
        ("learning included", "decisions/s"),
        ("the network's arithmetic alone", "decisions/s"),
        ("taught by the search", "decisions/s"),
        ("stock MaskablePPO, 64 games", "decisions/s"),
        ("stock MaskablePPO, its own defaults", "decisions/s"),
        ("over the arithmetic alone", RATIO),
        ("over the fastest stock MaskablePPO", RATIO),
        ("over stock MaskablePPO, its own defaults", RATIO),
    ]
    ours, bound, taught, stock, boxed, *ratios = (measured.values[0] for measured in found)
    assert ratios == [ours / bound, ours / stock, ours / boxed]
    assert found[0].settings["num_players"] == list(GAME.table_sizes)
    assert (found[3].settings["num_players"], found[3].settings["games"]) == (4, 64)
    assert (found[4].settings["minibatch"], found[4].settings["epochs"]) == (64, 10)
    assert taught > 0


def test_taught_runs_learn_from_the_search_and_the_others_do_not():
    for taught in (True, False):
        run = benchmark_learning.new_run(BENCH, taught)
        benchmark_learning.learn_work(run)
        assert ("teacher_loss" in run.losses) == taught


def test_the_cold_cache_is_empty_and_the_warm_one_is_what_the_cold_one_left(monkeypatch):
    program = """
import os, pathlib
cache = pathlib.Path(os.environ["NUMBA_CACHE_DIR"])
cache.mkdir(exist_ok=True)
print(len(list(cache.iterdir())))
(cache / "compiled").touch()
"""
    monkeypatch.setattr(benchmark_games, "_FIRST_STEP", program)
    base, ours, above, cold, warm = (measured.values for measured in benchmark_games.startup(BENCH))
    assert (cold, warm) == ([0.0], [1.0])
    assert above == [a - b for a, b in zip(ours, base, strict=True)]
    assert min(base) > 0


def test_the_first_step_can_be_played():
    program = benchmark_games._FIRST_STEP.format(game="dokitto", games=4, num_players=5)
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    assert benchmark_games.in_process(program, Path(home)) > 0


@pytest.mark.parametrize(("shares", "note"), [([1.0, 0.95], ""), ([1.0, 0.4], "busy"), ([0.4, 1.0], "busy")])
def test_a_busy_machine_is_noted_and_shown(monkeypatch, shares, note):
    play, absent = Measurement("play", "moves/s", [1.0], {}), Measurement("absent", "moves/s", [], {}, "not installed")
    monkeypatch.setitem(SECTIONS, "batch", ("Play", lambda bench: [play, absent]))
    values = iter(shares)
    monkeypatch.setattr(benchmark_games, "core_share", lambda: next(values))
    rows = benchmark.measure("batch", BENCH)
    words = "the machine was busy, this got 40% of a core" if note else ""
    assert [row["note"] for row in rows] == [words, "not installed"]
    assert ("(the machine was busy, this got 40% of a core)" in shown(benchmark.results(rows))) == bool(note)


def test_the_share_of_a_core_is_a_part():
    assert 0 < benchmark_games.core_share() < 1.05


# tables


def shown(table):
    out = io.StringIO()
    Console(file=out, width=80).print(table)
    return out.getvalue()


def test_the_tables_explain_themselves_in_eighty_columns():
    rows = rows_of("batch", [Measurement(benchmark.BATCH, "moves/s", [2e6, 8e6, 4e6], {"env": "dokitto"})])
    rows += rows_of("startup", [Measurement("first step, warm cache", SECONDS, [1.5], {})])
    rows += rows_of("training", [Measurement("over stock MaskablePPO, its own defaults", RATIO, [2.5, 3.5], {})])
    out = shown(benchmark.results(rows))
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    assert "4,000,000  moves/s  50% – 200%  ≥ 4,000,000 ✓" in out
    assert "1.5  s  100% – 100%  ≤ 1 ✗" in out
    assert "≥ 3 ✓" in out
    assert rows[0]["cpu"] in " ".join(out.split())


def test_each_game_has_a_goal_of_its_own():
    rows = rows_of("batch", [Measurement(benchmark.BATCH, "moves/s", [3e6], {"env": name}) for name in games()])
    assert [benchmark.goal_of(row)[-1] for row in rows] == ["✗" if name == "dokitto" else "✓" for name in games()]


@pytest.mark.parametrize(
    ("value", "text"), [(12_345_678.9, "12,345,679"), (123.4, "123"), (12.34, "12.3"), (0.01234, "0.0123"), (3, "3")]
)
def test_numbers_are_short(value, text):
    assert benchmark.number(value) == text


# the baseline


def rows(**changes):
    found = [
        Measurement("play", "moves/s", [changes.get("play", 100.0)], {"games": 1}),
        Measurement("first step", SECONDS, [changes.get("first_step", 2.0)], {}),
        Measurement("over", RATIO, [changes.get("over", 2.0)], {}),
        Measurement("above", DIFFERENCE, [changes.get("above", 0.1)], {}),
        Measurement("absent", "moves/s", [], {}, "not installed"),
    ]
    return rows_of("batch", found)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"play": 61.0}, 0),
        ({"play": 59.0}, 1),
        ({"play": 500.0}, 0),
        ({"first_step": 9.0, "over": 0.1, "above": 5.0}, 0),  # no speeds
    ],
)
def test_under_sixty_percent_of_the_baseline_is_a_failure(capsys, tmp_path, changes, code):
    file = tmp_path / "baseline.json"
    file.write_text(json.dumps(rows()))
    assert compare(rows(**changes), benchmark.read_baseline(file)) == code
    assert ("too slow" in capsys.readouterr().out) == bool(code)


def test_a_baseline_of_another_processor_judges_nothing(capsys):
    other = [row | {"cpu": "abacus, 1 core"} for row in rows()[:4]]
    assert compare(rows(play=1.0), other) == 0
    assert "Not judged: the baseline is of another processor (abacus, 1 core)." in capsys.readouterr().out


def test_measurements_with_other_settings_are_not_compared():
    other = [row | {"settings": {"games": 2}} for row in rows()[:1]]
    with pytest.raises(IceError, match="the baseline holds nothing that was measured now"):
        compare(rows(), other)


def test_the_command_exits_with_1_when_something_is_too_slow(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(SECTIONS, "batch", ("Play", lambda bench: [Measurement("play", "moves/s", [10.0], {})]))
    file = tmp_path / "rows.json"
    assert run(capsys, "--only", "batch", "--json", str(file))[0] == 0
    assert run(capsys, "--only", "batch", "--baseline", str(file))[0] == 0
    monkeypatch.setitem(SECTIONS, "batch", ("Play", lambda bench: [Measurement("play", "moves/s", [5.0], {})]))
    code, out, _ = run(capsys, "--only", "batch", "--baseline", str(file), "--json", str(file))
    assert code == 1
    assert "50%" in out
    assert json.loads(file.read_text())[0]["value"] == 5.0


def test_the_committed_baseline_has_all_sections_and_all_that_has_a_goal():
    baseline = benchmark.read_baseline(BASELINE)
    assert {row["section"] for row in baseline} == set(SECTIONS)
    assert {*GOALS, benchmark.BATCH} <= {row["name"] for row in baseline}
    assert set(benchmark.BATCH_GOALS) == set(games())


def test_portable_agents_are_timed_here_and_over_http(tmp_path):
    rows = benchmark_agents.agents(BENCH)
    assert [(row.unit, len(row.values)) for row in rows] == [("s", 2), ("s", 2), ("moves/s", 2), ("MB", 1)]
    assert all(value > 0 for row in rows for value in row.values)
    published = manifest_path(GAME.name).is_file()
    assert {row.settings["agent"] for row in rows} == {"published" if published else "untrained"}
    (path := tmp_path / "agent.json").write_text("{}")
    with pytest.raises(IceError, match="the service did not start"), benchmark_agents.served(path):
        pass


# what is refused


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--env", "dokito"], "unknown game 'dokito' (did you mean 'dokitto'?)"),
        (["--only", "bach"], "not 'bach'"),
        (["--only=[]"], "name at least one section: batch, aec, search, search_agents, training, agents, startup"),
        (["--num_players", "6"], "dokitto is played by 2 to 5 seats, not 6"),
        (["--threads", "0"], "threads must be from 1 to 1024, not 0"),
        (["--seed", "-1"], "seed must be from 0"),
        (["--quik"], "unknown flag --quik (did you mean '--quick'?)"),
        (["--quick", "perhaps"], "quick must be true or false, not 'perhaps'"),
        (["--json", "nowhere/rows.json"], "cannot write nowhere/rows.json: there is no folder"),
        (["--baseline", "nowhere.json"], "cannot read nowhere.json: No such file or directory"),
    ],
)
def test_the_command_answers_bad_input_with_one_sentence(capsys, words, sentence):
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("content", ["{}", "[1]", '[{"name": "play"}]', '[{"value": null}, {"value": "fast"}]', "[{"])
def test_a_baseline_of_another_kind_is_refused(tmp_path, content):
    file = tmp_path / "baseline.json"
    file.write_text(content)
    with pytest.raises(IceError, match=r"baseline\.json") as error:
        benchmark.read_baseline(file)
    assert "\n" not in str(error.value)


def test_the_command_stopped_by_ctrl_c_shows_what_it_has_and_writes_nothing(capsys, tmp_path, monkeypatch):
    def stop(bench):
        raise KeyboardInterrupt

    monkeypatch.setitem(SECTIONS, "batch", ("Play", lambda bench: [Measurement("play", "moves/s", [10.0], {})]))
    monkeypatch.setitem(SECTIONS, "aec", ("Stop", stop))
    code, out, err = run(capsys, "--only", "batch", "aec", "--json", str(tmp_path / "rows.json"))
    assert (code, list(tmp_path.iterdir())) == (130, [])
    assert "play" in out
    assert "Stopped: only finished sections are shown, and no file is written." in err


def test_the_command_runs_as_a_module():
    words = [sys.executable, "-m", "training.benchmark"]
    broken = subprocess.run([*words, "--only", "batch", "--thread", "2"], capture_output=True, text=True, check=False)
    assert (broken.returncode, broken.stderr) == (2, "unknown flag --thread (did you mean '--threads'?)\n")

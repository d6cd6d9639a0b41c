"""The benchmark's section on search agents. No speed is asserted here."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from ice_envs.agents.search import SearchAgent
from tests.helpers import started
from tests.test_benchmark import BENCH
from tests.trap_game import TRAP_GAME
from training import benchmark_search
from training.benchmark import SECTIONS, rows_of
from training.benchmark_games import QUICK


def test_a_row_each_for_tree_flat_openspiel_and_one_move():
    rows = rows_of("search_agents", SECTIONS["search_agents"][1](BENCH))
    assert [row["unit"] for row in rows] == ["moves/s"] * 3 + ["s"]
    installed = find_spec("pyspiel") is not None
    assert [row["value"] is not None for row in rows] == [True, True, installed, True]
    assert rows[2]["note"] == ("" if installed else "not measured: pip install open_spiel")
    assert {row["settings"]["simulations"] for row in rows} == {benchmark_search.QUICK_SIMULATIONS}


def test_without_openspiel_the_row_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)  # makes its import fail
    row = benchmark_search.agents(BENCH)[2]
    assert (row.values, row.note) == ([], "not measured: pip install open_spiel")


def test_moves_are_counted():
    """A flat search of the trap game tries two moves in a row and one alone, in turn."""
    bench = SimpleNamespace(game=TRAP_GAME, seed=0)
    states = started(TRAP_GAME, 2, 3)
    assert benchmark_search.imagine(bench, states, 100, True)() == 3 * (50 * 2 + 50)
    visits = SearchAgent("search:100", TRAP_GAME).search(states[:1]).visits[0]
    assert benchmark_search.imagine(bench, states[:1], 100, False)() == pytest.approx(100 + visits[4], abs=5)


class FakeState:
    """A game of 44 decisions, none of them chance, in which two actions are always legal."""

    def __init__(self, played=0):
        self.played = played

    def clone(self):
        return FakeState(self.played)

    def is_terminal(self):
        return self.played == benchmark_search.NEIGHBOR_MOVES

    def is_chance_node(self):
        return False

    def legal_actions(self):
        return [0, 1]

    def apply_action(self, action):
        assert action in (0, 1)
        self.played += 1


def test_openspiels_moves_are_those_left_in_each_simulation(monkeypatch):
    asked = []
    fake = SimpleNamespace(
        load_game=lambda name: SimpleNamespace(new_initial_state=FakeState),
        RandomRolloutEvaluator=lambda rollouts, seed: None,
        ISMCTSFinalPolicyType=SimpleNamespace(MAX_VISIT_COUNT=1),
        ISMCTSBot=lambda *arguments: SimpleNamespace(step=lambda state: asked.append(state.played)),
    )
    monkeypatch.setitem(sys.modules, "pyspiel", fake)
    work = benchmark_search.openspiel_bot(0, 7)
    moves = work()
    assert asked == list(range(11, 11 + 16))  # the middle of the game: after a quarter, before the last third
    assert moves == 7 * sum(44 - played for played in asked)


def test_quick_is_quick():
    assert QUICK.seconds < 0.1
    assert np.isfinite(benchmark_search.timed(SearchAgent("search:5", BENCH.game), started(BENCH.game, 2)))

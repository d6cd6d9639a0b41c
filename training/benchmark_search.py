"""The benchmark's section on search agents: moves that they imagine, beside OpenSpiel's bot, and the time of a move."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ice_envs.agents.search import SearchAgent
from ice_envs.engine import search, tree
from ice_envs.engine.batch import Batch
from ice_envs.engine.game import States
from training.benchmark_games import SECONDS, Bench, Measurement, Work, midgame_states

SIMULATIONS = 1000
QUICK_SIMULATIONS = 50
POSITIONS = 16
NEIGHBOR = "oh_hell(players=4,num_tricks_fixed=10)"
"""A game of OpenSpiel's with four hands of ten cards, too."""
NEIGHBOR_MOVES = 4 + 4 * 10
"""Bids and cards of a game of it."""


def agents(bench: Bench) -> list[Measurement]:
    """Measure the moves that tree and flat search imagine, those of OpenSpiel's bot, and one move at the beginning."""
    simulations = SIMULATIONS if bench.effort.seconds >= 0.1 else QUICK_SIMULATIONS
    states = midgame_states(bench)[:POSITIONS]
    works = [imagine(bench, states, simulations, flat) for flat in (False, True)]
    try:
        neighbors, note = [openspiel_bot(bench.seed, simulations)], ""
    except ImportError:
        neighbors, note = [], "not measured: pip install open_spiel"
    grown, flat, *others = bench.speeds("simulated moves", works + neighbors)
    first = Batch(bench.game, 1, bench.seed, bench.num_players).states
    agent = SearchAgent(f"search:{simulations}", bench.game, bench.seed, num_threads=1)
    agent.choose(first)
    [seconds] = bench.in_turn("one move", [lambda: timed(agent, first)], bench.effort.repeats)
    settings = bench.settings(simulations=simulations)
    return [
        Measurement("simulated moves, tree search", "moves/s", grown, settings),
        Measurement("simulated moves, flat search", "moves/s", flat, settings),
        Measurement(
            "simulated moves, OpenSpiel's ISMCTS bot in C++",
            "moves/s",
            others[0] if others else [],
            {"env": NEIGHBOR, "simulations": simulations},
            note,
        ),
        Measurement("one move of a tree search, first of a game", SECONDS, seconds, settings),
    ]


def imagine(bench: Bench, states: States, simulations: int, flat: bool) -> Work:
    """Return the work of searching all positions, on one thread."""
    forest = tree.new_forest(bench.game, len(states), simulations, guided=False)
    rows, seed = np.arange(len(states)), np.uint64(bench.seed)

    def work() -> float:
        """Search all positions from the beginning; return the moves made."""
        search.plant(states, forest, flat, False)
        return search.grow(states, rows, seed, forest, simulations, flat, False, bench.game.search)

    return work


def openspiel_bot(seed: int, simulations: int) -> Work:
    """Return the work of OpenSpiel's search at each other's turn of one game; raise ImportError without OpenSpiel.

    Its simulations play to the end of the game, whose length is known.
    """
    import pyspiel  # an optional extra

    game, generator = pyspiel.load_game(NEIGHBOR), np.random.default_rng(seed)
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    policy = pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
    bot = pyspiel.ISMCTSBot(seed, evaluator, 0.7, simulations, -1, policy, False, False)
    positions: list[tuple[Any, int]] = []
    state, played = game.new_initial_state(), 0
    while not state.is_terminal():
        legal = state.legal_actions()
        if not state.is_chance_node():
            if len(legal) > 1 and played >= NEIGHBOR_MOVES // 4:
                positions.append((state.clone(), NEIGHBOR_MOVES - played))
            played += 1
        state.apply_action(int(generator.choice(legal)))
    middle = positions[: len(positions) // 2]

    def work() -> float:
        """Search the middle of the game once; return the moves made."""
        moves = 0
        for position, moves_left in middle:
            bot.step(position)
            moves += simulations * moves_left
        return moves

    return work


def timed(agent: SearchAgent, states: States) -> float:
    """Return the seconds that an agent takes to choose."""
    began = time.perf_counter()
    agent.choose(states)
    return time.perf_counter() - began

"""The heuristic baseline of Nokosu Dice: how well it plays, what it reads, what it does where one move is plain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ice_envs.engine import loops
from ice_envs.engine.game import States
from tests import nokosu_dice_positions as room
from tests.helpers import apply_games, greedy_choices, masks, results, started
from tests.nokosu_dice_lockstep import MOVES
from tests.nokosu_dice_positions import GAME
from tests.nokosu_dice_tables import CoreTable, code_of
from tests.rooms import positions_to_move

GAMES = 1500


def choice(table: CoreTable) -> str:
    return code_of(MOVES[greedy_choices(table.states)[0]])


# ---- strength ----


def against_random(num_players: int, **options: Any) -> tuple[float, float]:
    """Return which part of the games greedy wins against random opponents, and in which part of the rounds it hits.

    It sits in every seat equally often. A round without a hit brings fewer than 10 points unless somebody wins ten
    tricks, which these do not.
    """
    states = started(GAME, num_players, GAMES, seed=num_players, **options)
    agent, games = np.arange(GAMES) % num_players, np.arange(GAMES)
    actions, hits, rounds = np.zeros(GAMES, np.int64), 0, 0
    for seed in np.random.default_rng(num_players).integers(2**64, size=288, dtype=np.uint64):
        loops.random_actions(masks(GAME, states), seed, actions)
        actions = np.where(states["to_move"] == agent, greedy_choices(states), actions)
        before, totals = states["round_number"].copy(), states["totals"].astype(int)
        apply_games(states, actions)
        ended = (states["round_number"] != before) | (states["over"] != 0)
        gained = (states["totals"] - totals)[games, agent]
        hits, rounds = hits + (gained[ended] >= 10).sum(), rounds + ended.sum()
        if states["over"].all():
            return results(states)[1][games, agent].mean(), hits / rounds
    raise AssertionError("a game did not end")


@pytest.mark.parametrize(("num_players", "share", "hits"), [(3, 0.84, 0.48), (4, 0.84, 0.5)])
def test_beats_random_clearly_and_mostly_hits_its_bid(num_players: int, share: float, hits: float):
    """Expected 0.88 of the games and 0.52 and 0.54 of the rounds, each ± 0.01."""
    found = against_random(num_players)
    assert found[0] > share
    assert found[1] > hits


@pytest.mark.parametrize("options", [{"zero_call": "secret"}, {"tie": "first"}, {"bonus": "per_miss"}])
def test_beats_random_under_other_options(options: dict[str, Any]):
    assert against_random(3, **options)[0] > 0.8


# ---- what it reads ----


@pytest.fixture(scope="module", params=GAME.table_sizes)
def positions(request: pytest.FixtureRequest) -> States:
    return positions_to_move(room, request.param)


def test_reads_nothing_hidden(positions: States):
    """Other cards in every other hand, as many as there were, leave the choice as it is."""
    rng = np.random.default_rng(0)
    nonsense = positions.copy()
    for name in ("rng", "deck", "commits"):
        high = np.iinfo(positions[name].dtype).max
        nonsense[name] = rng.integers(high, size=positions[name].shape, dtype=positions[name].dtype)
    for state, true in zip(nonsense, positions, strict=True):
        for seat in range(true.num_players):
            if seat != true.to_move:
                cards = rng.choice(40, int(true.hands[seat]).bit_count(), False)
                state.hands[seat] = sum(1 << int(card) for card in cards)
    assert np.array_equal(greedy_choices(nonsense), greedy_choices(positions))


# ---- plain moves ----


def test_in_the_last_trick_it_keeps_the_die_that_says_what_it_has_won():
    """Neither die wins; with two tricks won the 2 must stay."""
    table = CoreTable.position("B2 B3", "r3 R1", "r4 R2", trump="P6", won=(2, 4, 5), to_move=1)
    assert choice(table.play("r3 r4")) == "B3"


def test_in_the_last_trick_it_wins_if_that_makes_its_bid_true():
    table = CoreTable.position("R5 R3", "r3 R1", "r4 R2", trump="P6", won=(2, 4, 5), to_move=1)
    assert choice(table.play("r3 r4")) == "R5"


def test_of_three_dice_it_keeps_the_two_neighbors():
    """A trump has won the trick: the 2 and the 3 suit different ends of the round, the 5 hardly any."""
    table = CoreTable.position(
        "Y2 Y3 Y5 r5 b5", "y3 g5 r3 r0 R2", "r1 r2 g4 b1 G2", trump="P1", won=(1, 3, 3), to_move=1
    )
    assert choice(table.play("y3 r1")) == "Y5"


@pytest.mark.parametrize(("die", "item"), [("B2", "y5"), ("B4", "g1")])
def test_on_target_it_throws_its_highest_and_below_it_wins(die: str, item: str):
    """It has won two tricks, has nothing to follow with and could trump with the 1."""
    hands = (f"y5 y0 g1 {die}", "r6 g4 R1 y3", "r5 g2 R2 y2")
    table = CoreTable.position(*hands, trump="P1", won=(2, 3, 4), to_move=1)
    assert choice(table.play("r6 r5")) == item


def test_the_last_seat_of_a_zero_caller_ducks_with_its_highest():
    table = CoreTable.position(
        "r2 r5 r1", "r6 g3 R1 Y2", "y4 g2 R2 Y5", trump="P6", calls={0: "B1"}, won=(0, 5, 4), to_move=1
    )
    assert choice(table.play("r6 R2")) == "r5"


def test_calls_zero_on_a_hopeless_hand():
    """The lowest cards, high dice of other numbers, and a trump to return."""
    hand = "r0 r1 y0 y1 g0 g1 b0 b1 r2 R5 Y5 G6 B6"
    others = ("r3 r4 r5 r6 y3 y4 y5 y6 g3 R1 Y1 G1 B1", "g4 g5 g6 b3 b4 b5 b6 y2 g2 R2 Y2 G2 B2")
    table = CoreTable.position(hand, *others, phase="call", trump="B4", to_move=0, dealer=2)
    assert choice(table) != "-"


def test_calls_no_zero_on_a_strong_hand():
    hand = "r6 r5 y6 y5 g6 g5 b6 b5 b4 R5 Y5 G4 B6"
    others = ("r3 r4 r0 r1 y3 y4 y0 y1 g3 R1 Y1 G1 B1", "g4 g0 g1 b3 b0 b1 b2 y2 g2 R2 Y2 G2 B2")
    table = CoreTable.position(hand, *others, phase="call", trump="B4", to_move=0, dealer=2)
    assert choice(table) == "-"


def test_drafts_a_number_that_it_can_hope_to_win():
    """A hand of middling strength and a 1 so far: of a 3 and a 6 of one color it takes the 3."""
    hand = "r0 r3 r6 y1 y4 y5 g0 g3 b5 R1"
    others = ("r1 r2 r4 y0 y2 y6 g1 g2 b6 Y1", "r5 y3 g4 g5 g6 b0 b1 b2 b3 G1")
    table = CoreTable.position(hand, *others, phase="draft", pool="B3 B6 B6 B6", to_move=0, dealer=2)
    assert choice(table) == "B3"

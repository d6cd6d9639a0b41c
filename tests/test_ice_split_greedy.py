"""The heuristic baseline of Ice Split: how well it plays, what it reads, what it does where one move is plain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ice_envs.engine import loops
from ice_envs.engine.game import States
from tests import ice_split_positions
from tests.helpers import apply_games, greedy_choices, masks, results, started
from tests.ice_split_lockstep import MOVES
from tests.ice_split_positions import GAME
from tests.ice_split_tables import CoreTable, deal, made_deck, new_table
from tests.rooms import positions_to_move

GAMES = 1500


def choice(table: Any) -> tuple[Any, ...]:
    assert isinstance(table, CoreTable)
    return MOVES[int(greedy_choices(table.states)[0])]


# ---- strength ----


def played(num_players: int, all_greedy: bool, **options: Any) -> tuple[float, float]:
    """Return win share and mean points of greedy, in every seat equally often, against random or itself."""
    states = started(GAME, num_players, GAMES, seed=num_players, **options)
    agent, rows = np.arange(GAMES) % num_players, np.arange(GAMES)
    actions = np.zeros(GAMES, np.int64)
    for turn in range(GAME.longest_game(num_players, GAME.make_options(options))):
        loops.random_actions(masks(GAME, states), np.uint64(turn), actions)
        own = all_greedy | (states["to_move"] == agent)
        apply_games(states, np.where(own, greedy_choices(states), actions))
    assert states["over"].all()
    points, shares = results(states)
    return float(shares[rows, agent].mean()), float(points[rows, agent].mean())


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_beats_random_clearly(num_players: int):
    """Expected 0.98 to 0.97 and 22 to 23 points; random play scores 5."""
    share, points = played(num_players, all_greedy=False)
    assert share > 0.93
    assert points > 20.5


@pytest.mark.parametrize("num_players", GAME.table_sizes)
def test_scores_well_against_itself(num_players: int):
    """Expected 20.5 points."""
    assert played(num_players, all_greedy=True)[1] > 19


@pytest.mark.parametrize("options", ice_split_positions.OPTION_SETS[1::5])
def test_beats_random_under_other_options(options: dict[str, Any]):
    assert played(3, all_greedy=False, **options)[0] > 0.85


# ---- what it reads ----


@pytest.fixture(scope="module", params=GAME.table_sizes)
def positions(request: pytest.FixtureRequest) -> States:
    return positions_to_move(ice_split_positions, request.param)


def test_reads_nothing_hidden(positions: States):
    """Nonsense in every field that is hidden from the seat to move leaves the choice as it is."""
    rng = np.random.default_rng(0)
    nonsense = positions.copy()
    own = np.arange(len(positions)), positions["to_move"]
    for name in ice_split_positions.HIDDEN:
        high = np.iinfo(positions[name].dtype).max
        nonsense[name] = rng.integers(high, size=positions[name].shape, dtype=positions[name].dtype)
        if name not in ("rng", "deck"):
            nonsense[name][own] = positions[name][own]
    assert np.array_equal(greedy_choices(nonsense), greedy_choices(positions))


# ---- plain moves ----


def last_turn(goal: str, flavor: str) -> Any:
    """Return a table whose first seat lays its last card: its start card has `goal`, its hand one card of `flavor`."""
    deck = made_deck(f"v {goal}", f"{flavor} MAJORITY p", *["v MAJORITY p"] * 20)
    mine, yours = [0, 1, *range(2, 15)], [*range(22, 37)]
    pile = [card for pair in zip(mine[4:], yours[4:], strict=True) for card in pair]
    dealt = deal(
        " ".join(map(str, mine[:4])), " ".join(map(str, yours[:4])), market="59 60 61 62", pile=" ".join(map(str, pile))
    )
    table = new_table("compiled", dealt, deck).play("s0 s22")
    for turn in range(11):
        table.play(f"g{mine[turn + 2]} b g{yours[turn + 1]} b")
    return table


def test_the_last_card_meets_a_goal_if_one_can():
    assert choice(last_turn("SEQUENCE v m", "m")) == ("flavor", 1)
    assert choice(last_turn("RIGHTMOST_IN m c", "c")) == ("flavor", 1)


def test_the_last_card_spoils_no_goal():
    """Another vanilla, or any card as a goal."""
    assert choice(last_turn("RIGHTMOST_IN v s", "c")) != ("flavor", 1)
    assert choice(last_turn("EXACTLY_ONE v", "v"))[0] == "goal"


def test_draws_the_card_that_completes_a_sequence():
    deck = made_deck("s SEQUENCE s c m l", "c MAJORITY p", "m MAJORITY p", "l MAJORITY p", *["p MAJORITY p"] * 40)
    dealt = deal("0 1 2 10", "20 21 22 23", market="11 12 3 13", pile="14 15 16 17 18 19")
    table = new_table("compiled", dealt, deck).play("s0 s20 f1 b f21 b f2")
    assert choice(table) == ("market", 3)


def test_starts_with_a_card_that_goes_with_itself():
    """The flavor of card 7 is what its goal wants to be most frequent; the others bring what is in its way."""
    deck = made_deck(*["p MAJORITY v"] * 7, "v MAJORITY v")
    assert choice(new_table("compiled", deal("4 5 6 7", "20 21 22 23"), deck)) == ("start", 7)

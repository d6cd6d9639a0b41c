"""The twelve goals of Ice Split by hand, met and just missed, for the compiled rules and the twin alike.

A flavor is its first letter. Each display is reached by play: the start card has the goal and the first flavor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from tests.helpers import apply_games, results, started
from tests.ice_split_lockstep import ACTION, GAME, GOALS, deck_rows, set_deal
from tests.ice_split_tables import TABLES, Rows, deal_for, laid_points, move_of, random_deck
from tests.twins.ice_split import DECK_SIZE, DISPLAY_SIZE, Card, IceSplit, deck_of

kinds = pytest.mark.parametrize("kind", TABLES)
SUBSEQUENCE, APART = {"sequence": "subsequence"}, {"two_pairs": "apart"}
RULES = [
    {"sequence": sequence, "two_pairs": two_pairs, "duplicate_goals": duplicate_goals}
    for sequence, two_pairs, duplicate_goals in product(
        ("contiguous", "subsequence"), ("adjacent", "apart"), ("each", "once")
    )
]

CASES: list[tuple[str, str, int]] = [
    ("MAJORITY c", "c", 4),
    ("MAJORITY c", "s", 0),
    ("MAJORITY c", "ccs", 4),
    ("MAJORITY c", "cs", 0),
    ("MAJORITY c", "csmvsc", 0),
    ("MAJORITY c", "sccsmmc", 4),
    ("MAJORITY c", "ccsss", 0),
    ("NONE_OF s b", "c", 3),
    ("NONE_OF s b", "s", 0),
    ("NONE_OF s b", "cb", 0),
    ("NONE_OF s b", "cmlvpccm", 3),
    ("NONE_OF s b", "cccccs", 0),
    ("NONE_OF s b m", "cvl", 3),
    ("NONE_OF s b m", "cvlm", 0),
    ("EXACTLY_ONE l", "l", 4),
    ("EXACTLY_ONE l", "c", 0),
    ("EXACTLY_ONE l", "ll", 0),
    ("EXACTLY_ONE l", "clscc", 4),
    ("EXACTLY_ONE l", "clsccl", 0),
    ("SEQUENCE c l", "c", 0),
    ("SEQUENCE c l", "l", 0),
    ("SEQUENCE c l", "cl", 4),
    ("SEQUENCE c l", "lc", 0),
    ("SEQUENCE c l", "lcl", 4),
    ("SEQUENCE c l", "ccll", 4),
    ("SEQUENCE c l", "clscl", 4),
    ("SEQUENCE c l", "csl", 0),
    ("SEQUENCE c c", "c", 0),
    ("SEQUENCE c c", "cc", 4),
    ("SEQUENCE c c", "csc", 0),
    ("SEQUENCE s m c", "sm", 0),
    ("SEQUENCE s m c", "smc", 6),
    ("SEQUENCE s m c", "smsmc", 6),
    ("SEQUENCE s m c", "cms", 0),
    ("SEQUENCE s m c", "mcs", 0),
    ("SEQUENCE s m c", "smlc", 0),
    ("SEQUENCE v s p b", "vsp", 0),
    ("SEQUENCE v s p b", "vspb", 9),
    ("SEQUENCE v s p b", "vsvspb", 9),
    ("SEQUENCE v s p b", "bpsv", 0),
    ("SEQUENCE v s p b", "vspvb", 0),
    ("ALL_SEVEN", "c", 0),
    ("ALL_SEVEN", "csmlbp", 0),
    ("ALL_SEVEN", "csmlbpv", 12),
    ("ALL_SEVEN", "ccsmlbc", 0),
    ("ALL_SEVEN", "vvsmlbpsc", 12),
    ("RIGHTMOST_IN s b", "s", 5),
    ("RIGHTMOST_IN s b", "c", 0),
    ("RIGHTMOST_IN s b", "sc", 0),
    ("RIGHTMOST_IN s b", "cs", 5),
    ("RIGHTMOST_IN s b", "scb", 5),
    ("RIGHTMOST_IN s b m", "cm", 5),
    ("RIGHTMOST_IN s b m", "cv", 0),
    ("AT_MOST_THREE_KINDS", "c", 6),
    ("AT_MOST_THREE_KINDS", "cs", 6),
    ("AT_MOST_THREE_KINDS", "csmmscc", 6),
    ("AT_MOST_THREE_KINDS", "csml", 0),
    ("TWO_PAIRS", "c", 0),
    ("TWO_PAIRS", "cc", 0),
    ("TWO_PAIRS", "ccs", 0),
    ("TWO_PAIRS", "ccss", 5),
    ("TWO_PAIRS", "cccss", 5),
    ("TWO_PAIRS", "mccssb", 5),
    ("TWO_PAIRS", "cscs", 0),
    ("TWO_PAIRS", "cssc", 0),
    ("TWO_PAIRS", "cccc", 0),
    ("TWO_PAIRS", "ccmss", 0),
    ("THREE_ADJACENT", "c", 0),
    ("THREE_ADJACENT", "cc", 0),
    ("THREE_ADJACENT", "ccc", 5),
    ("THREE_ADJACENT", "scccc", 5),
    ("THREE_ADJACENT", "ccsccsc", 0),
    ("FOUR_OF_A_KIND", "c", 0),
    ("FOUR_OF_A_KIND", "csccs", 0),
    ("FOUR_OF_A_KIND", "cscscsc", 6),
    ("FOUR_OF_A_KIND", "sccccc", 6),
]
"""A goal with the flavors it names, the flavors shown, and what the goal pays."""


@kinds
@pytest.mark.parametrize(("goal", "flavors", "points"), CASES)
def test_goal(kind: str, goal: str, flavors: str, points: int):
    assert laid_points(kind, goal, flavors) == points


@kinds
@pytest.mark.parametrize(
    ("goal", "flavors", "options", "points"),
    [
        ("SEQUENCE c l", "csl", SUBSEQUENCE, 4),
        ("SEQUENCE c l", "lsc", SUBSEQUENCE, 0),
        ("SEQUENCE c c", "c", SUBSEQUENCE, 0),
        ("SEQUENCE c c", "csc", SUBSEQUENCE, 4),
        ("SEQUENCE s m c", "smlc", SUBSEQUENCE, 6),
        ("SEQUENCE s m c", "cmscsm", SUBSEQUENCE, 0),
        ("SEQUENCE v s p b", "vspvb", SUBSEQUENCE, 9),
        ("SEQUENCE v s p b", "vpsbvs", SUBSEQUENCE, 0),
        ("TWO_PAIRS", "ccmss", APART, 5),
        ("TWO_PAIRS", "ccss", APART, 5),
        ("TWO_PAIRS", "cccc", APART, 0),
        ("TWO_PAIRS", "ccmcc", APART, 0),
        ("TWO_PAIRS", "cscs", APART, 0),
        ("TWO_PAIRS", "ccmsvs", APART, 0),
        ("TWO_PAIRS", "ccmss", SUBSEQUENCE, 0),
        ("SEQUENCE c l", "csl", APART, 0),
    ],
)
def test_goal_with_options(kind: str, goal: str, flavors: str, options: dict[str, str], points: int):
    assert laid_points(kind, goal, flavors, **options) == points


@kinds
@pytest.mark.parametrize(
    ("goal", "flavors", "more_goals", "points"),
    [
        pytest.param("MORE_FLAVORS_THAN_GOALS", "c", 0, 0, id="the start card counts once in each"),
        pytest.param("MORE_FLAVORS_THAN_GOALS", "cs", 0, 5, id="2 flavors, 1 goal"),
        pytest.param("MORE_FLAVORS_THAN_GOALS", "cs", 1, 0, id="2 flavors, 2 goals"),
        pytest.param("MORE_FLAVORS_THAN_GOALS", "cs", 2, 0, id="2 flavors, 3 goals"),
        pytest.param("MORE_FLAVORS_THAN_GOALS", "csmcsmc", 6, 0, id="7 flavors, 7 goals"),
        pytest.param("MORE_FLAVORS_THAN_GOALS", "csmcsmcs", 5, 5, id="8 flavors, 6 goals"),
        pytest.param("MORE_GOALS_THAN_FLAVORS", "c", 0, 0, id="the start card counts once in each (12)"),
        pytest.param("MORE_GOALS_THAN_FLAVORS", "c", 1, 5, id="2 goals, 1 flavor"),
        pytest.param("MORE_GOALS_THAN_FLAVORS", "cs", 1, 0, id="2 goals, 2 flavors"),
        pytest.param("MORE_GOALS_THAN_FLAVORS", "cs", 0, 0, id="1 goal, 2 flavors"),
        pytest.param("MORE_GOALS_THAN_FLAVORS", "csmcsmc", 6, 0, id="7 goals, 7 flavors"),
        pytest.param("MORE_GOALS_THAN_FLAVORS", "csmcsm", 7, 5, id="8 goals, 6 flavors"),
        pytest.param("MORE_GOALS_THAN_FLAVORS", "c", 12, 5, id="13 goals, 1 flavor"),
        pytest.param("MORE_FLAVORS_THAN_GOALS", "cs" * 6 + "c", 0, 5, id="13 flavors, 1 goal"),
    ],
)
def test_more_of_one_half_than_of_the_other(kind: str, goal: str, flavors: str, more_goals: int, points: int):
    assert laid_points(kind, goal, flavors, more_goals) == points


# ---- random displays ----


def random_display(rng: np.random.Generator, deck: list[Card], left: set[int]) -> str:
    """Take cards out of `left` for a display of thirteen: few kinds, many, one again and again, or for a sequence."""
    sequences = [card for card in sorted(left) if deck[card].goal == "SEQUENCE"]
    aim = int(rng.choice(sequences)) if sequences else -1
    style = rng.choice(["few", "many", "again", "sequence"] if sequences else ["few", "many", "again"])
    share, row, codes = rng.random(), [""], []
    kinds = rng.permutation(sorted({card.flavor for card in deck}))[
        : 7 if style == "many" else rng.integers(1, 8)
    ].tolist()
    for turn in range(DISPLAY_SIZE):
        way = "s" if turn == 0 else "f" if rng.random() < share else "g"
        if way == "f":
            wanted = flavors_wanted(style, row, deck[aim].named if style == "sequence" else kinds)
            fitting = [card for card in sorted(left - {aim}) if deck[card].flavor in wanted]
        else:
            goal = rng.choice(sorted({deck[card].goal for card in left}))
            fitting = [card for card in sorted(left) if deck[card].goal == goal]
        card = aim if style == "sequence" and way == "g" and aim in left else int(rng.choice(fitting or sorted(left)))
        left.remove(card)
        codes.append(f"{way}{card}")
        row += [deck[card].flavor] if way != "g" else []
    return " ".join(codes)


def flavors_wanted(style: str, row: list[str], kinds: Sequence[str]) -> set[str]:
    """Return the flavors that go on with a row (which begins with "" before the start card's) in the style."""
    match style:
        case "many":
            return set(kinds).difference(row) or set(kinds)
        case "again":
            return {row[-1]}
        case "sequence":
            return {kinds[(kinds.index(row[-1]) + 1) % len(kinds)] if row[-1] in kinds else kinds[0]}
    return set(kinds)


def moves_of(plays: list[str]) -> list[str]:
    """Return all moves of the game in which the seats lay these cards and draw blind."""
    turns = zip(*map(str.split, plays), strict=True)
    drawn = [["b"] if 0 < turn < DISPLAY_SIZE - 1 else [] for turn in range(DISPLAY_SIZE)]
    return [move for codes, draw in zip(turns, drawn, strict=True) for code in codes for move in (code, *draw)]


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "-".join(rules.values()))
@pytest.mark.parametrize("rows", [deck_rows(), random_deck(1)], ids=["reconstruction", "random deck"])
def test_random_displays_of_all_lengths_pay_the_same_as_for_the_twin(rows: Rows, rules: dict[str, str]):
    """Each goal is met in at least one display of a hundred; points are compared after every move."""
    rng, seats, count = np.random.default_rng(4), 3, 120
    states, twins, games = started(GAME, seats, count, deck=rows, **rules), [], []
    for state in states:
        left = set(range(DECK_SIZE))
        plays = [random_display(rng, deck_of(rows), left) for _ in range(seats)]
        dealt = deal_for(plays)
        set_deal(state, dealt.hands, dealt.market, dealt.pile, dealt.first)
        twins.append(IceSplit(seats, dealt, deck_of(rows), **rules))
        games.append([move_of(code) for code in moves_of(plays)])
    for moves in zip(*games, strict=True):
        apply_games(states, np.array([ACTION[move] for move in moves]))
        for twin, move in zip(twins, moves, strict=True):
            twin.play(move)
        assert results(states)[0][:, :seats].tolist() == [twin.points for twin in twins]
    assert states["over"].all()
    met = Counter(entry[0] for twin in twins for entry in twin.log)
    assert min(met[goal] for goal in GOALS) >= seats * count // 100, met

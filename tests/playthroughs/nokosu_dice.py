"""One random game of Nokosu Dice in words.

Hands, legal moves, points and observations are read from the compiled core. What a move led to is told by the
reference twin, which plays along and is compared with the core after every move.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from textwrap import indent
from typing import Any

import numpy as np

from ice_envs.engine.game import States
from tests import nokosu_dice_lockstep
from tests.helpers import apply_games, masks, observations, results, started
from tests.lockstep import lockstep
from tests.nokosu_dice_lockstep import CARDS, GAME, MOVES
from tests.twins.nokosu_dice import CARDS_IN_PLAY, COLORS, Face, Item, NokosuDice

OPTIONS: dict[int, dict[str, Any]] = {3: {"zero_call": "secret", "tie": "first", "bonus": "per_miss"}, 4: {}}
SEEDS = {3: 315, 4: 152}
"""Seeds of games in which much happens."""
CALLS_IN = 4
"""A seat calls zero in one of so many rounds; if that were as likely as each die, hardly anybody would keep one."""
SHOWN_LAPS = {3: (0, 7), 4: (7,)}
"""Laps before which the observation of the seat to move is shown: the first of the draft, the fourth trick."""
NO_CALL = MOVES.index(("no call",))


def transcript(num_players: int) -> str:
    """Play one game by random legal moves and tell it, a line for each lap of the table."""
    records, actions = played(num_players)
    lines, moves, seen, told, laps = header(num_players), list[str](), hashlib.sha256(), 0, 0
    for move, twin in enumerate(lockstep(nokosu_dice_lockstep, records, actions, OPTIONS[num_players])):
        if move:
            moves.append(decision(records[move - 1 : move], actions[move - 1]))
            seen.update(all_observe(records[move : move + 1]))
        if not twin.over and (twin.table or twin.to_move != twin.leader):
            continue
        if move:
            lines[-1] += f" {', '.join(moves)}  [{seen.hexdigest()[:8]}]"
            lines += [f"    -> {line}" for event in twin.log[told:] for line in EVENTS[str(event[0])](*event[1:])]
            moves.clear()
        told = len(twin.log)
        lines += opening(records, move, twin, laps in SHOWN_LAPS[num_players])
        laps += 1
    return "\n".join([*lines, *ending(records[-1:])]) + "\n"


def played(num_players: int) -> tuple[States, list[int]]:
    """Play the game; return its records and the actions between them."""
    states = started(GAME, num_players, 1, SEEDS[num_players], **OPTIONS[num_players])
    rng = np.random.default_rng(SEEDS[num_players])
    records, actions = [states.copy()], list[int]()
    while not states[0].over:
        legal = np.flatnonzero(masks(GAME, states)[0])
        if legal[-1] == NO_CALL and rng.integers(CALLS_IN):
            legal = legal[-1:]
        actions.append(int(rng.choice(legal)))
        apply_games(states, np.array(actions[-1:]))
        records.append(states.copy())
    return np.concatenate(records), actions


# ---- before a lap ----


def header(num_players: int) -> list[str]:
    options = GAME.make_options(OPTIONS[num_players])
    low, high = GAME.score_range(num_players, options)
    return [
        f"{GAME.title} ({GAME.env_id}), {num_players} seats, seed {SEEDS[num_players]}, random legal moves",
        f"{options}",
        f"{GAME.num_actions} actions (labels {GAME.labels_hash}), "
        f"observations of {GAME.layout.size} cells (layout {GAME.layout.hash()})",
        f"scores from {low} to {high}, at most {GAME.longest_game(num_players, options)} decisions",
        "After each move in parentheses: how many moves were legal. In brackets: a digest of what all seats observed.",
    ]


def opening(records: States, move: int, twin: NokosuDice, observed: bool) -> Iterator[str]:
    """Tell what begins at this point, show the observation if that is wanted, and begin the line of the next lap."""
    if twin.over:
        return
    if move == 0 or twin.round != records[move - 1].round_number:
        yield from deal(records[move : move + 1], twin)
    if twin.phase == "call":
        yield from (f"  player_{seat} has {dice_words(dice)}" for seat, dice in enumerate(twin.dice))
    if observed:
        mover = int(records[move].to_move)
        seen = observations(GAME, records[move : move + 1], [mover])[0][0]
        yield f"    player_{mover} observes:"
        yield indent(GAME.layout.describe(seen), "      ")
    yield {"draft": "  Draft:", "call": "  Zero calls:", "play": f"  Trick {twin.trick + 1}:"}[twin.phase]


def deal(states: States, twin: NokosuDice) -> Iterator[str]:
    """Tell who holds what, what is not dealt, and which dice were rolled."""
    yield ""
    points = states[0].totals[: twin.num_players].tolist()
    yield f"Round {twin.round}, player_{twin.dealer} deals; points {points}"
    for seat, hand in enumerate(twin.hands):
        yield f"  player_{seat} holds {card_words(hand)}, and rolls {dice_words(twin.dice[seat])}"
    yield f"  not dealt: {card_words(CARDS_IN_PLAY[twin.num_players].difference(*twin.hands)) or 'nothing'}"
    yield f"  in the middle: {dice_words(twin.pool)}"


def card_words(cards: set[Face]) -> str:
    """Name cards by color: `red 1 5, blue 7`."""
    numbers = {color: [str(n) for c, n in CARDS if c == color and (c, n) in cards] for color in range(len(COLORS))}
    return ", ".join(f"{COLORS[color]} {' '.join(found)}" for color, found in numbers.items() if found)


def dice_words(dice: list[Face]) -> str:
    """Name dice by color: `red die 3, red die 3, green die 5`."""
    return ", ".join(words(("die", *die)) for die in sorted(dice))


def words(item: Item) -> str:
    kind, color, number = item
    return f"{COLORS[color]} {'die ' * (kind == 'die')}{number}"


# ---- a lap and what it led to ----


def decision(before: States, action: int) -> str:
    """Tell a move, given the record before it."""
    move = MOVES[action]
    return f"player_{before[0].to_move} {words(move) if len(move) == 3 else 'none'} ({masks(GAME, before).sum()})"


def all_observe(states: States) -> bytes:
    """Return what all seats observe, and their masks."""
    seats = np.arange(int(states[0].num_players))
    seen, mask = observations(GAME, np.repeat(states, len(seats)), seats)
    return bytes(seen.tobytes() + mask.tobytes())


EVENTS: dict[str, Any] = {
    "dealt": lambda number, dealer: [],
    "trump": lambda color, number: [f"trump: everything {COLORS[color]}, and every {number}"],
    "zero_call": lambda seat, *die: [f"player_{seat} calls zero and returns {words(('die', *die))}"],
    "last_die_need_not_follow": lambda seat, die: [f"player_{seat} keeps {words(die)}, its last, and need not follow"],
    "its_only_ones_are_trumps": lambda seat: [f"player_{seat} has that color as trumps only, and need not follow"],
    "forced_to_play_a_die": lambda seat, die: [f"player_{seat} can follow with {words(die)} only"],
    "last_die_of_a_zero_caller": lambda seat, die: [f"player_{seat} called zero, so its last die goes, too"],
    "chooses_the_bid_in_the_last_trick": lambda seat: [f"player_{seat} had two dice for the last trick"],
    "won_with_led_color": lambda seat, item: [f"player_{seat} wins with {words(item)}, highest of the led color"],
    "won_with_color_trump": lambda seat, item: [f"player_{seat} wins with {words(item)}, a trump by its color"],
    "won_with_number_trump": lambda seat, item: [f"player_{seat} wins with {words(item)}, a trump by its number"],
    "won_with_color_and_number": lambda seat, item: [f"player_{seat} wins with {words(item)}, the strongest trump"],
    "tie_of_led_color": lambda equals: [f"{equals} items of that color and number were played"],
    "tie_of_trumps": lambda equals: [f"{equals} equal trumps were played"],
    "zero_made": lambda seat: [f"player_{seat} made its zero call"],
    "zero_failed": lambda seat: [f"player_{seat} failed its zero call"],
    **{f"hits_{count}": lambda count=count: [f"targets hit: {count}"] for count in range(5)},
    "round_over": lambda number, targets, won, points: [
        f"round {number} is over: targets {targets}, tricks {won}, points {points}"
    ],
}
"""Words for the twin's log."""


def ending(states: States) -> list[str]:
    state = states[0]
    seats = int(state.num_players)
    return [
        "",
        f"The game is over after {state.decisions} decisions",
        f"points {state.totals[:seats].tolist()}, win shares {results(states)[1][0, :seats].tolist()}",
    ]

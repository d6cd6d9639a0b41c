"""One random game of Ice Split in words.

Hands, legal moves, points and observations are read from the compiled core. What a move led to is told by the
reference twin, which plays along and is compared with the core after every move.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from textwrap import indent
from typing import Any

import numpy as np

from ice_envs.engine import loops
from ice_envs.engine.game import States
from tests import ice_split_lockstep as room
from tests.helpers import apply_games, masks, observations, results, started
from tests.ice_split_lockstep import GAME
from tests.lockstep import lockstep
from tests.twins.ice_split import DISPLAY_SIZE, Card, IceSplit

OPTIONS: dict[str, Any] = {}
SEEDS = {2: 19, 3: 4, 4: 8}
"""Seeds of games in which much happens; the one of four seats ends in a tie."""


def transcript(num_players: int) -> str:
    """Play one game by random legal moves and tell it."""
    records, actions = played(num_players)
    lines, told, lap = [*header(num_players)], 0, 0
    for move, twin in enumerate(lockstep(room, records, actions, OPTIONS)):
        if move:
            lines.append(decision(records[move - 1 : move + 1], actions[move - 1]))
            lines += [f"    {line}" for event in twin.log[told:] for line in happened(twin, *event)]
            told = len(twin.log)
        else:
            lines += dealt(twin)
        if move in (0, 4 * num_players):
            lines += observed(records[move : move + 1])
        if twin.phase == "play" and twin.to_move == twin.first_seat:
            lap += 1
            lines += [f"Turn {lap}", *[f"  {display(twin, seat)}" for seat in range(num_players)]]
    return "\n".join([*lines, *ending(records[-1:], twin)]) + "\n"


def played(num_players: int) -> tuple[States, list[int]]:
    """Play the game; return its records and the actions between them."""
    states = started(GAME, num_players, 1, SEEDS[num_players], **OPTIONS)
    records, actions, chosen = [states.copy()], [], np.zeros(1, np.int64)
    while not states[0].over:
        loops.random_actions(masks(GAME, states), np.uint64(len(actions)), chosen)
        apply_games(states, chosen)
        records.append(states.copy())
        actions.append(int(chosen[0]))
    return np.concatenate(records), actions


# ---- before a move ----


def header(num_players: int) -> list[str]:
    options = GAME.make_options(OPTIONS)
    low, high = GAME.score_range(num_players, options)
    return [
        f"{GAME.title} ({GAME.env_id}), {num_players} seats, seed {SEEDS[num_players]}, random legal moves",
        f"{options}",
        f"{GAME.num_actions} actions (labels {GAME.labels_hash}), "
        f"observations of {GAME.layout.size} cells (layout {GAME.layout.hash()})",
        f"scores from {low} to {high}, at most {GAME.longest_game(num_players, options)} decisions",
        "After each move in brackets: how many moves were legal, and a digest of what all seats observe then.",
        "A card is its number, the flavor of its right half, and the goal of its left half with what it pays.",
    ]


def dealt(twin: IceSplit) -> Iterator[str]:
    """Tell who holds what, and what lies open."""
    yield ""
    for seat, hand in enumerate(twin.hands):
        yield f"player_{seat} holds"
        yield from [f"  {words(card, twin.cards[card])}" for card in sorted(hand)]
    yield "the market"
    yield from [f"  {words(card, twin.cards[card])}" for card in twin.market if card is not None]
    yield f"{len(twin.deck)} cards in the deck; player_{twin.first_seat} has the first turn"
    yield ""


def observed(states: States) -> list[str]:
    mover = int(states[0].to_move)
    seen = observations(GAME, states, [mover])[0][0]
    return [f"    player_{mover} observes:", indent(GAME.layout.describe(seen), "      ")]


def words(number: int, card: Card) -> str:
    return f"{number}: {card.flavor} | {goal_words(card)}"


def goal_words(card: Card) -> str:
    return f"{' '.join([card.goal.replace('_', ' ').lower(), *card.named])} ({card.points})"


def display(twin: IceSplit, seat: int) -> str:
    """Tell a display as it lies: goals from the left, then flavors to the right, and its points."""
    goals = [goal_words(twin.cards[card]) for card in twin.goals[seat]]
    flavors = [twin.cards[card].flavor for card in twin.flavors[seat]]
    return f"player_{seat}, {twin.points[seat]} points: {', '.join(goals)} || {' '.join(flavors)}"


# ---- a move and what it led to ----


def decision(pair: States, action: int) -> str:
    """Tell a move, given the records before and after it."""
    before, after = pair[:1], pair[1:]
    seats = np.arange(int(after[0].num_players))
    seen, mask = observations(GAME, np.repeat(after, len(seats)), seats)
    digest = hashlib.sha256(seen.tobytes() + mask.tobytes()).hexdigest()[:8]
    return f"  player_{before[0].to_move}: {GAME.labels[action]}  [{masks(GAME, before).sum()}, {digest}]"


def happened(twin: IceSplit, event: str | int, *facts: Any) -> list[str]:
    """Tell one event of the twin's log; what the move itself says already is told no more."""
    match event:
        case "reveal":
            return ["-> all start cards are revealed"]
        case "refill":
            return [f"-> {words(facts[0], twin.cards[facts[0]])} fills the market"]
        case "no_refill":
            return ["-> the market is not filled again"]
        case "deck_empty":
            return ["-> that was the last card of the deck"]
    return []


def ending(states: States, twin: IceSplit) -> Iterator[str]:
    """Tell for each display which goals are met, what it is worth, and who wins."""
    scores, shares = results(states)
    yield ""
    yield f"The game is over after {states[0].decisions} decisions"
    for seat, (goals, flavors) in enumerate(zip(twin.goals, twin.flavors, strict=True)):
        met = twin.met_goals(seat)
        yield f"player_{seat}: {scores[0, seat]:.0f} points, {twin.standing()[seat][1]} different flavors"
        yield f"  {' '.join(twin.cards[card].flavor for card in flavors)}; {len(goals)} goals, {len(flavors)} flavors"
        yield from [f"  {'met' if card in met else '-  '} {goal_words(twin.cards[card])}" for card in goals]
        assert len(goals) + len(flavors) == DISPLAY_SIZE + 1
    yield f"win shares {shares[0, : len(twin.hands)].tolist()}"

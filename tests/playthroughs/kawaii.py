"""One random game of Kawaii in words.

Legal moves, points and observations are read from the compiled core. What was flipped, captured and scored is told by
the reference twin, which plays along and is compared with the core after every move.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ice_envs.engine.game import States
from ice_envs.games.kawaii.cards import FLAVORS, NAMES, SHAPES
from tests import kawaii_lockstep
from tests.helpers import apply_games, masks, observations, results, started
from tests.kawaii_lockstep import GAME, KIND
from tests.lockstep import lockstep
from tests.twins.kawaii import Card, Kawaii

OPTIONS: dict[str, Any] = {"reaction_ticks": 4, "flipper_delay": 1}
"""Now and then a reaction comes too late for the window."""
SEEDS = {2: 28, 3: 26, 4: 15, 5: 5}
"""Seeds of games in which much happens."""
PASSING = 0.9
"""How often a seat lets it pass at once: random legal moves alone would take each card as soon as it is flipped."""


def transcript(num_players: int) -> str:
    """Play one game and tell it."""
    records, actions = played(num_players)
    story = Story()
    told = 0
    for move, twin in enumerate(lockstep(kawaii_lockstep, records, actions, OPTIONS)):
        if move:
            story.decision(records[move - 1 : move + 1], actions[move - 1])
        for event in twin.log[told:]:
            EVENTS[event[0]](story, twin, *event[1:])
        told = len(twin.log)
        if move == records["after_capture"].argmax():
            story.observation(records[move : move + 1])
    return "\n".join([*header(num_players), *story.lines, *ending(records[-1:])]) + "\n"


def played(num_players: int) -> tuple[States, list[int]]:
    """Play the game; return its records and the actions between them."""
    rng = np.random.default_rng(SEEDS[num_players])
    states = started(GAME, num_players, 1, SEEDS[num_players], **OPTIONS)
    records, actions = [states.copy()], []
    while not states[0].over:
        legal = np.flatnonzero(masks(GAME, states)[0])
        action = 0 if rng.random() < PASSING else int(rng.choice(legal))
        apply_games(states, np.array([action]))
        records.append(states.copy())
        actions.append(action)
    return np.concatenate(records), actions


# ---- before and after ----


def header(num_players: int) -> list[str]:
    options = GAME.make_options(OPTIONS)
    low, high = GAME.score_range(num_players, options)
    return [
        f"{GAME.title} ({GAME.env_id}), {num_players} seats, seed {SEEDS[num_players]}, random legal moves, "
        f"{PASSING:.0%} of them passes",
        f"{options}",
        f"{GAME.num_actions} actions (labels {GAME.labels_hash}), "
        f"observations of {GAME.layout.size} cells (layout {GAME.layout.hash()})",
        f"scores from {low} to {high}, at most {GAME.longest_game(num_players, options)} decisions",
        "A line for each window: who is asked at which tick, in brackets how many moves were legal; at the end",
        "a digest of what all seats observe after each of these decisions.",
    ]


def ending(states: States) -> list[str]:
    state = states[0]
    scores, shares = (part[0, : state.num_players] for part in results(states))
    return [
        "",
        f"The game is over after {state.decisions} decisions",
        f"points {scores.astype(int).tolist()}, win shares {shares.tolist()}",
    ]


# ---- the course of the game ----


class Story:
    """The lines told so far, and the one of the window that is open."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.line = ""
        self.tick = -1
        self.digest = hashlib.sha256()

    def say(self, *lines: str) -> None:
        """Tell the window's line up to here, then these."""
        if self.line:
            decided = self.tick >= 0
            self.lines.append(self.line + f"  [{self.digest.hexdigest()[:8]}]" * decided)
        self.lines += lines
        self.line, self.tick, self.digest = "", -1, hashlib.sha256()

    def window(self, begin: str) -> None:
        """Tell what opened a window."""
        self.say()
        self.line = f"  {begin}"

    def decision(self, pair: States, action: int) -> None:
        """Tell a move, given the records before and after it."""
        before, after = pair[:1], pair[1:]
        state = before[0]
        choice = " passes" if action == 0 else f": {GAME.labels[action]}"
        told = f"player_{state.to_move}{choice} ({masks(GAME, before).sum()})"
        if state.tick == self.tick:
            self.line += f", {told}"
        else:
            self.line = f"{self.line}; " if self.line else "    "
            self.line += f"tick {state.tick}: {told}"
        self.tick = int(state.tick)
        seats = np.arange(int(state.num_players))
        seen, mask = observations(GAME, np.repeat(after, len(seats)), seats)
        self.digest.update(seen.tobytes() + mask.tobytes())

    def observation(self, states: States) -> None:
        """Show what the seat to move observes."""
        line, self.line = self.line, ""
        seat = int(states[0].to_move)
        seen = observations(GAME, states, [seat])[0][0]
        told = GAME.layout.describe(seen).replace("\n ", "").splitlines()  # a line for each slice, however many axes
        self.say(line, f"    player_{seat} observes:", *(f"      {part}" for part in told))


def deal(story: Story, twin: Kawaii, number: int) -> None:
    """Tell who starts, and what everybody likes."""
    story.say("", f"Round {number}, started by player_{twin.starter}; points {twin.totals}")
    for seat, (flavor, shape) in enumerate(zip(twin.favorite_flavors, twin.favorite_shapes, strict=True)):
        story.say(f"  player_{seat} likes {FLAVORS[flavor]} and {SHAPES[shape]}; {cards_dealt(twin, seat)} cards")


def cards_dealt(twin: Kawaii, seat: int) -> int:
    return len(twin.piles[seat]) + len(twin.reserves[seat])


def words(cards: list[Card]) -> str:
    return ", ".join(NAMES[KIND[card]] for card in cards)


def capture(story: Story, twin: Kawaii, seat: int, owner: int, cards: list[Card]) -> None:
    whose = "its own pile, and the token leaves the game" if seat == owner else f"player_{owner}'s pile"
    story.say(f"    -> player_{seat} takes {whose}: {words(cards)}")


def missed(story: Story, twin: Kawaii, *seats: int) -> None:
    story.line += f"{'; ' if story.line else '    '}too late: {names(seats)}"


def names(seats: Iterable[int]) -> str:
    return " and ".join(f"player_{seat}" for seat in seats)


def so(text: Callable[..., str]) -> Callable[..., None]:
    """Return the words for an event that follows from a decision."""
    return lambda story, twin, *of_event: story.say(f"    -> {text(*of_event)}")


EVENTS: dict[str, Callable[..., None]] = {
    "round": deal,
    "flip": lambda story, twin, seat, card: story.window(f"player_{seat} flips {words([card])}"),
    "stopped": lambda story, twin: story.window("the game is stopped"),
    "missed": missed,
    "clash": so(lambda owner, *seats: f"{names(seats)} slap player_{owner}'s pile together"),
    "exchange": so(lambda: "two seats take each other's pile"),
    "several_piles": lambda story, twin: None,  # the captures tell it
    "own_pile": lambda story, twin, seat: None,
    "new_token_used": so(lambda: "with a token won in this window"),
    "late": so(lambda: "past the last tick, but nothing hurries anybody"),
    "capture": capture,
    "all_flipped": so(lambda: "all cards are flipped, and nobody wants more"),
    "tokens_gone": so(lambda: "no token is left: the round is over"),
    "three_shops": so(lambda seat: f"player_{seat} has all three closed shops"),
    "gained": so(lambda seat, points, tokens: f"player_{seat} scores {points}, {tokens} of them for tokens"),
}
"""Words for the twin's log."""

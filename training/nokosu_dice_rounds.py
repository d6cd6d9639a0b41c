"""Count what happens in the rounds of Nokosu Dice: bids hit, zero calls, points, and how often special rules matter.

python -m training.nokosu_dice_rounds --agents random greedy my_run/agent.json --json rounds.json
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console, Group
from rich.progress import track
from rich.table import Table

from ice_envs import agents
from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.engine.generator import game_seeds
from ice_envs.errors import IceError, whole_number
from ice_envs.files import check_writable, write_json
from ice_envs.games import find_game
from ice_envs.games.nokosu_dice.items import NUM_CARDS, NUM_FACES, STRENGTHS, SUITS, TRUMP_SUIT
from ice_envs.games.nokosu_dice.rules import PLAY
from ice_envs.games.nokosu_dice.setup import MAX_PLAYERS
from training import command_line

HEADER = ("hits", "calls", "makes", "points", "theirs", "last die", "equal")
"""Columns of a table of rows: for what they mean see RoundsRow."""
HITTERS_HEADER = tuple(map(str, range(MAX_PLAYERS + 1)))
"""Columns of another table of rows: how many seats hit in a round."""
EXPLANATION = (
    "Hits: how often the agent hits its bid. Calls, makes: how often it calls zero, and what part of these calls it "
    "makes. Points: its own in a round. Theirs: how often one of the others hits. Last die: rounds in which somebody "
    "did not follow though its last die was of the suit led. Equal: those in which a trick's best items were equal."
)


@dataclass(frozen=True)
class RoundsSettings:
    """Settings of one count."""

    agents: list[str] = field(default_factory=lambda: ["random", "greedy"])
    """Who sits in one seat: random, greedy, searches such as search:100, or paths of an agent.json."""
    opponents: list[str] = field(default_factory=lambda: ["random", "greedy"])
    """Who sits in all other seats, each with each agent; named like these."""
    num_players: list[int | Literal["all"]] = field(default_factory=lambda: ["all"])
    """Table sizes, such as 3 4, or all."""
    games: int = 3000
    """Games at each table size against each opponent; the agent sits in every seat in turn."""
    seed: int = 0
    """Seed of the deals and of the random agents."""
    json: Path | None = None
    """Write the counts to this file too, as a list of rows."""


class RoundsRow(TypedDict):
    """Counts at one table size against one opponent."""

    game: str
    rules_version: int
    num_players: int
    agent: str
    opponent: str
    games: int
    hit: float
    """The part of the rounds in which the agent hit its bid."""
    zero_called: float
    """The part of the rounds in which it called zero."""
    zero_made: float | None
    """The part of these calls that it fulfilled; null if there were none."""
    points: float
    """Points that it gained in a round."""
    opponents_hit: float
    """The part of the rounds in which an opponent hit."""
    hitters: list[float]
    """How often 0, 1, … seats hit."""
    last_die: float
    """The part of the rounds in which somebody did not follow, though its last die was of the suit led."""
    tie: float
    """The part of the rounds in which a trick's strongest items were equal."""
    seed: int
    date: str
    versions: dict[str, str | bool | None]
    command: str


def main(settings: RoundsSettings) -> int:
    """Count, show a table and write the JSON file; return the exit code."""
    game = find_game("nokosu_dice")
    sizes = command_line.choose_table_sizes(game, settings.num_players)
    whole_number("games", settings.games, 1, 1 << 20)
    if settings.json:
        check_writable(settings.json)
    found = [agents.load(spec, game) for spec in settings.agents]
    opponents = [agents.load(spec, game) for spec in settings.opponents]
    tables = list(product(found, opponents, sizes))
    if not tables:
        raise IceError("name at least one agent, one opponent and one table size")
    console = Console(stderr=True)
    rows = [
        count(game, agent, opponent, size, settings.games, settings.seed)
        for agent, opponent, size in track(tables, "Playing", console=console, transient=True)
    ]
    Console().print(rounds_table(rows))
    if settings.json:
        write_json(settings.json, rows)
    return 0


def count(
    game: Game, agent: agents.Agent, opponent: agents.Agent, num_players: int, games: int, seed: int
) -> RoundsRow:
    """Return what happened at one table size, `opponent` sitting in all seats but the agent's."""
    of_deals, of_agent, of_opponent = np.random.SeedSequence(whole_number("seed", seed, 0, 1 << 63)).spawn(3)
    agent.reseed(of_agent)
    opponent.reseed(of_opponent)
    states = loops.new_states(game, [num_players] * games, {}, game_seeds(of_deals, games))
    seats, every = np.arange(games) % num_players, np.arange(games)
    hits, called, points = np.zeros((3, num_players, games, num_players))
    last_die, tie = np.zeros((2, num_players, games), np.bool_)
    equals = np.ones(games, np.int64)
    for _ in range(game.longest_game(num_players, None)):  # every game is as long
        actions = np.empty(games, np.int64)
        for player, turn in ((agent, states["to_move"] == seats), (opponent, states["to_move"] != seats)):
            if turn.any():
                actions[turn] = agents.checked_choice(player, game, states.take(np.flatnonzero(turn)))
        now = states["round_number"] - 1, every
        last_die[now] |= need_not_follow(states)
        equals = equal_items(states, actions, equals)
        ends_trick = (states["phase"] == PLAY) & (states["trick_size"] == num_players - 1)
        tie[now] |= ends_trick & (equals > 1)
        if (ends_trick & (states["trick"] == states["num_tricks"] - 1)).all():
            result = scored(states, actions)
            hits[now], called[now], points[now] = result
        play(states, actions)
    own_hits, own_calls, own_points = (part[:, every, seats] for part in (hits, called, points))
    hitters = np.bincount(hits.sum(2).astype(int).ravel(), minlength=num_players + 1) / (games * num_players)
    return RoundsRow(
        game=game.name,
        rules_version=game.version,
        num_players=num_players,
        agent=agent.name,
        opponent=opponent.name,
        games=games,
        hit=float(own_hits.mean()),
        zero_called=float(own_calls.mean()),
        zero_made=float((own_hits * own_calls).sum() / own_calls.sum()) if own_calls.any() else None,
        points=float(own_points.mean()),
        opponents_hit=float((hits.sum(2) - own_hits).mean() / (num_players - 1)),
        hitters=hitters.tolist(),
        last_die=float(last_die.mean()),
        tie=float(tie.mean()),
        seed=seed,
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        versions=command_line.versions(),
        command=command_line.typed(),
    )


def play(states: States, actions: NDArray[np.int64]) -> None:
    """Play a legal action in each game; games that end stay ended."""
    size, games = int(states[0].num_players), len(states)
    done, cut = np.zeros((2, games), np.bool_)
    reward, scores, shares = np.zeros((3, games, size))
    loops.step_games(states, actions, 0, False, reward, done, cut, scores, shares)


def need_not_follow(states: States) -> NDArray[np.bool_]:
    """Return where the seat to move has a last die of the suit led that it may not play, and nothing else to follow."""
    mask = np.zeros((len(states), find_game("nokosu_dice").num_actions), np.int8)
    loops.legal_games(states, mask)
    place = np.arange(len(states)), states["to_move"]
    kinds, trumps = states["dice"][place].argmax(1), states["trump"].astype(int)
    bid = (states["dice_left"][place] == 1) & (states["called"][place] == 0) & (states["trick_size"] > 0)
    follows = SUITS[trumps[:, None], np.arange(SUITS.shape[1])] == states["led"][:, None]
    can_follow = (mask[:, : SUITS.shape[1]].astype(bool) & follows).any(axis=1)
    return bid & (SUITS[trumps, NUM_CARDS + kinds] == states["led"]) & ~can_follow


def equal_items(states: States, actions: NDArray[np.int64], before: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many items of each trick are as strong as the strongest, `actions` included; `before`: without."""
    items, trumps = np.minimum(actions, SUITS.shape[1] - 1), states["trump"].astype(int)
    suit, strength = SUITS[trumps, items], STRENGTHS[trumps, items]
    leads = states["trick_size"] == 0
    counts = leads | (suit == states["led"]) | (suit == TRUMP_SUIT)
    stronger = leads | (counts & (strength > states["best_strength"]))
    return np.where(stronger, 1, before + (counts & ~stronger & (strength == states["best_strength"])))


def scored(states: States, actions: NDArray[np.int64]) -> tuple[Any, Any, Any]:
    """Return who hits, who had called zero, and points of the round: (N, seats) each, if `actions` end the rounds."""
    ended = states.copy()
    ended["round_number"] = ended["num_players"]  # so that no further round is dealt
    play(ended, actions)
    size = int(states[0].num_players)
    kept = ended["dice"][:, :size].argmax(2) % NUM_FACES + 1
    called = ended["called"][:, :size]
    hit = ended["tricks"][:, :size] == np.where(called, 0, kept)
    return hit, called, ended["totals"][:, :size] - states["totals"][:, :size]


def cells(row: RoundsRow) -> tuple[str, ...]:
    """Return a row's values in the order of HEADER."""
    return (
        f"{row['hit']:.1%}",
        f"{row['zero_called']:.1%}",
        "-" if row["zero_made"] is None else f"{row['zero_made']:.0%}",
        f"{row['points']:.1f}",
        f"{row['opponents_hit']:.1%}",
        f"{row['last_die']:.0%}",
        f"{row['tie']:.0%}",
    )


def hitters_cells(row: RoundsRow) -> tuple[str, ...]:
    """Return how often so many seats hit, in the order of HITTERS_HEADER; `-` for more seats than there are."""
    parts = [f"{part:.0%}" for part in row["hitters"]]
    return (*parts, *"-" * (len(HITTERS_HEADER) - len(parts)))


def rounds_table(rows: Sequence[RoundsRow]) -> Group:
    """Return two tables for each agent, 80 columns wide, and what their columns mean."""
    tables = []
    for agent in dict.fromkeys(row["agent"] for row in rows):
        own = [row for row in rows if row["agent"] == agent]
        games = ", ".join(sorted({f"{row['games']:,}" for row in own}))
        tables += [
            _shown(f"{agent}, {games} games a line", own, HEADER, cells),
            _shown("how many seats hit in a round", own, HITTERS_HEADER, hitters_cells),
        ]
    return Group(*tables, EXPLANATION)


def _shown(
    title: str, rows: Sequence[RoundsRow], header: Sequence[str], values: Callable[[RoundsRow], Sequence[str]]
) -> Table:
    """Return a table of one agent's rows."""
    shown = Table(title=title, box=box.SIMPLE_HEAD, padding=0)
    shown.add_column("seats", justify="right", no_wrap=True)
    shown.add_column("against", overflow="fold")
    for name in header:
        shown.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        shown.add_row(str(row["num_players"]), row["opponent"], *values(row))
    return shown


if __name__ == "__main__":
    command_line.run(main, RoundsSettings, "training.nokosu_dice_rounds")

"""Play an agent against others: win shares and points, the same deals replayed with the agent in every seat.

python -m training.evaluate --agent greedy --opponents random --num_players 2 3 4 5 --games 12000
python -m training.evaluate --agent my_agent/agent.json --opponents greedy search:100 --to my_agent/agent.json
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from itertools import product
from math import lcm, sqrt
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console, Group
from rich.progress import track
from rich.table import Table

from ice_envs import agents
from ice_envs.agents.manifest import EvaluationRow, SeatResult
from ice_envs.engine import loops
from ice_envs.engine.game import Game, States
from ice_envs.engine.generator import game_seeds
from ice_envs.engine.jit import is_cold
from ice_envs.errors import IceError, whole_number
from ice_envs.files import check_writable, replacing, write_json
from ice_envs.games import find_game
from training import command_line
from training.command_line import INTERRUPTED
from training.handicaps import Numbers, draw_curve, read_handicaps, seat_options, written
from training.playing import play_out
from training.published import check_target, record_results

EVALUATION_DEALS = 0x6576616C  # spawn key: no training game of the same seed is an evaluation deal
BLOCK = 8192  # games played side by side
MOST_GAMES = 1 << 24
ROUNDING = 1e-9  # three thirds are not quite one
EXPLANATION = (
    "Win share: the part of the games that the agent won; a victory shared by k seats counts 1/k. The interval holds "
    "the true share with 95 % confidence. Fair share: what it would be if agent and opponents were equally good. All "
    "seats but the agent's are the opponent's, and every deal was played with the agent in each seat in turn."
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class EvaluationSettings:
    """Settings of one evaluation."""

    agent: str
    """Who is evaluated: random, greedy, a search such as search:1000, or the path of an agent.json."""
    env: str = "dokitto"
    """The game."""
    opponents: list[str] = field(default_factory=lambda: ["random", "greedy"])
    """Who sits in all other seats, one table of results for each; named like the agent."""
    num_players: list[int | Literal["all"]] = field(default_factory=lambda: ["all"])
    """Table sizes, such as 2 3 4 5, or all."""
    games: int = 12_000
    """Games at each table size against each opponent; every table size must divide it."""
    seed: int = 0
    """Seed of the deals and of the random agents: the same seed plays the same games."""
    options: dict[str, Any] = field(default_factory=dict)
    """Rule options of the game."""
    handicap: list[str] = field(default_factory=list)
    """Handicaps for the agent alone, whichever seat it has; several, such as 0 1 2 4, show what they cost. In Kawaii
    4 adds 4 ticks to each reaction, and 4+2 also draws it from 2 ticks more."""
    json: Path | None = None
    """Write the results to this file too, as a list of rows."""
    plot: Path | None = None
    """Draw the win share against the handicap into this file too, as a PNG picture."""
    to: Path | None = None
    """The manifest, agent.json, to write the results into: the agent's own, or that of its only opponent."""


class Line(NamedTuple):
    """One line of the table, before it is played: the arguments of `evaluate`."""

    agent: agents.Agent
    opponent: agents.Agent
    game: Game
    num_players: int
    games: int
    seed: int
    options: Mapping[str, Any]
    handicap: Sequence[int] | None


class Outcomes(NamedTuple):
    """What was scored in D deals, each played with the agent in each of n seats; all (D, seat of the agent n)."""

    shares: Floats
    scores: Floats
    opponents_scores: Floats
    truncated: NDArray[np.bool_]


def main(settings: EvaluationSettings) -> int:
    """Evaluate, show a table and write the files asked for; return the exit code."""
    game = find_game(settings.env)
    sizes = command_line.choose_table_sizes(game, settings.num_players)
    check_games(settings.games, sizes)
    handicaps: Sequence[Numbers | None] = read_handicaps(game, settings.handicap) or [None]
    for size, handicap in product(sizes, handicaps):
        seat_options(game, settings.options, size, handicap)
    if settings.plot and len(handicaps) < 2:
        raise IceError("--plot draws a curve, which takes two or more values of --handicap")
    for file in filter(None, (settings.json, settings.plot)):
        check_writable(file)
    agent = agents.load(settings.agent, game)
    opponents = [agents.load(spec, game) for spec in settings.opponents]
    if not opponents or not sizes:
        raise IceError("name at least one opponent and one table size")
    part = check_target(settings.to, settings.options, agent, opponents) if settings.to else None
    lines = [
        Line(agent, opponent, game, size, settings.games, settings.seed, settings.options, handicap)
        for opponent, size, handicap in product(opponents, sizes, handicaps)
    ]
    rows = play_lines(lines)
    if len(rows) < len(lines):
        return INTERRUPTED
    if settings.json:
        write_json(settings.json, rows)
    if settings.plot:
        with replacing(settings.plot) as partial:
            draw_curve(rows, partial)
    if settings.to and part:
        record_results(settings.to, part, rows)
    return 0


def play_lines(lines: Sequence[Line]) -> list[EvaluationRow]:
    """Play each line, show the table and return its rows: only finished ones after Ctrl-C."""
    console = Console(stderr=True)
    if is_cold():
        console.print("Compiling the game: this takes some seconds, the first time only.")
    rows: list[EvaluationRow] = []
    try:
        for line in track(lines, "Playing", console=console, transient=True):
            rows.append(evaluate(*line))
    except KeyboardInterrupt:
        console.print("Stopped: only finished lines are shown, and no file is written.")
    if rows:
        Console().print(results_table(rows))
    return rows


def evaluate(
    agent: agents.Agent,
    opponent: agents.Agent,
    game: Game,
    num_players: int,
    games: int,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    handicap: Sequence[int] | None = None,
) -> EvaluationRow:
    """Return the agent's results at one table size, `opponent` sitting in all other seats.

    `games / num_players` deals are played, each `num_players` times: with the agent in seat 0, 1, … A handicap moves
    with it, in place of what the options say of its seat. The agents' random streams begin anew, so a row depends on
    the arguments alone (date, versions and command excepted), and different agents and handicaps get the same deals.
    Raises IceError for games that do not split over the seats, an agent of another game, or one that chooses an
    illegal action, and for options or a handicap that the game does not have.
    """
    check_games(games, [game.check_table(num_players)])
    for player in (agent, opponent):
        if player.game is not None and player.game.name != game.name:
            raise IceError(f"agent {player.name!r} plays {player.game.name}, not {game.name}")
    sequence = np.random.SeedSequence(whole_number("seed", seed, 0, 1 << 63), spawn_key=(EVALUATION_DEALS,))
    of_deals, of_agent, of_opponent = sequence.spawn(3)
    agent.reseed(of_agent)
    opponent.reseed(of_opponent)
    deals = game_seeds(of_deals, games // num_players)
    by_seat = seat_options(game, options or {}, num_players, handicap)
    row = EvaluationRow(
        game=game.name,
        rules_version=game.version,
        options=asdict(game.make_options(options or {})),
        num_players=num_players,
        agent=agent.name,
        opponent=opponent.name,
        deals=len(deals),
        games=games,
        seats_rotated=True,
        fair_share=1 / num_players,
        **summary(play_deals(agent, opponent, game, deals, by_seat)),  # type: ignore[typeddict-item]  # the other fields
        seed=seed,
        deals_hash=hashlib.sha256(deals.astype("<u8").tobytes()).hexdigest()[:16],
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        versions=command_line.versions(),
        command=command_line.typed(),
        cpu=command_line.cpu_name(),
    )
    if handicap is not None:
        row["handicap"] = list(handicap)
    return row


def check_games(games: int, table_sizes: Sequence[int]) -> None:
    """Raise IceError unless so many games are at least two whole deals, played in every seat, at each table size."""
    unit = lcm(*table_sizes)
    whole_number("games", games, 1, MOST_GAMES)
    if games % unit or games < 2 * max(table_sizes):
        right = max(round(games / unit), 1 if len(table_sizes) > 1 else 2) * unit
        seats = ", ".join(map(str, table_sizes))
        raise IceError(f"{games} games are not two or more whole deals in every seat at {seats} seats: take {right}")


def play_deals(
    agent: agents.Agent,
    opponent: agents.Agent,
    game: Game,
    deals: NDArray[np.uint64],
    by_seat: Sequence[Mapping[str, Any]],
) -> Outcomes:
    """Play each of D deals (generator states) n times, with the agent in seat 0, 1, … and `opponent` elsewhere.

    `by_seat` holds the options of the game for each of these n seats.
    """
    size = max(BLOCK // len(by_seat), 1)
    blocks = (deals[first : first + size] for first in range(0, len(deals), size))
    played = [_play_block(agent, opponent, game, block, by_seat) for block in blocks]
    return Outcomes(*(np.concatenate(parts) for parts in zip(*played, strict=True)))


def _play_block(
    agent: agents.Agent,
    opponent: agents.Agent,
    game: Game,
    deals: NDArray[np.uint64],
    by_seat: Sequence[Mapping[str, Any]],
) -> Outcomes:
    num_players = len(by_seat)
    started = [loops.new_states(game, [num_players] * len(deals), options, deals) for options in by_seat]
    states = np.concatenate(started).take(np.arange(num_players * len(deals)).reshape(num_players, -1).T.ravel())
    seats = np.tile(np.arange(num_players), len(deals))
    played = play_out(states, lambda left, places: _choose(agent, opponent, game, left, seats[places]))
    every = np.arange(len(seats))
    own, table = played.scores[every, seats], (len(deals), num_players)
    return Outcomes(
        shares=played.shares[every, seats].reshape(table),
        scores=own.reshape(table),
        opponents_scores=((played.scores.sum(axis=1) - own) / (num_players - 1)).reshape(table),
        truncated=played.truncated.reshape(table),
    )


def _choose(
    agent: agents.Agent, opponent: agents.Agent, game: Game, states: States, seats: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return an action (N,) for each game: the agent's where its seat (N,) is to move, else the opponent's."""
    actions = np.empty(len(states), np.int64)
    own_turn = states["to_move"] == seats
    for player, turn in ((agent, own_turn), (opponent, ~own_turn)):
        if turn.any():
            actions[turn] = agents.checked_choice(player, game, states.take(np.flatnonzero(turn)))
    return actions


def summary(outcomes: Outcomes) -> dict[str, Any]:
    """Return the statistics of an evaluation row. A deal's games are alike, so intervals rest on means over deals."""
    shares, margins = outcomes.shares, outcomes.scores - outcomes.opponents_scores
    return {
        "win_share": float(shares.mean()),
        "interval": interval(shares.mean(axis=1), 0, 1),
        "wins": float((shares == 1).mean()),
        "shared_wins": float(((shares > 0) & (shares < 1)).mean()),
        "losses": float((shares == 0).mean()),
        "truncated": float(outcomes.truncated.mean()),
        "mean_score": float(outcomes.scores.mean()),
        "opponents_mean_score": float(outcomes.opponents_scores.mean()),
        "margin": float(margins.mean()),
        "margin_interval": interval(margins.mean(axis=1)),
        "per_seat": [
            SeatResult(
                seat=seat,
                games=len(shares),
                win_share=float(shares[:, seat].mean()),
                interval=interval(shares[:, seat], 0, 1),
                mean_score=float(outcomes.scores[:, seat].mean()),
            )
            for seat in range(shares.shape[1])
        ],
    }


def interval(values: Floats, low: float = -np.inf, high: float = np.inf) -> list[float]:
    """Return the 95 % interval of the mean of independent values (D,), D at least 2, cut off at `low` and `high`."""
    from scipy.special import stdtrit  # quantiles of Student's t; not needed to show the help

    half = stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / sqrt(len(values))
    return [float(max(values.mean() - half, low)), float(min(values.mean() + half, high))]


def verdict(row: EvaluationRow) -> str:
    """Return `better` or `worse` if the interval excludes the fair share, else `unclear`."""
    low, high = row["interval"]
    if low > row["fair_share"] + ROUNDING:
        return "better"
    return "worse" if high < row["fair_share"] - ROUNDING else "unclear"


def results_table(rows: Sequence[EvaluationRow]) -> Group:
    """Return the rows as tables for a reader who knows nothing of us, 80 columns wide."""
    games = ", ".join(sorted({f"{row['games']:,}" for row in rows}))
    title = f"{rows[0]['agent']} plays {rows[0]['game']} ({games} games a line)"
    shares = ("win\nshare", "95 %\ninterval", "fair\nshare", "verdict", "shared\nwins", "points", "theirs")
    overall = _begun(title, rows, shares)
    for row in rows:
        low, high = row["interval"]
        overall.add_row(
            *_line(row),
            f"{row['win_share']:.3f}",
            f"{low:.3f}–{high:.3f}",
            f"{row['fair_share']:.3f}",
            verdict(row),
            f"{row['shared_wins']:.1%}",
            f"{row['mean_score']:.2f}",
            f"{row['opponents_mean_score']:.2f}",
        )
    most = max(row["num_players"] for row in rows)
    by_seat = _begun("Win share by seat of the agent", rows, [f"seat {seat}" for seat in range(most)])
    for row in rows:
        by_seat.add_row(*_line(row), *(f"{seat['win_share']:.3f}" for seat in row["per_seat"]))
    explanation = [EXPLANATION]
    if (kind := find_game(rows[0]["game"]).handicap) and "handicap" in rows[0]:
        explanation.append(f"Handicap: {kind.meaning}.")
    return Group(overall, " ".join(explanation), by_seat)


def _begun(title: str, rows: Sequence[EvaluationRow], names: Sequence[str]) -> Table:
    """Return a table without lines: its first columns say which evaluation a line tells of, the others are named."""
    begun = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    begun.add_column("seats", justify="right", no_wrap=True)
    begun.add_column("opponent", overflow="fold")
    if "handicap" in rows[0]:
        begun.add_column("handicap", justify="right", no_wrap=True)
    for name in names:
        begun.add_column(name, justify="left" if name == "verdict" else "right", no_wrap=True)
    return begun


def _line(row: EvaluationRow) -> list[str]:
    """Return the first cells of a row."""
    handicap = [written(find_game(row["game"]), row["handicap"])] if "handicap" in row else []
    return [str(row["num_players"]), row["opponent"], *handicap]


if __name__ == "__main__":
    command_line.run(main, EvaluationSettings, "training.evaluate")

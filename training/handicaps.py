"""Handicaps: of the agent that is evaluated, which move with it, the curve they give, and those that training draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ice_envs import find_game, games
from ice_envs.agents.manifest import EvaluationRow
from ice_envs.engine import loops
from ice_envs.engine.game import Game, Handicap, States
from ice_envs.errors import IceError, check_range

Numbers = tuple[int, ...]
"""One seat's handicap; the game says what its numbers mean."""


def read_handicaps(game: Game, words: Sequence[str]) -> list[Numbers]:
    """Return the handicaps that words such as `4` or `4+2` name, each once; raise IceError for others."""
    return list(dict.fromkeys(_read(_of(game), word) for word in words))


def _read(kind: Handicap, word: str) -> Numbers:
    try:
        numbers = tuple(map(int, word.split("+")))
    except ValueError:
        raise IceError(f"a handicap must be whole numbers joined by +, such as 4 or 4+2, not {word!r}") from None
    if len(numbers) > len(kind.none):
        raise IceError(f"the handicap {word} has {len(numbers)} numbers, but there are at most {len(kind.none)}")
    return numbers + kind.none[len(numbers) :]


def _of(game: Game) -> Handicap:
    if game.handicap is None:
        others = ", ".join(name for name in games() if find_game(name).handicap)
        raise IceError(f"{game.name} has no handicaps (games that have: {others})")
    return game.handicap


def written(game: Game, handicap: Sequence[int]) -> str:
    """Return the shortest word that names a handicap."""
    none, last = _of(game).none, len(handicap)
    while last > 1 and handicap[last - 1] == none[last - 1]:
        last -= 1
    return "+".join(map(str, handicap[:last]))


def seat_options(
    game: Game, options: Mapping[str, Any], num_players: int, handicap: Sequence[int] | None
) -> list[dict[str, Any]]:
    """Return, for each seat that the agent may have, the options with its handicap at that seat (None: unchanged).

    Raises IceError for options that this table cannot have.
    """
    by_seat = [dict(options)] * num_players
    if handicap is not None:
        kind = _of(game)
        others: list[Any] = getattr(game.make_options(options), kind.option)
        others = [*others, *[list(kind.none)] * (num_players - len(others))]
        by_seat = [
            {**options, kind.option: [*others[:seat], list(handicap), *others[seat + 1 :]]}
            for seat in range(num_players)
        ]
    for chosen in by_seat:
        game.check_options(num_players, chosen)
    return by_seat


def check_part(game: Game, part: float) -> None:
    """Raise IceError unless this can be the part of a game's training that is played with handicaps."""
    check_range("handicapped", part, 0, 1)
    if part > 0:
        _of(game)


def give(game: Game, states: States, options: Mapping[str, Any], part: float, seed: np.random.SeedSequence) -> None:
    """Begin some of the games anew, with a handicap for every seat that holds for all games at that place.

    Each game is one of them with probability `part`, each number is as likely as another. What is drawn takes the
    place of the handicaps in the options.
    """
    kind, generator = _of(game), np.random.default_rng(seed)
    for place in np.flatnonzero(generator.random(len(states)) < part):
        state, seats = states[place], int(states[place].num_players)
        drawn = generator.integers(kind.none, kind.most, (seats, len(kind.none)), endpoint=True)
        game.configure(state, seats, game.make_options({**options, kind.option: drawn.tolist()}))
        loops.start_games(states[place : place + 1])


def draw_curve(rows: Sequence[EvaluationRow], path: Path) -> None:
    """Draw win share against the first number of the handicap as a PNG file, a panel for each opponent."""
    from matplotlib.figure import Figure

    game = find_game(rows[0]["game"])
    opponents = list(dict.fromkeys(row["opponent"] for row in rows))
    figure = Figure(figsize=(6 * len(opponents), 4.5), layout="constrained")
    panels = figure.subplots(1, len(opponents), squeeze=False)[0]
    for panel, opponent in zip(panels, opponents, strict=True):
        for (size, *others), line in _lines([row for row in rows if row["opponent"] == opponent]).items():
            shares = [row["win_share"] for row in line]
            reach = [[abs(row["interval"][end] - row["win_share"]) for row in line] for end in (0, 1)]
            rest = written(game, (0, *others))[1:]
            label = f"{size} seats" + (f", handicap …{rest}" if rest else "")
            drawn = panel.errorbar([row["handicap"][0] for row in line], shares, reach, marker=".", label=label)
            panel.axhline(1 / size, color=drawn[0].get_color(), linestyle=":", linewidth=1)
        panel.set(title=f"{rows[0]['agent']} against {opponent}", xlabel=_of(game).meaning, ylim=(0, None))
        panel.xaxis.get_major_locator().set_params(integer=True)
        panel.set(ylabel="win share, 95 % interval (dotted: fair share)")
        panel.legend()
        panel.grid(alpha=0.3)
    figure.savefig(path, dpi=100, format="png")


def _lines(rows: Sequence[EvaluationRow]) -> dict[tuple[int, ...], list[EvaluationRow]]:
    """Return the rows by table size and further numbers of the handicap, along the first number."""
    lines: dict[tuple[int, ...], list[EvaluationRow]] = {}
    for row in sorted(rows, key=lambda row: (row["num_players"], row["handicap"][1:], row["handicap"][0])):
        lines.setdefault((row["num_players"], *row["handicap"][1:]), []).append(row)
    return lines

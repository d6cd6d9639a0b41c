"""Let agents play each other at every table composition worth playing: ratings, win shares, seats, a picture.

python -m training.tournament --env dokitto --agents random greedy my_run/agent.json --games 1200 --out my_tournament
"""

from __future__ import annotations

import hashlib
import json
import os.path
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from ice_envs import agents
from ice_envs.engine import loops
from ice_envs.engine.game import Game
from ice_envs.engine.generator import game_seeds
from ice_envs.engine.jit import is_cold, source_digest
from ice_envs.errors import IceError, IllegalAction, whole_number
from ice_envs.files import check_writable, make_folder, read_json, replacing, write_json
from ice_envs.games import find_game
from training import command_line
from training.command_line import INTERRUPTED
from training.evaluate import check_games
from training.lineups import CHUNK, DEALS, Lineup, Results, joined, lineups, play_chunk, seed_for
from training.standings import Entrant, Standings, draw, show, standings


@dataclass(frozen=True)
class TournamentSettings:
    """Settings of a tournament."""

    agents: list[str]
    """Who plays: random, greedy, a search such as search:1000, or the path of an agent.json; NAME=AGENT
    gives one another name."""
    env: str = "dokitto"
    """The game."""
    num_players: list[int | Literal["all"]] = field(default_factory=lambda: ["all"])
    """Table sizes, such as 2 3 4 5, or all; each has ratings of its own."""
    games: int = 1200
    """Games of each table composition; every table size must divide it."""
    compositions: Literal["all", "duels"] = "all"
    """All: duels (one seat against all others) and mixed tables of as many agents as fit; duels: these alone."""
    seed: int = 0
    """Seed of the deals, of the seating and of the agents: the same seed plays the same games."""
    options: dict[str, Any] = field(default_factory=dict)
    """Rule options of the game."""
    json: Path | None = None
    """Write the results to this file too."""
    out: Path | None = None
    """Folder for all games, the results and a picture; the same command goes on with what was begun there."""


class Field(NamedTuple):
    """A tournament that is ready to be played."""

    game: Game
    sizes: tuple[int, ...]
    players: dict[str, agents.Agent]
    """By name, in the names' order."""
    entrants: list[Entrant]


class Folder:
    """Where the games of a tournament are kept, one file for each lineup; without a path, nowhere.

    A file holds the deals played so far and is replaced whole, so a tournament killed at any moment can go on.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def open(self, identity: dict[str, Any]) -> None:
        """Make the folder, or go on in it; raise IceError if it holds another tournament or cannot be written."""
        if self.path is None:
            return
        file = self.path / "tournament.json"
        make_folder(self.path)
        make_folder(self.path / "tables")
        check_writable(file)
        if not file.exists():
            write_json(file, identity)
        before = read_json(file)
        for name, now in json.loads(json.dumps(identity)).items():
            was = before.get(name) if isinstance(before, dict) else None
            if was != now:
                raise IceError(
                    f"{self.path} holds another tournament, whose {name} is {was}, not {now}: choose another --out"
                )

    def load(self, lineup: Lineup) -> list[Results]:
        """Return what was played of a lineup: nothing, or its results so far."""
        file = self._file(lineup)
        if file is None or not file.exists():
            return []
        try:
            with file.open("rb") as source, np.load(source) as saved:
                return [
                    Results(saved["shares"], saved["truncated"], saved["forfeits"], json.loads(str(saved["failures"])))
                ]
        except Exception as error:  # what damaged files raise shares no base class
            raise IceError(f"{file} is damaged: delete it, and its games are played again") from error

    def save(self, lineup: Lineup, results: Results) -> None:
        """Keep the results of a lineup so far."""
        file = self._file(lineup)
        if file is not None:
            arrays = results._replace(failures=np.array(json.dumps(results.failures)))._asdict()  # type: ignore[arg-type]  # as text
            with replacing(file) as partial, partial.open("wb") as target:
                np.savez_compressed(target, lineup=np.array(lineup), **arrays)

    def _file(self, lineup: Lineup) -> Path | None:
        digest = hashlib.sha256("\n".join(lineup).encode()).hexdigest()[:16]
        return self.path / "tables" / f"{len(lineup)}-{digest}.npz" if self.path else None


def main(settings: TournamentSettings) -> int:
    """Play what has not been played, show the standings and write the files; return the exit code."""
    ready = enter(settings)
    if settings.json:
        check_writable(settings.json)
    folder = Folder(settings.out)
    folder.open({**identity(settings, ready), "code": source_digest()})  # what agents without a file are made of
    console = Console(stderr=True, markup=False)
    if is_cold():
        console.print("Compiling the game: this takes some seconds, the first time only.")
    try:
        results = play(settings, ready, folder, console)
    except KeyboardInterrupt:
        kept = "the same command goes on" if settings.out else "nothing is kept without --out"
        console.print(f"Stopped: {kept}.")
        return INTERRUPTED
    found = report(settings, ready, results)
    Console(markup=False).print(show(found))
    if settings.out:
        write_json(settings.out / "results.json", found)
        with replacing(settings.out / "results.png") as partial:
            draw(found, partial)
        console.print(f"The results are in {settings.out}: results.json and results.png.", soft_wrap=True)
    if settings.json:
        write_json(settings.json, found)
    return 0


def enter(settings: TournamentSettings) -> Field:
    """Return the field of a tournament; raise IceError, before any work is done, if it cannot be played."""
    game = find_game(settings.env)
    sizes = tuple(sorted(set(command_line.choose_table_sizes(game, settings.num_players))))
    if not sizes:
        raise IceError("name at least one table size")
    check_games(settings.games, sizes)
    whole_number("seed", settings.seed, 0, 1 << 63)
    game.make_options(settings.options)
    if len(settings.agents) < 2:
        raise IceError(f"a tournament needs two or more agents, not {len(settings.agents)}")
    players: dict[str, agents.Agent] = {}
    entrants = []
    for words in settings.agents:
        label, spec = split_name(words)
        player = agents.load(spec, game)
        player.name = label or player.name
        if player.name in players:
            raise IceError(f"two agents are called {player.name!r}: give one another name, as in other={spec}")
        players[player.name] = player
        entrants.append(Entrant(name=player.name, spec=spec, digest=digest(spec)))
        check_plays(player, game, sizes, settings.options)
    ordered = dict(sorted(players.items()))
    return Field(game, sizes, ordered, sorted(entrants, key=lambda entrant: entrant["name"]))


def split_name(words: str) -> tuple[str, str]:
    """Return name and agent of `NAME=AGENT`, and no name for an agent alone, whose path may hold a = too."""
    name, equals, spec = words.partition("=")
    named = bool(equals and name and spec) and "/" not in name and not os.path.exists(words)
    return (name, spec) if named else ("", words)


def digest(spec: str) -> str:
    """Return a digest of the file that an agent is made of, or nothing: a resumed tournament has the same agents."""
    file = Path(spec.rpartition("+")[2])  # a search may be guided by a network
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16] if file.suffix == ".json" and file.is_file() else ""


def check_plays(player: agents.Agent, game: Game, sizes: Sequence[int], options: dict[str, Any]) -> None:
    """Raise IceError if an agent cannot play at all at a table size, or under the options."""
    for size in sizes:
        try:
            agents.checked_choice(player, game, loops.new_states(game, [size], options, game_seeds(0, 1)))
        except Exception as error:
            if isinstance(error, IceError) and not isinstance(error, IllegalAction):
                raise  # what else goes wrong costs it games, one by one


def identity(settings: TournamentSettings, ready: Field) -> dict[str, Any]:
    """Return what makes a tournament this one; the order of the agents does not matter."""
    return {
        "game": ready.game.name,
        "rules_version": ready.game.version,
        "options": asdict(ready.game.make_options(settings.options)),
        "num_players": list(ready.sizes),
        "games": settings.games,
        "compositions": settings.compositions,
        "seed": settings.seed,
        "agents": ready.entrants,
    }


def play(
    settings: TournamentSettings, ready: Field, folder: Folder, console: Console
) -> dict[int, dict[Lineup, Results]]:
    """Return the results of all lineups at each table size, playing what the folder does not have yet."""
    tables = {size: lineups(list(ready.players), size, settings.compositions == "duels") for size in ready.sizes}
    count = sum(map(len, tables.values()))
    console.print(
        f"{len(ready.players)} agents play {ready.game.title}: {count} table compositions, {settings.games:,} games "
        "of each.",
        soft_wrap=True,
    )
    results: dict[int, dict[Lineup, Results]] = {size: {} for size in tables}
    with progress_bar(console) as bar:
        task = bar.add_task("Playing", total=count * settings.games)
        for size, compositions in tables.items():
            seeds = game_seeds(seed_for(settings.seed, size, DEALS), settings.games // size)
            deals = loops.new_states(ready.game, [size] * len(seeds), settings.options, seeds)
            for lineup in compositions:
                parts = folder.load(lineup)
                first = sum(len(part.shares) for part in parts)
                bar.advance(task, first * size)
                for start in range(first, len(deals), CHUNK):
                    chunk = deals[start : start + CHUNK]
                    parts = [
                        joined([*parts, play_chunk(lineup, ready.players, ready.game, chunk, settings.seed, start)])
                    ]
                    folder.save(lineup, parts[0])
                    bar.advance(task, len(chunk) * size)
                results[size][lineup] = parts[0]
    return results


def progress_bar(console: Console) -> Progress:
    """Return a progress bar that shows the part that is done and the time left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def report(settings: TournamentSettings, ready: Field, results: dict[int, dict[Lineup, Results]]) -> Standings:
    """Return the standings with all that tells where they come from."""
    return Standings(
        **identity(settings, ready),  # type: ignore[typeddict-item]  # the first fields
        **standings(results, list(ready.players), settings.seed),
        cpu=command_line.cpu_name(),
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        versions=command_line.versions(),
        command=command_line.typed(),
    )


if __name__ == "__main__":
    command_line.run(main, TournamentSettings, "training.tournament")

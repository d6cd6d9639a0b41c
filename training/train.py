"""Train an agent: it plays against itself, and a search teaches it what to do. One network plays all table sizes.

python -m training.train --env dokitto
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO

from ice_envs.agents.manifest import EvaluationRow
from ice_envs.engine.jit import is_cold
from ice_envs.errors import IceError
from ice_envs.files import write_json
from ice_envs.games import find_game
from training import command_line
from training.command_line import INTERRUPTED
from training.evaluate import results_table
from training.export import export
from training.network import ActorCritic
from training.run import FINAL, Run, TrainSettings, check
from training.run_folder import CONTENTS, RunFolder
from training.starting import SHAPE, shape_of, starting_model
from training.teacher import TeacherSettings

PROGRAM = "training.train"
FIXED = ("env", "num_players", "options", "handicapped", "games", *SHAPE, "teacher.memory", "evaluate_against")
"""Settings that a resumed run cannot change: its games, its network and its history are made of them."""


def announce(run: Run, console: Console) -> None:
    """Say what the run will do, and for how long."""
    settings = run.settings
    seats = ", ".join(map(str, run.sizes))
    console.print(f"Training an agent for {run.game.title} ({seats} seats, one network for all) {means(run)}.")
    for sentence in teaching(settings.teacher):
        console.print(sentence)
    say_where(run, console)


def teaching(teacher: TeacherSettings) -> Iterator[str]:
    """Yield sentences that say from whom a run learns."""
    by_tree = teacher.simulations > 0 and teacher.tree_after < teacher.share
    flat = teacher.tree_after if by_tree else teacher.share
    if flat > 0:
        when = "All the time" if flat >= 1 else f"For the first {flat:.0%}"
        yield f"{when} it is taught by a search that tries every move in {teacher.playouts} imagined games."
    if by_tree:
        until = "" if teacher.share >= 1 else f" until {teacher.share:.0%}"
        yield (
            f"From {flat:.0%} on{until} it is taught by a tree search of {teacher.simulations} imagined games, which "
            "the network itself guides."
        )
    if 0 < teacher.share < 1:
        yield "Then it learns from playing against itself."


def means(run: Run) -> str:
    """Return in words where a run computes, with how many threads, and for how long."""
    settings = run.settings
    ends = [f"about {settings.minutes:g} minutes"] if settings.minutes else []
    ends += [f"{settings.steps:,} decisions"] if settings.steps else []
    return f"on {run.device}, {settings.threads} threads, for {' or '.join(ends)}"


def say_where(run: Run, console: Console) -> None:
    """Say where a run is kept, and why it does not begin at once."""
    console.print(f"Everything goes into {run.folder.path}. Ctrl-C stops and saves; nothing is lost.")
    if is_cold():
        console.print("Compiling the game: this takes some seconds, the first time only.")


def train(run: Run, console: Console) -> bool:
    """Learn until the run's end, with a progress bar; return whether it was reached, or Ctrl-C stopped the run.

    A run can only be saved between two rounds of learning, so Ctrl-C waits for the end of one.
    """
    from torch.utils.tensorboard import SummaryWriter

    logs = str(run.folder / "tensorboard")
    curves = SummaryWriter(logs, purge_step=run.decisions + 1)  # a killed run may have drawn on
    with ctrl_c(console) as stop, curves as writer, progress_bar(console) as bar:
        task = bar.add_task("Learning", total=1.0, speed="", shares="")
        if run.settings.start and not run.history:
            run.checkpoint()  # learning may make what the run begins with worse
        while not run.ended:
            began, before = time.perf_counter(), run.decisions
            run.learn()
            run.seconds += time.perf_counter() - began
            stopping = stop.is_set()
            speed = (run.decisions - before) / (time.perf_counter() - began)
            done = max(run.progress, run.seconds / run.budget)
            bar.update(task, completed=done, speed=f"{speed:,.0f} steps/s")
            write_scalars(writer, run.losses | {"steps_per_second": speed}, run.decisions)
            if run.evaluation_due or stopping or run.ended:
                began = time.perf_counter()
                point = run.checkpoint()
                run.seconds += time.perf_counter() - began
                write_scalars(writer, flat_shares(point), run.decisions)
                bar.update(task, shares=short_shares(point))
                if not console.is_terminal:
                    line = f"{done:4.0%} {run.decisions:>12,} decisions  {speed:,.0f} steps/s"
                    console.print(f"{line}  {short_shares(point)}", soft_wrap=True)
            if stopping:
                return False
    return True


@contextmanager
def ctrl_c(console: Console) -> Iterator[threading.Event]:
    """Yield a flag that the first Ctrl-C sets; the second one is a KeyboardInterrupt."""
    asked = threading.Event()

    def ask(*_: Any) -> None:
        """Ask for an end, and let the next Ctrl-C interrupt."""
        asked.set()
        signal.signal(signal.SIGINT, before)
        console.print("Stopping after this round of learning; Ctrl-C again stops at once.", soft_wrap=True)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def progress_bar(console: Console) -> Progress:
    """Return a progress bar that also shows speed, time left and win shares."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[speed]}"),
        TextColumn("{task.fields[shares]}"),
        console=console,
        disable=not console.is_terminal,
    )


def flat_shares(point: Mapping[str, Any]) -> dict[str, float]:
    """Return a checkpoint's win shares under flat names."""
    return {
        f"win_share/{opponent}_{size}_seats": share
        for opponent, shares in point["win_shares"].items()
        for size, share in shares.items()
    }


def short_shares(point: Mapping[str, Any]) -> str:
    """Return a checkpoint's win shares in a few words."""
    return "  ".join(
        f"vs {opponent} " + "/".join(f"{share:.2f}" for share in shares.values())
        for opponent, shares in point["win_shares"].items()
    )


def write_scalars(writer: Any, scalars: Mapping[str, float], step: int) -> None:
    """Write figures for TensorBoard."""
    for name, value in scalars.items():
        writer.add_scalar(name if "/" in name else f"training/{name}", value, step)


def evaluate_and_export(run: Run, console: Console) -> tuple[Path, list[EvaluationRow]]:
    """Evaluate the best network on deals it was not chosen by, and export it; return its manifest and the rows."""
    console.print("Evaluating the best network on fresh deals …")
    run.network = ActorCritic(run.folder.load_model("best.zip", run.game).policy)
    rows = run.evaluate(run.settings.final_games, FINAL)
    write_json(run.folder / "evaluation.json", rows)
    return export(run.network, run.game, run.folder.path, run.folder.path.name, run.origin(), rows), rows


def finish(run: Run, console: Console) -> None:
    """Evaluate and export the best network, and say what to do next."""
    manifest, rows = evaluate_and_export(run, console)
    console.print(results_table(rows))
    console.print(f"\nThe run is in {run.folder.path}:\n{CONTENTS}")
    agent, logs, folder = (quote(str(path)) for path in (manifest, run.folder / "tensorboard", run.folder.path))
    console.print(
        "Next:\n"
        f"  python -m training.evaluate --env {run.game.name} --agent {agent} --opponents random greedy\n"
        f"  tensorboard --logdir {logs}\n"
        f"  python -m training.train --resume {folder} --minutes {2 * (run.settings.minutes or 10):g}",
        soft_wrap=True,
    )


def open_run(settings: TrainSettings) -> Run:
    """Return a new run, or the one to resume as it was saved."""
    check(settings)
    if settings.resume is None:
        start = network_to_begin_with(settings)
        folder = RunFolder(settings.out or RunFolder.default_path(settings.env, settings.seed))
        folder.make()
        run = Run(settings, folder)
        if start:
            run.begin_with(start)
        folder.save_state(run.state())
    else:
        folder = RunFolder(settings.resume)
        state = folder.load_state()
        run = Run(settings, folder)
        run.restore(state)
    folder.write_settings(replace(settings, resume=None))  # last: with it the folder holds a run
    return run


def network_to_begin_with(settings: TrainSettings) -> MaskablePPO | None:
    """Return the network that a run begins with, if it names one; raise IceError if its layers are others."""
    if settings.start is None:
        return None
    game = find_game(settings.env)
    model = starting_model(settings.start, game)
    without = {name for name, part in (("kind_hidden", game.kinds), ("action_hidden", game.action_slices)) if not part}
    for name, widths in shape_of(model).items():
        if name not in without and widths != getattr(settings, name):
            raise IceError(
                f"the network in {settings.start} has layers of {widths}, not of {getattr(settings, name)}: set {name}"
            )
    return model


def resumed_settings(settings: TrainSettings, words: Sequence[str]) -> TrainSettings:
    """Return the settings of the run to resume, if one is named, under the flags given now, `words`."""
    if settings.resume is None:
        return settings
    return command_line.continued(settings.resume / "config.yaml", TrainSettings, PROGRAM, words, FIXED)


def main(settings: TrainSettings) -> int:
    """Train, evaluate, export; return the exit code."""
    console = Console(markup=False)  # a path may hold brackets
    run = open_run(settings)
    announce(run, console)
    with suppress(KeyboardInterrupt):  # whenever it comes, what has been saved is whole
        if train(run, console):
            finish(run, console)
            return 0
    go_on = f"python -m training.train --resume {quote(str(run.folder.path))}"
    console.print(f"Stopped and saved. Go on with: {go_on}", soft_wrap=True)
    return INTERRUPTED


if __name__ == "__main__":
    command_line.run(main, TrainSettings, PROGRAM, game_defaults=True, revise=resumed_settings)

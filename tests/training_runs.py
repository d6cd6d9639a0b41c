"""Small training runs for tests: started in this process or in one of their own, and what they leave behind."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from rich.console import Console
from sb3_contrib import MaskablePPO

from training import command_line, train
from training.run import TrainSettings

TAUGHT = ["--teacher.share", "0.5", "--teacher.playouts", "2", "--teacher.skilled", "1"]
REMEMBERED = ["--teacher.passes", "2", "--teacher.memory", "500"]
SIZE = ["--games", "32", "--horizon", "10", "--hidden", "16", "--kind_hidden", "16", "--steps", "700"]
SMALL = [*SIZE, *TAUGHT, *REMEMBERED, "--minutes", "null", "--threads", "1"]
EVALUATED = ["--evaluation_games", "60", "--final_games", "60"]
AT_FOUR = ["--num_players", "4", "--evaluation_games", "8", "--final_games", "8"]
ALWAYS = ["--evaluate_minutes", "1e-6"]
"""Evaluates and saves after every round of learning."""


class Result(NamedTuple):
    code: int | str | None
    out: str
    err: str


@contextlib.contextmanager
def threads_kept() -> Iterator[None]:
    """Let torch have as many threads afterwards as before."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def command(*words: str) -> Result:
    """Run `python -m training.train words…` in this process."""
    out, err, code = io.StringIO(), io.StringIO(), None
    with threads_kept(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            command_line.run(
                train.main,
                TrainSettings,
                train.PROGRAM,
                game_defaults=True,
                arguments=words,
                revise=train.resumed_settings,
            )
        except SystemExit as stop:
            code = stop.code
    return Result(code, out.getvalue(), err.getvalue())


def begun(*words: str) -> train.Run:
    """Return the run that the command would start or continue, before it learns."""
    with threads_kept():
        settings = command_line.read_settings(TrainSettings, train.PROGRAM, words, game_defaults=True)
        return train.open_run(train.resumed_settings(settings, words))


def trained(*words: str) -> train.Run:
    """Return the run that the command would start or continue, after it has learned to its end; nothing is exported."""
    run = begun(*words)
    assert train.train(run, Console(file=io.StringIO()))
    return run


def process(*words: str) -> subprocess.Popen[str]:
    """Start `python -m training.train words…` in a process of its own, warnings being errors."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", train.PROGRAM, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent,
    )


def changed(path: Path) -> int | None:
    """Return when a file was last written, in nanoseconds, or None if there is none."""
    return path.stat().st_mtime_ns if path.exists() else None


def wait_until(happened: Callable[[], bool], running: subprocess.Popen[str]) -> None:
    """Wait for something that a running command brings about."""
    while not happened():
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)


def parameters(folder: Path, name: str = "model.zip") -> dict[str, bytes]:
    """Return the parameters of a saved model, byte for byte."""
    policy = MaskablePPO.load(folder / name, device="cpu").policy
    return {key: value.numpy().tobytes() for key, value in policy.state_dict().items()}

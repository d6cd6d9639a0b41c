"""The disk cache of compiled code, in fresh processes: never stale, never compiled twice, never in the way."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import ice_envs
from ice_envs import Batch
from ice_envs.engine import loops
from ice_envs.engine.generator import game_seeds
from tests.helpers import determinized

ROOT = Path(__file__).parent.parent

SCRIPT = """
import json
import numpy as np
import ice_envs
from ice_envs import Batch
from ice_envs.engine import jit, loops

cold = jit.is_cold()
played, mask, actions = [], np.zeros((8, 70), np.int8), np.zeros(8, np.int64)
for threads in (1, 2):
    batch = Batch("dokitto", 8, seed=1, num_players=(2, 3, 4, 5), num_threads=threads, target_score=4)
    for step in range(200):
        loops.legal_games(batch.states, mask)
        loops.random_actions(mask, np.uint64(step), actions)
        batch.step(actions)
        played.append(batch.states.tobytes().hex())
used = (loops.start_games, loops.legal_games, loops.first_illegal, loops.step_games, loops.random_actions)
print(json.dumps({
    "package": ice_envs.__file__,
    "cold": cold,
    "played": played,
    "tiles": int(batch.states["tiles"].max()),
    "compiled": {
        loop.__name__: [len(loop.signatures), *(sum(found.values()) for found in loop.stats[1:])] for loop in used
    },
}))
"""
"""Plays with a batch's loops, and prints what was played and how often each loop was loaded and compiled."""


class Checkout(NamedTuple):
    """A copy of the package, with a cache of its own, and what its first run printed."""

    sources: Path
    cache: Path
    first: dict[str, Any]

    def run(self, **environment: str) -> dict[str, Any]:
        return run(self.sources, self.cache, **environment)


def python(script: str, place: Path, **environment: str) -> str:
    """Run a script in a new process that finds its modules in `place`; warnings are errors there, too."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_DISABLE", "PYTHON"))}
    places = {"PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "error", "-c", script]
    settings = inherited | places | environment
    done = subprocess.run(command, env=settings, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def run(sources: Path, cache: Path, **environment: str) -> dict[str, Any]:
    """Run SCRIPT on a copy of the package."""
    told: dict[str, Any] = json.loads(python(SCRIPT, sources, NUMBA_CACHE_DIR=str(cache), **environment))
    assert Path(told["package"]).is_relative_to(sources)
    return told


@contextmanager
def edited(path: Path, before: str, after: str) -> Iterator[None]:
    """Replace a piece of a source file for a while."""
    original = path.read_text(encoding="utf-8")
    assert original.count(before) == 1
    path.write_text(original.replace(before, after), encoding="utf-8")
    yield
    path.write_text(original, encoding="utf-8")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    root = tmp_path_factory.mktemp("checkout")
    package = Path(ice_envs.__file__).parent
    shutil.copytree(package, root / "sources" / "ice_envs", ignore=shutil.ignore_patterns("__pycache__"))
    return Checkout(root / "sources", root / "cache", run(root / "sources", root / "cache"))


def test_the_first_process_compiles_each_loop_once(checkout: Checkout):
    assert checkout.first["cold"]
    assert len(checkout.first["compiled"]) == 5
    assert set(map(tuple, checkout.first["compiled"].values())) == {(1, 0, 1)}, "signatures, hits, misses"


def test_the_second_process_compiles_nothing(checkout: Checkout):
    second = checkout.run()
    assert not second["cold"]
    assert set(map(tuple, second["compiled"].values())) == {(1, 1, 0)}, "signatures, hits, misses"
    assert second["played"] == checkout.first["played"]


def test_an_edited_rule_is_played_at_once(checkout: Checkout):
    """The loops live in another file than the rules: Numba alone would go on playing the old ones from its cache."""
    rules = checkout.sources / "ice_envs" / "games" / "dokitto" / "rules.py"
    assert checkout.first["tiles"] == 3
    with edited(rules, "\nTILES_PER_FLAVOR = 3\n", "\nTILES_PER_FLAVOR = 2\n"):
        changed = checkout.run()
    assert (changed["cold"], changed["tiles"]) == (True, 2)
    assert changed["played"] != checkout.first["played"]
    back = checkout.run()
    assert (back["cold"], back["played"]) == (False, checkout.first["played"])


def test_a_cache_directory_that_cannot_be_made_is_replaced_by_a_temporary_one(checkout: Checkout, tmp_path: Path):
    """A file stands where the directory should be: no user, not even root, can write below it."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    temporary = checkout.cache / "ice_envs"  # already holds the compiled code, so this is quick
    told = run(checkout.sources, blocked / "cache", TMPDIR=str(temporary), TEMP=str(temporary), TMP=str(temporary))
    assert told["played"] == checkout.first["played"]
    assert set(map(tuple, told["compiled"].values())) == {(1, 1, 0)}


# ---- the same games in every kind of process ----


def transcript() -> str:
    """Play with every compiled function of the package's contract; return a digest of all that was said."""
    said = hashlib.sha256()
    batch = Batch("dokitto", 8, seed=1, num_players=(2, 3, 4, 5), target_score=4)
    greedy, drawn = np.zeros(8, np.int64), np.zeros(8, np.int64)
    for step in range(100):
        observation, mask, seat = batch.observe()
        loops.random_actions(mask, np.uint64(step), drawn)
        loops.greedy_actions(batch.states, greedy)
        guess = determinized(batch.states, seat, game_seeds(step, 8))
        reward, done = batch.step(greedy if step % 2 else drawn)
        for array in (observation, mask, seat, greedy, guess, reward, done, batch.last_scores, batch.states):
            said.update(array.tobytes())
    return said.hexdigest()


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "1"}, {"NUMBA_DISABLE_JIT": "1"}],
    ids=["hash seed 0", "hash seed 1", "plain Python"],
)
def test_play_does_not_depend_on_the_process(environment: dict[str, str]):
    told = python("from tests.test_jit_cache import transcript; print(transcript())", ROOT, **environment)
    assert told.strip() == transcript()

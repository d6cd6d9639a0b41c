"""The disk cache of compiled code, in fresh processes: never stale, never compiled twice, never in the way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ice_envs

SCRIPT = """
import hashlib, json
import numpy as np
import ice_envs
from ice_envs import Batch
from ice_envs.engine import jit, loops

cold = jit.is_cold()
transcript = hashlib.sha256()
for threads in (1, 2):
    batch = Batch("dokitto", 8, seed=1, num_players=(2, 3, 4, 5), num_threads=threads, target_score=4)
    greedy, random = np.zeros(8, np.int64), np.zeros(8, np.int64)
    for step in range(120):
        observation, mask, seat = batch.observe()
        loops.random_actions(mask, np.uint64(step), random)
        loops.greedy_actions(batch.states, greedy)
        reward, done = batch.step(greedy if step % 10 == 0 else random)
        for array in (observation, mask, seat, greedy, reward, done, batch.last_scores, batch.states):
            transcript.update(array.tobytes())
tiles = int(batch.states["tiles"].max())
batch.reset(2)
used = (
    loops.start_games, loops.observe_games, loops.first_illegal, loops.step_games, loops.random_actions,
    loops.greedy_actions,
)
print(json.dumps({
    "package": ice_envs.__file__,
    "cold": cold,
    "transcript": transcript.hexdigest(),
    "tiles": tiles,
    "compiled": {
        loop.__name__: [len(loop.signatures), sum(loop.stats.cache_hits.values()), sum(loop.stats.cache_misses.values())]
        for loop in used if hasattr(loop, "stats")
    },
}))
"""
"""Plays with all of a batch's loops, and prints what was played and how often each loop was compiled."""


class Checkout(NamedTuple):
    """A copy of the package, with a cache of its own, and what its first run printed."""

    sources: Path
    cache: Path
    first: dict[str, Any]

    def run(self, **environment: str) -> dict[str, Any]:
        return run(self.sources, self.cache, **environment)


def run(sources: Path, cache: Path, **environment: str) -> dict[str, Any]:
    """Run SCRIPT in a new process on a copy of the package; warnings are errors there, too."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON"))}
    places = {"PYTHONPATH": str(sources), "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env=inherited | places | environment,
        cwd=sources,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told: dict[str, Any] = json.loads(done.stdout)
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
    assert len(checkout.first["compiled"]) == 6
    assert set(map(tuple, checkout.first["compiled"].values())) == {(1, 0, 1)}, "signatures, hits, misses"


def test_the_second_process_compiles_nothing(checkout: Checkout):
    second = checkout.run()
    assert not second["cold"]
    assert set(map(tuple, second["compiled"].values())) == {(1, 1, 0)}, "signatures, hits, misses"
    assert second["transcript"] == checkout.first["transcript"]


@pytest.mark.parametrize("seed", ["0", "1"])
def test_play_does_not_depend_on_the_process(seed: str, checkout: Checkout):
    assert checkout.run(PYTHONHASHSEED=seed)["transcript"] == checkout.first["transcript"]


def test_an_edited_rule_is_played_at_once(checkout: Checkout):
    """The loops live in another file than the rules: Numba alone would go on playing the old ones from its cache."""
    rules = checkout.sources / "ice_envs" / "games" / "dokitto" / "rules.py"
    assert checkout.first["tiles"] == 3
    with edited(rules, "\nTILES_PER_FLAVOR = 3\n", "\nTILES_PER_FLAVOR = 2\n"):
        changed = checkout.run()
    assert (changed["cold"], changed["tiles"]) == (True, 2)
    assert changed["transcript"] != checkout.first["transcript"]
    back = checkout.run()
    assert (back["cold"], back["transcript"]) == (False, checkout.first["transcript"])


def test_plain_python_plays_the_same(checkout: Checkout):
    plain = checkout.run(NUMBA_DISABLE_JIT="1")
    assert plain["compiled"] == {}
    assert plain["transcript"] == checkout.first["transcript"]


def test_a_cache_directory_that_cannot_be_made_is_replaced_by_a_temporary_one(checkout: Checkout, tmp_path: Path):
    """A file stands where the directory should be: no user, not even root, can write below it."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    temporary = checkout.cache / "ice_envs"  # already holds the compiled code, so this is quick
    told = run(checkout.sources, blocked / "cache", TMPDIR=str(temporary), TEMP=str(temporary), TMP=str(temporary))
    assert told["transcript"] == checkout.first["transcript"]
    assert set(map(tuple, told["compiled"].values())) == {(1, 1, 0)}

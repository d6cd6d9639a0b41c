"""The package as a whole: what it imports, what its parts may know, its version, its memory."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ice_envs
from ice_envs import find_game, games
from tests.face_helpers import in_process

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ice_envs"
SOURCES = sorted(PACKAGE.rglob("*.py"))
BASE = {"numpy", "numba", "llvmlite", "gymnasium", "pettingzoo"}  # llvmlite is a part of numba, and comes with it
EXTRAS = {
    "faces/sb3.py": "stable_baselines3",
    "agents/portable.py": "onnxruntime",
    "serve/__main__.py": "uvicorn",
    "serve/app.py": "starlette",
    "serve/connections.py": "uvicorn",
}
"""The only files that import an optional package, each one."""


def trees(folder: Path) -> Iterator[tuple[str, ast.Module]]:
    """Yield each source file below a folder of the checkout with its syntax tree."""
    for path in sorted(folder.rglob("*.py")):
        yield path.relative_to(folder).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> set[str]:
    """Return the full names of the modules, and of what is taken from them, that a file imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


# ---- imports ----


def test_the_package_imports_its_base_dependencies_and_little_else():
    for name, tree in trees(PACKAGE):
        packages = {module.partition(".")[0] for module in imported(tree)} - sys.stdlib_module_names - BASE
        assert packages <= {"ice_envs", EXTRAS.get(name, "ice_envs")}, name
    for name, extra in EXTRAS.items():
        assert extra in {module.partition(".")[0] for module in imported(dict(trees(PACKAGE))[name])}


def test_agents_are_read_as_data_alone():
    """Nothing that could run code from a file: portable agents are loaded from strangers."""
    for name, tree in [*trees(PACKAGE / "agents"), ("files.py", ast.parse((PACKAGE / "files.py").read_text()))]:
        assert not {"pickle", "marshal", "shelve", "importlib", "torch"} & {n.partition(".")[0] for n in imported(tree)}
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not {"eval", "exec", "compile", "__import__"} & names, name


def test_no_global_random_generator_is_used():
    """Neither Python's own module nor NumPy's global functions."""
    allowed = {"default_rng", "Generator", "SeedSequence"}
    for folder in (PACKAGE, ROOT / "training", ROOT / "tests" / "twins"):
        for name, tree in trees(folder):
            assert not {"random", "secrets"} & {module.partition(".")[0] for module in imported(tree)}, name
            assert not {module for module in imported(tree) if module.startswith("numpy.random")}, name
            used = {
                node.attr
                for node in ast.walk(tree)
                if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random")
            }
            assert used <= allowed, name


# ---- rules once, faces thin ----

NUMBERS_OF_FACES = {0, 1, 2, 3, 4, 24, 64}
"""Those that say nothing of a game: small ones, 4 seats and 64 games by default, and 2²⁴ games at most."""


GENERAL = {"bonus", "deck", "seats", "sequence", "start", "tie"}
"""Words of a game that say nothing of it: programs have them too, or words that hold them."""


def words_of_games() -> set[str]:
    """Return the games' names, the names of their options, and the longer words of their actions."""
    words = set(games())
    for game in map(find_game, games()):
        words |= set(game.default_options()) | set(re.findall(r"[a-z]{5,}", " ".join(game.labels)))
    return words - GENERAL


def constants(tree: ast.Module) -> Iterator[object]:
    """Yield every literal that is not a docstring."""
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    yield from (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in texts)


@pytest.mark.parametrize("folder", ["faces", "engine", "agents"])
def test_what_the_games_share_knows_none_of_them(folder: str):
    words = words_of_games()
    assert {"dokitto", "strawberry", "target_score"} <= words
    for name, tree in trees(PACKAGE / folder):
        rooms = {module for module in imported(tree) if module.startswith("ice_envs.games.")}
        assert rooms <= {"ice_envs.games.NAMES", "ice_envs.games.find_game"}, name
        identifiers = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        identifiers |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        texts = {text for text in constants(tree) if isinstance(text, str)}
        assert not {word for word in words if any(word in text.lower() for text in identifiers | texts)}, name


def test_faces_hold_no_number_of_a_game():
    for name, tree in trees(PACKAGE / "faces"):
        numbers = {n for n in constants(tree) if isinstance(n, int | float) and not isinstance(n, bool)}
        assert numbers <= NUMBERS_OF_FACES, name


# ---- version and types ----


def test_one_version_everywhere():
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
    newest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert importlib.metadata.version("ice_envs") == version == newest


def test_the_package_says_that_it_is_typed():
    """.ci/run looks for the file in the wheel."""
    assert (PACKAGE / "py.typed").is_file()
    assert 'ice_envs = ["py.typed", ' in (ROOT / "pyproject.toml").read_text()


def test_what_the_package_offers_is_there():
    assert all(hasattr(ice_envs, name) for name in ice_envs.__all__)


# ---- memory ----

MANY_GAMES = """
import resource, sys
import numpy as np
from gymnasium.utils import env_checker
from pettingzoo.utils.env_logger import EnvLogger
from ice_envs import Batch
from ice_envs.engine import loops

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

batch, actions, ended, step = Batch("dokitto", 1024, num_players=(2, 3, 4, 5)), np.zeros(1024, np.int64), 0, 0
for wanted in (10_000, 110_000):
    while ended < wanted:
        step += 1
        loops.random_actions(batch.observe()[1], np.uint64(step), actions)
        ended += int(batch.step(actions)[1].sum())
    before, now = (0, peak()) if wanted == 10_000 else (now, peak())
print(now - before, len(EnvLogger.mqueue))
"""
"""Plays ten thousand games, then a hundred thousand more, and prints by how many bytes the peak of memory grew."""


def test_a_hundred_thousand_games_take_no_memory():  # 38 of the checklist for a native package
    done = in_process(MANY_GAMES)
    assert done.returncode == 0, done.stderr
    grown, logged = map(int, done.stdout.split())
    assert grown < 5 * 2**20
    assert logged == 0

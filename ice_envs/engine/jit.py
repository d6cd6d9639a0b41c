"""Compilation: every compiled function of the package is made here, so one place owns the disk cache.

Numba's own disk cache watches only the file of the outermost function: after an edit of a game's rules a cached
generic stepper would go on playing the old rules. Our cache directory is therefore named by a digest of all of the
package's sources. `NUMBA_CACHE_DIR` is respected, `NUMBA_DISABLE_JIT=1` runs the same code as plain Python.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class PlainArray(np.ndarray):
    """A field of a PlainRecord: single numbers are read as Python integers."""

    def __getitem__(self, index: Any) -> Any:
        value = super().__getitem__(index)
        return int(value) if isinstance(value, np.integer) else value


class PlainRecord(np.record):  # type: ignore[misc]  # its stub says final, but NumPy takes subclasses
    """A record for plain Python. Numbers are read as Python integers, since NumPy computes in a field's few bits.

    Compiled code computes in 64 bits. The generator's uint64 stays what it is: it has to wrap around.
    """

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if isinstance(value, np.integer) and value.dtype != np.uint64:
            return int(value)
        return value.view(PlainArray) if type(value) is np.ndarray else value


PLAIN = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]  # numba fills its config at run time
"""Whether nothing is compiled: all runs as plain Python."""
RECORD: type[np.record] = PlainRecord if PLAIN else np.record
"""The type of one game's record."""


def source_digest() -> str:
    """Return a digest of all Python sources of this package (16 hex digits)."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for source in sorted(package.rglob("*.py")):
        digest.update(str(source.relative_to(package)).encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_home() -> Path:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen)
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir()))
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _usable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK)


def cache_directory() -> Path:
    """Return the directory in which this version of the package keeps its compiled code."""
    name = f"ice_envs-{source_digest()}"
    directory = _cache_home() / "ice_envs" / name
    return directory if _usable(directory) else Path(tempfile.gettempdir()) / name


_CACHE_DIRECTORY = str(cache_directory())


def is_cold() -> bool:
    """Return whether nothing has been compiled into the cache yet (the first use then takes some seconds)."""
    return not any(Path(_CACHE_DIRECTORY).glob("**/*.nbc"))


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile `function` at its first call, without the GIL, cached on disk under the digest of our sources.

    Always into its callers: a call that passes an array counts references and costs as much as ten lines of a rule.
    """
    return _compiled(function, forceinline=True)


def compiled_apart(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile as `compiled` does, but into no caller: for loops over many games.

    In larger functions Numba counts references at every game, and threads wait for each other's counts.
    """
    return _compiled(function, forceinline=False)


def _compiled(function: Callable[Parameters, Result], forceinline: bool) -> Callable[Parameters, Result]:
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]  # numba fills its config at run time
    numba.config.CACHE_DIR = _CACHE_DIRECTORY  # type: ignore[attr-defined]  # for this function only
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=forceinline)(function)
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]

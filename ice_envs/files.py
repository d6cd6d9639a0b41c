"""Files that are whole or absent: written beside their place and moved there in one step."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ice_envs.errors import IceError

_LIST_OF_NUMBERS = re.compile(r'\[\n\s+([^][{}"]*?)\n\s+]')


def reason(error: Exception) -> str:
    """Return why reading or writing a file failed, without the file's name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a path to write to, with the same suffix; move it to `path` at the end, or delete it after an error.

    A process killed at any moment leaves the old file or the new one. Raises IceError if the system refuses to write.
    """
    target = Path(path)
    partial = target.with_name(f".partial.{target.name}")
    try:
        try:
            yield partial
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise IceError(f"cannot write {target}: {reason(error)}") from error


def check_writable(path: str | Path) -> None:
    """Raise IceError if a file could not be written at `path`; to be asked before long work begins."""
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise IceError(f"cannot write {path}: there is no folder {folder}")
    if Path(path).is_dir():
        raise IceError(f"cannot write {path}: it is a folder")
    if not os.access(folder, os.W_OK):
        raise IceError(f"cannot write {path}: the folder {folder} is not writable")


def make_folder(path: str | Path) -> None:
    """Make a folder, and those above it, unless it is there; raise IceError if that is impossible."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IceError(f"cannot make the folder {path}: {reason(error)}") from error


def write_json(path: str | Path, value: Any) -> None:
    """Write plain data as JSON, atomically; raise IceError for NaN or infinity, which JSON does not know."""
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise IceError(f"{path} is not written: it would hold a number that is not finite") from error
    one_line = _LIST_OF_NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text)
    with replacing(path) as partial:
        partial.write_text(one_line + "\n", encoding="utf-8")


def read_json(path: str | Path) -> Any:
    """Return the data in a JSON file; raise IceError if it is missing, unreadable or not JSON."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise IceError(f"cannot read {path}: {reason(error)}") from error
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        raise IceError(f"{path} is not JSON, or only the beginning of it: {error}") from error

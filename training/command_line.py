"""How every `python -m training.<name>` command reads its settings and reports bad input.

A command is a dataclass of settings and a function of it. Docstrings are the help; settings come from the dataclass'
defaults, `configs/<game>.yaml` (for commands that ask for it), `--config` and flags, the later ones winning.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import importlib.metadata
import inspect
import json
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

import jsonargparse
import yaml

from ice_envs.engine.game import Game
from ice_envs.errors import IceError, choose, nearest
from ice_envs.files import reason
from ice_envs.games import NAMES
from training import ROOT

Settings = TypeVar("Settings")
Kinds = dict[str, Any]

CONFIGS = ROOT / "configs"
END_MARK = "\n...\n"
"""How YAML ends a document: the config file of a run that does not is cut off."""
BAD_INPUT = 2
INTERRUPTED = 130  # the exit code that shells give a command stopped by Ctrl-C
_PACKAGES = ("ice_envs", "numpy", "numba", "torch", "stable_baselines3", "sb3_contrib", "onnxruntime")
_OWN_FLAGS = ("config", "help", "print_config")
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", re.IGNORECASE)
_WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    Path: "a path",
    type(None): "null",
}


def run(
    main: Callable[[Settings], int | None],
    settings_type: type[Settings],
    program: str,
    *,
    game_defaults: bool = False,
    positional: bool = False,
    arguments: Sequence[str] | None = None,
    revise: Callable[[Settings, Sequence[str]], Settings] | None = None,
) -> NoReturn:
    """Read the command line, run `main(settings)` and exit with what it returns (None: 0).

    Args:
        main: the command. An IceError that it raises becomes one sentence on stderr and exit code 2, and
            Ctrl-C, if it does not answer that itself, exit code 130.
        settings_type: a dataclass; the docstring below each field is its help. Fields may be dataclasses, lists
            (given as `--sizes 2 3`) and dictionaries (`--options.name value`).
        program: the module's name, such as `"training.evaluate"`.
        game_defaults: whether `configs/<game>.yaml` holds the defaults; the game is the setting `env`.
        positional: whether settings without a default are given by place instead of as flags.
        arguments: the command line (default: the process's own).
        revise: returns the settings to use in place of those read from this command line, its second argument.
    """
    words = sys.argv[1:] if arguments is None else arguments
    try:
        module = inspect.getmodule(main)
        about = module.__doc__ if module else None
        settings = read_settings(settings_type, program, words, game_defaults, positional, about)
        code = main(revise(settings, words) if revise else settings)
    except IceError as error:
        print(error, file=sys.stderr)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    sys.exit(code or 0)


def read_settings(
    settings_type: type[Settings],
    program: str,
    words: Sequence[str],
    game_defaults: bool = False,
    positional: bool = False,
    about: str | None = None,
) -> Settings:
    """Return the settings of a command line; raise IceError, in one sentence, for what it cannot understand.

    The help begins with the text `about`, by default that of the module of the settings; see `run` for the rest.
    """
    kinds = dict(_kinds(settings_type))
    words, files = _gather(words, kinds)
    for file in files:
        _check_config(file, kinds)
    defaults = _game_defaults(settings_type, words, files) if game_defaults else None
    if defaults:
        _check_config(defaults, kinds)
    parser = _parser(settings_type, program, defaults, positional, about)
    try:
        parsed = parser.parse_args([f"--config={file}" for file in files] + words)
    except argparse.ArgumentError as error:
        raise IceError(_sentence(str(error), kinds)) from error
    return _build(settings_type, vars(parsed))


def choose_table_sizes(game: Game, wanted: Sequence[int | str]) -> tuple[int, ...]:
    """Return the table sizes that `--num_players` names: numbers, or `all`; raise IceError for others."""
    if list(wanted) == ["all"]:
        return game.table_sizes
    return tuple(game.check_table(size) for size in wanted)  # type: ignore[arg-type]  # words are refused there


def read_config(path: str | Path) -> Mapping[str, Any]:
    """Return what a YAML file of settings says; raise IceError if it is missing or no mapping."""
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeError) as error:
        raise IceError(f"cannot read the config file {path}: {reason(error)}") from error
    except yaml.YAMLError as error:
        raise IceError(f"the config file {path} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, Mapping):
        raise IceError(f"the config file {path} must hold lines of the form 'name: value'")
    return content


def _check_config(path: str | Path, kinds: Kinds) -> Mapping[str, Any]:
    """Return what a YAML file of settings says; raise IceError, too, if it has an unknown key."""
    content = read_config(path)
    for name, value in _dotted(content, kinds):
        if name not in kinds:
            raise IceError(f"the config file {path} has an unknown key {name!r}{nearest(name, kinds)}")
        if dataclasses.is_dataclass(kinds[name]) and not isinstance(value, Mapping):
            raise IceError(f"the config file {path} must hold lines of the form 'name: value' below {name!r}")
    return content


def check_complete(path: Path, settings_type: type[Any]) -> None:
    """Raise IceError if a run's config file is cut off: if it neither has the end mark nor names every setting.

    One with the end mark that lacks a setting is of a version without it; a line on stderr says so.
    """
    kinds = dict(_kinds(settings_type))
    missing = ", ".join(sorted(kinds.keys() - dict(_dotted(_check_config(path, kinds), kinds)).keys()))
    if missing and not path.read_text(encoding="utf-8").endswith(END_MARK):
        raise IceError(f"{path} is cut off or of another version: it lacks {missing}")
    if missing:
        print(f"{path} is of an earlier version: it lacks {missing}, which are set to their defaults.", file=sys.stderr)


def continued(
    path: Path, settings_type: type[Settings], program: str, words: Sequence[str], fixed: Sequence[str]
) -> Settings:
    """Return the settings in a run's own file at `path` under the flags given now, `words`.

    Settings that the file's version did not have are the defaults. Raises IceError for a file that is not whole, and
    for a change of what is `fixed`.
    """
    check_complete(path, settings_type)
    saved = read_settings(settings_type, program, [f"--config={path}"])
    resumed = read_settings(settings_type, program, [f"--config={path}", *words])
    for name in fixed:
        was, now = attrgetter(name)(saved), attrgetter(name)(resumed)
        if now != was:
            raise IceError(f"{name} cannot change when a run is continued: it was {was}, not {now}")
    return resumed


def versions() -> dict[str, str | bool | None]:
    """Return what a result depends on: versions of Python and packages (None: absent), git commit, dirty flag."""
    return dict(_versions())


@functools.cache
def _versions() -> dict[str, str | bool | None]:
    found: dict[str, str | bool | None] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    # an installed copy may lie inside some other repository, where no pyproject.toml of ours is tracked
    ours = _git("ls-files", "--error-unmatch", "pyproject.toml") is not None
    found["commit"] = _git("rev-parse", "HEAD") if ours else None
    found["dirty"] = bool(_git("status", "--porcelain", "--untracked-files=no")) if ours else None
    return found


def typed() -> str:
    """Return the command that runs, as one would type it."""
    return "python " + shlex.join(sys.orig_argv[1:])


def cpu_name() -> str:
    """Return the processor's name and the number of cores."""
    name, cores = platform.processor() or platform.machine(), os.cpu_count() or 1
    cpuinfo = Path("/proc/cpuinfo")  # Linux tells the model only here
    if cpuinfo.is_file():
        models = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        name = models[0].partition(":")[2].strip() if models else name
    return f"{name}, {cores} core{'s' if cores > 1 else ''}"


def _git(*words: str) -> str | None:
    """Return what git prints in the repository of these sources, or None if it cannot."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _kinds(settings_type: type[Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted name and the type of every setting."""
    hints = get_type_hints(settings_type)
    for field in dataclasses.fields(settings_type):
        kind = hints[field.name]
        yield prefix + field.name, kind
        if dataclasses.is_dataclass(kind):
            yield from _kinds(kind, f"{prefix}{field.name}.")  # type: ignore[arg-type]  # a type, not an instance


def _build(settings_type: type[Settings], values: Mapping[str, Any]) -> Settings:
    """Return the dataclass, and those in it, with the parsed values."""
    chosen = {field.name: values[field.name] for field in dataclasses.fields(settings_type)}  # type: ignore[arg-type]
    for name, kind in _kinds(settings_type):
        if name in chosen and dataclasses.is_dataclass(kind) and not isinstance(chosen[name], kind):  # type: ignore[arg-type]
            chosen[name] = _build(kind, vars(chosen[name]))  # type: ignore[arg-type]  # a type, not an instance
    return settings_type(**chosen)


def _dotted(content: Mapping[str, Any], kinds: Kinds, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted names that a config file sets, and to what."""
    for key, value in content.items():
        name = f"{prefix}{key}"
        yield name, value
        if isinstance(value, Mapping) and dataclasses.is_dataclass(kinds.get(name)):
            yield from _dotted(value, kinds, f"{name}.")


def _gather(words: Sequence[str], kinds: Kinds) -> tuple[list[str], list[str]]:
    """Return the words with each list's values joined into one, a switch without a value on, config files taken out.

    Raises IceError for an unknown flag. Config files are read first, so that flags win wherever they stand.
    """
    groups: list[list[str]] = [[]]
    for word in words:
        flag, equals, value = word.partition("=")
        if not word.startswith("--"):
            groups[-1].append(word)
        else:
            groups.append([flag, value] if equals else [flag])
    gathered, files = groups[0], []
    for flag, *values in groups[1:]:
        name = flag[2:]
        _check_flag(name, kinds)
        if name == "config" and values:
            files.append(values[0])
            gathered += values[1:]
        elif _is_list(kinds.get(name)) and values and not values[0].startswith("["):
            gathered.append(f"{flag}={json.dumps([_item(value, kinds[name]) for value in values])}")
        elif kinds.get(name) is bool and not values:
            gathered.append(f"{flag}=true")
        else:
            gathered += [f"{flag}={values[0]}", *values[1:]] if values else [flag]
    return gathered, files


def _check_flag(name: str, kinds: Kinds) -> None:
    owner = name.rpartition(".")[0]
    if name not in kinds and name not in _OWN_FLAGS and get_origin(kinds.get(owner)) is not dict:
        raise IceError(f"unknown flag --{name}{nearest(f'--{name}', [f'--{known}' for known in kinds])}")


def _is_list(kind: Any) -> bool:
    return get_origin(kind) in (list, tuple)


def _choices(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) is Literal else ()


def _item(word: str, kind: Any) -> Any:
    """Return one value of a list: a number where the list may hold numbers, else the word."""
    return yaml.safe_load(word) if _NUMBER.fullmatch(word) and get_args(kind)[0] is not str else word


def _game_defaults(settings_type: type[Any], words: Sequence[str], files: Sequence[str]) -> Path:
    """Return the game's file of defaults; the game is named by the last `--env`, config file, or default."""
    games = [next(field.default for field in dataclasses.fields(settings_type) if field.name == "env")]
    games += [content["env"] for file in files if "env" in (content := yaml.safe_load(Path(file).read_text()))]
    games += [word.partition("=")[2] for word in words if word.startswith("--env=")]
    path = CONFIGS / f"{choose('game', games[-1], NAMES)}.yaml"
    if not path.is_file():
        raise IceError(f"the game's file of defaults is missing: {path}")
    return path


def _parser(
    settings_type: type[Any], program: str, defaults: Path | None, positional: bool, about: str | None
) -> jsonargparse.ArgumentParser:
    jsonargparse.set_parsing_settings(docstring_parse_attribute_docstrings=True)
    parser = jsonargparse.ArgumentParser(
        prog=f"python -m {program}",
        description=about or sys.modules[settings_type.__module__].__doc__,
        default_config_files=[defaults] if defaults else [],
        exit_on_error=False,
    )
    parser.add_argument("--config", action="config", help="YAML file of settings; flags win over it")
    parser.add_class_arguments(settings_type, as_positional=positional)
    return parser


def _sentence(message: str, kinds: Kinds) -> str:
    """Return one sentence for the parser's complaint about a value."""
    key = re.search(r'key "([\w.]+)"', message)
    value = re.search(r"Given value: (.*)", message) or re.search(r"Got value: (.*)", message)
    if not key or key[1] not in kinds:
        return re.sub(r"/--[\w.]+\+", "", " ".join(message.split()))  # a list's second flag, which appends
    kind, got = kinds[key[1]], f", not {value[1]!r}" if value else ""
    choices = _choices(kind)
    close = nearest(value[1], choices) if value and choices else ""
    return f"{key[1]} must be {_in_words(kind)}{got}{close}"


def _in_words(kind: Any) -> str:
    """Return what values a type allows."""
    if kind in _WORDS:
        return _WORDS[kind]
    if choices := _choices(kind):
        return "one of " + ", ".join(map(str, choices))
    parts = get_args(kind)
    if get_origin(kind) is dict:
        return "named values" if parts[1] is Any else f"named values, each {_in_words(parts[1])}"
    if _is_list(kind):
        return f"a list, each {_in_words(parts[0])}"
    return " or ".join(_in_words(part) for part in parts) if parts else str(kind)

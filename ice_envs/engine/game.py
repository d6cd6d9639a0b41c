"""The game contract: what a game declares once, and the generic functions every face calls.

A game is a NumPy record and a handful of compiled functions over one such record. The generic functions below
dispatch by the record's type when they are compiled, so a loop over them costs nothing and stays in the disk cache.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from ice_envs.engine.jit import RECORD
from ice_envs.engine.layout import Layout
from ice_envs.engine.schema import Schema, ViewFields, view_schema
from ice_envs.errors import IceError, nearest

States = NDArray[Any]
"""An array of game records, of the game's dtype; `states[i].to_move` reads a field, `states["to_move"]` a column."""

HEADER: list[tuple[Any, ...]] = [
    ("rng", "u8"),
    ("decisions", "i4"),
    ("num_players", "i1"),
    ("to_move", "i1"),
    ("over", "u1"),
    ("truncated", "u1"),
    ("round_number", "i2"),
]
"""The fields every game's record begins with; all that generic code may read or write."""


def record_dtype(game_fields: list[tuple[Any, ...]]) -> np.dtype[Any]:
    """Return the dtype of a game's record: the common header, then the game's own fields.

    The gaps that alignment leaves are fields too (`gap_…`): NumPy copies no bytes outside of fields, and records
    that hold the same game must be the same bytes.
    """
    aligned = np.dtype(HEADER + game_fields, align=True)
    parts: list[tuple[Any, ...]] = []
    end = 0
    for part in HEADER + game_fields:
        kind, start = (aligned.fields or {})[part[0]][:2]
        if start > end:
            parts.append((f"gap_{end}", "u1", (start - end,)))
        parts.append(part)
        end = start + kind.itemsize
    if aligned.itemsize > end:
        parts.append((f"gap_{end}", "u1", (aligned.itemsize - end,)))
    return np.dtype((RECORD, np.dtype(parts, align=True)))


class Rules(NamedTuple):
    """A game's compiled functions, each over one record."""

    start: Callable[[Any], None]
    """start(state): begin a new game; options and generator are in the record."""
    legal: Callable[[Any, Any], None]
    """legal(state, mask): write 1 for each legal action of the seat to move, 0 elsewhere; all 0 when over."""
    is_legal: Callable[[Any, int], bool]
    """is_legal(state, action): whether the mask allows an action of the game's range, without writing a mask."""
    apply: Callable[[Any, int], None]
    """apply(state, action): play a legal action of the seat to move, and all that follows without a decision."""
    observe: Callable[[Any, int, Any], None]
    """observe(state, seat, out): write the seat's observation into `out`, which arrives all zero."""
    score: Callable[[Any, Any], None]
    """score(state, out): write each seat's points so far."""
    win_share: Callable[[Any, Any], None]
    """win_share(state, out): write 1/k for each of the k seats that are ahead (or have won), 0 for the others."""
    determinize: Callable[[Any, int, Any], None]
    """determinize(state, seat, seed): reseed the record and redraw all that the seat cannot know."""
    greedy: Callable[[Any], int]
    """greedy(state): the heuristic baseline's action, from what the seat to move knows."""


class Simultaneous(NamedTuple):
    """What the parallel face asks of a game whose seats act at the same time."""

    asked: Callable[[Any], tuple[int, ...]]
    """asked(state): the seats that decide now without seeing each other, the seat to move first, in the order in which
    the record takes their actions; until the last one has acted no action changes what another of them may do."""
    idle: int
    """The action of doing nothing; always legal, and all that a seat may do that is not asked."""


class Handicap(NamedTuple):
    """What evaluation and training ask of a game in which a seat can be given a harder time than the others."""

    option: str
    """The option that lists each seat's handicap, some whole numbers, from seat 0 on; seats left out have none."""
    none: tuple[int, ...]
    """The numbers of a seat without a handicap."""
    most: tuple[int, ...]
    """The highest numbers worth training with: with higher ones a seat is hardly worse off."""
    meaning: str
    """What the first number says, in a few words."""


class Kinds(NamedTuple):
    """Things that the rules treat alike, such as flavors: naming them in another order changes nothing else.

    A network need not learn what is true of one of them again for the others.
    """

    names: tuple[str, ...]
    """What labels and views call them."""
    slices: Mapping[str, int]
    """Slices of the observation with an axis over the kinds, and which of their axes it is; what lies further along it
    than there are kinds is of none. The game's `action_slices` need not be named."""
    actions: tuple[tuple[int, ...], ...]
    """For each kind the actions that are about it, in the same order for all."""


class SearchHints(NamedTuple):
    """What the tree search takes from a game: how it plays imagined rounds on, and what points are worth."""

    greedy_moves: int = 0
    """The first moves of each playout are the greedy baseline's, the rest are random: as many as there is time for."""
    careless: float = 0.0
    """Chance that another seat's move in the tree is a random one: who cannot see the searching seat's cards errs."""
    routine: float = 0.0
    """Chance that it is the greedy baseline's. Otherwise it is what promises most to that seat."""
    spread: float = 1.0
    """Points that make a seat that has them more e times as likely to win, as an estimate at the end of a round."""
    doubt: float = 0.0
    """By how many standard errors an action must be better than the greedy baseline's to be played instead.

    Where a decision comes back again and again, as whether to wait, the best of noisy values is mostly an illusion.
    """


NO_HINTS = SearchHints()


@dataclass(frozen=True)
class Game:
    """All there is to know of a game, declared once. `rules` is reached through the generic functions."""

    name: str
    version: int
    title: str
    title_ja: str
    table_sizes: tuple[int, ...]
    options_type: type
    dtype: np.dtype[Any]
    layout: Layout
    labels: tuple[str, ...]
    labels_ja: tuple[str, ...]
    rules: Rules
    configure: Callable[[Any, int, Any], None]
    """configure(state, num_players, options): write validated options into a record."""
    to_view: Callable[[Any, int], dict[str, Any]]
    """to_view(state, seat): what the seat knows, as plain JSON data."""
    from_view: Callable[[Mapping[str, Any]], Any]
    """from_view(view): one record, shape (1,), that agrees with the view; what is hidden is drawn from its seed."""
    view_fields: ViewFields = field(compare=False)
    """What stands in a view besides the fields of all views."""
    to_text: Callable[[Any, int | None], str]
    """to_text(state, seat): the table as text, seen by one seat (None: everything open)."""
    score_range: Callable[[int, Any], tuple[int, int]]
    """score_range(num_players, options): the lowest and highest total a seat can have at the end."""
    longest_game: Callable[[int, Any], int]
    """longest_game(num_players, options): the most decisions a game can take."""
    search: SearchHints = NO_HINTS
    """How the search agents treat the game."""
    simultaneous: Simultaneous | None = None
    """Given if the game also has the parallel face."""
    handicap: Handicap | None = None
    """Given if an option gives each seat a handicap."""
    notes: tuple[str, ...] = ()
    """What users must be told of the game wherever it is described, in sentences."""
    action_slices: tuple[str, ...] = ()
    """Slices of the observation that say something of each action: their cells belong to the actions 0, 1, …"""
    kinds: Kinds | None = None
    """Given if there are things that the rules treat alike."""
    data_field: str | None = None
    """A field of the record (u8) with a digest of data that an option brings, such as the cards of a deck."""

    @property
    def num_actions(self) -> int:
        """Number of actions, one index set for all table sizes and phases."""
        return len(self.labels)

    @property
    def env_id(self) -> str:
        """The id in PettingZoo's registry, such as `ice_envs/dokitto-v0`."""
        return f"ice_envs/{self.name}-v{self.version}"

    @property
    def labels_hash(self) -> str:
        """A digest of the action labels in order."""
        return hashlib.sha256(json.dumps(self.labels).encode()).hexdigest()[:16]

    @functools.cached_property
    def view_schema(self) -> Schema:
        """The JSON Schema (draft 2020-12) of the game's views."""
        return view_schema(self.name, self.version, self.title, self.table_sizes, self.labels, self.view_fields)

    def __reduce__(self) -> tuple[Callable[[str], Game], tuple[str]]:
        """Pickle and copy a game as its name: compiled functions do not travel."""
        from ice_envs.games import find_game  # the games import this module

        return find_game, (self.name,)

    def check_table(self, num_players: int) -> int:
        """Return `num_players` if the game has that table size; raise IceError otherwise."""
        if num_players not in self.table_sizes or isinstance(num_players, bool):
            low, high = self.table_sizes[0], self.table_sizes[-1]
            raise IceError(f"{self.name} is played by {low} to {high} seats, not {num_players!r:.80}")
        return int(num_players)

    def make_options(self, options: Mapping[str, Any]) -> Any:
        """Return the validated options dataclass; raise IceError for an unknown name or a bad value."""
        names = [field.name for field in fields(self.options_type)]
        for name in options:
            if name not in names:
                raise IceError(f"{self.name} has no option {name!r:.80}{nearest(name, names)}")
        return self.options_type(**options)

    def check_options(self, num_players: int, options: Mapping[str, Any]) -> None:
        """Raise IceError unless a table of this size can have these options."""
        states = np.zeros(1, self.dtype)
        self.configure(states[0], self.check_table(num_players), self.make_options(options))

    def data_hash(self, options: Mapping[str, Any]) -> str | None:
        """Return the digest of the data that these options bring (16 hex digits), None if the game takes no data."""
        if self.data_field is None:
            return None
        states = np.zeros(1, self.dtype)
        self.configure(states[0], self.table_sizes[0], self.make_options(options))
        return f"{int(states[self.data_field][0]):016x}"

    def default_options(self) -> dict[str, Any]:
        """Return the options of the game as it comes in the box."""
        return asdict(self.options_type())


_RULES: dict[np.dtype[Any], Rules] = {}
_RULES_OF_TYPE: dict[Any, Rules] = {}


def register_rules(game: Game) -> Game:
    """Make the generic functions work on this game's records; return the game."""
    _RULES[game.dtype] = game.rules
    _RULES_OF_TYPE[numba.from_dtype(game.dtype)] = game.rules
    return game


def start(state: Any) -> None:
    """Begin a new game in this record."""
    _RULES[state.dtype].start(state)


def legal(state: Any, mask: Any) -> None:
    """Write the legal actions of the seat to move into `mask` (num_actions,) int8; all zero when the game is over."""
    _RULES[state.dtype].legal(state, mask)


def is_legal(state: Any, action: int) -> bool:
    """Return whether the mask allows `action`, which must be from 0 to num_actions − 1."""
    return _RULES[state.dtype].is_legal(state, action)


def apply(state: Any, action: int) -> None:
    """Play an action, which must be legal: nothing is checked here."""
    _RULES[state.dtype].apply(state, action)


def observe(state: Any, seat: int, out: Any) -> None:
    """Write what `seat` observes into `out` (layout.size,) uint8, which must be all zero."""
    _RULES[state.dtype].observe(state, seat, out)


def score(state: Any, out: Any) -> None:
    """Write each seat's points so far into `out` (num_players or more,)."""
    _RULES[state.dtype].score(state, out)


def win_share(state: Any, out: Any) -> None:
    """Write 1/k for each of the k leading seats and 0 for the others into `out` (num_players or more,)."""
    _RULES[state.dtype].win_share(state, out)


def determinize(state: Any, seat: int, seed: Any) -> None:
    """Reseed the record with `seed` (uint64) and redraw everything that `seat` cannot know."""
    _RULES[state.dtype].determinize(state, seat, seed)


def greedy(state: Any) -> int:
    """Return the heuristic baseline's action for the seat to move."""
    return _RULES[state.dtype].greedy(state)


# Numba looks an overload's parameter names up by name, hence one function for each number of parameters.
@overload(start, strict=False, inline="always")  # lambdas carry no annotations
def _start(state: Any) -> Any:
    rule = _RULES_OF_TYPE[state].start
    return lambda state: rule(state)


@overload(legal, strict=False, inline="always")  # lambdas carry no annotations
def _legal(state: Any, mask: Any) -> Any:
    rule = _RULES_OF_TYPE[state].legal
    return lambda state, mask: rule(state, mask)


@overload(is_legal, strict=False, inline="always")  # lambdas carry no annotations
def _is_legal(state: Any, action: Any) -> Any:
    rule = _RULES_OF_TYPE[state].is_legal
    return lambda state, action: rule(state, action)


@overload(apply, strict=False, inline="always")  # lambdas carry no annotations
def _apply(state: Any, action: Any) -> Any:
    rule = _RULES_OF_TYPE[state].apply
    return lambda state, action: rule(state, action)


@overload(observe, strict=False, inline="always")  # lambdas carry no annotations
def _observe(state: Any, seat: Any, out: Any) -> Any:
    rule = _RULES_OF_TYPE[state].observe
    return lambda state, seat, out: rule(state, seat, out)


@overload(score, strict=False, inline="always")  # lambdas carry no annotations
def _score(state: Any, out: Any) -> Any:
    rule = _RULES_OF_TYPE[state].score
    return lambda state, out: rule(state, out)


@overload(win_share, strict=False, inline="always")  # lambdas carry no annotations
def _win_share(state: Any, out: Any) -> Any:
    rule = _RULES_OF_TYPE[state].win_share
    return lambda state, out: rule(state, out)


@overload(determinize, strict=False, inline="always")  # lambdas carry no annotations
def _determinize(state: Any, seat: Any, seed: Any) -> Any:
    rule = _RULES_OF_TYPE[state].determinize
    return lambda state, seat, seed: rule(state, seat, seed)


@overload(greedy, strict=False, inline="always")  # lambdas carry no annotations
def _greedy(state: Any) -> Any:
    rule = _RULES_OF_TYPE[state].greedy
    return lambda state: rule(state)

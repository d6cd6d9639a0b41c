"""The JSON Schema of each game's views: every view fits it, what does not fit is refused, and options agree with it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from ice_envs import IceError, find_game, games
from ice_envs.engine.game import Game
from tests.face_helpers import TABLES
from tests.rooms import positions_of, random_states

PER_PHASE = 8
IGNORED = {"legal_actions", "points"}
"""Fields that are not read, so nothing about them is refused."""
JUNK = ("nonsense", -1, 1.5, 10**30, float("nan"), None, True, [], ["nonsense"], {}, {"nonsense": 1})


class Sent(NamedTuple):
    game: Game
    validator: Draft202012Validator
    views: list[dict[str, Any]]


@pytest.fixture(scope="module", params=TABLES, ids=lambda table: f"{table[0]}-{table[1]}")
def sent(request: pytest.FixtureRequest) -> Sent:
    """Views of every seat, at positions of all phases, with all options."""
    name, num_players = request.param
    game = find_game(name)
    found = np.concatenate(list(random_states(positions_of(name), num_players, PER_PHASE, seed=num_players).values()))
    views = [game.to_view(state, seat) for state in found for seat in range(num_players)]
    return Sent(game, Draft202012Validator(game.view_schema), json.loads(json.dumps(views)))


def test_every_view_fits(sent: Sent):
    assert len(sent.views) >= 2 * PER_PHASE
    for view in sent.views:
        assert [error.message for error in sent.validator.iter_errors(view)] == []


def test_every_optional_field_is_somewhere():
    for name in games():
        game = find_game(name)
        found = (random_states(positions_of(name), size, PER_PHASE, seed=size) for size in game.table_sizes)
        states = [state for phases in found for part in phases.values() for state in part]
        seen = {key for state in states for seat in range(state.num_players) for key in game.to_view(state, seat)}
        assert seen == game.view_schema["properties"].keys() - {"seed"}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything in a view that is read, but of rows of a deck only the first."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value.keys() - IGNORED:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for i in range(min(len(value), 2)):
            yield from places(value[i], (*path, i))


def spoiled(view: dict[str, Any], rng: np.random.Generator) -> Iterator[tuple[tuple[Any, ...], Any, dict[str, Any]]]:
    """Yield copies of a view with junk at some places, or with a field more or less, and where that is."""
    for path in rng.permutation(np.array([*places(view), None], object)[:-1])[:30]:
        *parents, last = path
        for change in (*JUNK, "delete", "add"):
            copy = deepcopy(view)
            place = copy
            for step in parents:
                place = place[step]
            if change == "delete":
                del place[last]
            elif change == "add" and isinstance(place[last], dict):
                place[last]["nonsense"] = 0
            else:
                place[last] = change
            yield path, change, copy


def is_refused(game: Game, view: dict[str, Any]) -> bool:
    """Return whether a view is refused in one sentence."""
    try:
        game.from_view(view)
    except IceError as error:
        return "\n" not in str(error)
    return False


def test_what_does_not_fit_is_refused_when_it_is_read(sent: Sent):
    rng = np.random.default_rng(0)
    refused = 0
    for view in rng.choice(np.array(sent.views, object), 3, replace=False):
        for path, change, wrong in spoiled(view, rng):
            if sent.validator.is_valid(wrong):
                continue
            refused += 1
            assert is_refused(sent.game, wrong), f"{change!r} at {path} is read, but does not fit the schema"
    assert refused > 500


def test_what_is_spoiled_seldom_fits(sent: Sent):
    """Of the wrong types none fits at a place of a number or a name."""
    view = sent.views[0]
    for field in ("num_players", "seat", "to_move", "over"):
        for junk in ("nonsense", 1.5, [], {}, {"nonsense": 1}):
            assert not sent.validator.is_valid({**view, field: junk})
    assert not sent.validator.is_valid({**view, "nonsense": 1})
    for field in sent.game.view_schema["required"]:
        assert not sent.validator.is_valid({key: value for key, value in view.items() if key != field})


@pytest.mark.parametrize("name", games())
def test_the_schema_is_one_of_its_dialect_and_explains_every_field(name: str):
    schema = find_game(name).view_schema
    Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema
    assert all(field["description"] for field in schema["properties"].values())


@pytest.mark.parametrize("name", games())
def test_options_have_the_bounds_of_the_rules(name: str):
    game = find_game(name)
    options = game.view_schema["properties"]["options"]["properties"]
    assert list(options) == [field.name for field in dataclasses.fields(game.options_type)]
    for option, schema in options.items():
        if schema.get("type") == "integer":
            allowed, forbidden = (schema["minimum"], schema["maximum"]), (schema["minimum"] - 1, schema["maximum"] + 1)
        elif "enum" in schema:
            allowed, forbidden = schema["enum"], ["nonsense"]
        else:
            allowed, forbidden = [game.default_options()[option]], [1]
        for value in allowed:
            game.make_options({option: value})
        for value in forbidden:
            assert not Draft202012Validator(schema).is_valid(value)
            with pytest.raises(IceError):
                game.make_options({option: value})

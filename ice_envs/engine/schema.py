"""JSON Schemas (draft 2020-12) of views, in a few words; a schema is plain data.

A schema tells the form of a view: its fields, their types and bounds. Whether the position that a view shows can occur
is for the game's `from_view`, which replays it by the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NULL: Schema = {"type": "null"}
FLAG: Schema = {"type": "boolean"}
TEXT: Schema = {"type": "string"}


def whole(low: int, high: int) -> Schema:
    """Return the schema of a whole number from `low` to `high`."""
    return {"type": "integer", "minimum": int(low), "maximum": int(high)}  # NumPy's numbers are no plain data


def one_of(names: Iterable[str]) -> Schema:
    """Return the schema of one of these names."""
    return {"type": "string", "enum": list(names)}


def list_of(item: Schema, least: int = 0, most: int | None = None, distinct: bool = False) -> Schema:
    """Return the schema of a list of `least` to `most` items, no two alike if they are `distinct`."""
    length: Schema = {"minItems": least} if least else {}
    if most is not None:
        length["maxItems"] = int(most)
    return {"type": "array", "items": item, **length, **({"uniqueItems": True} if distinct else {})}


def fields_of(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """Return the schema of an object with these fields and no others."""
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def either(*schemas: Schema) -> Schema:
    """Return the schema of what fits one of several schemas or more."""
    return {"anyOf": list(schemas)}


def described(**fields: tuple[Schema, str]) -> dict[str, Schema]:
    """Return fields by name, each with what it means."""
    return {name: {"description": meaning, **schema} for name, (schema, meaning) in fields.items()}


class ViewFields(NamedTuple):
    """What a game's views hold besides the fields of all views."""

    options: Mapping[str, Schema]
    """Rule options by name."""
    required: Mapping[str, Schema]
    """Fields that every view has."""
    optional: Mapping[str, Schema]
    """Fields that only some views have."""


def view_schema(
    name: str, version: int, title: str, table_sizes: Sequence[int], labels: Sequence[str], fields: ViewFields
) -> Schema:
    """Return the schema of a game's views: the fields of all views, and the game's own."""
    action = {"action": whole(0, len(labels) - 1), "label": one_of(labels), "label_ja": TEXT}
    first = described(
        game=({"const": name}, "the game's name"),
        version=({"const": version}, "version of the rules"),
        num_players=(whole(table_sizes[0], table_sizes[-1]), "seats at the table"),
        options=(fields_of({}, fields.options), "rule options; those left out are the defaults"),
        seat=(whole(0, table_sizes[-1] - 1), "whose knowledge this is; seats count from 0, clockwise"),
    )
    last = described(
        legal_actions=(list_of(fields_of(action)), "only if the seat is to move; ignored when a view is read"),
        seed=(whole(0, 2**64 - 1), "only when a view is read: which draw of what is hidden; default 0"),
    )
    return {
        "$schema": DIALECT,
        "title": f"What one seat of {title} knows",
        **fields_of({**first, **fields.required}, {**fields.optional, **last}),
    }

"""Values that a JSON Schema accepts.

The package hypothesis-jsonschema does not read types that refer to themselves, which signatures
write often. What is made here follows the keywords that signatures write; the rest of a schema is
held by leaving out the values that it refuses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from typing import Any

from hypothesis import strategies as st

from gram.errors import expect
from lenses_ext.schemas import resolve_ref
from lenses_ext.strategies import json_texts, json_values

from ...json_text import Json
from ...machine.contracts import accepts, require_schema

_KINDS = ("string", "integer", "number", "boolean", "null", "array", "object")
_LONGEST = 5  # of lists and objects that may have any length: small examples are found sooner

_FORMATS: Mapping[str, st.SearchStrategy[str]] = {
    "date": st.dates().map(lambda day: day.isoformat()),
    "date-time": st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat()),
    "email": st.emails(),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "time": st.times().map(lambda time: time.isoformat() + "Z"),
    "uri": st.sampled_from(["https://example.com", "https://example.com/a?b=c#d"]),
    "uuid": st.uuids().map(str),
}


def values_of(schema: Mapping[str, Json]) -> st.SearchStrategy[Json]:
    """JSON values that a schema accepts, small ones first.

    Args:
        schema: a JSON Schema; references into itself are followed, also around in a circle.

    Raises:
        ValidationError: it is not a JSON Schema.

    >>> from hypothesis import given
    >>> node = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    >>> @given(values_of(node))
    ... def test_it_ends(value):
    ...     assert value.get("next", {}) is not None
    """
    expect(schema, Mapping, "schema", by="values_of")
    require_schema(schema)
    return _Values(schema).of(schema)


class _Values:
    """The values of one schema and of its parts."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._referred: dict[str, st.SearchStrategy[Json]] = {}

    def of(self, schema: Json) -> st.SearchStrategy[Json]:
        """What a part accepts."""
        if isinstance(schema, bool):
            return json_values() if schema else st.nothing()
        # A part that only refers needs no check of its own: what it refers to is checked.
        if set(schema) == {"$ref"}:
            return self._made(schema)
        return self._made(schema).filter(lambda value: accepts(schema, value, self._root))

    def _made(self, schema: dict[str, Json]) -> st.SearchStrategy[Json]:
        if "$ref" in schema:
            return self._at(schema["$ref"])
        if "const" in schema:
            return st.just(schema["const"])
        if "enum" in schema:
            return st.sampled_from(schema["enum"]) if schema["enum"] else st.nothing()
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in schema:
                rest = {key: value for key, value in schema.items() if key != keyword}
                if keyword == "allOf":
                    return self.of(reduce(_both, schema[keyword], rest))
                return st.one_of([self.of(_both(rest, each)) for each in schema[keyword]])
        kinds = schema.get("type", _KINDS if len(schema) == 0 else _kinds_of(schema))
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return st.one_of([self._of_kind(kind, schema) for kind in kinds])

    def _at(self, reference: str) -> st.SearchStrategy[Json]:
        if reference not in self._referred:
            below = resolve_ref(reference, self._root)
            self._referred[reference] = st.deferred(lambda: self.of(below))
        return self._referred[reference]

    def _of_kind(self, kind: str, schema: dict[str, Json]) -> st.SearchStrategy[Json]:
        match kind:
            case "null":
                return st.none()
            case "boolean":
                return st.booleans()
            case "integer":
                return _integers(schema)
            case "number":
                return _integers(schema) | _floats(schema)
            case "array":
                return self._arrays(schema)
            case "object":
                return self._objects(schema)
        return _strings(schema)

    def _arrays(self, schema: dict[str, Json]) -> st.SearchStrategy[Json]:
        first = [self.of(each) for each in schema.get("prefixItems", ())]
        least = int(schema.get("minItems", 0))
        most = int(schema.get("maxItems", max(least, len(first)) + _LONGEST))
        items = self.of(schema.get("items", True))
        if first:
            longest = 0 if items.is_empty else _LONGEST
            rest = st.lists(items, min_size=max(0, least - len(first)), max_size=longest)
            return st.tuples(st.tuples(*first), rest).map(lambda two: [*two[0], *two[1]][:most])
        return st.lists(
            items,
            min_size=least,
            max_size=most,
            unique_by=repr if schema.get("uniqueItems") else None,
        )

    def _objects(self, schema: dict[str, Json]) -> st.SearchStrategy[Json]:
        properties, required = schema.get("properties", {}), schema.get("required", ())
        needed = {name: self.of(properties.get(name, True)) for name in required}
        others = {
            name: self.of(below) for name, below in properties.items() if name not in required
        }
        own = st.fixed_dictionaries(needed, optional=others)
        rest = schema.get("additionalProperties", not properties)
        if rest is False or (rest is True and properties):
            return own
        most = int(schema.get("maxProperties", _LONGEST))
        names = json_texts().filter(lambda name: name not in properties)
        more = st.dictionaries(
            names, self.of(rest), min_size=int(schema.get("minProperties", 0)), max_size=most
        )
        return st.tuples(more, own).map(lambda two: {**two[0], **two[1]})


def _both(schema: Json, other: Json) -> Json:
    """A schema with another laid over it."""
    if isinstance(schema, bool) or isinstance(other, bool):
        return other if schema is True else schema if other is True else False
    if "$ref" in other and set(schema) & {"type", "properties"}:
        return other  # what the two say together is held by the check of the whole
    return {**schema, **other}


def _kinds_of(schema: dict[str, Json]) -> tuple[str, ...]:
    """What values may be where a schema does not say it, by the keywords it has."""
    if {"properties", "required", "additionalProperties"} & set(schema):
        return ("object",)
    return ("array",) if {"items", "prefixItems"} & set(schema) else _KINDS


def _integers(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    lower, upper = _bounds(schema)
    step = schema.get("multipleOf", 1)
    step = int(step) if float(step).is_integer() and step else 1
    lower = None if lower is None else math.ceil(lower / step)
    upper = None if upper is None else math.floor(upper / step)
    if lower is not None and upper is not None and lower > upper:
        return st.nothing()
    return st.integers(lower, upper).map(lambda number: number * step)


def _floats(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    lower, upper = _bounds(schema)
    if "multipleOf" in schema or (lower is not None and upper is not None and lower > upper):
        return st.nothing()
    return st.floats(
        None if lower is None else float(lower),
        None if upper is None else float(upper),
        allow_nan=False,
        allow_infinity=False,
    )


def _bounds(schema: dict[str, Json]) -> tuple[Any, Any]:
    """The bounds of numbers; those that exclude themselves are held by the check of the whole."""
    lower = [schema[key] for key in ("minimum", "exclusiveMinimum") if key in schema]
    upper = [schema[key] for key in ("maximum", "exclusiveMaximum") if key in schema]
    return max(lower, default=None), min(upper, default=None)


def _strings(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    least, most = int(schema.get("minLength", 0)), schema.get("maxLength")
    if "pattern" in schema:
        return st.from_regex(schema["pattern"])
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    if not least and most is None:
        return json_texts()
    characters = st.characters(exclude_categories=["Cs"])
    longest = least + 20 if most is None else min(int(most), least + 20)
    return st.text(characters, min_size=least, max_size=longest)

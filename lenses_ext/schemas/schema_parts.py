"""The keywords of JSON Schema, the schemas inside one, and how often a validator visits them.

A validator tries every alternative and follows every reference anew, so types that refer to each
other through alternatives double the work with each level: forty of them, in a program of 2 KB,
would keep it busy for years. Here each pair of a schema and a value is counted once, which takes
as many steps as there are pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, Union
from urllib.parse import unquote

_OF_ONE_KIND = {
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
    "string": "minLength maxLength pattern contentEncoding contentMediaType",
    "array": (
        "items prefixItems additionalItems contains minItems maxItems uniqueItems minContains "
        "maxContains unevaluatedItems"
    ),
    "object": (
        "properties patternProperties additionalProperties required dependentRequired "
        "dependentSchemas propertyNames minProperties maxProperties unevaluatedProperties"
    ),
}
KIND_OF = {key: kind for kind, keys in _OF_ONE_KIND.items() for key in keys.split()}
"""Keywords that are about values of one kind, and which kind; a number may be an integer."""

TEXTS = frozenset(["title", "description", "examples", "$comment", "deprecated"])
"""Keywords for those who read a schema."""

ANNOTATIONS = TEXTS | {"default", "format", "readOnly", "writeOnly"}
"""Keywords that refuse no value."""

_ONE_SCHEMA = (
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames "
    "then unevaluatedItems unevaluatedProperties"
)
ONE_SCHEMA = frozenset(_ONE_SCHEMA.split())
"""Keywords whose value is a schema."""

LIST_OF_SCHEMAS = frozenset(["allOf", "anyOf", "oneOf", "prefixItems", "items"])
"""Keywords whose value is an array of schemas."""

MAP_OF_SCHEMAS = frozenset(
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"]
)
"""Keywords whose value is an object that holds schemas."""

_OTHERS = (
    "$id $schema $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $recursiveRef "
    "$recursiveAnchor type enum const"
)
KEYWORDS = ANNOTATIONS.union(KIND_OF, ONE_SCHEMA, LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, _OTHERS.split())
"""All keywords."""


Schema: TypeAlias = Union[dict[str, Any], bool]
SchemaPath: TypeAlias = tuple[Union[str, int], ...]


def subschemas(schema: object) -> Iterator[tuple[SchemaPath, dict[str, Any]]]:
    """A schema and every schema inside it that is an object, each with the path to it.

    >>> [path for path, _ in subschemas({"items": {"not": {}}, "default": {"not": {}}})]
    [(), ('items',), ('items', 'not')]
    """
    pending: list[tuple[SchemaPath, object]] = [((), schema)]
    while pending:
        path, current = pending.pop()
        if not isinstance(current, dict):
            continue
        yield path, current
        below: list[tuple[SchemaPath, object]] = []
        for key, value in current.items():
            if isinstance(value, dict) and key in MAP_OF_SCHEMAS:
                below.extend(((*path, key, name), item) for name, item in value.items())
            elif isinstance(value, dict) and key in ONE_SCHEMA:
                below.append(((*path, key), value))
            elif isinstance(value, list) and key in LIST_OF_SCHEMAS:
                below.extend(((*path, key, index), item) for index, item in enumerate(value))
        pending.extend(reversed(below))


def remote_references(schema: object) -> Iterator[tuple[SchemaPath, str]]:
    """The references in a schema that lead out of it, each with the path to it."""
    for path, each in subschemas(schema):
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = each.get(key)
            if isinstance(reference, str) and not reference.startswith("#"):
                yield (*path, key), reference


def resolve_ref(reference: str, root: object) -> object:
    """What a local reference refers to, or None when it leads nowhere.

    >>> resolve_ref("#/$defs/a~1b", {"$defs": {"a/b": {"minimum": 1}}})
    {'minimum': 1}
    """
    if reference != "#" and not reference.startswith("#/"):
        return None
    found = root
    for step in unquote(reference[1:]).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found


_IN_PLACE = ("not", "if", "then", "else")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_REFERENCES = ("$ref", "$dynamicRef")
_MOST_PAIRS = 200_000

Pair = tuple[object, object]


def validation_visits(schema: object, value: object, root: object, *, at_most: int) -> int:
    """How many times a validator holds a schema against a value, at each place in both.

    Args:
        schema: the schema.
        value: the value.
        root: where the references of the schema lead.
        at_most: counting stops here; a larger answer only says that there are more.

    >>> both = {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]}
    >>> validation_visits(both, 1, {"$defs": {"A": both}}, at_most=100)
    101
    >>> validation_visits(both, 1, {"$defs": {"A": {}}}, at_most=100)
    5
    """
    counts: dict[tuple[int, int], int] = {}
    open_pairs: set[tuple[int, int]] = set()
    pending: list[tuple[Pair, list[Pair] | None]] = [((schema, value), None)]
    while pending:
        pair, below = pending.pop()
        key = (id(pair[0]), id(pair[1]))
        if below is not None:
            inside = (counts.get((id(each[0]), id(each[1])), 0) for each in below)
            counts[key] = min(1 + sum(inside), at_most + 1)
            open_pairs.discard(key)
        elif key in open_pairs or len(counts) > _MOST_PAIRS:
            return at_most + 1  # a reference that leads back to itself with the same value
        elif key not in counts:
            open_pairs.add(key)
            below = [each for each in _below(*pair, root) if isinstance(each[0], dict)]
            pending.append((pair, below))
            pending.extend((each, None) for each in below)
    return counts[id(schema), id(value)]


def _below(schema: object, value: object, root: object) -> Iterator[Pair]:
    """The pairs that a validator goes on to from one."""
    if not isinstance(schema, dict):
        return
    for part in _in_place(schema, root):
        yield part, value
    if isinstance(value, dict):
        properties = schema.get("properties")
        known = properties if isinstance(properties, dict) else {}
        rest = [
            *_schemas(schema.get("patternProperties")),
            schema.get("additionalProperties"),
            schema.get("unevaluatedProperties"),
        ]
        for key, below in value.items():
            for part in [known[key]] if key in known else rest:
                yield part, below
    elif isinstance(value, list):
        first = schema.get("prefixItems")
        rest = [schema.get(key) for key in ("items", "contains", "unevaluatedItems")]
        for index, below in enumerate(value):
            for part in (*(first[index : index + 1] if isinstance(first, list) else ()), *rest):
                yield part, below


def _in_place(schema: dict[str, Any], root: object) -> Iterator[object]:
    """The schemas that are held against the same value."""
    for key in _REFERENCES:
        if isinstance(reference := schema.get(key), str):
            yield resolve_ref(reference, root)
    for key in _IN_PLACE:
        yield schema.get(key)
    for key in _IN_PLACE_LISTS:
        if isinstance(alternatives := schema.get(key), list):
            yield from alternatives
    yield from _schemas(schema.get("dependentSchemas"))


def _schemas(schemas: object) -> Iterator[object]:
    if isinstance(schemas, dict):
        yield from schemas.values()

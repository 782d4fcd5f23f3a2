"""The values that a schema may accept: their kinds, their bounds, what two schemas accept together.

Where a schema says too much to be followed, the answer errs on the side of more values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from math import ceil, floor
from typing import Any

from gram.trees import exact

from . import schema_parts

_KINDS = ("array", "boolean", "integer", "null", "number", "object", "string")
UNIONS = ("anyOf", "oneOf")
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
BOUNDS = frozenset({*_LOWER, *_UPPER})
"""Keywords that bound a value, a length or a number of parts."""

_HANDLED_APART = frozenset(
    {"items", "properties", "patternProperties", "additionalProperties", "required"}
)
KIND_OF = {key: kind for key, kind in schema_parts.KIND_OF.items() if key not in _HANDLED_APART} | {
    "format": "string",
    "contentSchema": "string",
    "dependencies": "object",
}
"""Keywords that constrain the values of one kind, and which kind."""

OF_ANY_KIND = ("not", "if", "then", "else", "$dynamicRef", "$recursiveRef")
_COMPARED = frozenset(
    {*KIND_OF, *_HANDLED_APART, *OF_ANY_KIND, *UNIONS, "allOf", "type", "enum", "const", "$ref"}
    | {"$defs", "definitions"}
)
"""All keywords that can refuse a value; any other is a text for readers."""

GROUPS = (("if", "then", "else"), ("contains", "minContains", "maxContains"))
"""Keywords that mean something only together."""

_THE_REST = (("prefixItems", "items"), ("patternProperties", "additionalProperties"))
"""Keywords of which the second is about what the first leaves."""

_Schema = Any  # a dict or a bool


def is_annotation(key: str) -> bool:
    """Whether a keyword refuses no value."""
    return key not in _COMPARED


def bare(schema: _Schema) -> _Schema:
    """A schema without what refuses no value."""
    if not isinstance(schema, dict):
        return {} if schema is True else schema
    return {
        key: value
        for key, value in schema.items()
        if not is_annotation(key) and key not in ("$defs", "definitions")
    }


def refers(value: object) -> bool:
    """Whether there is a reference in a schema."""
    if isinstance(value, dict):
        return "$ref" in value or any(map(refers, value.values()))
    return isinstance(value, list) and any(map(refers, value))


def with_referred(schema: dict[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    """A schema with what its ``$ref`` refers to in place of that; its own texts are kept.

    >>> with_referred({"$ref": "#/$defs/A", "title": "t"}, {"type": "string", "title": "A"})
    {'type': 'string', 'title': 't'}
    >>> with_referred({"$ref": "#/$defs/A", "minimum": 1}, {"minimum": 0})
    {'minimum': 1, 'allOf': [{'minimum': 0}]}
    """
    own = {key: value for key, value in schema.items() if key != "$ref"}
    if bare(own) == {} or bare(target) == {}:
        return {**target, **own}
    texts = {key: value for key, value in target.items() if is_annotation(key)}
    return {**texts, **own, "allOf": [*own.get("allOf", ()), bare(target)]}


def both(one: dict[str, Any], other: _Schema) -> _Schema:
    """A schema that accepts at least what two schemas accept together.

    A keyword that both have is taken from the first.
    """
    other = bare(other)
    if not isinstance(other, dict):
        return other
    taken: list[tuple[str, ...]] = [group for group in GROUPS if any(key in one for key in group)]
    taken += [group for group in _THE_REST if group[0] in one and group[0] in other]
    other = {key: value for key, value in other.items() if not any(key in each for each in taken)}
    merged = {**other, **one}
    if "properties" in one and "properties" in other:
        merged["properties"] = {**other["properties"], **one["properties"]}
    if "required" in one and "required" in other:
        merged["required"] = sorted({*one["required"], *other["required"]})
    if "enum" in one and "enum" in other:
        merged["enum"] = _in_both(one["enum"], other["enum"])
    if "type" in one and "type" in other:
        kinds = _common_kinds(kinds_of(one), kinds_of(other))
        if not kinds:
            return False
        merged["type"] = sorted(kinds)
    return merged


def _common_kinds(ours: Collection[str], theirs: Collection[str]) -> set[str]:
    """The kinds that are among both; integers are numbers."""
    common = {kind for kind in ours if is_covered({kind}, theirs)}
    return common | {kind for kind in theirs if is_covered({kind}, ours)}


def all_of(rest: dict[str, Any], parts: Sequence[_Schema]) -> _Schema:
    """A schema that accepts at least what all of several accept together; see `both`."""
    merged: _Schema = rest
    for part in parts:
        if isinstance(merged, dict):
            merged = both(merged, part)
    return merged


def kinds_of(schema: _Schema) -> frozenset[str]:
    """The kinds of values that a schema may accept."""
    if not isinstance(schema, dict):
        return frozenset(_KINDS if schema else ())
    types = schema.get("type")
    if types is not None:
        return frozenset([types] if isinstance(types, str) else types)
    if "enum" in schema:
        return frozenset(map(kind_of, schema["enum"]))
    if "const" in schema:
        return frozenset([kind_of(schema["const"])])
    for key in UNIONS:
        if key in schema:
            return frozenset(kind for branch in schema[key] for kind in kinds_of(branch))
    return frozenset(_KINDS)


def kind_of(value: object) -> str:
    """The kind of a JSON value, as the keyword ``type`` calls it."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case _:
            return "object"


def is_covered(kinds: Iterable[str], by: Collection[str]) -> bool:
    """Whether kinds are all among others; integers are numbers."""
    return all(kind in by or (kind == "integer" and "number" in by) for kind in kinds)


def may_be(kinds: Collection[str], kind: str | None) -> bool:
    """Whether some value of these kinds is of one kind; an integer is a number."""
    return kind in kinds or (kind == "number" and "integer" in kinds)


def is_within(sub: dict[str, Any], key: str, wanted: float) -> bool:
    """Whether a schema keeps to a bound of another, by the same bound or a stricter one."""
    if key in ("minLength", "minItems", "minProperties") and wanted == 0:
        return True
    sign = 1 if key in _LOWER else -1
    inclusive, exclusive = ("minimum", "exclusiveMinimum")
    if sign == -1:
        inclusive, exclusive = ("maximum", "exclusiveMaximum")
    if key not in (inclusive, exclusive):
        return key in sub and sign * (sub[key] - wanted) >= 0
    bounds = [
        (sign * sub[each], each == exclusive) for each in (inclusive, exclusive) if each in sub
    ]
    if kinds_of(sub) == {"integer"}:
        bounds = [(floor(at) + 1 if beyond else ceil(at), False) for at, beyond in bounds]
    return any(
        at > sign * wanted or (at == sign * wanted and (beyond or key == inclusive))
        for at, beyond in bounds
    )


def are_disjoint(one: _Schema, other: _Schema) -> bool:
    """Whether no value is accepted by both: by their kinds, or by a field that tells them apart."""
    if _list_no_same(one, other):
        return True
    ours, theirs = kinds_of(one), kinds_of(other)
    if not _common_kinds(ours, theirs):
        return True
    if ours != theirs or ours != {"object"}:
        return False
    fields = [each.get("properties", {}) for each in (one, other)]
    always = set(one.get("required", ())) & set(other.get("required", ()))
    return any(_list_no_same(*(each.get(key, True) for each in fields)) for key in always)


def _list_no_same(one: _Schema, other: _Schema) -> bool:
    values, others = listed(one), listed(other)
    return values is not None and others is not None and not _in_both(values, others)


def listed(schema: _Schema) -> list[Any] | None:
    """The values among which those of a schema are; None where it does not list them.

    >>> listed({"type": ["boolean", "null"]}), listed({"enum": [1, "a"]}), listed({"minimum": 1})
    ([True, False, None], [1, 'a'], None)
    """
    if not isinstance(schema, dict):
        return None if schema else []
    lists = [schema["enum"]] if "enum" in schema else []
    lists += [[schema["const"]]] if "const" in schema else []
    if not lists and (kinds := kinds_of(schema)) <= {"boolean", "null"}:
        lists = [[value for value in (True, False, None) if kind_of(value) in kinds]]
    return reduce(_in_both, lists) if lists else None


def _in_both(values: list[Any], others: list[Any]) -> list[Any]:
    known = {exact(each) for each in others}
    return [each for each in values if exact(each) in known]

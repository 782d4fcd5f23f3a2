"""The keywords of JSON Schema, the schemas inside one, and the values that one may accept.

Where a schema says too much to be followed, the answer errs on the side of more values.

A validator tries every alternative and follows every reference anew, so types that refer to each
other through alternatives double the work with each level: forty of them, in a program of 2 KB,
would keep it busy for years. Here each pair of a schema and a value is counted once, which takes
as many steps as there are pairs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from functools import reduce
from math import ceil, floor
from pathlib import Path
from types import NoneType
from typing import Any, TypeAlias, Union
from urllib.parse import unquote

from gram.trees import exact

_TABLE: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("keywords.json").read_text("utf-8")
)
"""What is known of each keyword.

``of`` is the kind of values that it is about; a number may be an integer. ``constrains`` is, where
it is not the same, the kind of values that it may refuse: ``any``, or ``apart`` for what the
comparison does not take keyword by keyword. ``holds`` says how it has schemas in it, ``annotates``
for whom it is if it refuses nothing, ``idle`` the values with which it says nothing.
"""

KEYWORDS = frozenset(_TABLE)
"""All keywords."""

KIND_OF: dict[str, str] = {key: row["of"] for key, row in _TABLE.items() if "of" in row}
"""Keywords that are about values of one kind, and which kind."""

TEXTS = frozenset(key for key, row in _TABLE.items() if row.get("annotates") == "text")
"""Keywords for those who read a schema."""

ANNOTATIONS = frozenset(key for key, row in _TABLE.items() if "annotates" in row)
"""Keywords that refuse no value."""

ONE_SCHEMA, LIST_OF_SCHEMAS, MAP_OF_SCHEMAS = (
    frozenset(key for key, row in _TABLE.items() if form in row.get("holds", ()))
    for form in ("schema", "list", "map")
)
"""Keywords whose value is a schema, an array of schemas, an object that holds schemas."""

IDLE: dict[str, list[Any]] = {key: row["idle"] for key, row in _TABLE.items() if "idle" in row}
"""The values with which a keyword says nothing."""

CONSTRAINS = {key: row.get("constrains", row.get("of")) for key, row in _TABLE.items()}
"""The kind of values that a keyword may refuse; None for none."""


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
    yield from ((part, value) for part in _in_place(schema, root))
    if isinstance(value, dict):
        properties = schema.get("properties")
        known = properties if isinstance(properties, dict) else {}
        others = (schema.get(f"{which}Properties") for which in ("additional", "unevaluated"))
        rest = [*_schemas(schema.get("patternProperties")), *others]
        for key, below in value.items():
            yield from ((part, below) for part in ([known[key]] if key in known else rest))
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
    yield from map(schema.get, ("not", "if", "then", "else"))
    for key in ("allOf", "anyOf", "oneOf"):
        if isinstance(alternatives := schema.get(key), list):
            yield from alternatives
    yield from _schemas(schema.get("dependentSchemas"))


def _schemas(schemas: object) -> Iterator[object]:
    if isinstance(schemas, dict):
        yield from schemas.values()


_KINDS = ("array", "boolean", "integer", "null", "number", "object", "string")
UNIONS = ("anyOf", "oneOf")
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
BOUNDS = frozenset({*_LOWER, *_UPPER})
"""Keywords that bound a value, a length or a number of parts."""

GROUPS = (("if", "then", "else"), ("contains", "minContains", "maxContains"))
"""Keywords that mean something only together."""

_THE_REST = (("prefixItems", "items"), ("patternProperties", "additionalProperties"))
"""Keywords of which the second is about what the first leaves."""

AnySchema = Any  # a dict or a bool


def is_annotation(key: str) -> bool:
    """Whether a keyword refuses no value."""
    return CONSTRAINS.get(key) is None


def bare(schema: AnySchema) -> AnySchema:
    """A schema without what refuses no value."""
    if not isinstance(schema, dict):
        return {} if schema is True else schema
    idle = {"$defs", "definitions"}
    return {k: v for k, v in schema.items() if not is_annotation(k) and k not in idle}


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


def both(one: AnySchema, other: AnySchema) -> AnySchema:
    """A schema that accepts at least what two schemas accept together.

    A keyword that both have is taken from the first.
    """
    other = bare(other)
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other if isinstance(one, dict) else one
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


def kinds_of(schema: AnySchema) -> frozenset[str]:
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


_JSON_TYPES = {NoneType: "null", bool: "boolean", int: "integer", float: "number", str: "string"}


def kind_of(value: object) -> str:
    """The kind of a JSON value, as the keyword ``type`` calls it."""
    if isinstance(value, list | tuple):
        return "array"
    return next((kind for type, kind in _JSON_TYPES.items() if isinstance(value, type)), "object")


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
    sign, inclusive, exclusive = 1, "minimum", "exclusiveMinimum"
    if key in _UPPER:
        sign, inclusive, exclusive = -1, "maximum", "exclusiveMaximum"
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


def are_disjoint(one: AnySchema, other: AnySchema) -> bool:
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


def _list_no_same(one: AnySchema, other: AnySchema) -> bool:
    values, others = listed(one), listed(other)
    return values is not None and others is not None and not _in_both(values, others)


def listed(schema: AnySchema) -> list[Any] | None:
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

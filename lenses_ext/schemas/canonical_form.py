"""The form in which JSON Schemas that ask for the same are equal."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any, Literal, TypeAlias

from ..cycles import reached
from . import schema_parts
from .json_values import check_json, dump_json, whole_numbers
from .schema_parts import bare, kinds_of, resolve_ref

Match: TypeAlias = Literal["full", "types", "name"]
"""How much a tool must have in common with its specification: everything, everything but texts for
readers, or its name alone."""

_UNORDERED = frozenset({"anyOf", "oneOf", "allOf", "enum", "required", "type"})
_LAST = ("unevaluatedItems", "unevaluatedProperties")
_IDLE: tuple[object, ...] = (None, True, {})
_MAX_INLINED = 20_000  # values
_MAX_LEVELS = 100  # of schemas, once references are replaced


def canonical(schema: object, *, match: Match = "full") -> Any:
    """The form in which schemas that ask for the same are equal.

    The order of keys, of ``required``, ``enum``, ``type`` and of alternatives does not matter,
    nor do keywords without effect (``required: []``, ``minimum`` beside ``type: string``).
    References inside the schema are replaced by what they refer to unless that refers to itself;
    alternatives of bare types become a ``type`` list, and those that refuse nothing are left out.
    A whole decimal becomes an integer.

    Args:
        schema: a JSON Schema; it is not changed.
        match: ``types`` leaves out titles, descriptions and other texts for readers.

    Raises:
        NotJson: it is not JSON.

    >>> canonical({"anyOf": [{"type": "string"}, {"type": "null"}], "default": 1.0})
    {'default': 1, 'type': ['null', 'string']}
    """
    check_json(schema)
    try:
        form = _Canonical(schema, match, inline=True).whole()
    except _TooMuchError:
        form = _Canonical(schema, match, inline=False).whole()
    return json.loads(_text(form))


def _text(value: object) -> str:
    """Type-exact text of a canonical value: ``1`` and ``true`` differ."""
    return dump_json(value, compact=True, in_order=True)


class _TooMuchError(Exception):
    """Replacing references would not come to an end soon."""


class _Canonical:
    """Brings the schemas of one root into canonical form."""

    def __init__(self, root: object, match: Match, *, inline: bool) -> None:
        self.root = root
        self.match = match
        self.inline = inline
        self.recursive = _recursive_references(root) if inline else set()
        some = [node.get(key) for node in _nodes(root) if isinstance(node, dict) for key in _LAST]
        self.evaluates = any(each not in _IDLE for each in some)
        """Then an alternative counts that refuses nothing."""
        self.used: set[str] = set()
        self.inlined = 0
        self.level = 0

    def whole(self) -> Any:
        """The canonical form of the root, with the definitions that refer to themselves."""
        form = self.schema(self.root)
        if not self.inline or not isinstance(form, dict):
            return form
        form = {key: value for key, value in form.items() if key not in ("$defs", "definitions")}
        kept: dict[str, Any] = {}
        while names := self.used - kept.keys() - {"#"}:
            kept |= {name: self.schema(resolve_ref(name, self.root)) for name in sorted(names)}
        return {**form, **({"$defs": kept} if kept else {})}

    def schema(self, schema: object) -> Any:
        """The canonical form of a schema below the root."""
        if schema is True or not isinstance(schema, dict):
            return {} if schema is True else schema
        self.level += 1
        if self.level > _MAX_LEVELS and self.inline:
            raise _TooMuchError
        schema = self._without_reference(schema)
        form: dict[str, Any] = {}
        for key, value in schema.items():
            for_readers = key in schema_parts.TEXTS or (key == "format" and value == "float")
            if self.match == "types" and for_readers:
                continue
            new = self._value(key, value)
            if self.evaluates or new not in schema_parts.IDLE.get(key, ()):
                form[key] = new
        self.level -= 1
        return form if self.evaluates else simplified(form)

    def _value(self, key: str, value: object) -> Any:
        if isinstance(value, dict) and key in schema_parts.MAP_OF_SCHEMAS:
            return {name: self.schema(item) for name, item in value.items()}
        if isinstance(value, list) and key in schema_parts.LIST_OF_SCHEMAS:
            value = [self.schema(item) for item in value]
        elif key in schema_parts.ONE_SCHEMA:
            return self.schema(value)
        else:
            value = whole_numbers(value)
        if isinstance(value, list) and key in _UNORDERED:
            value = sorted(value, key=_text)
            if key != "oneOf":  # there, a value of an alternative given twice is refused
                value = [next(items) for _, items in groupby(value, _text)]
            if key == "type":
                value = [kind for kind in value if kind != "integer" or "number" not in value]
                return value[0] if len(value) == 1 else value
        return value

    def _without_reference(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A schema with what it refers to in place of the reference."""
        while self.inline and isinstance(reference := schema.get("$ref"), str):
            if reference in self.recursive:
                self.used.add(reference)
                break
            target = resolve_ref(reference, self.root)
            if isinstance(target, bool):
                target = {} if target else {"not": {}}
            if not isinstance(target, dict):
                break
            self.inlined += sum(1 for _ in _nodes(target))
            if self.inlined > _MAX_INLINED:
                raise _TooMuchError
            schema = schema_parts.with_referred(schema, target)
        return schema


# --- references


def _recursive_references(root: object) -> set[str]:
    """The references whose target leads back to them."""
    uses: dict[str, set[str]] = {}

    def used_by(reference: str) -> set[str]:
        if reference not in uses:
            uses[reference] = _references(resolve_ref(reference, root))
        return uses[reference]

    found = reached(_references(root), used_by)
    return {reference for reference in found if reference in reached(uses[reference], used_by)}


def _references(schema: object) -> set[str]:
    """The references that a schema itself makes."""
    found = (node.get("$ref") for node in _nodes(schema) if isinstance(node, dict))
    return {reference for reference in found if isinstance(reference, str)}


def _nodes(value: object) -> list[object]:
    """A value and everything inside it."""
    nodes = [value]
    for node in nodes:
        if isinstance(node, dict):
            nodes.extend(node.values())
        elif isinstance(node, list):
            nodes.extend(node)
    return nodes


# --- simpler schemas that accept the same values

_OF_OBJECTS = ("properties", "patternProperties", "additionalProperties")
_TOGETHER = (*schema_parts.GROUPS, ("prefixItems", "items"), _OF_OBJECTS)
"""Keywords that are read together, so they may not be put together from two schemas."""


def simplified(form: dict[str, Any]) -> Any:
    """A schema without what refuses no value, and without needless ``allOf`` and ``anyOf``.

    Args:
        form: a schema whose parts are simplified, in which nothing asks what was evaluated.

    >>> simplified({"type": "string", "minimum": 1, "allOf": [{"maxLength": 3}, {}]})
    {'maxLength': 3, 'type': 'string'}
    >>> simplified({"anyOf": [{"type": "string"}, {"type": "null"}]})
    {'type': ['null', 'string']}
    >>> simplified({"oneOf": [False]})
    False
    """
    form = {key: value for key, value in form.items() if _matters(key, form)}
    parts: list[Any] = []
    for part in form.pop("allOf", ()):
        parts += part["allOf"] if isinstance(part, dict) and part.keys() == {"allOf"} else [part]
    for key in ("anyOf", "oneOf"):
        if key not in form:
            continue
        branches = [each for each in form.pop(key) if each is not False]
        if not branches:
            return False
        if len(branches) == 1:
            parts += branches
        elif key == "oneOf" or not any(map(_accepts_all, branches)):
            form[key] = branches
    parts = [part for part in parts if not _accepts_all(part)]
    if False in parts or form.get("not") == {}:
        return False
    return _union_of_bare_types(_put_together(form, parts))


def _matters(key: str, form: dict[str, Any]) -> bool:
    """Whether a keyword says something, beside the others of a schema."""
    kind = schema_parts.KIND_OF.get(key)
    if kind is not None and "type" in form and not schema_parts.may_be(kinds_of(form), kind):
        return False
    if key in ("minContains", "maxContains"):
        return "contains" in form
    if key == "if":
        return "then" in form or "else" in form
    return "if" in form if key in ("then", "else") else True


def _put_together(form: dict[str, Any], parts: list[Any]) -> dict[str, Any]:
    """A schema with those parts of its ``allOf`` in it that have keywords of their own."""
    rest = []
    for part in parts:
        groups = (group for group in _TOGETHER if not form.keys().isdisjoint(group))
        if {*form}.union(*groups).isdisjoint(bare(part)):
            form = {**part, **form}
        else:
            rest.append(part)
    return {**form, "allOf": [*form.get("allOf", ()), *rest]} if rest else form


def _accepts_all(schema: object) -> bool:
    return isinstance(schema, dict) and bare(schema) == {}


def _union_of_bare_types(form: dict[str, Any]) -> dict[str, Any]:
    """Alternatives that are nothing but types, as a list of types."""
    some = form.get("anyOf")
    if "type" in form or not isinstance(some, list):
        return form
    if not all(isinstance(each, dict) and each.keys() == {"type"} for each in some):
        return form
    types = {kind for each in some for kind in kinds_of(each)}
    rest = {key: value for key, value in form.items() if key != "anyOf"}
    return {**rest, "type": sorted(types) if len(types) > 1 else types.pop()}

"""Simpler forms of a schema that accept the same values."""

from __future__ import annotations

from typing import Any

from . import keywords
from .values_of import GROUPS, bare, kinds_of, may_be

_TOGETHER = (
    *GROUPS,
    ("prefixItems", "items"),
    ("properties", "patternProperties", "additionalProperties"),
)
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
    kind = keywords.KIND_OF.get(key)
    if kind is not None and "type" in form and not may_be(kinds_of(form), kind):
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
        taken = {
            *form,
            *(key for group in _TOGETHER for key in group if not form.keys().isdisjoint(group)),
        }
        if taken.isdisjoint(bare(part)):
            form = {**part, **form}
        else:
            rest.append(part)
    return {**form, "allOf": [*form.get("allOf", ()), *rest]} if rest else form


def _accepts_all(schema: object) -> bool:
    return isinstance(schema, dict) and bare(schema) == {}


def _union_of_bare_types(form: dict[str, Any]) -> dict[str, Any]:
    """Alternatives that are nothing but types, as a list of types."""
    alternatives = form.get("anyOf")
    if "type" in form or not isinstance(alternatives, list):
        return form
    types: set[str] = set()
    for each in alternatives:
        if not isinstance(each, dict) or each.keys() != {"type"}:
            return form
        types.update([each["type"]] if isinstance(each["type"], str) else each["type"])
    rest = {key: value for key, value in form.items() if key != "anyOf"}
    return {**rest, "type": sorted(types) if len(types) > 1 else types.pop()}

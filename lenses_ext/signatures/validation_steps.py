"""How much work a schema can make of one value, before any value is seen.

References can double: twenty definitions that each name the next twice are a million schemas to
a validator. What is validated here without being asked for, defaults, is not worth that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any

from .subschemas import resolve, subschemas

_IN_PLACE_ONE = ("not", "if", "then", "else")
_IN_PLACE_LIST = ("allOf", "anyOf", "oneOf")


def steps_of_validation(root: dict[str, Any], schemas: Iterable[dict[str, Any]] = ()) -> float:
    """The most schemas that one value is held against, infinite when references go in circles.

    Args:
        root: where the references of the schemas lead.
        schemas: further schemas, as if they stood in the root.

    >>> steps_of_validation({"anyOf": [{"type": "string"}, {"not": {}}]})
    4
    """
    known: dict[int, dict[str, Any]] = {}
    below: dict[int, list[int]] = {}
    pending: list[object] = [root, *schemas]
    while pending:
        for _, each in subschemas(pending.pop()):
            if id(each) in known:
                continue
            known[id(each)] = each
            parts = [part for part in _held_against_the_same(each, root) if isinstance(part, dict)]
            below[id(each)] = [id(part) for part in parts]
            pending.extend(part for part in parts if id(part) not in known)
    steps: dict[int, int] = {}
    try:
        for key in TopologicalSorter(below).static_order():
            steps[key] = 1 + sum(steps[part] for part in below[key])
    except CycleError:
        return math.inf
    return max(steps.values(), default=1)


def _held_against_the_same(schema: dict[str, Any], root: object) -> Iterator[object]:
    """The schemas that a value is held against beside this one."""
    for key in ("$ref", "$dynamicRef"):
        if isinstance(reference := schema.get(key), str):
            yield resolve(reference, root)
    for key in _IN_PLACE_ONE:
        yield schema.get(key)
    for key in _IN_PLACE_LIST:
        if isinstance(alternatives := schema.get(key), list):
            yield from alternatives
    if isinstance(dependent := schema.get("dependentSchemas"), dict):
        yield from dependent.values()

"""Holes: the parts of a pattern that match anything.

A hole is an identity, a label, a key or a symbol value that begins with ``_``, never a string.
``_`` alone is anything; ``__x`` is no hole, and means ``_x``.
"""

from __future__ import annotations

from typing import TypeAlias, Union

from pyrsistent import PMap, PVector

from ..errors import GramError
from ..trees import Pattern, Symbol, Value, is_reference, walk

ANYTHING = "_"
"""The hole that is anything, and is not remembered."""

Bound: TypeAlias = Union[Value, Pattern]
"""What a hole matches: a name, a value, or a whole element."""


class QueryError(GramError, ValueError):
    """A pattern cannot be searched for, or what takes its place cannot be made."""


def hole(name: str) -> str | None:
    """The name itself if it is a hole, else None."""
    return name if name.startswith("_") and not name.startswith("__") else None


def literal(name: str) -> str:
    """What a name that is no hole means."""
    return name[1:] if name.startswith("__") else name


def hole_alone(pattern: Pattern) -> str | None:
    """The hole that matches a whole element, if a pattern is one."""
    return hole(pattern.value.identity) if is_reference(pattern) else None


def holes_in(pattern: Pattern) -> frozenset[str]:
    """The holes in a pattern that are remembered: all but ``_``.

    >>> from gram import loads_one
    >>> sorted(holes_in(loads_one('[_a:Agent {model: _m, name: "_n"} | _, __t]')))
    ['_a', '_m']
    """
    found: set[str] = set()
    for _, each in walk(pattern):
        subject = each.value
        found |= {subject.identity, *subject.labels} | names_in(subject.properties)
    return frozenset(filter(hole, found - {ANYTHING}))


def names_in(value: object) -> frozenset[str]:
    """The keys and symbols in a value, which may be holes."""
    if isinstance(value, Symbol):
        return frozenset({value.value})
    if isinstance(value, PMap):
        return frozenset(value).union(*map(names_in, value.values()))
    return frozenset().union(*map(names_in, value)) if isinstance(value, PVector) else frozenset()

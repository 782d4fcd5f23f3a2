"""Makes a value smaller by leaving parts of it out, for as long as something still holds of it.

Delta debugging (Zeller and Hildebrandt 2002, Simplifying and isolating failure-inducing input, IEEE
TSE 28, 183-200), level by level of the tree (Misherghi and Su 2006, HDD, ICSE 28, 142-151).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias, TypeVar

from attrs import evolve
from pyrsistent import PMap, PVector, pmap, pvector

from gram import Pattern, walk

Path: TypeAlias = tuple[Any, ...]
"""Where a part is: keys and indexes from the outside in."""

V = TypeVar("V")


class Place(NamedTuple):
    """Where a part is.

    Attributes:
        path: its path.
        may_go: whether the value may be without it.
        whole: what it is a part of.
    """

    path: Path
    may_go: bool
    whole: Any


Fields: TypeAlias = Mapping[type, Collection[str]]
"""Which attributes of classes have parts that may go; the attributes themselves stay."""


def minimal(
    value: V,
    holds: Callable[[V], bool],
    *,
    fields: Fields = {},  # noqa: B006  # it is only read
    held: Collection[str] = (),
) -> V:
    """A smallest value of which something holds: without any one part more, it does not.

    The parts are elements and properties of patterns, items of arrays and maps, lines and words of
    texts. Where none may go alone, some are tried together: an element with those beside it that it
    names, as an arrow with its nodes, and items at the same index of arrays of the same length.

    Args:
        value: the value, of which it holds.
        holds: whether it holds of a smaller one; False for a value that cannot be.
        fields: the classes of ours that have parts.
        held: the properties of patterns, and the attributes of those classes, that stay as they
            are.
    """
    parts = _Parts(fields, held)
    while True:
        before, depth, left = value, 1, list[Place]()
        while level := list(parts.of(value, depth)):
            removable = [[each.path] for each in level if each.may_go]
            value = _without_most(value, removable, parts, holds)
            left += level
            depth += 1
        joined = _joined(left) if value is before else iter(())
        while value is before:
            if (units := next(joined, None)) is None:
                return value
            value = _without_most(value, units, parts, holds)


def _without_most(
    value: V, units: Sequence[Sequence[Path]], parts: _Parts, holds: Callable[[V], bool]
) -> V:
    """A value without as many units of parts as may go: all, then halves, then each alone."""
    start, gone, size = value, list[Path](), len(units)
    while size:
        left = [unit for unit in units if not any(path in gone for path in unit)]
        for index in range(0, len(left), size):
            chunk = [path for unit in left[index : index + size] for path in unit]
            smaller = parts.without(start, [*gone, *chunk])
            if holds(smaller):
                value, gone = smaller, [*gone, *chunk]
        size = min(size - 1, (size + 1) // 2)
    return value


def _joined(places: Sequence[Place]) -> Iterator[list[tuple[Path, ...]]]:
    """Parts that may only go together, in groups of which many may go at once."""
    arrays: dict[Path, list[Path]] = {}
    elements = dict[Path, Pattern]()
    for path, _, whole in places:
        if isinstance(whole, list | tuple | PVector):
            arrays.setdefault(path[:-1], []).append(path)
        elif isinstance(whole, Pattern) and isinstance(path[-1], int):
            elements[path] = whole.elements[path[-1]]
    for one, two in combinations(arrays.values(), 2):
        if len(one) == len(two):
            yield list(zip(one, two, strict=True))
    for path, element in elements.items():
        names = {each.value.identity for _, each in walk(element.elements)} - {""}
        named = [
            node
            for node, each in elements.items()
            if each.value.identity in names
            and node[:-1] == path[: len(node) - 1]
            and node != path[: len(node)]
        ]
        for nodes in (*([node] for node in named), named):
            yield [(path, *nodes)]


class _Word(str):
    """A word of a text, which has no parts."""

    __slots__ = ()


class _Parts:
    def __init__(self, fields: Fields, held: Collection[str]) -> None:
        self.fields, self.held = fields, held

    def of(self, value: object, depth: int) -> Iterator[Place]:
        """The places of the parts that are so deep."""
        for key, part in self._opened(value)[0].items():
            if depth == 1:
                yield Place((key,), type(value) not in self.fields, value)
            else:
                for inner in self.of(part, depth - 1):
                    yield inner._replace(path=(key, *inner.path))

    def without(self, value: Any, paths: Collection[Path]) -> Any:
        """A value without the parts at some paths."""
        inside: dict[Any, list[Path]] = {}
        for key, *rest in paths:
            inside.setdefault(key, []).append(tuple(rest))
        parts, closed = self._opened(value)
        left = {key: part for key, part in parts.items() if () not in inside.get(key, ())}
        left |= {key: self.without(left[key], inside[key]) for key in left.keys() & inside.keys()}
        return closed(left)

    def _opened(self, value: Any) -> tuple[Mapping[Any, Any], Callable[[Mapping[Any, Any]], Any]]:
        """The parts of a value by their keys, and what makes one of those that are left."""
        if names := self.fields.get(type(value)):
            own = {name: getattr(value, name) for name in names if name not in self.held}
            return own, lambda left: evolve(value, **left)
        match value:
            case Pattern():
                properties = sorted(value.value.properties.items())
                own = {key: each for key, each in properties if key not in self.held}
                return {**dict(enumerate(value.elements)), **own}, partial(self._closed, value)
            case str() if not isinstance(value, _Word):
                return dict(enumerate(_pieces(value))), lambda left: "".join(left.values())
            case PMap():
                return value, pmap
            case Mapping():
                return value, dict
            case PVector():
                return dict(enumerate(value)), lambda left: pvector(left.values())
            case list() | tuple():
                return dict(enumerate(value)), lambda left: type(value)(left.values())
        return {}, lambda _: value

    def _closed(self, pattern: Pattern, left: Mapping[Any, Any]) -> Pattern:
        subject = pattern.value
        kept = {key: each for key, each in subject.properties.items() if key in self.held}
        properties = pmap(kept | {key: each for key, each in left.items() if isinstance(key, str)})
        elements = tuple(each for key, each in left.items() if isinstance(key, int))
        return evolve(pattern, value=evolve(subject, properties=properties), elements=elements)


def _pieces(text: str) -> list[str]:
    """The lines of a text, or the words of one line, each with the blanks around it."""
    lines = text.splitlines(keepends=True)
    pieces = lines if len(lines) > 1 else re.findall(r"\s*\S+\s*$|\s*\S+|\s+$", text)
    return [_Word(each) if lines != pieces or len(each.split()) < 2 else each for each in pieces]

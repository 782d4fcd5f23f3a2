"""Makes a value smaller by leaving parts of it out, for as long as something still holds of it.

Delta debugging (Zeller and Hildebrandt 2002, Simplifying and isolating failure-inducing input, IEEE
TSE 28, 183-200), level by level of the tree (Misherghi and Su 2006, HDD, ICSE 28, 142-151).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from attrs import evolve
from pyrsistent import PMap, PVector, pmap, pvector

from gram import Pattern

Path: TypeAlias = tuple[Any, ...]
"""Where a part is: keys and indexes from the outside in."""

V = TypeVar("V")


class Part(NamedTuple):
    """A part of a value.

    Attributes:
        key: its key or index.
        value: what it is; None for a word, which has no parts.
        may_go: whether the value may be without it.
    """

    key: Any
    value: Any
    may_go: bool


class Fields(NamedTuple):
    """Which attributes of a class have parts that may go; the attributes themselves stay."""

    kind: type
    names: tuple[str, ...]


_GONE: Final = object()


def minimal(
    value: V,
    holds: Callable[[V], bool],
    *,
    fields: Sequence[Fields] = (),
    held: Collection[str] = (),
) -> V:
    """A smallest value of which something holds: without any one part more, it does not.

    The parts are elements and properties of patterns, items of arrays and maps, lines and words of
    texts.

    Args:
        value: the value, of which it holds.
        holds: whether it holds of a smaller one. A value that cannot be is one it does not hold of.
        fields: the classes of ours that have parts.
        held: the properties of patterns, and the attributes of those classes, that stay as they
            are.
    """
    parts = _Parts(fields, held)
    while True:
        before, depth = value, 1
        while level := list(parts.of(value, depth)):
            if removable := [path for path, may_go in level if may_go]:
                value = _without_most(value, removable, parts, holds)
            depth += 1
        if value is before:
            return value


def _without_most(value: V, paths: Sequence[Path], parts: _Parts, holds: Callable[[V], bool]) -> V:
    """A value without as many of some parts as may go: all, then halves, then each alone."""
    start, gone, size = value, list[Path](), len(paths)
    while size:
        left = [path for path in paths if path not in gone]
        for index in range(0, len(left), size):
            chunk = left[index : index + size]
            smaller = parts.without(start, [*gone, *chunk])
            if holds(smaller):
                value, gone = smaller, [*gone, *chunk]
        size = min(size - 1, (size + 1) // 2)
    return value


class _Parts:
    def __init__(self, fields: Sequence[Fields], held: Collection[str]) -> None:
        self.fields, self.held = dict(fields), held

    def of(self, value: object, depth: int) -> Iterator[tuple[Path, bool]]:
        """The paths of the parts that are so deep, and whether each may go."""
        for part in self._parts(value):
            if depth == 1:
                yield (part.key,), part.may_go
            else:
                for path, may_go in self.of(part.value, depth - 1):
                    yield (part.key, *path), may_go

    def _parts(self, value: object) -> Iterator[Part]:
        if names := self.fields.get(type(value)):
            yield from (
                Part(name, getattr(value, name), False) for name in names if name not in self.held
            )
        elif isinstance(value, Pattern):
            yield from (Part(index, each, True) for index, each in enumerate(value.elements))
            properties = value.value.properties
            yield from (
                Part(key, properties[key], True)
                for key in sorted(properties)
                if key not in self.held
            )
        elif isinstance(value, Mapping):
            yield from (Part(key, each, True) for key, each in value.items())
        elif isinstance(value, str):
            for index, each in enumerate(_pieces(value)):
                yield Part(index, each if len(_pieces(each)) > 1 else None, True)
        elif isinstance(value, list | tuple | PVector):
            yield from (Part(index, each, True) for index, each in enumerate(value))

    def without(self, value: Any, paths: Collection[Path]) -> Any:
        """A value without the parts at some paths."""
        inside: dict[Any, list[Path]] = {}
        for key, *rest in paths:
            inside.setdefault(key, []).append(tuple(rest))

        def kept(key: Any, part: Any) -> Any:
            if key not in inside:
                return part
            return _GONE if () in inside[key] else self.without(part, inside[key])

        def items(given: Sequence[Any]) -> list[Any]:
            return [each for each in map(kept, range(len(given)), given) if each is not _GONE]

        def entries(given: Mapping[Any, Any]) -> dict[Any, Any]:
            found = {key: kept(key, part) for key, part in given.items()}
            return {key: part for key, part in found.items() if part is not _GONE}

        if type(value) in self.fields:
            return evolve(value, **{name: kept(name, getattr(value, name)) for name in inside})
        match value:
            case Pattern():
                subject = evolve(value.value, properties=pmap(entries(value.value.properties)))
                return evolve(value, value=subject, elements=tuple(items(value.elements)))
            case str():
                return "".join(items(_pieces(value)))
            case PMap():
                return pmap(entries(value))
            case Mapping():
                return entries(value)
            case PVector():
                return pvector(items(value))
            case _:
                return type(value)(items(value))


def _pieces(text: str) -> list[str]:
    """The lines of a text, or the words of one line, each with the blanks around it."""
    lines = text.splitlines(keepends=True)
    return lines if len(lines) > 1 else re.findall(r"\s*\S+\s*$|\s*\S+|\s+$", text)

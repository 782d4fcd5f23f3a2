"""Conditions: which of several places are meant, by what is said beside them.

    model = "OpenAI/x" and temperature != 0

A comparison has a path, which begins where the value is; what is compared is a value in gram, and a
bare word is a text. ``and`` binds more than ``or``.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

from attrs import frozen

from gram import GramDecodeError, Symbol, loads_one
from gram.trees import exact

from ..errors import FocusError
from ..language import Model
from ..names import ProgramLike, program_of
from .finding import find_places
from .paths import PathError, read_path, write_path
from .place import Kind, Place

_COMPARISON: Final = re.compile(
    r"\s*((?:`(?:[^`\\]|\\.)+`|[^\s=!`])+)\s*(=|!=)\s*"
    r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\s\"']+)(?:\s+(and|or)\b|\s*\Z)"
)


@frozen
class Comparison:
    """Whether the value at a path is another one.

    Attributes:
        path: the words of the path.
        is_equal: whether it has to be, or must not be.
        value: the value.
    """

    path: tuple[str, ...]
    is_equal: bool
    value: Any

    def holds(self, program: ProgramLike, place: Place) -> bool:
        """Whether it holds at a place: of several values, for one of them."""
        named = place.kind in (Kind.PATTERN, Kind.PARAMETER)
        words = place.words if named else place.words[:-1]
        patterns = program_of(program, by="Comparison").patterns
        try:
            found = find_places(program, write_path((*words, *self.path)))
            values = [each.get(patterns) for each in found]
        except (PathError, FocusError):
            values = []
        return any(_same(each, self.value) for each in values) == self.is_equal


Condition: TypeAlias = tuple[tuple[Comparison, ...], ...]
"""Groups of comparisons: all of one have to hold."""


def holds(condition: Condition, program: ProgramLike, place: Place) -> bool:
    """Whether a condition holds at a place of a program."""
    return any(all(each.holds(program, place) for each in group) for group in condition)


def read_condition(text: str) -> Condition:
    """Read a condition.

    Raises:
        PathError: it is not a condition.

    >>> len(read_condition("model = 'OpenAI/x' and temperature != 0 or name = desk"))
    2
    """
    groups: list[list[Comparison]] = [[]]
    at = 0
    while True:
        found = _COMPARISON.match(text, at)
        if found is None:
            hint = """write PATH = VALUE or PATH != VALUE, joined by "and" and "or\""""
            raise PathError(f"{text!r} is no condition at character {at + 1}: {hint}", text)
        path, sign, value, joined = found.groups()
        groups[-1].append(Comparison(read_path(path), sign == "=", _value(value)))
        at = found.end()
        if not joined:
            return tuple(map(tuple, groups))
        if joined == "or":
            groups.append([])


def _value(text: str) -> Any:
    try:
        value = loads_one(f"{{value: {text}}}").value.properties["value"]
    except GramDecodeError:
        return text
    return value.value if isinstance(value, Symbol) else value


def _same(found: Any, value: Any) -> bool:
    if isinstance(found, tuple) and any(isinstance(each, Model) for each in found):
        return any(str(each) == value for each in found)
    if isinstance(found, Symbol | Model):
        found = str(found)
    return exact(found) == exact(value)

"""The values of a property: strings, numbers, booleans, symbols and what is built of them.

A value is a ``str``, ``int``, ``float``, ``bool``, `Symbol`, `TaggedString`, `Measurement`,
`Range`, or a pyrsistent ``PVector`` or ``PMap`` of values. `freeze` turns lists and dicts into
these. What the notation cannot write is refused; the error has the path to it.

Equality is exact: ``1``, ``1.0`` and ``True`` differ at every depth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeAlias, Union

from attrs import field, frozen
from pyrsistent import PMap, PVector, pmap, pvector

from ..errors import MAX_LEVELS, GramEncodeError, TooDeepError
from ..grammar import terminal

_MAX_DIGITS = 4300

Number: TypeAlias = Union[int, float]


def is_symbol(text: str) -> bool:
    """Whether ``text`` can be written bare as a name.

    >>> is_symbol("a.b-c"), is_symbol("two words"), is_symbol("")
    (True, False, False)
    """
    return terminal("SYMBOL").fullmatch(text) is not None


def exact(value: object) -> Hashable:
    """A key under which two values are equal only when their types are equal too, at every depth.

    JSON has keys too: objects in any order of their entries, lists, and None.

    >>> exact(1) == exact(True), exact(pvector([1])) == exact(pvector([1.0]))
    (False, False)
    >>> exact({"a": [1], "b": None}) == exact({"b": None, "a": [1]})
    True
    """
    kind = type(value)
    if kind is str:
        return value
    if kind is float:
        return float, repr(value)
    if kind is int or kind is bool:
        return kind, value
    if isinstance(value, PMap):
        return PMap, frozenset((key, exact(item)) for key, item in value.items())
    if isinstance(value, PVector):
        return PVector, tuple(exact(item) for item in value)
    if isinstance(value, Mapping):
        return Mapping, frozenset((key, exact(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return list, tuple(exact(item) for item in value)
    return value


_PLAIN: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
}


def _plain(value: Any) -> Any:
    """``value`` itself, or the plain str, int or float in an instance of a subclass."""
    if type(value) in _PLAIN or isinstance(value, bool):
        return value
    return next((make(value) for kind, make in _PLAIN.items() if isinstance(value, kind)), value)


def _word(what: str) -> Callable[[Any, Any, Any], None]:
    """Refuses what is no symbol, or ``true`` or ``false``."""

    def check(_: object, __: object, word: object) -> None:
        if not isinstance(word, str) or not is_symbol(word) or word in ("true", "false"):
            raise GramEncodeError(f"{word!r} is not {what}")

    return check


@frozen
class Symbol:
    """A bare word in value position; not a string.

    Raises:
        GramEncodeError: the word is not a symbol, or is ``true`` or ``false``.
    """

    value: str = field(converter=_plain, validator=_word("a symbol"))

    def __str__(self) -> str:
        return self.value


@frozen
class TaggedString:
    """A string with a tag that says how to read it, such as ``date`2026-01-31```.

    Raises:
        GramEncodeError: the tag is not a symbol, or the content cannot be written.
    """

    tag: str = field(converter=_plain, validator=_word("a tag"))
    content: str = field(converter=_plain)

    @content.validator
    def _content_is_text(self, _: object, content: object) -> None:
        if not isinstance(content, str):
            raise GramEncodeError(f"expected str, found {_kind(content)}", "content")
        check_text(content, "content")


def _whole(value: Number) -> Number:
    number: Number = _plain(value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


@frozen
class Measurement:
    """A number with a unit, such as ``5kg``. A whole value is an ``int``.

    Raises:
        GramEncodeError: the unit is not made of the letters A to Z, or the value is not a number.
    """

    value: Number = field(eq=exact, converter=_whole)
    unit: str = field(converter=_plain)

    @value.validator
    def _is_number(self, _: object, value: object) -> None:
        check_number(value, "value")

    @unit.validator
    def _is_unit(self, _: object, unit: object) -> None:
        if not isinstance(unit, str) or not terminal("UNIT").fullmatch(unit):
            raise GramEncodeError(f"a unit is made of the letters A to Z, found {unit!r}", "unit")


Bound: TypeAlias = Union[int, float, Measurement]


@frozen
class Range:
    """The values from ``lower`` to ``upper``, both included; None is an open end.

    Raises:
        GramEncodeError: both ends are open, or an end is neither a number nor a measurement.
    """

    lower: Bound | None = field(default=None, eq=exact, converter=_plain)
    upper: Bound | None = field(default=None, eq=exact, converter=_plain)

    def __attrs_post_init__(self) -> None:
        if self.lower is None and self.upper is None:
            raise GramEncodeError("a range needs at least one end")
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if bound is not None and not isinstance(bound, Measurement):
                check_number(bound, name)


Value: TypeAlias = Union[
    str,
    int,
    float,
    bool,
    Symbol,
    TaggedString,
    Measurement,
    Range,
    "PVector[Value]",
    "PMap[str, Value]",
]
"""What a property may be."""


def freeze(value: object, path: str = "", level: int = 0) -> Value:
    """The immutable form of a value: lists become PVector, mappings PMap.

    A value that is frozen already is returned as it is.

    Args:
        value: a value, or lists and dicts of values.
        path: the path to the value, for the message.
        level: how many arrays and maps are around it.

    Raises:
        GramEncodeError: something inside has no notation; the message has its path.
    """
    if isinstance(value, str):
        return check_text(value, path)
    if isinstance(value, bool | Symbol | TaggedString | Measurement | Range):
        return value
    if isinstance(value, int | float):
        return check_number(value, path)
    if isinstance(value, Mapping | list | tuple | PVector):
        if level >= MAX_LEVELS:
            raise TooDeepError(path)
        if isinstance(value, Mapping):
            return freeze_map(value, path, level + 1)
        return _freeze_array(value, path, level + 1)
    raise GramEncodeError(f"{_kind(value)} has no notation", path)


def freeze_map(entries: Mapping[str, object], path: str, level: int) -> PMap[str, Value]:
    """The PMap of a mapping from strings to values; the same object when it is one already."""
    changed = not isinstance(entries, PMap)
    frozen_entries: dict[str, Value] = {}
    for key, item in entries.items():
        if not isinstance(key, str):
            raise GramEncodeError(f"a key is a str, found {_kind(key)} {key!r}", path)
        below = f"{path}.{key}" if path else key
        name = check_text(key, below)
        frozen_entries[name] = new = freeze(item, below, level)
        changed = changed or new is not item or name is not key
    return pmap(frozen_entries) if changed else entries  # type: ignore[return-value]  # it holds values alone, so it is what is returned


def _freeze_array(items: Iterable[object], path: str, level: int) -> PVector[Value]:
    changed = not isinstance(items, PVector)
    frozen_items: list[Value] = []
    for index, item in enumerate(items):
        frozen_items.append(freeze(item, f"{path}[{index}]", level))
        changed = changed or frozen_items[-1] is not item
    return pvector(frozen_items) if changed else items  # type: ignore[return-value]  # it holds values alone, so it is what is returned


def levels(value: object) -> int:
    """How many arrays and maps nest in a value: 0 for a scalar, 1 for ``[1]``."""
    if isinstance(value, PMap):
        return 1 + max(map(levels, value.values()), default=0)
    if isinstance(value, PVector):
        return 1 + max(map(levels, value), default=0)
    return 0


def check_text(text: str, path: str = "") -> str:
    """``text`` as a plain str; a lone surrogate, which UTF-8 cannot carry, is refused."""
    if type(text) is not str:
        text = _plain(text)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise GramEncodeError(f"lone surrogate at index {error.start}", path) from None
    return text


def check_number(value: object, path: str = "") -> Number:
    """``value`` as a plain int or float; what has no notation is refused."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise GramEncodeError(f"expected a number, found {_kind(value)}", path)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise GramEncodeError(f"{value!r} has no notation", path)
        return float(_plain(value))
    # 3.32 bits a digit: only integers near Python's own limit are measured exactly.
    if value.bit_length() > 3.3 * _MAX_DIGITS and abs(value) >= 10**_MAX_DIGITS:
        raise GramEncodeError(f"an integer has at most {_MAX_DIGITS} digits", path)
    return int(_plain(value))


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__

"""JSON inside the notation: what a property says as JSON, and how JSON is written as a property.

Strings, numbers, booleans, arrays of scalars and maps of scalars stand for themselves; every
other JSON value is a string tagged ``json``. `Keywords` keeps JSON immutable.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from attrs import field, frozen
from pyrsistent import PMap, PVector

from gram import GramError, Measurement, Range, Symbol, TaggedString, Value
from gram.serializer import write_number, write_value
from gram.values import freeze

JSON_TAG = "json"
MAX_JSON_LEVELS = 200
"""How deep a JSON value may nest; what lies below could exhaust Python's stack."""

_ALWAYS_JSON = frozenset({int, bool, type(None)})
"""Types whose every value is JSON; long arrays are mostly made of them."""

_MAX_NUMBER = 24  # characters: longer numbers are beyond what other gram parsers hold


class NotJson(GramError, ValueError):  # noqa: N818  # it is caught here and told as a Fault
    """A value that JSON does not have; its text says which."""


def to_json_value(value: Value) -> Any:
    """The JSON value that a property's value stands for.

    Raises:
        NotJson: it is a measurement, a range or a string with another tag, or the text tagged
            ``json`` is not JSON.

    >>> to_json_value(TaggedString("json", "[null]"))
    [None]
    """
    match value:
        case str() | bool() | int() | float():
            return value
        case Symbol(word):
            return word
        case TaggedString("json", content):
            return parse_json(content)
        case PVector():
            return [to_json_value(item) for item in value]
        case PMap():
            return {key: to_json_value(value[key]) for key in sorted(value)}
        case Measurement():
            kind = "measurement"
        case Range():
            kind = "range"
        case _:
            kind = "tagged string"
    raise NotJson(f"a {kind} ({write_value(value)}) is not a JSON value; quote it")


def parse_json(text: str) -> Any:
    """The value of a text tagged ``json``.

    Raises:
        NotJson: the text is not JSON, or nests too deep.
    """
    try:
        value = json.loads(text, parse_constant=_reject_constant)
        check_json(value)
    except json.JSONDecodeError as error:
        raise NotJson(f"json`…` is not JSON: {error.msg} at char {error.pos}") from None
    except RecursionError:
        raise NotJson(f"json`…` nests deeper than {MAX_JSON_LEVELS} levels") from None
    except ValueError as error:  # a number that is none, or of thousands of digits
        raise NotJson(f"json`…` is not JSON: {error}") from None
    return value


def _reject_constant(word: str) -> NoReturn:
    raise NotJson(f"{word} is not a JSON value")


def check_json(value: object) -> None:
    """Refuse what JSON, or UTF-8, cannot carry.

    Raises:
        NotJson: with the path to it.
    """
    pending: list[tuple[object, str, int]] = [(value, "$", 0)]
    while pending:
        item, path, level = pending.pop()
        if level == MAX_JSON_LEVELS and isinstance(item, dict | list | tuple):
            raise NotJson(f"nests deeper than {MAX_JSON_LEVELS} levels")
        if isinstance(item, dict):
            for key, below in item.items():
                if not isinstance(key, str):
                    raise NotJson(f"{path}: a key is a string, found {key!r}")
                _check_text(key, path)
                pending.append((below, f"{path}.{key}", level + 1))
        elif isinstance(item, list | tuple):
            pending.extend(
                (below, f"{path}[{i}]", level + 1)
                for i, below in enumerate(item)
                if type(below) not in _ALWAYS_JSON
            )
        elif isinstance(item, str):
            _check_text(item, path)
        elif item is not None and not isinstance(item, bool | int | float):
            raise NotJson(f"{path}: {type(item).__name__} is not a JSON value")
        elif isinstance(item, float) and item - item != 0:
            raise NotJson(f"{path}: {item!r} is not a JSON value")


def json_levels(value: object) -> int:
    """How many arrays and objects nest in a JSON value: 0 for a scalar."""
    if isinstance(value, dict):
        return 1 + max(map(json_levels, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(json_levels, value), default=0)
    return 0


def _check_text(text: str, path: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise NotJson(f"{path}: lone surrogate") from None


def from_json_value(value: object) -> Value:
    """The property value that stands for a JSON value, as the notation can best write it.

    >>> from_json_value([1, 2]), from_json_value(None)
    (pvector([1, 2]), TaggedString(tag='json', content='null'))
    """
    match value:
        case list():
            plain = bool(value) and all(map(_is_scalar, value))
        case dict():
            plain = all(_is_key(key) and _is_scalar(item) for key, item in value.items())
        case _:
            plain = _is_scalar(value)
    return freeze(value) if plain else json_literal(value)


def json_literal(value: object) -> TaggedString:
    """A JSON value as a string tagged ``json``."""
    return TaggedString(JSON_TAG, dump_json(value))


def dump_json(value: object, *, compact: bool = False) -> str:
    """JSON text on one line that keeps the order of keys, without blanks if asked.

    Raises:
        NotJson: an integer has too many digits to be written.
    """
    try:
        separators = (",", ":") if compact else (", ", ": ")
        return json.dumps(value, ensure_ascii=False, separators=separators, allow_nan=False)
    except ValueError as error:
        raise NotJson(str(error)) from None


def _is_scalar(value: object) -> bool:
    if isinstance(value, str):
        return "\0" not in value
    if isinstance(value, bool):
        return True
    if isinstance(value, int) and abs(value) >= 10**_MAX_NUMBER:
        return False
    return isinstance(value, int | float) and len(write_number(value)) <= _MAX_NUMBER


def _is_key(key: str) -> bool:
    return bool(key) and "\0" not in key


@frozen(eq=False, repr=False)
class Keywords(Mapping[str, Any]):
    """Immutable JSON by key: what is taken out is a fresh copy, and equality is exact.

    >>> keywords = Keywords.of({"enum": ["c", "f"]})
    >>> keywords["enum"].append("k")
    >>> keywords["enum"]
    ['c', 'f']
    """

    _texts: dict[str, str] = field(factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Keywords:
        """Keywords with the given JSON values.

        Raises:
            NotJson: a value is not JSON.
        """
        return cls({key: dump_json(value) for key, value in values.items()})

    def __getitem__(self, key: str) -> Any:
        return json.loads(self._texts[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def without(self, *keys: str) -> Keywords:
        """These keywords but for some."""
        return Keywords({key: text for key, text in self._texts.items() if key not in keys})

    def only(self, *keys: str) -> Keywords:
        """Some of these keywords."""
        return Keywords({key: text for key, text in self._texts.items() if key in keys})

    def _exact(self) -> frozenset[tuple[str, str]]:
        """Type-exact, and the same whatever the order of keys."""
        return frozenset((key, json.dumps(self[key], sort_keys=True)) for key in self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keywords) and self._exact() == other._exact()

    def __hash__(self) -> int:
        return hash(self._exact())

    def __repr__(self) -> str:
        return f"Keywords.of({dict(self)!r})"

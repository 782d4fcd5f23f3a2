"""How the attributes of classes are written as properties of patterns, and read back: by tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

from attrs import NOTHING, Factory, asdict, fields
from pyrsistent import PMap, pmap

from gram import GramEncodeError, Symbol, Value
from lenses_ext import Model

from ...errors import ValidationError
from ...json_text import write_json
from ...machine import Limits, Usage
from .pattern_parts import Reader, write_json_text, write_json_value, write_text


class Kind(NamedTuple):
    """How values of one kind are written as a property, and read back.

    Attributes:
        write: makes the value of a property.
        read: reads the property of a name.
        default: what is left out; `NOTHING` where the class says it.
    """

    write: Callable[[Any], Any]
    read: Callable[[Reader, str], Any]
    default: Any = NOTHING


class Form:
    """How some attributes of a class are written as properties; one at its default is left out.

    Args:
        made: the class.
        keys: the names of the properties of attributes that are not their own.
        **kinds: the kind of each attribute.
    """

    def __init__(self, made: type, keys: Mapping[str, str] = {}, **kinds: Kind) -> None:
        defaults = {each.name: each.default for each in fields(made)}
        self._parts = [
            (name, keys.get(name, name), kind, kind.default)
            if kind.default is not NOTHING
            else (name, keys.get(name, name), kind, defaults[name])
            for name, kind in kinds.items()
        ]
        self.keys: Final = tuple(key for _, key, _, _ in self._parts)

    def write(self, value: Any) -> dict[str, Any]:
        """The properties of a value."""
        given = ((getattr(value, name), *others) for name, *others in self._parts)
        return {key: kind.write(each) for each, key, kind, default in given if each != default}

    def read(self, read: Reader) -> dict[str, Any]:
        """The attributes that `write` wrote, to make the value of."""
        return {
            name: kind.read(read, key)
            for name, key, kind, default in self._parts
            if read.has(key) or kind.default is not NOTHING or _is_required(default)
        }


def _is_required(default: Any) -> bool:
    return default is NOTHING or isinstance(default, Factory)  # type: ignore[arg-type]  # a class


_NONE: Final = Symbol("none")
"""What stands for None among limits and settings."""


def _write_map(given: Mapping[str, Any]) -> Value:
    return pmap({key: _NONE if value is None else value for key, value in given.items()})


def _read_map(read: Reader, key: str) -> dict[str, Any]:
    value = read.properties[key]
    if not isinstance(value, PMap):
        read.refuse("ill-typed", f"{key} of {read.label} must be a map", key)
    return {str(name): None if each == _NONE else each for name, each in value.items()}


def _read_limits(read: Reader, key: str) -> Limits:
    try:
        return Limits(**_read_map(read, key))
    except (ValidationError, TypeError) as error:
        read.refuse("ill-typed", f"limits: {error}", key)


def _read_usage(read: Reader, key: str) -> Usage:
    counts = _read_map(read, key)
    known = {each.name for each in fields(Usage)}
    if not set(counts) <= known or any(type(count) is not int for count in counts.values()):
        read.refuse("ill-typed", f"{key} of {read.label} must have whole numbers of tokens", key)
    return Usage(**counts)


def _read_model(read: Reader, key: str) -> Model:
    try:
        return Model.parse(read.text(key))
    except GramEncodeError as error:
        read.refuse("ill-typed", str(error), key)


def _write_tried(tried: tuple[tuple[Model, str], ...]) -> Value:
    return write_json_value(write_json({str(model): why for model, why in tried}))


def _read_tried(read: Reader, key: str) -> tuple[tuple[Model, str], ...]:
    tried = read.json_value(key).value
    if not isinstance(tried, dict):
        read.refuse("ill-typed", f"{key} must be a JSON object of models and reasons", key)
    try:
        return tuple((Model.parse(model), str(why)) for model, why in tried.items())
    except GramEncodeError as error:
        read.refuse("ill-typed", str(error), key)


def _read_amount(read: Reader, key: str) -> Decimal:
    try:
        amount = Decimal(read.text(key))
    except ArithmeticError:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        read.refuse("ill-typed", f"{key} of {read.label} must be an amount of US dollars", key)
    return amount


def _read_time(read: Reader, key: str) -> datetime:
    text = read.text(key)
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    except ValueError:
        read.refuse("ill-typed", f"{key} of {read.label} must be a time, found {text}", key)


TEXT: Final = Kind(write_text, Reader.text)
WORDS: Final = Kind(write_text, lambda read, key: read.text(key, ""), "")
"""A text that is left out when it is empty."""
NAME: Final = Kind(write_text, Reader.name)
FLAG: Final = Kind(bool, Reader.flag)
NUMBER: Final = Kind(int, Reader.number)
SECONDS: Final = Kind(lambda each: round(each, 6), lambda read, key: read.seconds(key) or 0.0)
AT: Final = Kind(tuple, Reader.position, ())
TIME: Final = Kind(lambda each: each.isoformat(timespec="milliseconds"), _read_time)
JSON_TEXT: Final = Kind(write_json_text, Reader.json_text)
"""A text that is JSON, or should be."""
JSON: Final = Kind(write_json_text, Reader.checked_json)
MODEL: Final = Kind(str, _read_model)
TRIED: Final = Kind(_write_tried, _read_tried)
AMOUNT: Final = Kind(str, _read_amount)
"""An amount of money, written as a text: exactly."""
USAGE: Final = Kind(lambda each: pmap(each.details()), _read_usage)
LIMITS: Final = Kind(lambda each: _write_map(asdict(each)), _read_limits)
SETTINGS: Final = Kind(_write_map, lambda read, key: pmap(_read_map(read, key)))

"""How the texts, JSON values and attributes of runs are written as properties, and read strictly.

A text is a plain string if possible. UTF-8 cannot encode lone surrogates, and other gram parsers
stop at U+0000: a text with such characters is a string tagged ``escaped``, in which each of them
(and each backslash) is ``\\u`` and four hexadecimal digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

from attrs import NOTHING, Factory, asdict, fields
from pyrsistent import PMap, PVector, pmap, pvector

from gram import Diagnostic, GramError, Pattern, Subject, Symbol, TaggedString, Value, write_pattern
from gram.words import did_you_mean
from gram.writing import ONE_LINE
from lenses_ext import Model

from ...errors import ValidationError
from ...json_text import Json, JsonText, read_json, write_json
from ...machine import At, Limits, Usage

T = TypeVar("T")

_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_TO_ESCAPE = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})", re.ASCII)


def write_text(text: str) -> Value:
    """Write a text as the value of a property.

    >>> write_text("a"), write_text("a\\0")
    ('a', TaggedString(tag='escaped', content='a\\\\u0000'))
    """
    if not _UNWRITABLE.search(text):
        return text
    escaped = _TO_ESCAPE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return TaggedString("escaped", escaped)


def write_json_text(text: str) -> Value:
    """Write a text that is JSON, or should be: unchanged, in a string tagged ``json``."""
    found = write_text(text)
    return TaggedString("json", text) if found == text else found


def write_json_value(text: JsonText) -> Value:
    """Write a JSON value: a string as a plain string, any other value tagged ``json``."""
    return write_text(text.value) if text.startswith('"') else write_json_text(str(text))


class Reader:
    """Reads the properties of one pattern of a run; its errors have the place in the text.

    Raises:
        ValidationError: the pattern has another label, or a property with another name.
    """

    def __init__(self, pattern: Pattern, label: str, keys: Collection[str] = ()) -> None:
        self.pattern = pattern
        self.label = label
        expect_one_of([label], pattern)
        self.properties = dict(pattern.value.properties.items())
        if unknown := sorted(self.properties.keys() - set(keys)):
            key, hint = unknown[0], did_you_mean(unknown[0], tuple(keys))
            self.refuse("unknown-property", f"{label} has no property {key}", key, hint)

    def has(self, key: str) -> bool:
        """Whether the pattern has a property."""
        return key in self.properties

    def text(self, key: str, default: str | None = None) -> str:
        """The text of a property; the property is required if there is no default."""
        match self.properties.get(key, default):
            case None:
                self.refuse(f"missing-{key}", f"{self.label} has no {key}")
            case str() as text:
                return text
            case TaggedString("escaped", content):
                return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), content)
        self.refuse("ill-typed", f"{key} of {self.label} must be a string", key)

    def name(self, key: str = "name") -> str:
        """The text of a property that is the name of a tool, so it is not empty."""
        if name := self.text(key):
            return name
        self.refuse("empty-name", f"the {key} of {self.label} is empty", key)

    def json_text(self, key: str) -> str:
        """The text of a property that is JSON, or should be."""
        match self.properties.get(key):
            case TaggedString("json", content):
                return content
        return self.text(key)

    def json_value(self, key: str) -> JsonText:
        """The JSON text of a property that `write_json_value` wrote."""
        match self.properties.get(key):
            case TaggedString("json", content):
                return write_json(self.parsed(content, key))
        return write_json(self.text(key))

    def checked_json(self, key: str) -> str:
        """The text of a property that is JSON."""
        text = self.json_text(key)
        self.parsed(text, key)
        return text

    def parsed(self, text: str, key: str) -> Json:
        """Parse the text of a property as JSON."""
        try:
            return read_json(text)
        except ValueError as error:
            self.refuse("not-json", f"{key} of {self.label} is not JSON: {error}", key)

    def number(self, key: str) -> int:
        """A whole number, or 0 if the property is missing."""
        return self._typed(key, 0, lambda each: type(each) is int, "a whole number")

    def position(self, key: str = "at") -> At:
        """A position, or that of the whole run if the property is missing."""
        return tuple(self._array(key, _is_part, "whole numbers and names"))

    def seconds(self, key: str = "seconds") -> float | None:
        """A number, such as one of seconds, or None if the property is missing."""
        found = self._typed(key, 0.0, lambda each: type(each) in (int, float), "a number")
        return found if self.has(key) else None

    def flag(self, key: str) -> bool:
        """A boolean, or false if the property is missing."""
        return self._typed(key, False, lambda each: type(each) is bool, "true or false")

    def names(self, key: str) -> list[str]:
        """An array of names, which is empty if the property is missing."""
        return list(self._array(key, lambda each: isinstance(each, str), "names"))

    def map(self, key: str) -> dict[str, Any]:
        """A map, in which the symbol ``none`` is None."""
        empty: PMap[str, Value] = pmap()
        found = self._typed(key, empty, lambda each: isinstance(each, PMap), "a map")
        return {name: None if each == _NONE else each for name, each in found.items()}

    def _array(self, key: str, is_part: Callable[[Value], bool], what: str) -> PVector[Any]:
        def is_right(value: Value) -> bool:
            return isinstance(value, PVector) and all(map(is_part, value))

        return self._typed(key, pvector(), is_right, f"an array of {what}")

    def _typed(self, key: str, default: T, is_right: Callable[[Any], bool], what: str) -> T:
        """The value of a property; ``what`` says in words what is right."""
        found: Any = self.properties.get(key, default)
        if not is_right(found):
            self.refuse("ill-typed", f"{key} of {self.label} must be {what}", key)
        return found  # type: ignore[no-any-return]  # it is right

    def made(self, key: str, make: Callable[[Any], T], given: object) -> T:
        """What a function makes of what is given by a property, which it may refuse."""
        try:
            return make(given)
        except (GramError, TypeError, ValueError) as error:
            self.refuse("ill-typed", f"{key} of {self.label}: {error}", key)

    def without_elements(self) -> None:
        """Raise an error if the pattern has elements."""
        for element in self.pattern.elements:
            message = f"{self.label} must not have elements"
            raise ValidationError.of([Diagnostic.of("unexpected-element", message, element)])

    def refuse(
        self, code: str, message: str, part: str | None = None, hint: str | None = None
    ) -> NoReturn:
        """Raise an error about this pattern."""
        raise ValidationError.of([Diagnostic.of(code, message, self.pattern, part, hint=hint)])


def _is_part(value: Value) -> bool:
    return isinstance(value, str) or (type(value) is int and value >= 0)


def expect_one_of(labels: Iterable[str], pattern: Pattern) -> str:
    """The first of some labels that a pattern has."""
    wanted, found = list(labels), sorted(pattern.value.labels)
    for label in wanted:
        if label in found:
            return label
    hint = next(filter(None, (did_you_mean(each, wanted) for each in found)), None)
    message = f"expected {' or '.join(wanted)}, found {', '.join(found) or 'no label'}"
    raise ValidationError.of(
        [Diagnostic.of("unexpected-label", message, pattern, "labels", hint=hint)]
    )


def without_empty(properties: Mapping[str, T | None]) -> dict[str, T]:
    """The properties without those that are None, ``""``, 0, false or empty."""
    return {key: value for key, value in properties.items() if value}


def node(
    label: str, properties: Mapping[str, Any] = {}, elements: Iterable[Pattern] = ()
) -> Pattern:
    """A pattern with a label, and without an identity."""
    return Pattern(Subject("", {label}, properties), elements)


def pattern_line(pattern: Pattern) -> str:
    """The canonical text of a pattern on one line."""
    return write_pattern(pattern, style=lambda _: ONE_LINE)


# --- attributes


class Kind(NamedTuple):
    """How values of one kind are written as a property, and read back; the default is left out."""

    write: Callable[[Any], Any]
    read: Callable[[Reader, str], Any]
    default: Any = NOTHING


_NONE: Final = Symbol("none")
"""What stands for None among limits and settings."""


def _write_map(given: Mapping[str, Any]) -> Value:
    return pmap({key: _NONE if value is None else value for key, value in given.items()})


def _text_of(make: Callable[[str], Any]) -> Callable[[Reader, str], Any]:
    """Reads what a function makes of a text, which it may refuse."""
    return lambda read, key: read.made(key, make, read.text(key))


def _usage(counts: dict[str, Any]) -> Usage:
    known = {each.name for each in fields(Usage)}
    if not known.issuperset(counts) or any(type(count) is not int for count in counts.values()):
        raise ValueError("it must have whole numbers of tokens")
    return Usage(**counts)


def _tried(tried: Json) -> tuple[tuple[Model, str], ...]:
    if not isinstance(tried, dict):
        raise ValueError("it must be a JSON object of models and reasons")
    return tuple((Model.parse(model), str(why)) for model, why in tried.items())


def _amount(text: str) -> Decimal:
    if not re.fullmatch(r"\d+(\.\d+)?(E[+-]?\d+)?", text, re.ASCII):
        raise ValueError("it must be an amount of US dollars")
    return Decimal(text)


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"it must be a time, found {text}") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


WORDS: Final = Kind(write_text, lambda read, key: read.text(key, ""), "")
"""A text that is left out when it is empty."""
FLAG: Final = Kind(bool, Reader.flag)
SECONDS: Final = Kind(lambda each: round(each, 6), lambda read, key: read.seconds(key) or 0.0)
TIME: Final = Kind(lambda each: each.isoformat(timespec="milliseconds"), _text_of(_time))

_KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("allowed", "check_results", "is_text", "is_typed", "refused"), FLAG),
    **dict.fromkeys(("truncated", "unfinished"), FLAG),
    **dict.fromkeys(("content", "error", "finish_reason", "id", "reason", "reasoning"), WORDS),
    **dict.fromkeys(("agent_name", "served_model", "server"), WORDS),
    **dict.fromkeys(("call_id", "speaker", "summary", "tool_name"), Kind(write_text, Reader.text)),
    **dict.fromkeys((each.name for each in fields(Usage)), Kind(int, Reader.number)),
    **dict.fromkeys(("seconds", "wait"), SECONDS),
    **dict.fromkeys(("arguments", "echo"), Kind(write_json_text, Reader.json_text)),
    **dict.fromkeys(("cost", "expected"), Kind(str, _text_of(_amount))),  # exactly
    "args_text": Kind(write_json_value, Reader.json_value),
    "at": Kind(tuple, Reader.position, ()),
    "limits": Kind(
        lambda each: _write_map(asdict(each)),
        lambda read, key: read.made(key, lambda given: Limits(**given), read.map(key)),
    ),
    "model": Kind(str, _text_of(Model.parse)),
    "name": Kind(write_text, Reader.name),
    "result": Kind(write_json_text, Reader.checked_json),
    "settings": Kind(_write_map, lambda read, key: pmap(read.map(key))),
    "time": TIME,
    "tried": Kind(
        lambda each: write_json_value(write_json({str(model): why for model, why in each})),
        lambda read, key: read.made(key, _tried, read.json_value(key).value),
    ),
    "usage": Kind(
        lambda each: pmap(each.details()), lambda read, key: read.made(key, _usage, read.map(key))
    ),
}
"""How the attributes of events, notes, messages and responses are written, by their names."""

_KEYS: Final = {
    "agent_name": "agent",
    "args_text": "args",
    "finish_reason": "finish",
    "is_text": "text",
    "is_typed": "typed",
    "served_model": "served",
    "tool_name": "tool",
}
"""The names of properties that are not those of their attributes."""


def _key_of(name: str) -> str:
    first, *others = name.split("_")
    return _KEYS.get(name, first + "".join(map(str.title, others)))


class Form:
    """How the attributes of a class are written as properties, without some."""

    def __init__(self, made: type, without: Collection[str] = ()) -> None:
        self._made = made
        self._parts = [
            (each.alias, each.name, _key_of(each.name), _KINDS[each.name], each.default)
            for each in fields(made)
            if each.name in _KINDS and each.name not in without
        ]
        self.keys: Final = tuple(key for _, _, key, _, _ in self._parts)

    def write(self, value: Any) -> dict[str, Any]:
        """The properties of a value."""
        found = {}
        for _, name, key, kind, default in self._parts:
            given = getattr(value, name)
            if given != (default if kind.default is NOTHING else kind.default):
                found[key] = kind.write(given)
        return found

    def read(self, read: Reader) -> dict[str, Any]:
        """The attributes that `write` wrote, to make the value of."""
        return {
            alias: kind.read(read, key)
            for alias, _, key, kind, default in self._parts
            if read.has(key) or default is NOTHING or isinstance(default, Factory)  # type: ignore[arg-type]  # a class
        }

    def made(self, pattern: Pattern) -> Any:
        """The value of a pattern that has its class as the label, and no elements."""
        read = Reader(pattern, self._made.__name__, self.keys)
        read.without_elements()
        return self._made(**self.read(read))

"""Writes the texts and JSON values of runs as properties, and reads them back strictly.

A text is a plain string if possible. UTF-8 cannot encode lone surrogates, and other gram parsers
stop at U+0000: a text with such characters is a string tagged ``escaped``, in which each of them
(and each backslash) is ``\\u`` and four hexadecimal digits. So every text can be written, in
exactly one way.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NoReturn, TypeGuard, TypeVar

from pyrsistent import PVector, pvector

from gram import Diagnostic, Pattern, Subject, TaggedString, Value, write_pattern
from gram.words import did_you_mean
from gram.writing import ONE_LINE, Spelling

from ...errors import ValidationError
from ...json_text import Json, JsonText, read_json, write_json
from ...machine import At

T = TypeVar("T")

ESCAPED = "escaped"
JSON = "json"

_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_TO_ESCAPE = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})", re.ASCII)


def write_text(text: str) -> Value:
    """Write a text as the value of a property.

    >>> write_text("a"), write_text("a\\0")
    ('a', TaggedString(tag='escaped', content='a\\\\u0000'))
    """
    if is_writable(text):
        return text
    escaped = _TO_ESCAPE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return TaggedString(ESCAPED, escaped)


def is_writable(text: str) -> bool:
    """Whether the notation can hold a text as it is."""
    if text.isascii():
        return "\0" not in text
    return not _UNWRITABLE.search(text)


def write_json_text(text: str) -> Value:
    """Write a text that is JSON, or should be: unchanged, in a string tagged ``json``."""
    return TaggedString(JSON, text) if is_writable(text) else write_text(text)


def write_json_value(text: JsonText) -> Value:
    """Write a JSON value: a string as a plain string, any other value tagged ``json``."""
    return write_text(text.value) if text.startswith('"') else write_json_text(str(text))


class Reader:
    """Reads the properties of one pattern of a run; its errors have the place in the text.

    Args:
        pattern: the pattern to read.
        label: the label that it must have.
        keys: the names of the properties that it may have.

    Attributes:
        properties: the properties of the pattern.

    Raises:
        ValidationError: the pattern has another label, or a property with another name.
    """

    def __init__(self, pattern: Pattern, label: str, keys: Collection[str] = ()) -> None:
        self.pattern = pattern
        self.label = label
        if label not in pattern.value.labels:
            expect_one_of([label], pattern)
        self.properties = dict(pattern.value.properties.items())
        if unknown := sorted(self.properties.keys() - set(keys)):
            key, hint = unknown[0], did_you_mean(unknown[0], tuple(keys))
            self.refuse("unknown-property", f"{label} has no property {key}", key, hint)

    def text(self, key: str, default: str | None = None) -> str:
        """The text of a property; the property is required if there is no default."""
        value = self.properties.get(key, default)
        match value:
            case None:
                self.refuse(f"missing-{key}", f"{self.label} has no {key}")
            case str():
                return value
            case TaggedString("escaped", content):
                return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), content)
        self.refuse("ill-typed", f"{key} of {self.label} must be a string", key)

    def name(self, key: str = "name") -> str:
        """The text of a property that is the name of a tool, so it is not empty."""
        name = self.text(key)
        if not name:
            self.refuse("empty-name", f"the {key} of {self.label} is empty", key)
        return name

    def json_text(self, key: str) -> str:
        """The text of a property that is JSON, or should be."""
        value = self.properties.get(key)
        if isinstance(value, TaggedString) and value.tag == JSON:
            return value.content
        return self.text(key)

    def json_value(self, key: str) -> JsonText:
        """The JSON text of a property that `write_json_value` wrote."""
        text = self.json_text(key)
        value = self.properties[key]
        tagged = isinstance(value, TaggedString) and value.tag == JSON
        return write_json(self.parsed(text, key) if tagged else text)

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
        value = self.properties.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse("ill-typed", f"{key} of {self.label} must be a whole number", key)
        return value

    def position(self, key: str = "at") -> At:
        """A position, or that of the whole run if the property is missing."""
        value = self.properties.get(key, pvector())
        if isinstance(value, PVector):
            found = tuple(each for each in value if _is_part(each))
            if len(found) == len(value):
                return found
        message = f"{key} of {self.label} must be an array of whole numbers and names"
        self.refuse("ill-typed", message, key)

    def seconds(self, key: str = "seconds") -> float | None:
        """A number, such as one of seconds, or None if the property is missing."""
        value = self.properties.get(key)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        self.refuse("ill-typed", f"{key} of {self.label} must be a number", key)

    def flag(self, key: str) -> bool:
        """A boolean, or false if the property is missing."""
        value = self.properties.get(key, False)
        if not isinstance(value, bool):
            self.refuse("ill-typed", f"{key} of {self.label} must be true or false", key)
        return value

    def names(self, key: str) -> list[str]:
        """An array of names, which is empty if the property is missing."""
        value = self.properties.get(key, pvector())
        if not isinstance(value, PVector) or not all(isinstance(each, str) for each in value):
            self.refuse("ill-typed", f"{key} of {self.label} must be an array of names", key)
        return [str(each) for each in value]

    def has(self, key: str) -> bool:
        """Whether the pattern has a property."""
        return key in self.properties

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


def _is_part(value: Value) -> TypeGuard[int | str]:
    return isinstance(value, str) or (type(value) is int and value >= 0)


def expect_one_of(labels: Iterable[str], pattern: Pattern) -> str:
    """The first of some labels that a pattern has.

    Raises:
        ValidationError: the pattern has none of the labels.
    """
    wanted = list(labels)
    for label in wanted:
        if label in pattern.value.labels:
            return label
    found = ", ".join(sorted(pattern.value.labels)) or "no label"
    hints = (did_you_mean(each, wanted) for each in sorted(pattern.value.labels))
    hint = next(filter(None, hints), None)
    message = f"expected {' or '.join(wanted)}, found {found}"
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
    return write_pattern(pattern, style=_on_one_line)


def _on_one_line(_: tuple[Pattern, ...]) -> Spelling:
    return ONE_LINE

"""The parts of which runs are written as patterns: their texts, and reading them back strictly.

A text is a string wherever the notation has it as one. Lone surrogates, which UTF-8 cannot carry,
and U+0000, at which other gram parsers stop, are written in a string tagged ``escaped``, where each
of them (and each backslash) stands as ``\\uXXXX``. So every text has a notation, and one only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NoReturn

from gram import Pattern, TaggedString, Value
from gram.faults import fault
from gram.near import did_you_mean

from .errors import ValidationError
from .json_text import Json, read_json, write_json

ESCAPED = "escaped"
JSON = "json"

_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_TO_ESCAPE = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})", re.ASCII)


def write_text(text: str) -> Value:
    """A text as a property's value.

    >>> write_text("a"), write_text("a\\0")
    ('a', TaggedString(tag='escaped', content='a\\\\u0000'))
    """
    if not _UNWRITABLE.search(text):
        return text
    escaped = _TO_ESCAPE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return TaggedString(ESCAPED, escaped)


def write_json_text(text: str) -> Value:
    """A text that is JSON, or was meant to be: tagged ``json`` and otherwise as it is."""
    return write_text(text) if _UNWRITABLE.search(text) else TaggedString(JSON, text)


def write_json_value(value: Json) -> Value:
    """A JSON value: a text as a string, any other tagged ``json``."""
    return write_text(value) if isinstance(value, str) else write_json_text(write_json(value))


class Reader:
    """Reads one pattern of a run, and says of what is wrong where it stands.

    Args:
        pattern: what is read.
        label: the label it has to carry.
        keys: the properties it may have.

    Raises:
        ValidationError: it has another label, or a property of another name.
    """

    def __init__(self, pattern: Pattern, label: str, keys: Iterable[str] = ()) -> None:
        self.pattern = pattern
        self.label = label
        expect_one_of([label], pattern)
        known = tuple(keys)
        for key in sorted(pattern.value.properties):
            if key not in known:
                hint = did_you_mean(key, known)
                self.refuse("unknown-property", f"{label} has no property {key}", key, hint)

    def text(self, key: str, default: str | None = None) -> str:
        """The text of a property; without a default it has to be there."""
        value = self.pattern.value.properties.get(key, default)
        match value:
            case None:
                self.refuse(f"missing-{key}", f"{self.label} has no {key}")
            case str():
                return value
            case TaggedString("escaped", content):
                return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), content)
        self.refuse("ill-typed", f"{key} of {self.label} is a string", key)

    def json_text(self, key: str) -> str:
        """The text of a property that is JSON, or was meant to be."""
        value = self.pattern.value.properties.get(key)
        if isinstance(value, TaggedString) and value.tag == JSON:
            return value.content
        return self.text(key)

    def json_value(self, key: str) -> Json:
        """The JSON value of a property, as `write_json_value` writes it."""
        text = self.json_text(key)
        value = self.pattern.value.properties[key]
        tagged = isinstance(value, TaggedString) and value.tag == JSON
        return self.parsed(text, key) if tagged else text

    def parsed(self, text: str, key: str) -> Json:
        """The JSON that the text of a property says."""
        try:
            return read_json(text)
        except ValueError as error:
            self.refuse("not-json", f"{key} of {self.label} is not JSON: {error}", key)

    def number(self, key: str) -> int:
        """A whole number, 0 where it is not written."""
        value = self.pattern.value.properties.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse("ill-typed", f"{key} of {self.label} is a whole number", key)
        return value

    def flag(self, key: str) -> bool:
        """A boolean, false where it is not written."""
        value = self.pattern.value.properties.get(key, False)
        if not isinstance(value, bool):
            self.refuse("ill-typed", f"{key} of {self.label} is true or false", key)
        return value

    def has(self, key: str) -> bool:
        """Whether a property is written."""
        return key in self.pattern.value.properties

    def without_elements(self) -> None:
        """Refuse elements where none belong."""
        for element in self.pattern.elements:
            message = f"{self.label} has no elements"
            raise ValidationError.of([fault("unexpected-element", message, element)])

    def refuse(
        self, code: str, message: str, part: str | None = None, hint: str | None = None
    ) -> NoReturn:
        """Raise the error of this pattern."""
        raise ValidationError.of([fault(code, message, self.pattern, part, hint=hint)])


def expect_one_of(labels: Iterable[str], pattern: Pattern) -> str:
    """The one of some labels that a pattern carries.

    Raises:
        ValidationError: it carries none of them.
    """
    wanted = list(labels)
    for label in wanted:
        if label in pattern.value.labels:
            return label
    found = ", ".join(sorted(pattern.value.labels)) or "no label"
    hints = (did_you_mean(each, wanted) for each in sorted(pattern.value.labels))
    hint = next(filter(None, hints), None)
    message = f"expected {' or '.join(wanted)}, found {found}"
    raise ValidationError.of([fault("unexpected-label", message, pattern, "labels", hint=hint)])


def without_empty(properties: Mapping[str, Value | None]) -> dict[str, Value]:
    """Properties but for those that are None, ``""``, 0 or false: what is empty is left out."""
    return {key: value for key, value in properties.items() if value}

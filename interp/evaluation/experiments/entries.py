"""Entries of files: what something says, as the properties of a pattern, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from gram import Pattern, Subject, TaggedString, Value

from ...history.records import Reader, write_text
from ...json_text import write_json
from ..cases import ExpectedCall

T = TypeVar("T")


def entry(label: str, told: Mapping[str, Any], elements: Iterable[Pattern] = ()) -> Pattern:
    """A pattern that says something; equal things are equal texts.

    Args:
        label: its label.
        told: its properties, without those that are None; what is no text, number, true or false
            becomes JSON, but for tagged strings.
        elements: its elements.
    """
    properties = {key: _property(value) for key, value in told.items() if value is not None}
    return Pattern(Subject("", {label}, properties), elements)


def _property(value: Any) -> Value:
    if isinstance(value, str):
        return write_text(value)
    if isinstance(value, bool | int | float | TaggedString):
        return value
    text = json.dumps(value, sort_keys=True, default=_plain)
    return TaggedString("json", write_json(json.loads(text)))


def _plain(value: Any) -> Any:
    if isinstance(value, ExpectedCall):
        return value.to_json()
    return dict(value) if isinstance(value, Mapping) else list(value)


def texts(given: Iterable[str]) -> tuple[str, ...]:
    """Texts as attributes have them, of what JSON or gram says."""
    return tuple(given)


def read_entry(pattern: Pattern, label: str, make: Callable[..., T]) -> T:
    """What `entry` wrote.

    Args:
        pattern: the entry.
        label: the label that it must have.
        make: makes it, of what its properties say.

    Raises:
        ValidationError: it is something else; the fault has its place.
    """
    read = Reader(pattern, label, pattern.value.properties)
    told: dict[str, Any] = {}
    for key, value in read.properties.items():
        if isinstance(value, TaggedString) and value.tag == "json":
            told[key] = read.json_value(key).value
        else:
            told[key] = read.text(key) if isinstance(value, str | TaggedString) else value
    try:
        return make(**told)
    except (LookupError, TypeError, ValueError) as error:
        read.refuse("ill-typed", f"this is no whole {label}: {error.args[0]}")

"""Redacts keys in what is written of runs, so that it can still be read.

Texts lose the keys in them. JSON stays JSON. A label, the name of a property or the key of a map is
replaced too, unless it is a plain word: the notation's own names are plain words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from attrs import evolve, fields, has
from pyrsistent import PMap, PVector, pmap, pvector

from gram import Pattern, Subject, TaggedString, Value, write_value

from ..messages import ConversationContext, Role
from ..redaction import redacted_json, redacted_names, redactor
from .pattern_parts import JSON, Written

Redact: TypeAlias = Callable[[str], str]


def redacted_value(value: Written, redact: Redact) -> Value:
    """A value of a property without keys."""
    match value:
        case str():
            return redact(value)
        case TaggedString(tag, content):
            return TaggedString(
                tag, redacted_json(content, redact) if tag == JSON else redact(content)
            )
        case PMap() | Mapping():
            names = redacted_names(value, redact)
            return pmap({names[key]: redacted_value(each, redact) for key, each in value.items()})
        case PVector() | tuple():
            return pvector(redacted_value(each, redact) for each in value)
    text = write_value(value)  # a number, a symbol, a measurement or a range
    shown = redact(text)
    return value if shown == text else shown


def redacted_pattern(pattern: Pattern, redact: Redact) -> Pattern:
    """A pattern without keys."""
    if redact is str:
        return pattern
    subject = pattern.value
    found = Subject(
        redact(subject.identity),
        redacted_names(subject.labels, redact).values(),
        redacted_value(subject.properties, redact),
    )
    return Pattern(found, [redacted_pattern(each, redact) for each in pattern.elements])


def redacted_context(context: ConversationContext) -> ConversationContext:
    """A conversation without the known keys; the same object if it has none."""
    redact = redactor()
    if redact is str:
        return context
    messages = [_without_keys(message, redact) for message in context]
    return context if messages == list(context) else ConversationContext(messages)


def _without_keys(value: Any, redact: Redact) -> Any:
    """A part of a message without keys in any of its texts."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, tuple):
        return tuple(_without_keys(each, redact) for each in value)
    if has(type(value)) and not isinstance(value, Role):
        parts = {each.name: getattr(value, each.name) for each in fields(type(value))}
        return evolve(value, **{name: _without_keys(part, redact) for name, part in parts.items()})
    return value

"""Redacts keys in what is written of runs, so that it can still be read.

Texts lose the keys in them, and JSON stays JSON. The words of records (labels, names of properties,
statuses, times) are ours and stay; what people, models, tools and programs say is redacted, also
where it is a name. In programs the words of the language stay, see `lenses_ext.WORDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from pyrsistent import PMap, PVector, pmap, pvector

from gram import Pattern, Subject, TaggedString, Value, write_value
from lenses_ext import SETTINGS, WORDS, is_runnable

from ..redaction import (
    REDACTED,
    Kept,
    is_word_of_language,
    redacted_json,
    redacted_names,
)
from .pattern_parts import JSON, Written

Redact: TypeAlias = Callable[[str], str]

_OURS: Final = frozenset(
    {
        *("format", "version", "sha256", "started", "time", "status", "usage", "counted"),
        *("limits", "unlimited", "unset", "otherwise", "checkResults"),
    }
)
"""The properties of records that hold words and numbers of our own alone."""


ASSISTANT: Final = "Assistant"
"""The label of what a model said."""

_BOUNDS: Final = WORDS.difference(("default", "description", "optional", "title"))
"""The properties of a type that say which values are of it."""


def redacted_value(value: Written, redact: Redact, keeps: Kept = is_word_of_language) -> Value:
    """A value of a property without keys."""
    match value:
        case str():
            return redact(value)
        case TaggedString(tag, content):
            return TaggedString(
                tag, redacted_json(content, redact) if tag == JSON else redact(content)
            )
        case PMap() | Mapping():
            names = redacted_names(value, redact, keeps)
            return pmap(
                {names[key]: redacted_value(each, redact, keeps) for key, each in value.items()}
            )
        case PVector() | tuple():
            return pvector(redacted_value(each, redact, keeps) for each in value)
    text = write_value(value)  # a number, a symbol, a measurement or a range
    shown = redact(text)
    return value if shown == text else shown


def redacted_pattern(
    pattern: Pattern, redact: Redact, keeps: Kept = is_word_of_language
) -> Pattern:
    """A pattern without keys, such as a program.

    Args:
        pattern: the pattern.
        redact: replaces the keys in a text.
        keeps: which labels and names of properties stay even if they are keys.
    """
    if redact is str:
        return pattern
    subject = pattern.value
    names = redacted_names(subject.properties, redact, keeps)
    properties = {
        names[key]: clean
        for key, value in subject.properties.items()
        if _may_be(key, value, clean := _redacted_property(key, value, redact, keeps))
    }
    labels = {*redacted_names(subject.labels, redact, keeps).values()}
    if properties.get("default") != subject.properties.get("default"):
        # it fits its type no more, and no value is checked against that again
        labels = {"Any"}
        properties = {key: properties[key] for key in properties if key not in _BOUNDS}
    found = Subject(redact(subject.identity), labels, properties)
    return Pattern(found, [redacted_pattern(each, redact, keeps) for each in pattern.elements])


def _redacted_property(key: str, value: Written, redact: Redact, keeps: Kept) -> Value:
    if key == "model" and isinstance(value, str):
        return redacted_model(value, redact)
    if key == "settings" and isinstance(value, Mapping):
        return redacted_settings(value, redact)
    return redacted_value(value, redact, keeps)


def _may_be(key: str, value: Value, clean: Value) -> bool:
    """Whether a property may be what it is without a key: a bound must be a number, for one."""
    was_number = isinstance(value, int | float) and not isinstance(clean, int | float)
    return not (was_number and key in WORDS and key not in ("default", "const"))


def redacted_model(name: str, redact: Redact) -> str:
    """The name of a model without keys, which still has a provider."""
    clean = redact(name)
    provider, _, model = clean.partition("/")
    return clean if clean == name or (provider and model) else f"{REDACTED}/{REDACTED}"


def redacted_settings(settings: Mapping[str, Any], redact: Redact) -> PMap[str, Value]:
    """Settings without keys; one that cannot be without it is left out."""
    found = {key: redacted_value(each, redact) for key, each in settings.items()}
    return pmap(
        {
            key: each
            for key, each in found.items()
            if each == settings[key] or key not in SETTINGS or SETTINGS[key].allows(each)
        }
    )


def redacted_record(pattern: Pattern, redact: Redact) -> Pattern:
    """A pattern of a record without keys: its own words and numbers stay."""
    if redact is str:
        return pattern
    if is_runnable(pattern):
        return redacted_pattern(pattern, redact)
    subject = pattern.value
    is_reply = ASSISTANT in subject.labels
    properties = redacted_properties(subject.properties, redact, is_reply=is_reply)
    found = Subject(redact(subject.identity), subject.labels, properties)
    return Pattern(found, [redacted_record(each, redact) for each in pattern.elements])


def redacted_properties(
    properties: Mapping[str, Written], redact: Redact, *, is_reply: bool
) -> dict[str, Written]:
    """The properties of a part of a record without keys.

    Args:
        properties: the properties.
        redact: replaces the keys in a text.
        is_reply: whether they are those of what a model said: an answer that is JSON stays JSON.
    """
    found: dict[str, Written] = {}
    for key, value in properties.items():
        if key in _OURS or isinstance(value, int | float):
            found[key] = value
        elif is_reply and key == "content" and isinstance(value, str):
            found[key] = redacted_json(value, redact)
        else:
            found[key] = _redacted_property(key, value, redact, is_word_of_language)
    return found

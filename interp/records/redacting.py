"""Redacts keys in what is written of runs, so that it can still be read.

Texts lose the keys in them. JSON stays JSON. A label, the name of a property or the key of a map is
replaced too, unless it is a plain word: the notation's own names are plain words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from pyrsistent import PMap, PVector, pmap, pvector

from gram import Pattern, Subject, TaggedString, Value, write_value

from ..json_text import parse_json, read_json, write_json
from .pattern_parts import JSON, Written

Redact: TypeAlias = Callable[[str], str]

_PLAIN_WORD: Final = re.compile("[A-Za-z_]+")
_HARD_TO_SEE: Final = re.compile(r"\\[u/]")
"""Escapes that no JSON of ours has, so that a key may be spelled with them in any way."""


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
            names = _redacted_names(value, redact)
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
        _redacted_names(subject.labels, redact).values(),
        redacted_value(subject.properties, redact),
    )
    return Pattern(found, [redacted_pattern(each, redact) for each in pattern.elements])


def redacted_json(text: str, redact: Redact) -> str:
    """A text that is JSON, or should be, without keys; what was JSON still is.

    >>> redacted_json('{"id": 1234567890}', lambda text: text.replace("1234567890", "[redacted]"))
    '{"id":"[redacted]"}'
    """
    if redact is str:
        return text
    shown = redact(text)
    if shown == text and not _HARD_TO_SEE.search(text):
        return text
    try:
        value = parse_json(text)
    except ValueError:
        return shown
    clean = _redacted_json(value, redact)
    return shown if _is_json(shown, clean) else write_json(clean)


def _redacted_json(value: Any, redact: Redact) -> Any:
    match value:
        case str():
            return redact(value)
        case dict():
            names = _redacted_names(value, redact)
            return {names[key]: _redacted_json(each, redact) for key, each in value.items()}
        case list():
            return [_redacted_json(each, redact) for each in value]
    text = json.dumps(value)
    shown = redact(text)
    return value if shown == text else shown


def _is_json(text: str, value: Any) -> bool:
    try:
        return bool(read_json(text) == value)
    except ValueError:
        return False


def _redacted_names(names: Iterable[str], redact: Redact) -> dict[str, str]:
    """Each name and what is written for it; those that would become the same are numbered."""
    found: dict[str, str] = {}
    for name in sorted(names):
        clean = name if _PLAIN_WORD.fullmatch(name) else redact(name)
        is_taken = clean != name and clean in found.values()
        found[name] = f"{clean} {len(found)}" if is_taken else clean
    return found

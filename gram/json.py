"""Trees as JSON and back: the canonical form of the notation's section 5.

A value that JSON has no kind for is an object whose ``type`` names the kind and whose keys are
exactly that kind's. A map that would be taken for one of these is written
``{"type": "map", "entries": {…}}``; every other map is a plain object.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from pyrsistent import PMap, PVector

from . import trees
from .errors import ArgumentError, GramEncodeError, name_of
from .source import GramDecodeError
from .trees import Pattern, Subject

__all__ = ["Json", "value_to_json"]

Json: TypeAlias = Any
"""What the ``json`` module reads and writes."""

_SPECIAL: dict[str, tuple[type[Any], tuple[str, ...]]] = {
    "symbol": (trees.Symbol, ("value",)),
    "tagged": (trees.TaggedString, ("tag", "content")),
    "range": (trees.Range, ("lower", "upper")),
    "measurement": (trees.Measurement, ("unit", "value")),
    "map": (dict, ("entries",)),
}
"""What an object with a ``type`` makes, and its other keys: the attributes of that."""


def to_json(pattern: Pattern | Iterable[Pattern]) -> Json:
    """The canonical JSON of a pattern (a dict), or of several (a list).

    >>> from gram import loads_one
    >>> to_json(loads_one("(a:B {k: 1})"))["subject"]
    {'identity': 'a', 'labels': ['B'], 'properties': {'k': 1}}
    """
    if not isinstance(pattern, Pattern):
        return [to_json(each) for each in trees.patterns_of(pattern, by="to_json")]
    subject = pattern.value
    return {
        "subject": {
            "identity": subject.identity,
            "labels": sorted(subject.labels),
            "properties": _map_to_json(subject.properties),
        },
        "elements": [to_json(element) for element in pattern.elements],
    }


def value_to_json(value: trees.Value | None) -> Json:
    """The canonical JSON of one value."""
    match value:
        case trees.Symbol() | trees.TaggedString() | trees.Range() | trees.Measurement():
            kind, names = next(
                (k, names) for k, (made, names) in _SPECIAL.items() if isinstance(value, made)
            )
            return {"type": kind} | {name: value_to_json(getattr(value, name)) for name in names}
        case PVector():
            return [value_to_json(item) for item in value]
        case PMap():
            plain = _map_to_json(value)
            return {"type": "map", "entries": plain} if _kind(plain) else plain
        case str() | int() | float() | None:
            return value
    raise ArgumentError(f"value_to_json: value must be a value, got {type(value).__name__}")


def _map_to_json(entries: PMap[str, trees.Value]) -> dict[str, Json]:
    return {key: value_to_json(value) for key, value in sorted(entries.items())}


def from_json(data: Json) -> Any:
    """The pattern of a canonical JSON object, or the tuple of patterns of an array.

    Raises:
        ArgumentError: the data is of a type that the ``json`` module does not read.
        GramDecodeError: the data is not the canonical form; the message has the path.
    """
    if not isinstance(data, dict | list | tuple | str | int | float | None):
        raise ArgumentError(f"from_json: data must be JSON, got {name_of(data)}")
    try:
        if isinstance(data, list):
            return tuple(_pattern(item, f"$[{index}]") for index, item in enumerate(data))
        return _pattern(data, "$")
    except GramEncodeError as error:
        raise GramDecodeError(str(error)) from None
    except RecursionError:
        raise GramDecodeError("nests too deep to be read") from None


def _pattern(data: Json, path: str) -> Pattern:
    subject, elements = _fields(data, path, "subject", "elements")
    at = f"{path}.subject"
    identity, labels, properties = _fields(subject, at, "identity", "labels", "properties")
    _expect(identity, str, "a string", f"{at}.identity")
    _expect(labels, list, "an array of strings", f"{at}.labels")
    for index, label in enumerate(labels):
        _expect(label, str, "a string", f"{at}.labels[{index}]")
    _expect(properties, dict, "an object", f"{at}.properties")
    _expect(elements, list, "an array", f"{path}.elements")
    values = {key: _value(item, f"{at}.properties.{key}") for key, item in properties.items()}
    below = [_pattern(item, f"{path}.elements[{i}]") for i, item in enumerate(elements)]
    with _at(path):
        return Pattern(Subject(identity, labels, values), below)


def _value(data: Json, path: str) -> object:
    if data is None:
        raise GramDecodeError(f"{path}: null is not a value")
    if isinstance(data, list):
        return [_value(item, f"{path}[{index}]") for index, item in enumerate(data)]
    if not isinstance(data, dict):
        _expect(data, (str, int, float), "a value", path)
        return data
    with _at(path):
        kind = _kind(data)
        if kind == "map":
            data, path = data["entries"], f"{path}.entries"
            _expect(data, dict, "an object", path)
        elif kind is not None:
            make, names = _SPECIAL[kind]
            read = _bound if make is trees.Range else lambda part, _: part
            return make(**{name: read(data[name], path) for name in names})
    return {key: _value(item, f"{path}.{key}") for key, item in data.items()}


def _bound(data: Json, path: str) -> trees.Bound | None:
    bound = None if data is None else _value(data, path)
    if bound is not None and not isinstance(bound, int | float | trees.Measurement):
        raise GramDecodeError(f"{path}: an end of a range is a number, a measurement or null")
    return bound


def _kind(data: Mapping[str, object]) -> str | None:
    """The special form that an object has: its ``type`` names one, and it has exactly its keys."""
    kind = data.get("type")
    if isinstance(kind, str) and kind in _SPECIAL and {"type", *_SPECIAL[kind][1]} == set(data):
        return kind
    return None


def _fields(data: Json, path: str, *names: str) -> list[Json]:
    _expect(data, dict, "an object", path)
    if missing := [name for name in names if name not in data]:
        raise GramDecodeError(f"{path}: missing {', '.join(map(repr, missing))}")
    if unknown := [key for key in data if key not in names]:
        raise GramDecodeError(
            f"{path}: unknown {', '.join(map(repr, unknown))}; known: {', '.join(names)}"
        )
    return [data[name] for name in names]


def _expect(data: Json, kind: type | tuple[type, ...], what: str, path: str) -> None:
    if not isinstance(data, kind):
        found = "null" if data is None else type(data).__name__
        raise GramDecodeError(f"{path}: expected {what}, found {found}")


@contextmanager
def _at(path: str) -> Iterator[None]:
    try:
        yield
    except GramEncodeError as error:
        raise GramDecodeError(f"{path}: {error}") from None


def json_schema() -> dict[str, Any]:
    """The JSON Schema of what `gram.to_json` writes: a pattern, or an array of patterns.

    What a schema cannot say is left to `gram.from_json`: that a tree nests 100 levels at the most,
    that a string holds no lone surrogate, that a number can be held.

    >>> json_schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    text = Path(__file__).with_name("json_schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema

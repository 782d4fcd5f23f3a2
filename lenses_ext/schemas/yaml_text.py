"""YAML as JSON values: the core schema of YAML 1.2, and nothing that could do harm.

A document that is too deep is refused before anything is built of it. There are no tags but those
of JSON, dates and words such as ``yes`` are texts, and what aliases repeat is counted each time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from .json_values import MAX_JSON_LEVELS

Json: TypeAlias = Any
"""A value of JSON."""

_MOST: Final = 50_000_000
_VALUE: Final = 8
"""What a value counts beside its characters."""
_MERGE: Final = "<<"
_NULL: Final = {"", "~", "null", "Null", "NULL"}
_BOOLEANS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,300}|0o[0-7]{1,300}|0x[0-9a-fA-F]{1,300}")
_NUMBER: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_PLAIN: Final = "plain"
"""The tag of what is neither quoted nor tagged."""
_OF_JSON: Final = {
    f"tag:yaml.org,2002:{each}" for each in ("str", "int", "float", "bool", "null", "map", "seq")
} | {_PLAIN}


class MissingYamlError(Exception):
    """The package that reads YAML is not installed."""


def read_yaml(text: str) -> Json:
    """The value of a YAML text.

    Raises:
        MissingYamlError: the package is missing.
        ValueError: it is not YAML, or says what JSON has not; with the line and column.
    """
    if find_spec("yaml") is None:
        raise MissingYamlError
    import yaml  # imported late: JSON needs none

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {None: [(_PLAIN, re.compile(""))]}
    loader = type("_Loader", (base,), {"yaml_implicit_resolvers": resolvers})
    try:
        _expect_flat(yaml.parse(text, Loader=base))
        node = yaml.compose(text, Loader=loader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ValueError(f"line {line}: {error.reason}") from None
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"{_at(error.problem_mark)}{error.problem}") from None
    return None if node is None else _Reader().read(node)[0]


def _expect_flat(events: Iterable[Any]) -> None:
    """Refuse what is too deep, and a second document."""
    depth = documents = 0
    for event in events:
        kind = type(event).__name__
        documents += kind == "DocumentStartEvent"
        depth += kind in ("MappingStartEvent", "SequenceStartEvent")
        depth -= kind in ("MappingEndEvent", "SequenceEndEvent")
        if documents > 1:
            raise _fault(event, "a second document begins; one is read")
        if depth > MAX_JSON_LEVELS:
            raise _fault(event, f"nested deeper than {MAX_JSON_LEVELS} levels")


class _Reader:
    """Makes values of nodes, each once, however many aliases it has."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Json, int] | None] = {}

    def read(self, node: Any) -> tuple[Json, int]:
        """The value of a node, and how much it is."""
        if id(node) in self._known:
            if (found := self._known[id(node)]) is None:
                raise _fault(node, "it contains itself")
            return found
        self._known[id(node)] = None
        if node.tag not in _OF_JSON:
            raise _fault(node, f"the tag {node.tag} is not read")
        if isinstance(node.value, str):
            value = _scalar(node.value) if node.tag == _PLAIN else node.value
            size = len(node.value)
        elif type(node).__name__ == "SequenceNode":
            items = [self.read(each) for each in node.value]
            value, size = [each for each, _ in items], sum(size for _, size in items)
        else:
            value, size = self._mapping(node)
        size += _VALUE
        if size > _MOST:
            raise _fault(node, f"more than {_MOST:,} characters, with what aliases repeat")
        self._known[id(node)] = value, size
        return value, size

    def _mapping(self, node: Any) -> tuple[Json, int]:
        own: dict[str, Json] = {}
        merged: dict[str, Json] = {}
        total = 0
        for key, below in node.value:
            total += self.read(key)[1]
            if not isinstance(key.value, str):
                raise _fault(key, "a key has to be a text")
            if key.value in own:
                raise _fault(key, f"the key {key.value!r} is given twice")
            value, size = self.read(below)
            total += size
            if key.value != _MERGE:
                own[key.value] = value
                continue
            for each in value if isinstance(value, list) else [value]:
                if not isinstance(each, dict):
                    raise _fault(below, f"what {_MERGE} merges is no mapping")
                merged = {**each, **merged}  # the first of several counts
        return {**merged, **own}, total


def _scalar(text: str) -> Json:
    """What a word says that is neither quoted nor tagged."""
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text, 0 if text[:2] in ("0o", "0x") else 10)
    if _NUMBER.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


def _fault(place: Any, reason: str) -> ValueError:
    return ValueError(f"{_at(place.start_mark)}{reason}")


def _at(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""

"""YAML as JSON values: the core schema of YAML 1.2, and nothing that could do harm.

The events of the parser are read one by one, so that a document is refused where it becomes too
deep or too large, before anything is built of it. There are no tags but those of JSON, dates and
words such as ``yes`` are texts, and what aliases repeat is counted each time.
"""

from __future__ import annotations

import math
import re
from importlib.util import find_spec
from typing import Any, Final

from lenses_ext import MAX_JSON_LEVELS

from ...json_text import Json

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
_OF_JSON: Final = {
    f"tag:yaml.org,2002:{each}" for each in ("str", "int", "float", "bool", "null", "map", "seq")
}


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

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=loader):
            reader.take(event)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ValueError(f"line {line}: {error.reason}") from None
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"{_at(error.problem_mark)}{error.problem}") from None
    return reader.value


def _at(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""


class _Reader:
    """Builds a value of the events of a parser, with a list in place of recursion."""

    def __init__(self) -> None:
        self.value: Json = None
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Json, int]] = {}
        self._documents = 0

    def take(self, event: Any) -> None:
        """Read one event.

        Raises:
            ValueError: it is nothing that JSON has, or too deep or too much.
        """
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                raise _fault(event, "a second document begins; one is read")
        elif kind == "ScalarEvent":
            _expect_tag(event)
            self._put(event, _scalar(event), len(event.value) + _VALUE, event.anchor)
        elif kind == "AliasEvent":
            if event.anchor not in self._anchors:
                raise _fault(event, f"there is no anchor &{event.anchor} before this alias")
            self._put(event, *self._anchors[event.anchor])
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            _expect_tag(event)
            if len(self._open) == MAX_JSON_LEVELS:
                raise _fault(event, f"nested deeper than {MAX_JSON_LEVELS} levels")
            self._open.append(_Open({} if kind == "MappingStartEvent" else [], event.anchor))
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            ended = self._open.pop()
            self._put(event, ended.whole(), ended.size, ended.anchor)

    def _put(self, event: Any, value: Json, size: int, anchor: str | None = None) -> None:
        if anchor:  # when it has ended: nothing contains itself
            self._anchors[anchor] = value, size
        if not self._open:
            self.value = value
            return
        self._open[-1].size += size
        if self._open[-1].size > _MOST:
            raise _fault(event, f"more than {_MOST:,} characters, with what aliases repeat")
        self._open[-1].put(event, value)


class _Open:
    """A mapping or list that has not ended."""

    def __init__(self, value: dict[str, Json] | list[Json], anchor: str | None) -> None:
        self.anchor = anchor
        self.size = _VALUE
        self._value = value
        self._key: str | None = None
        self._merged: dict[str, Json] = {}

    def put(self, event: Any, value: Json) -> None:
        """Add an item, a key, or the value of the key before."""
        if isinstance(self._value, list):
            self._value.append(value)
        elif self._key is None:
            self._key = _key(event, value)
            if self._key in self._value:
                raise _fault(event, f"the key {self._key!r} is given twice")
        else:
            key, self._key = self._key, None
            if key == _MERGE:
                self._merge(event, value)
            else:
                self._value[key] = value

    def _merge(self, event: Any, value: Json) -> None:
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                raise _fault(event, f"what {_MERGE} merges is no mapping")
            for key, one in each.items():
                self._merged.setdefault(key, one)  # the first of several counts

    def whole(self) -> Json:
        """The value, with what is merged into it."""
        return {**self._merged, **self._value} if isinstance(self._value, dict) else self._value


def _key(event: Any, value: Json) -> str:
    """A key as JSON has it: those of statuses, such as ``200``, are numbers in YAML."""
    if type(event).__name__ == "ScalarEvent":
        return str(event.value)
    if isinstance(value, str):
        return value
    raise _fault(event, "a key has to be a text")


def _scalar(event: Any) -> Json:
    text: str = event.value
    if not event.implicit[0]:  # quoted, a block, or tagged
        return text
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text, 0 if text[:2] in ("0o", "0x") else 10)
    if _NUMBER.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


def _expect_tag(event: Any) -> None:
    if event.tag not in (None, "!") and event.tag not in _OF_JSON:
        raise _fault(event, f"the tag {event.tag} is not read")


def _fault(event: Any, reason: str) -> ValueError:
    return ValueError(f"{_at(event.start_mark)}{reason}")

"""What a case may expect of a run, and how each expectation is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from math import inf
from typing import Any, Final

from attrs import frozen

from gram.words import did_you_mean
from lenses_ext.schemas import ANNOTATIONS, KEYWORDS, schema_validator

from ...errors import ValidationError
from ...json_text import Json, write_json
from ...machine import call_text
from ...machine.contracts import require_schema
from ...shown import shortened


@frozen
class ExpectedCall:
    """A tool call that a case expects.

    Attributes:
        name: the name of the tool.
        arguments: all arguments that the tool has to get, defaults included; None for any.
    """

    name: str
    arguments: Mapping[str, Json] | None = None

    def __str__(self) -> str:
        return self.name if self.arguments is None else call_text(self.name, self.arguments)

    def to_json(self) -> Json:
        """The call as files of cases write it."""
        if self.arguments is None:
            return self.name
        return {"name": self.name, "arguments": self.arguments}


class _AnyAnswer(Enum):
    ANY_ANSWER = "any answer"


ANY_ANSWER: Final = _AnyAnswer.ANY_ANSWER
"""What a case expects that names no answer; None is an answer, the JSON null."""


def found(given: object) -> str:
    """A value as messages show it."""
    try:
        return shortened(write_json(given), 40)
    except (TypeError, ValueError):
        return shortened(repr(given), 40)


def _any(given: Any) -> Any:
    return given


def _calls(given: object) -> tuple[ExpectedCall, ...]:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise ValueError(f"must be an array, found {found(given)}; [] expects no calls")
    return tuple(map(_call, given))


def _call(given: object) -> ExpectedCall:
    if isinstance(given, ExpectedCall):
        return given
    if isinstance(given, str) and given.strip():
        return ExpectedCall(given)
    if isinstance(given, Mapping) and set(given) <= {"name", "arguments"}:
        name, arguments = given.get("name"), given.get("arguments")
        if isinstance(name, str) and name.strip() and isinstance(arguments, Mapping | None):
            return ExpectedCall(name, arguments)
    wanted = 'names of tools, or {"name": …, "arguments": {…}}'
    raise ValueError(f"must have {wanted}, found {found(given)}")


def names_of(given: object) -> tuple[str, ...]:
    """The names of checks or tags: several, or one alone.

    Raises:
        ValueError: one is no name.
    """
    names = (given,) if isinstance(given, str) else given
    if isinstance(names, list | tuple) and all(isinstance(each, str) and each for each in names):
        return tuple(names)
    raise ValueError(f"must be an array of names, found {found(given)}")


def _texts(given: object) -> tuple[str, ...]:
    texts: Any = (given,) if isinstance(given, str) else given
    is_list = isinstance(texts, list | tuple) and bool(texts)
    if is_list and all(isinstance(each, str) and each.strip() for each in texts):
        return tuple(texts)
    raise ValueError(f"must be a text that is not empty, or an array of them, found {found(given)}")


_NOT_LINEAR: Final = re.compile(r"\(\?<?[=!]|\\[1-9]|\(\?P=|\\k<")


def _patterns(given: object) -> tuple[str, ...]:
    patterns = _texts(given)
    for each in patterns:
        _require_linear({"pattern": each}, each)
    return patterns


def _require_linear(schema: Mapping[str, Json], text: str) -> None:
    """Refuse regular expressions whose time may grow faster than the text that is searched."""
    try:
        require_schema(schema)
        schema_validator(dict(schema), linear=True)
    except (ValueError, ValidationError):
        if _NOT_LINEAR.search(text):
            why = 'it looks around or back; write "not": {"matches": …} for what may not be there'
            raise ValueError(f"is not searched in linear time: {found(text)}: {why}") from None
        try:
            why = f"{re.compile(text).pattern} is not one of Rust"
        except re.error as error:
            why = str(error)
        raise ValueError(f"is no regular expression: {found(text)}: {why}") from None


def _subset(given: object) -> Mapping[str, Json]:
    if isinstance(given, Mapping) and given:
        return given
    raise ValueError(
        f'must be an object of paths and values, such as {{"order.id": 7}}, found {found(given)}'
    )


def _schema(given: object) -> Mapping[str, Json]:
    try:
        text = require_schema(given)  # type: ignore[arg-type]  # it refuses what is no object
    except ValidationError as error:
        raise ValueError(f"is {error}") from None
    assert isinstance(given, Mapping)
    if not given.keys() & KEYWORDS - ANNOTATIONS:
        raise ValueError(f"has no keyword that refuses an answer, found {found(given)}")
    _require_linear(given, text)
    return given


def _opposite(given: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f'must be an object such as {{"contains": "sorry"}}, found {found(given)}')
    read = {}
    for name, value in given.items():
        if name == "not" or name not in READERS:
            known = [each for each in READERS if each != "not"]
            hint = did_you_mean(str(name), known) or f"it may have {', '.join(known)}"
            raise ValueError(f"has no {found(name)}; {hint}")
        try:
            read[name] = READERS[name](value)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
        if read[name] == ():
            raise ValueError(f"{name} names nothing that may not be")
    return read


def _at_most(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < inf:
        raise ValueError(f"must be a number from 0 on, found {found(given)}")
    return given


READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "expected": _any,
    "contains": _texts,
    "matches": _patterns,
    "json": _subset,
    "schema": _schema,
    "calls": _calls,
    "judge": _texts,
    "not": _opposite,
    "max_seconds": _at_most,
    "max_tokens": _at_most,
    "max_cost": _at_most,
    "max_calls": _at_most,
    "checks": names_of,
}
"""What a case may expect, in the order in which it is judged, and how each is read.

A reader gives the value in the form in which it is kept; it raises a ValueError that says what
the value must be.
"""

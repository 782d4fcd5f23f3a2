"""Reads JSON strictly and writes it compactly, as text that is checked only once.

All JSON of a State, such as arguments and results, is kept as `JsonText`, which is immutable and
can be compared and pickled. It is parsed only when its value is needed.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, Final, NoReturn, TypeAlias

from lenses_ext import MAX_JSON_LEVELS, NotJson, check_json, dump_json

Json: TypeAlias = Any
"""A plain JSON value: dict, list, str, int, float, bool or None."""

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""The JSON escape of a surrogate; a pair of them is one character."""


class JsonText(str):
    """JSON text that has been checked, in exactly the form that `write_json` writes.

    >>> text = write_json({"n": [1]})
    >>> text, text.value
    ('{"n":[1]}', {'n': [1]})
    """

    __slots__ = ()

    @classmethod
    def read(cls, text: str) -> JsonText:
        """Check a text and make it compact; a `JsonText` is returned unchanged.

        Raises:
            NotJson: the text is not JSON, see `read_json`.
        """
        if isinstance(text, cls):
            return text
        try:
            return write_json(read_json(text))
        except ValueError as error:
            raise NotJson(str(error)) from None

    @property
    def value(self) -> Json:
        """The value, a fresh copy."""
        return _compact.raw_decode(self)[0]


def read_json(text: str) -> Json:
    """Parse a JSON text strictly; `write_json` can write every value that this returns.

    Raises:
        ValueError: the text is not JSON by RFC 8259, or has NaN, an infinity, a number too large
            for a float, a repeated key or a lone surrogate, or is nested too deeply. The message
            says what is wrong and where.
    """
    if isinstance(text, JsonText):
        return text.value
    value = parse_json(text)
    # what the parser makes is plain, unless it is too deep: only then there are many brackets
    is_flat = text.count("[") + text.count("{") <= MAX_JSON_LEVELS
    if not (is_flat or is_plain_json(value)) or _SURROGATE.search(text) or not _is_utf8(text):
        check_json(value)
    return value


def parse_json(text: str) -> Json:
    """Parse a JSON text like `read_json`, but allow lone surrogates in strings.

    Raises:
        ValueError: as for `read_json`.
    """
    try:
        if text[:1] == "{" and text[-1:] == "}":  # no blanks around it: half of the time
            value, end = _decoder.raw_decode(text)
            if end == len(text):
                return value
        return _decoder.decode(text) if text[:1] != "\ufeff" else json.loads(text)  # refuses it
    except RecursionError:
        raise ValueError("nested too deep") from None


def write_json(value: object) -> JsonText:
    """Write a value as compact JSON text.

    Raises:
        NotJson: the value is not JSON (another type, NaN, an infinity, a lone surrogate, a key
            that is not a string), or is nested too deeply; the message has the path.
    """
    if not is_plain_json(value):
        check_json(value)
    try:
        text = dump_json(value, compact=True)
    except NotJson:
        check_json(value)  # its message has the path
        raise
    if not _is_utf8(text):
        check_json(value)
    return JsonText(text)


def is_plain_json(value: object) -> bool:
    """Whether a value consists of dict, list, str, int, float, bool and None, with str keys.

    Floats and texts are not examined; `write_json` does that.

    >>> is_plain_json({"n": [1, None]}), is_plain_json({"n": (1,)}), is_plain_json({1: 2})
    (True, False, False)
    """
    try:
        return type(value) in _SCALARS or _is_plain_container(value, 1)
    except TypeError:  # a key that is not a str
        return False


def _is_plain_container(value: Any, level: int) -> bool:
    kind = type(value)
    if kind is dict:
        "".join(value)  # the fastest way to find a key that is not a str
        items = value.values()
    elif kind is list:
        items = value
    else:
        return False
    for item in items:
        if type(item) not in _SCALARS and (
            level == MAX_JSON_LEVELS or not _is_plain_container(item, level + 1)
        ):
            return False
    return True


def _is_utf8(text: str) -> bool:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large a number")
    return number


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise ValueError(f"key {json.dumps(twice)} is given twice")
    return found


_compact = json.JSONDecoder()
"""Reads what `write_json` has written, which needs no checks."""

_decoder = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique
)

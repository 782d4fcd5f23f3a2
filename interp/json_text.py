"""Reads JSON strictly and writes it compactly, as text that is checked only once.

All JSON of a State, such as arguments and results, is kept as `JsonText`, which is immutable and
can be compared and pickled. It is parsed only when its value is needed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, NoReturn, TypeAlias

from lenses_ext.schemas import NotJson, check_json, dump_json

Json: TypeAlias = Any
"""A plain JSON value: dict, list, str, int, float, bool or None."""


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
        return json.loads(self)


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
    check_json(value)
    return value


def parse_json(text: str) -> Json:
    """Parse a JSON text like `read_json`, but allow lone surrogates in strings.

    Raises:
        ValueError: as for `read_json`.
    """
    try:
        return _decoder.decode(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def json_or_text(text: str) -> Json:
    """The value of a JSON text; the text itself if it is not JSON, as a model may write it."""
    try:
        return read_json(text)
    except ValueError:
        return text


def write_json(value: object) -> JsonText:
    """Write a value as compact JSON text.

    Raises:
        NotJson: the value is not JSON (another type, NaN, an infinity, a lone surrogate, a key
            that is not a string), or is nested too deeply; the message has the path.
    """
    check_json(value)
    return JsonText(dump_json(value, compact=True))


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
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"key {json.dumps(twice)} is given twice")
    return found


_decoder = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique
)

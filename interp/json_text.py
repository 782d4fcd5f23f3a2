"""JSON as text: strict reading, compact writing, and values kept as their text.

Values that enter a State are kept as JSON text: immutable, comparable and picklable, handed out
as fresh copies.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn, TypeAlias

from lenses_ext.json_values import check_json, dump_json

Json: TypeAlias = Any
"""A plain JSON value: dict, list, str, int, float, bool or None."""


def read_json(text: str) -> Json:
    """A JSON text as a value, one that `write_json` could write.

    Raises:
        ValueError: it is not JSON as the standard has it (NaN, an infinity, a number beyond all
            floats or a key given twice in one object are refused), has half a character in it, or
            nests too deep; the message says what and where.
    """
    value = parse_json(text)
    check_json(value)
    return value


def parse_json(text: str) -> Json:
    """The same for a text whose strings are mended afterwards: they may have half characters.

    Raises:
        ValueError: it is not JSON as the standard has it, or nests too deep.
    """
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_unique,
        )
    except RecursionError:
        raise ValueError("nested too deep") from None


def write_json(value: object) -> str:
    """A value as compact JSON text.

    Raises:
        NotJson: it is not JSON (another type, NaN, an infinity, a lone surrogate, a key that is
            no string), or nests too deep; the message has the path to it.
    """
    check_json(value)
    return dump_json(value, compact=True)


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
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {json.dumps(twice)} is given twice")
    return found

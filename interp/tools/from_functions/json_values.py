"""Converts Python values to JSON: the results of tools, and the defaults in their schemas."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum
from typing import Any

import attrs

from ...files import File
from ...json_text import Json

_SCALARS = (str, int, float, bool, type(None))


def to_json_value(value: Any) -> Json:
    """Convert a Python value to JSON, at every depth: records, enums, tuples, sets, dates, ….

    Records are dataclasses, attrs classes and pydantic models. A value without a JSON form is
    left unchanged: a `File`, and what `interp.json_text.write_json` refuses later.

    >>> to_json_value({"sizes": (1, 2)})
    {'sizes': [1, 2]}
    """
    if type(value) in _SCALARS or isinstance(value, File):
        return value
    if isinstance(value, Enum):
        return to_json_value(value.value)
    if isinstance(value, Mapping):
        named = ((key.value if isinstance(key, Enum) else key, each) for key, each in value.items())
        return {key: to_json_value(each) for key, each in named}
    if isinstance(value, list | tuple | deque):
        return [to_json_value(item) for item in value]
    if isinstance(value, set | frozenset):
        items = [to_json_value(item) for item in value]
        try:
            return sorted(items)  # an order that is the same in every process
        except TypeError:
            return sorted(items, key=repr)  # of several types
    if isinstance(value, type | str | int | float | bytes | bytearray | memoryview | complex):
        return value
    by_pydantic = hasattr(type(value), "__pydantic_serializer__")
    if not by_pydantic and dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: to_json_value(getattr(value, name)) for name in names}
    if not by_pydantic and attrs.has(type(value)):
        # Under the names that the constructor takes: `_name` is called `name` there.
        fields = attrs.fields(type(value))
        return {field.alias: to_json_value(getattr(value, field.name)) for field in fields}
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    if isinstance(value, Iterator):  # reading it would use it up
        return value
    with suppress(PydanticSerializationError):
        return to_jsonable_python(value, by_alias=True)
    return value

"""Converts Python values to JSON: the results of tools, and the defaults in their schemas."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Any

import attrs

from ...files import File
from ...json_text import Json
from .forms import SCALARS
from .pydantic_types import is_pydantic_class, pydantic_json


def to_json_value(value: Any) -> Json:
    """Convert a Python value to JSON, at every depth: records, enums, tuples, sets, dates, ….

    Records are dataclasses, attrs classes and pydantic models. A value without a JSON form is
    left unchanged: a `File`, and what `interp.json_text.write_json` refuses later.

    >>> to_json_value({"sizes": (1, 2)})
    {'sizes': [1, 2]}
    """
    if type(value) in SCALARS or isinstance(value, File):
        return value
    if isinstance(value, Enum):
        return to_json_value(value.value)
    if isinstance(value, Mapping):
        return {_key(key): to_json_value(below) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    if isinstance(value, set | frozenset):
        return _sorted([to_json_value(item) for item in value])
    if isinstance(value, type | str | int | float):
        return value
    if is_pydantic_class(type(value)):
        return pydantic_json(value)
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: to_json_value(getattr(value, name)) for name in names}
    if attrs.has(type(value)):
        # Under the names that the constructor takes: `_name` is called `name` there.
        fields = attrs.fields(type(value))
        return {field.alias: to_json_value(getattr(value, field.name)) for field in fields}
    return pydantic_json(value)


def _key(key: Any) -> Any:
    return key.value if isinstance(key, Enum) else key


def _sorted(items: list[Json]) -> list[Json]:
    """The items of a set in an order that is the same in every process."""
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=repr)  # of several types

"""Python values as JSON values: what a tool returns, and the defaults in its schema."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Any

import attrs

from ..json_text import Json
from .pydantic_models import is_model


def to_json_value(value: Any) -> Json:
    """Records, enum members, tuples and sets as JSON, at every depth; anything else as it is.

    Records are dataclasses, attrs classes and pydantic models. What has no JSON form is left for
    `interp.json_text.write_json` to refuse.

    >>> to_json_value({"sizes": (1, 2)})
    {'sizes': [1, 2]}
    """
    if isinstance(value, Enum):
        return to_json_value(value.value)
    if isinstance(value, Mapping):
        return {_key(key): to_json_value(below) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    if isinstance(value, set | frozenset):
        return _sorted([to_json_value(item) for item in value])
    if isinstance(value, type):
        return value
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: to_json_value(getattr(value, name)) for name in names}
    if attrs.has(type(value)):
        # Under the names the class is made by: a private field is written without its underscore.
        fields = attrs.fields(type(value))
        return {field.alias: to_json_value(getattr(value, field.name)) for field in fields}
    if is_model(type(value)):
        return value.model_dump(mode="json", by_alias=True)
    return value


def _key(key: Any) -> Any:
    return key.value if isinstance(key, Enum) else key


def _sorted(items: list[Json]) -> list[Json]:
    """The items of a set in an order that is the same in every process."""
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=repr)  # of several types

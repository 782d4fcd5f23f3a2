"""YAML as JSON values, by PyYAML: with the scalars of YAML 1.2, and nothing that could do harm.

There are no tags but those of JSON, dates and words such as ``yes`` are texts, and what aliases
repeat is counted each time.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from .json_values import MAX_JSON_LEVELS

Json: TypeAlias = Any
"""A value of JSON."""

_MOST: Final = 50_000_000
_VALUE: Final = 8
"""What a value counts beside its characters."""
_TOO_DEEP: Final = f"nested deeper than {MAX_JSON_LEVELS} levels"

_SCALARS: Final = {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?(0|[1-9][0-9]{0,299})|0o[0-7]{1,300}|0x[0-9a-fA-F]{1,300}",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?",
}
"""What is neither quoted nor a text, by the names of its tags."""

_OF_JSON: Final = (*_SCALARS, "str", "seq", "map")


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

    try:
        value = yaml.load(text, Loader=_loader())
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ValueError(f"line {line}: {error.reason}") from None
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"{_at(error.problem_mark)}{error.problem}") from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    _size(value, {})
    return value


@cache
def _loader() -> Any:
    """PyYAML's safe loader, with the scalars above and keys that are texts."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    tag = "tag:yaml.org,2002:{}".format
    known = {each: base.yaml_constructors[each] for each in (None, *map(tag, _OF_JSON))}

    def construct_mapping(loader: Any, node: Any, deep: bool = False) -> Any:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key.value, str):
                raise _fault(key, "a key has to be a text")
            if key.value in seen:
                raise _fault(key, f"the key {key.value!r} is given twice")
            if key.value == "<<":
                raise _fault(key, "YAML 1.2 has no <<: write what it merges")
            seen.add(key.value)
            key.tag = tag("str")
        return yaml.constructor.BaseConstructor.construct_mapping(loader, node, deep)

    members = {"yaml_implicit_resolvers": {}, "yaml_constructors": known}
    loader: Any = type("_Loader", (base,), {**members, "construct_mapping": construct_mapping})
    for name, pattern in _SCALARS.items():
        loader.add_implicit_resolver(tag(name), re.compile(rf"(?:{pattern})\Z"), None)
    return loader


def _size(value: Json, known: dict[int, int], level: int = 0) -> int:
    """How much a value is, with what aliases repeat."""
    if level > MAX_JSON_LEVELS:
        raise ValueError(_TOO_DEEP)
    if not isinstance(value, dict | list):
        return _VALUE + (len(value) if isinstance(value, str) else 0)
    if id(value) not in known:
        known[id(value)] = 0
        below = [*value, *value.values()] if isinstance(value, dict) else value
        known[id(value)] = _VALUE + sum(_size(each, known, level + 1) for each in below)
    elif not known[id(value)]:
        raise ValueError("a value contains itself")
    if known[id(value)] > _MOST:
        raise ValueError(f"more than {_MOST:,} characters, with what aliases repeat")
    return known[id(value)]


def _fault(place: Any, reason: str) -> ValueError:
    return ValueError(f"{_at(place.start_mark)}{reason}")


def _at(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""

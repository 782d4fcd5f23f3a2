"""JSON inside the notation, and YAML as JSON values.

Strings, numbers, booleans, arrays of scalars and maps of scalars are written as such; every other
JSON value is a string tagged ``json``. `Keywords` keeps JSON immutable.

In YAML there are no tags but those of JSON, dates and words such as ``yes`` are texts, and what
aliases repeat is counted each time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from math import inf
from typing import Any, Final, NoReturn

from attrs import field, frozen
from pyrsistent import PMap, PVector

import gram
from gram import GramError, TaggedString, Value, freeze, write_value
from gram.trees import exact

MAX_JSON_LEVELS = 200
"""How deep a JSON value may nest; a deeper one could exhaust Python's stack."""

_MAX_NUMBER = 24  # characters: longer numbers are beyond what other gram parsers hold


class NotJson(GramError, ValueError):  # noqa: N818  # it is caught here and reported as a Diagnostic
    """A value that JSON does not have; its text says which."""


def to_json_value(value: Value) -> Any:
    """The JSON value of a property's value.

    Raises:
        NotJson: it is a measurement, a range or a string with another tag, or the text tagged
            ``json`` is not JSON.

    >>> to_json_value(TaggedString("json", "[null]"))
    [None]
    """
    match value:
        case str() | bool() | int() | float():
            return value
        case gram.Symbol(word):
            return word
        case TaggedString("json", content):
            return parse_json(content)
        case PVector():
            return [to_json_value(item) for item in value]
        case PMap():
            return {key: to_json_value(value[key]) for key in sorted(value)}
    kind = {gram.Measurement: "measurement", gram.Range: "range"}.get(type(value), "tagged string")
    raise NotJson(f"a {kind} ({write_value(value)}) is not a JSON value; quote it")


def parse_json(text: str) -> Any:
    """The value of a text tagged ``json``.

    Raises:
        NotJson: the text is not JSON, or nests too deep.
    """
    try:
        value = json.loads(text, parse_constant=_reject_constant)
        check_json(value)
    except json.JSONDecodeError as error:
        raise NotJson(f"json`…` is not JSON: {error.msg} at char {error.pos}") from None
    except RecursionError:
        raise NotJson(f"json`…` nests deeper than {MAX_JSON_LEVELS} levels") from None
    except ValueError as error:  # such as a number of thousands of digits
        raise NotJson(f"json`…` is not JSON: {error}") from None
    return value


def _reject_constant(word: str) -> NoReturn:
    raise NotJson(f"{word} is not a JSON value")


def check_json(value: object, *, most: float = inf) -> None:
    """Refuse what JSON, or UTF-8, cannot carry.

    Args:
        value: the value.
        most: about how many characters it may have, with what is in it several times.

    Raises:
        NotJson: with the path to it.
    """
    pending: list[tuple[object, str, int]] = [(value, "$", 0)]
    size = 0
    while pending:
        item, path, level = pending.pop()
        size += _VALUE + (len(item) if isinstance(item, str) else 0)
        if size > most:
            raise NotJson(f"more than {most:,} characters, with what aliases repeat")
        if level == MAX_JSON_LEVELS and isinstance(item, dict | list | tuple | Keywords):
            raise NotJson(f"nests deeper than {MAX_JSON_LEVELS} levels")
        if isinstance(item, dict | Keywords):
            for key, below in item.items():
                if not isinstance(key, str):
                    raise NotJson(f"{path}: a key must be a string, found {key!r}")
                _check_text(key, path)
                pending.append((below, f"{path}.{key}", level + 1))
        elif isinstance(item, list | tuple):
            pending.extend((below, f"{path}[{i}]", level + 1) for i, below in enumerate(item))
        elif isinstance(item, str):
            _check_text(item, path)
        elif item is not None and not isinstance(item, bool | int | float):
            raise NotJson(f"{path}: {type(item).__name__} is not a JSON value")
        elif isinstance(item, float) and item - item != 0:
            raise NotJson(f"{path}: {item!r} is not a JSON value")


def _check_text(text: str, path: str) -> None:
    if not text.isascii():
        try:
            freeze(text)
        except gram.GramEncodeError as error:
            raise NotJson(f"{path}: {error.msg}") from None


def same_json(one: object, other: object) -> bool:
    """Whether two JSON values are equal as JSON Schema has it: ``1`` is ``1.0`` but not ``true``.

    >>> same_json([1], [1.0]), same_json(1, True)
    (True, False)
    """
    return json_key(one) == json_key(other)


def json_key(value: object) -> Hashable:
    """A key under which JSON values are equal if `same_json` says so."""
    return exact(whole_numbers(value))


def whole_numbers(value: object) -> Any:
    """A JSON value with ``1.0`` as ``1``."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case list() | tuple():
            return [whole_numbers(item) for item in value]
        case Mapping():
            return {key: whole_numbers(item) for key, item in value.items()}
        case _:
            return value


def from_json_value(value: object) -> Value:
    """The property value for a JSON value, as the notation can best write it.

    >>> from_json_value([1, 2]), from_json_value(None)
    (pvector([1, 2]), TaggedString(tag='json', content='null'))
    """
    match value:
        case list() | tuple():
            plain = bool(value) and all(map(_is_scalar, value))
        case dict() | Keywords():
            plain = all(key and _is_scalar(key) and _is_scalar(item) for key, item in value.items())
        case _:
            plain = _is_scalar(value)
    return freeze(value) if plain else json_literal(value)


def json_literal(value: object) -> TaggedString:
    """A JSON value as a string tagged ``json``."""
    return TaggedString("json", dump_json(value))


def dump_json(value: object, *, compact: bool = False, in_order: bool = False) -> str:
    """JSON text on one line, without blanks and with its keys in order if asked.

    Raises:
        NotJson: the value is not JSON, or an integer has too many digits to be written.
    """
    marks = (",", ":") if compact else (", ", ": ")
    try:
        return json.dumps(
            value, ensure_ascii=False, separators=marks, allow_nan=False, default=_plain_keywords,
            sort_keys=in_order,
        )  # fmt: skip
    except (TypeError, ValueError) as error:
        raise NotJson(str(error)) from None


def _plain_keywords(value: object) -> dict[str, Any]:
    if isinstance(value, Keywords):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _is_scalar(value: object) -> bool:
    if isinstance(value, str):
        return "\0" not in value
    if isinstance(value, bool):
        return True
    if isinstance(value, int) and abs(value) >= 10**_MAX_NUMBER:
        return False
    return isinstance(value, int | float) and len(write_value(value)) <= _MAX_NUMBER


# --- JSON that does not change


@frozen(eq=False, repr=False)
class Keywords(Mapping[str, Any]):
    """An immutable JSON object: arrays in it are tuples, objects are `Keywords` too.

    It keeps the order of its keys. Two are equal when they have the same keys and values, in any
    order; ``1``, ``1.0`` and ``true`` differ.

    >>> keywords = Keywords.of({"enum": ["c", "f"]})
    >>> keywords["enum"]
    ('c', 'f')
    >>> keywords == Keywords.of({"enum": ["c", "f"]}), keywords.to_json()
    (True, {'enum': ['c', 'f']})
    """

    _values: dict[str, Any] = field(factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Keywords:
        """Keywords with the given JSON values.

        Raises:
            NotJson: a value is not JSON.
        """
        return cls({key: _frozen(value) for key, value in values.items()})

    def to_json(self) -> dict[str, Any]:
        """A fresh copy, as dicts and lists."""
        return {key: thaw_json(value) for key, value in self._values.items()}

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def without(self, *keys: str) -> Keywords:
        """These keywords but for some."""
        return Keywords({key: self[key] for key in self if key not in keys})

    def only(self, *keys: str) -> Keywords:
        """Some of these keywords."""
        return Keywords({key: self[key] for key in self if key in keys})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keywords) and exact(self) == exact(other)

    def __hash__(self) -> int:
        return hash(exact(self))

    def __repr__(self) -> str:
        return f"Keywords.of({self.to_json()!r})"


def thaw_json(value: Any) -> Any:
    """A value of `Keywords` as JSON that may be changed."""
    if isinstance(value, Keywords):
        return value.to_json()
    return [thaw_json(item) for item in value] if isinstance(value, tuple) else value


def _frozen(value: object) -> Any:
    match value:
        case Keywords() | str() | bool() | int() | float() | None:
            return value
        case list() | tuple():
            return tuple(_frozen(item) for item in value)
        case Mapping():
            return Keywords.of(value)
    raise NotJson(f"{type(value).__name__} is not a JSON value")


_MOST: Final = 20_000_000
_VALUE: Final = 20
"""What a value counts beside its characters."""

_SCALARS: Final = {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?(0|[1-9][0-9]{0,299})|0o[0-7]{1,300}|0x[0-9a-fA-F]{1,300}",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?",
}
"""What is neither quoted nor a text, by the names of its tags."""


class MissingYamlError(Exception):
    """The package that reads YAML is not installed."""


def read_yaml(text: str) -> Any:
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
        check_json(value, most=_MOST)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{place}{error.problem}") from None
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
    except RecursionError:
        raise ValueError(f"nests deeper than {MAX_JSON_LEVELS} levels") from None
    return value


@cache
def _loader() -> Any:
    """PyYAML's safe loader, with the scalars above and keys that are texts."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    tag = "tag:yaml.org,2002:{}".format

    def construct_mapping(loader: Any, node: Any, deep: bool = False) -> Any:
        seen = {"<<": "YAML 1.2 has no <<: write what it merges"}
        for key, _ in node.value:
            reason = "a key has to be a text"
            if not isinstance(key.value, str) or (reason := seen.get(key.value, "")):
                raise yaml.constructor.ConstructorError(None, None, reason, key.start_mark)
            seen[key.value] = f"the key {key.value!r} is given twice"
            key.tag = tag("str")
        return yaml.constructor.BaseConstructor.construct_mapping(loader, node, deep)

    members = {"yaml_implicit_resolvers": {}, "construct_mapping": construct_mapping}
    loader: Any = type("_Loader", (base,), members)
    for name, pattern in _SCALARS.items():
        loader.add_implicit_resolver(tag(name), re.compile(rf"(?:{pattern})\Z"), None)
    return loader

"""The values of a type signature: parameters, types and shapes, as they were written.

A signature says what JSON Schema says, in other words: a `Type` keeps its labels (``Text`` stays
``Text``) and hands the JSON Schema keywords it was given through unread.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import field, frozen

from ..schemas import Keywords, thaw_json

_BASIC = ("String", "Integer", "Number", "Boolean", "Object", "Array", "Null")
JSON_TYPES = {name: name.lower() for name in _BASIC}
"""The basic types, in the order in which a union of them is listed."""

ALIASES = {"Text": "String", "Int": "Integer", "Double": "Number", "Bool": "Boolean"}
"""Other names of basic types; read, and kept as written."""

COMBINATORS = {"AnyOf": "anyOf", "OneOf": "oneOf", "AllOf": "allOf"}
"""Types made of alternatives."""

ANY = "Any"
NAMED = "Type"
"""The label of a shape that is referred to (``$ref``) instead of copied where it is used."""
PARAMETERS = "Parameters"
"""The label of the shape that holds the keywords of the whole parameter object."""

BUILT_IN = (*JSON_TYPES, ANY, *COMBINATORS)
RESERVED = frozenset({*BUILT_IN, *ALIASES, NAMED, PARAMETERS})
"""Names that no shape can have."""

RESERVED_KEYS = frozenset({"optional", "elementType", "of", "paramName", "fields", "keywords"})
"""Keys of a record that mean something here; all others are JSON Schema keywords."""

LABELS = {json: label for label, json in JSON_TYPES.items()}
"""The basic type of each JSON type."""


def basic(label: str) -> str | None:
    """The basic type that a label names, or None.

    >>> basic("Text"), basic("User")
    ('String', None)
    """
    name = ALIASES.get(label, label)
    return name if name in JSON_TYPES else None


def json_types(labels: Iterable[str]) -> list[str]:
    """The JSON types of basic labels, in the order of `JSON_TYPES`.

    >>> json_types({"Null", "Text"})
    ['string', 'null']
    """
    names = {ALIASES.get(label, label) for label in labels}
    return [json for name, json in JSON_TYPES.items() if name in names]


NO_KEYWORDS = Keywords()


@frozen
class Type:
    """What a value may be.

    Attributes:
        labels: basic types (several form a union), one of ``Any``, ``AnyOf``, ``OneOf`` and
            ``AllOf``, or the name of a shape.
        element_type: the type of an array's items, when a name says it.
        of: the alternatives of ``AnyOf``, ``OneOf`` and ``AllOf``, when names say them.
        members: an object's fields (named) or, without names, an array's items or the
            alternatives.
        keywords: JSON Schema keywords, laid over what the labels say.
        foreign: JSON merged last and not checked, under keys that mean something else here.
        constant: the whole schema when it is ``true`` or ``false``, else None.
    """

    labels: frozenset[str]
    element_type: str | None = None
    of: tuple[str, ...] = ()
    members: tuple[Parameter, ...] = ()
    keywords: Keywords = NO_KEYWORDS
    foreign: Keywords = NO_KEYWORDS
    constant: bool | None = None

    def overlay(self) -> dict[str, Any]:
        """What is laid over the schema of its labels and members, a fresh copy."""
        return {**self.keywords.to_json(), **self.foreign.to_json()}


@frozen
class Parameter:
    """A place for a value: a parameter, a field, an item, an alternative, the result.

    Attributes:
        name: its name, or None where it has none.
        type: what the value may be.
        optional: whether it may be left out; None leaves that to its default.
    """

    name: str | None
    type: Type
    optional: bool | None = None

    @property
    def default(self) -> Any:
        """The value used when it is left out; None when there is no default."""
        return thaw_json(self.type.foreign.get("default", self.type.keywords.get("default")))

    @property
    def description(self) -> str | None:
        """The description written on it, or None."""
        text = self.type.keywords.get("description")
        return text if isinstance(text, str) else None


@frozen
class Shape:
    """A type with a name.

    Attributes:
        name: under which labels refer to it.
        type: what it is.
        named: whether it stays a type of its own (``$defs``) or is expanded where it is used.
    """

    name: str
    type: Type
    named: bool = False


@frozen
class TypeSignature:
    """What a tool takes and gives.

    Attributes:
        parameters: in order.
        returns: the result.
        shapes: the types it refers to.
        root: holds the keywords of the whole parameter object.
    """

    parameters: tuple[Parameter, ...]
    returns: Parameter
    shapes: tuple[Shape, ...] = ()
    root: Type = field(default=Type(frozenset({PARAMETERS})))


UNCONSTRAINED = Parameter(None, Type(frozenset({ANY})))
"""A result of any type."""

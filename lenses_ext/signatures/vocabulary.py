"""The words of a signature: the names of types, and the keys of records."""

from __future__ import annotations

from collections.abc import Iterable

JSON_TYPES = {
    "String": "string",
    "Integer": "integer",
    "Number": "number",
    "Boolean": "boolean",
    "Object": "object",
    "Array": "array",
    "Null": "null",
}
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

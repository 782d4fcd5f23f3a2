"""The names that stand for types in a signature, and what each is in JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

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
"""The label of a shape that is a type of its own, referred to rather than copied."""
PARAMETERS = "Parameters"
"""The label of the shape that holds the keywords of the whole parameter object."""

BUILT_IN = (*JSON_TYPES, ANY, *COMBINATORS)
RESERVED = frozenset({*BUILT_IN, *ALIASES, NAMED, PARAMETERS})
"""Names that no shape can have."""

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
    """The JSON types that basic labels stand for, in the order of `JSON_TYPES`.

    >>> json_types({"Null", "Text"})
    ['string', 'null']
    """
    names = {ALIASES.get(label, label) for label in labels}
    return [json for name, json in JSON_TYPES.items() if name in names]


# --- messages about names that are none


def unknown_type(name: str, owner: str, shapes: Iterable[str] = ()) -> str:
    """What to say of a name that is no type, with the nearest that is."""
    candidates = {*BUILT_IN, *ALIASES, *shapes}
    near = get_close_matches(name, sorted(candidates), 1)
    meant = f'; did you mean "{near[0]}"?' if near else "."
    return (
        f'unknown type "{name}" of {owner}{meant} Known: {", ".join(BUILT_IN)}, '
        f"or a type defined as [{name}:Object | …]"
    )


def haskell_type(name: str) -> str | None:
    """What to write instead of a type as Haskell writes it, or None when it is not such."""
    match = re.match(r"(IO|Maybe|Either|List)(?: +(.*))?$|\[(.*)\]$", name, re.DOTALL)
    if match is None:
        return None
    constructor, argument = match[1], match[2] or "Text"
    if constructor == "IO":
        json_name = ALIASES.get(argument, argument)
        advice = f'drop "IO" (the return type of "(…) --> IO {argument}" is {json_name})'
    elif constructor == "Maybe":
        advice = f'drop "Maybe" and write {{optional: true}} beside {argument}'
    elif constructor == "Either":
        advice = 'write AnyOf {of: ["…", "…"]}'
    else:
        element = match[3] or argument
        advice = f'write Array {{elementType: "{element}"}}'
    return f'"{name}" is not a JSON type: {advice}'

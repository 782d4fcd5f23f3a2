"""Likely slips in a signature, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gram import Pattern, nearest

from ..schemas import KEYWORDS, KIND_OF
from .faults import Faults, Owner
from .vocabulary import ALIASES, BUILT_IN, PARAMETERS, RESERVED, RESERVED_KEYS, basic

# --- names of types

_ELSEWHERE = {
    "str": "String",
    "float": "Number",
    "decimal": "Number",
    "long": "Integer",
    "list": "Array",
    "tuple": "Array",
    "set": "Array",
    "dict": "Object",
    "map": "Object",
    "record": "Object",
    "none": "Null",
    "nil": "Null",
    "unit": "Null",
    "void": "Null",
    "union": "AnyOf",
    "unknown": "Any",
}
"""Names that types have in other languages, in lower case."""


def unknown_type(name: str, owner: str, shapes: Iterable[str] = ()) -> str:
    """What to say of a name that is not a type, with the nearest name that is."""
    candidates = {*BUILT_IN, *ALIASES, *shapes}
    near = next(iter(nearest(name, sorted(candidates))), _ELSEWHERE.get(name.lower()))
    meant = f'; did you mean "{near}"?' if near else "."
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


# --- the path


def no_return_hint(nodes: Sequence[Pattern]) -> str | None:
    """How to mend a path whose last node is not a return type."""
    last = nodes[-1].value if nodes else None
    if last is None or not last.identity:
        return None
    name, label = last.identity, "::".join(sorted(last.labels))
    if not label:
        return f"a type comes after ::, write (::{name})" if name in RESERVED else None
    if len(nodes) == 1:
        return f"write ({name}::{label})==>(::String)"
    return (
        f'"{name}" has a name, so it is a parameter: add ==>(::String) after it, '
        f"or write (::{label}) if it is the result"
    )


def nameless_shape_hint(labels: Iterable[str]) -> str | None:
    """How to mend a type without a name, when its label is nearly ``Parameters``."""
    near = [label for label in labels if nearest(label, [PARAMETERS])]
    return f"did you mean {PARAMETERS} instead of {near[0]}?" if near else None


# --- the keys of records

_LABELS_OF = {
    "string": {"String"},
    "number": {"Integer", "Number"},
    "array": {"Array"},
    "object": {"Object"},
}
"""The basic types of the kinds that keywords are about."""

_MEANT = {
    "desc": "description",
    "doc": "description",
    "help": "description",
    "min": "minimum",
    "max": "maximum",
    "opt": "optional",
    "example": "examples",
    "choices": "enum",
    "values": "enum",
    "options": "enum",
    "regex": "pattern",
    "items_type": "elementType",
    "itemType": "elementType",
    "name": "paramName",
}


def check_keys(keys: Iterable[str], labels: frozenset[str], owner: Owner, faults: Faults) -> None:
    """Warn of keys of a record that are misspelt, unknown or without effect."""
    basics = {name for label in labels if (name := basic(label))}
    for key in keys:
        if key not in KEYWORDS:
            if not key.startswith("x-"):
                faults.warn("unknown-key", *_unknown_key(key, owner))
            continue
        if key == "default" and owner.role == "return":
            message = "default of the return type has no effect: a result is never left out"
            faults.warn("no-effect", message, owner, key)
        kinds = _LABELS_OF.get(KIND_OF.get(key, ""))
        if kinds and len(basics) == len(labels) > 0 and not kinds & basics:
            found, wanted = ", ".join(sorted(basics)), " and ".join(sorted(kinds))
            message = f"{key} of {owner.words} has no effect: it is for {wanted}, not {found}"
            if key != "required":  # which is mostly another slip, reported already
                faults.warn("no-effect", message, owner, key)


def _unknown_key(key: str, owner: Owner) -> tuple[str, Owner, str, str | None]:
    message = f'unknown key "{key}" of {owner.words}'
    if key == "nullable":
        return f"{message}; null is a type", owner, key, "write ::Null beside the type"
    if near := _nearest_key(key):
        return f'{message}; did you mean "{near}"?', owner, key, None
    hint = f'if it is meant, write "x-{key}"'
    return f"{message}: it is not a keyword of JSON Schema", owner, key, hint


def _nearest_key(key: str) -> str | None:
    if key in _MEANT:
        return _MEANT[key]
    plain = {_plain(known): known for known in sorted({*KEYWORDS, *RESERVED_KEYS})}
    begins = (known for known in plain if len(key) > 3 and known.startswith(_plain(key)))
    found = [*nearest(_plain(key), plain, cutoff=0.7), *begins]
    return plain[found[0]] if found else None


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


_FORMATS = frozenset(
    {
        *("binary", "byte", "date", "date-time", "double", "duration", "email", "float"),
        *("hostname", "idn-email", "idn-hostname", "int32", "int64", "ipv4", "ipv6", "iri"),
        *("iri-reference", "json-pointer", "password", "regex", "relative-json-pointer"),
        *("time", "uri", "uri-reference", "uri-template", "uuid"),
    }
)
"""The formats of JSON Schema and of OpenAPI."""


def format_hint(format: str) -> str | None:
    """The format that was probably meant; None for a known one and for one of somebody's own."""
    if format in _FORMATS:
        return None
    plain = {_plain(known): known for known in _FORMATS} | {"url": "uri", "guid": "uuid"}
    near = nearest(_plain(format), plain, cutoff=0.75)
    return f"did you mean {plain[near[0]]}?" if near else None


def keyword_hint(keyword: str, value: object) -> str | None:
    """How to mend a keyword whose value is not what JSON Schema says, or None."""
    match keyword, value:
        case "required", False:
            return "write optional: true"
        case "required", True:
            return "leave it out: what has no default is required"
        case "items", str():
            return f'write elementType: "{value}"'
        case "type", str() if basic(value):
            return f"write the type as a label, ::{value}"
        case "enum", str():
            return f'write a list, enum: ["{value}"]'
        case "properties", dict():
            return "write the fields in a type beside the signature: [Name:Object | (field::Text)]"
    return None

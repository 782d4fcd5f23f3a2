"""Rewrites the schemas that pydantic makes as people write them in programs."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from ...errors import ToolError
from ...json_text import Json

_NAMED_BELOW = ("properties", "patternProperties", "$defs")
_LISTED_BELOW = ("anyOf", "oneOf", "allOf", "prefixItems")
_BELOW = ("items", "additionalProperties")
_ORDER: Final = ["string", "integer", "number", "boolean", "null"]
"""The order in which signatures list the types of a union."""

_SAYS_NOTHING: Final[dict[str, tuple[Json, ...]]] = {
    "items": ({},),
    "additionalProperties": (True, {}),
    "properties": ({},),
}
_NO_KEYWORDS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length")
"""What pydantic leaves of constraints that do not apply to a type."""


def plain_schema(schema: dict[str, Any], name: str) -> dict[str, Json]:
    """The schema with its definitions in place, but those that contain themselves.

    Titles that pydantic makes of names are left out, and so are keywords that say nothing.

    Args:
        schema: what pydantic made.
        name: the name of the type.

    Raises:
        ToolError: it has a constraint that does not apply to its type.

    >>> plain_schema({"anyOf": [{"type": "null"}, {"type": "string"}], "title": "X"}, "X")
    {'type': ['string', 'null']}
    """
    definitions = schema.get("$defs", {})
    uses = {key: _references(each) & definitions.keys() for key, each in definitions.items()}
    for _ in definitions:  # until it has what is used by what is used, too
        uses = {key: used.union(*(uses[each] for each in used)) for key, used in uses.items()}
    inline = {key: each for key, each in definitions.items() if key not in uses[key]}
    plain = _plain({key: each for key, each in schema.items() if key != "$defs"}, name, inline)
    kept = {key: _plain(definitions[key], key, inline) for key in definitions.keys() - inline}
    return {**plain, "$defs": dict(sorted(kept.items()))} if kept else plain


def _references(schema: dict[str, Any]) -> set[str]:
    return set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(schema, default=str)))


def _plain(schema: Any, name: str, inline: dict[str, Any]) -> Any:
    if not isinstance(schema, dict):
        return schema
    used = schema.get("$ref", "").removeprefix("#/$defs/")
    if used in inline:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return {**_plain(inline[used], used, inline), **_plain(beside, name, inline)}
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _NAMED_BELOW:
            value = {called: _plain(below, called, inline) for called, below in value.items()}
        elif key in _LISTED_BELOW:
            value = [_plain(below, name, inline) for below in value]
        elif key in _BELOW:
            value = _plain(value, name, inline)
        # The definitions that a discriminator refers to are in place now.
        if key == "discriminator" or (key == "title" and _bare(value) == _bare(name)):
            continue
        if value not in _SAYS_NOTHING.get(key, ()):
            found[key] = value
    _require_constraints(found)
    options = found.get("anyOf", ())
    if options and all(each.keys() == {"type"} and each["type"] in _ORDER for each in options):
        types = sorted({each["type"] for each in found.pop("anyOf")}, key=_ORDER.index)
        found["type"] = types[0] if len(types) == 1 else types
    return {"type": found["type"], **found} if "type" in found else found


def _require_constraints(schema: dict[str, Any]) -> None:
    kind = schema.get("type")
    lengths = ("minLength", "maxLength") if kind in _ORDER[1:] else ()
    for key in (*_NO_KEYWORDS, *lengths):
        if key in schema:
            raise ToolError(f"{key}={schema[key]!r} does not constrain a type like {kind}")


def _bare(title: str) -> str:
    """A name or title without what differs between the two."""
    return "".join(filter(str.isalnum, title.rpartition("__")[2])).lower()

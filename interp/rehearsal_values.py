"""Values that the rehearsal fills in: what the user gave, and else the least a schema accepts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from lenses_ext.signatures.subschemas import resolve

from .json_text import Json
from .schemas import accepts

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|'([^']+)'(?!\w)|`([^`]+)`")
_NAME = re.compile(
    r"\b(?:my name is|my name's|i am|i'm|i’m|call me|this is)\s+"
    r"((?:[A-Z][\w'’-]*)(?:\s+[A-Z][\w'’-]*)*)|\b(?:for|to|greet)\s+([A-Z][\w’-]*)",
    re.IGNORECASE,
)

_OF_FORMAT = {
    "date": "2000-01-01",
    "date-time": "2000-01-01T00:00:00Z",
    "duration": "P1D",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "time": "00:00:00Z",
    "uri": "https://example.com",
    "uuid": "00000000-0000-0000-0000-000000000000",
}

_DEEPEST = 20  # a type that always holds another of its kind has no end


class Filling:
    """Makes a value of a schema out of what the user said, the latest first."""

    def __init__(self, schema: Json, said: Sequence[str]) -> None:
        self._root = schema
        self._said = said
        self._numbers = _NUMBER.findall(said[0])

    def value(self) -> Json:
        """A value of the whole schema; an object holds what was said and what has to be there."""
        return self._made_up(self._root, 0)

    def _object(self, schema: dict[str, Json], level: int) -> dict[str, Json]:
        filled: dict[str, Json] = {}
        required = schema.get("required", ())
        for name, below in schema.get("properties", {}).items():
            plain = self._plain(below)
            found = self._found(name, plain)
            if found is not None and accepts(plain, found, self._root):
                filled[name] = found
            elif name in required:
                filled[name] = self._made_up(below, level + 1)
        return filled

    def _found(self, name: str, schema: dict[str, Json]) -> Json:
        """The value that the user gave for a parameter, or None."""
        latest, kind = self._said[0], _kind(schema)
        if "enum" in schema:
            return next((word for word in schema["enum"] if _mentions(latest, str(word))), None)
        if kind in ("integer", "number") and self._numbers:
            number = float(self._numbers.pop(0))
            return int(number) if kind == "integer" or number.is_integer() else number
        if kind == "boolean":
            return True if _mentions(latest, name) else None
        if kind == "string":
            if "name" in name.lower():
                return _first(match for text in self._said for match in _NAME.finditer(text))
            return _first(_QUOTED.finditer(latest))
        return None

    def _made_up(self, schema: Json, level: int) -> Json:
        """A value for what has to be there and was not given."""
        schema = self._plain(schema)
        if level > _DEEPEST:
            return None
        for keyword in ("default", "const"):
            if keyword in schema:
                return schema[keyword]
        if schema.get("enum"):
            return schema["enum"][0]
        match _kind(schema):
            case "integer" | "number":
                return self._number(schema)
            case "boolean":
                return False
            case "array":
                item = schema.get("items", {})
                return [self._made_up(item, level + 1) for _ in range(schema.get("minItems", 0))]
            case "object":
                return self._object(schema, level)
            case "null":
                return None
        return self._text(schema)

    def _number(self, schema: dict[str, Json]) -> Json:
        step = schema.get("multipleOf", 1)
        lower = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        upper = schema.get("maximum", schema.get("exclusiveMaximum", lower + step))
        near = [0, lower, lower + step, upper, upper - step, (lower + upper) / 2]
        near += [math.ceil(each / step) * step for each in near]
        return next((each for each in near if accepts(schema, each, self._root)), 0)

    def _text(self, schema: dict[str, Json]) -> str:
        text = _OF_FORMAT.get(str(schema.get("format")), self._said[0])
        return text.ljust(schema.get("minLength", 0), "…")[: schema.get("maxLength")]

    def _plain(self, schema: Json) -> dict[str, Json]:
        """A schema with what it refers to, or the first choice it leaves, laid under it."""
        for _ in range(_DEEPEST):
            if not isinstance(schema, dict):
                return {}
            plain = dict(schema)
            if "$ref" in plain:
                schema = resolve(plain.pop("$ref"), self._root)
            elif choices := plain.pop("anyOf", None) or plain.pop("oneOf", None):
                schema = min(choices, key=lambda each: each == {"type": "null"})
            else:
                return plain
            schema = {**schema, **plain} if isinstance(schema, dict) else plain
        return {}


def _kind(schema: dict[str, Json]) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return str(kind[0]) if isinstance(kind, list) and kind else str(kind)


def _mentions(text: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) is not None


def _first(matches: Iterable[re.Match[str]]) -> str | None:
    """What the first match captured, in whichever group."""
    return next((next(filter(None, match.groups())) for match in matches), None)

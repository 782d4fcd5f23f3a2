"""The canonical JSON described by a JSON Schema (draft 2020-12)."""

from __future__ import annotations

from typing import Any

from ..grammar import terminal

_WORD = f"^(?!(?:true|false)$)(?:{terminal('SYMBOL').pattern})$"
_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of what `gram.to_json` writes: a pattern, or an array of patterns.

    What a schema cannot say is left to `gram.from_json`: that a tree nests 100 levels at the most,
    that a string holds no lone surrogate, that a number can be held.

    >>> json_schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Gram patterns as canonical JSON",
        "anyOf": [_ref("pattern"), {"type": "array", "items": _ref("pattern")}],
        "$defs": {
            "pattern": _form(subject=_ref("subject"), elements=_array("pattern")),
            "subject": _form(
                identity=dict(_TEXT),
                labels={"type": "array", "items": dict(_TEXT)},
                properties=_ref("entries"),
            ),
            "entries": {"type": "object", "additionalProperties": _ref("value")},
            "value": {
                "anyOf": [
                    dict(_TEXT),
                    dict(_NUMBER),
                    {"type": "boolean"},
                    _array("value"),
                    *map(_ref, ("symbol", "tagged", "measurement", "range", "map", "plainMap")),
                ]
            },
            "symbol": _special("symbol", value=_word()),
            "tagged": _special("tagged", tag=_word(), content=dict(_TEXT)),
            "measurement": _special(
                "measurement",
                unit={"type": "string", "pattern": f"^(?:{terminal('UNIT').pattern})$"},
                value=dict(_NUMBER),
            ),
            "range": _special("range", lower=_ref("bound"), upper=_ref("bound"))
            | {"not": {"properties": {"lower": {"type": "null"}, "upper": {"type": "null"}}}},
            "bound": {"anyOf": [{"type": "null"}, dict(_NUMBER), _ref("measurement")]},
            "map": _special("map", entries=_ref("entries")),
            "plainMap": {
                "$comment": "any other object; one with the keys of a special form is that form",
                "allOf": [
                    _ref("entries"),
                    *(
                        {"not": _keys(kind, *names)}
                        for kind, names in (
                            ("symbol", ("value",)),
                            ("tagged", ("tag", "content")),
                            ("measurement", ("unit", "value")),
                            ("range", ("lower", "upper")),
                            ("map", ("entries",)),
                        )
                    ),
                ],
            },
        },
    }


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _array(name: str) -> dict[str, Any]:
    return {"type": "array", "items": _ref(name)}


def _word() -> dict[str, Any]:
    return {"type": "string", "pattern": _WORD}


def _form(**properties: dict[str, Any]) -> dict[str, Any]:
    """An object of exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _special(kind: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON object that represents a value which JSON does not have."""
    return _form(type={"const": kind}, **properties)


def _keys(kind: str, *names: str) -> dict[str, Any]:
    """An object whose type and keys are those of a special form, whatever the keys hold."""
    return _special(kind, **{name: {} for name in names})

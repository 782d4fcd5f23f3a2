"""Schemas of a document as JSON Schema, with what they refer to."""

from __future__ import annotations

import re
from typing import Final

from ...errors import ValidationError
from ...json_text import Json
from ...machine.contracts import from_openapi_schema
from .document import ApiDocument

_FOR_DOCUMENTS: Final = {"xml", "externalDocs", "discriminator"}


class Schemas:
    """The schemas of one operation, as JSON Schema."""

    def __init__(self, document: ApiDocument, at: str) -> None:
        self._document = document
        self._at = at
        self._names: dict[str, str] = {}  # by what refers to them

    def definitions(self) -> dict[str, Json]:
        """What the schemas refer to, and what that refers to, by name.

        Raises:
            ConfigurationError: a reference leads nowhere, or out of the document.
        """
        made: dict[str, Json] = {}
        while missing := {ref: name for ref, name in self._names.items() if name not in made}:
            for reference, name in missing.items():
                target = self._document.referred(reference, self._at)
                made[name] = self.json_schema(target)
        return made

    def of_parameter(self, parameter: dict[str, Json]) -> dict[str, Json]:
        """The schema of a parameter, with its description."""
        schema = parameter.get("schema")
        if schema is None:
            content: dict[str, Json] = parameter.get("content") or {}
            first: Json = next(iter(content.values()), None)
            schema = first.get("schema", {}) if isinstance(first, dict) else {}
        made = self.json_schema(schema)
        if parameter.get("description"):
            made.setdefault("description", parameter["description"])
        return made

    def json_schema(self, schema: Json) -> dict[str, Json]:
        """A schema of the document as JSON Schema."""
        if schema is True or schema is None:
            return {}
        try:
            made = from_openapi_schema(schema) if self._document.is_3_0 else schema
        except ValidationError as error:
            raise self._document.fault(self._at, f"a schema: {error}") from None
        found: dict[str, Json] = self._with_local_references(made)
        return found

    def _with_local_references(self, schema: Json) -> Json:
        if isinstance(schema, list):
            return [self._with_local_references(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        own = schema.get("properties")
        read_only = {  # only answers have these
            name
            for name, each in (own.items() if isinstance(own, dict) else ())
            if isinstance(each, dict) and each.get("readOnly") is True
        }
        made: dict[str, Json] = {}
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):
                made[key] = f"#/$defs/{self._name_of(value)}"
            elif key in ("enum", "const", "default", "examples", "example"):
                made[key] = value
            elif key == "properties" and isinstance(value, dict):
                made[key] = {
                    name: self._with_local_references(below)
                    for name, below in value.items()
                    if name not in read_only
                }
            elif key == "required" and isinstance(value, list):
                made[key] = [name for name in value if name not in read_only]
            elif key not in _FOR_DOCUMENTS:
                made[key] = self._with_local_references(value)
        return made

    def _name_of(self, reference: str) -> str:
        """The name of what a reference leads to, among the definitions."""
        if reference not in self._names:
            name = re.sub(r"\W", "_", reference.rpartition("/")[2], flags=re.ASCII) or "root"
            while name in self._names.values():
                name += "_"
            self._names[reference] = name
        return self._names[reference]


# --- results

_STEPS: Final = 20
_TYPES: Final = ("string", "integer", "number", "boolean", "object", "array", "null")


def result_type(document: ApiDocument, operation: dict[str, Json], at: str) -> Json:
    """The schema of what an operation gives, or None if the document does not say it.

    It has the outermost type alone, and that of a list's items: answers have more fields than
    documents say, and what a program needs of them it can declare itself.

    Raises:
        ConfigurationError: a reference leads nowhere, or out of the document.
    """
    schemas: list[Json] = []
    responses = document.followed(operation.get("responses") or {}, f"{at}.responses")
    for status, given in responses.items():
        if str(status).startswith("2"):
            content = document.followed(given, f"{at}.responses.{status}").get("content")
            answers = [media for kind, media in (content or {}).items() if "json" in kind]
            if content and not answers:
                return None
            schemas += [each.get("schema") for each in answers] or [{"type": "null"}]
    found = [_types(document, each, at) for each in schemas]
    types = set().union(*found)
    if not all(found) or types <= {"null"}:
        return None
    if types != {"array"}:
        return {"type": _in_order(types)}
    inside = [document.followed(each, at).get("items") for each in schemas]
    items = [_types(document, each, at) for each in inside]
    known = {"items": {"type": _in_order(set().union(*items))}} if all(items) else {}
    return {"type": "array", **known}


def _in_order(types: set[str]) -> Json:
    ordered = [each for each in _TYPES if each in types]
    return ordered[0] if len(ordered) == 1 else ordered


def _types(document: ApiDocument, schema: Json, at: str, depth: int = 0) -> set[str]:
    """The outermost types of a schema; none if it does not say them."""
    if not isinstance(schema, dict) or depth > _STEPS:
        return set()
    schema = document.followed(schema, at)
    given = schema.get("type")
    types = {each for each in (given if isinstance(given, list) else [given]) if each in _TYPES}
    if not types and isinstance(schema.get("properties"), dict):
        types = {"object"}
    for each in () if types else schema.get("allOf") or ():
        types = types or _types(document, each, at, depth + 1)
    for key in ("anyOf", "oneOf"):
        branches = [_types(document, each, at, depth + 1) for each in schema.get(key) or ()]
        if not types and branches and all(branches):
            types = set().union(*branches)
    return types | {"null"} if types and schema.get("nullable") is True else types

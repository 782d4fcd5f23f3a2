"""JSON Schema from a signature: what its labels, members and keywords say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from gram import MAX_LEVELS, Diagnostic

from ..schemas import Schema
from .faults import SignatureError, unknown_type
from .values import (
    ANY,
    COMBINATORS,
    NAMED,
    PARAMETERS,
    Parameter,
    Shape,
    Type,
    TypeSignature,
    basic,
    json_types,
)


def parameters_schema(signature: TypeSignature) -> dict[str, Any]:
    """The schema of the object that holds a tool's arguments.

    >>> from lenses_ext.signatures.values import UNCONSTRAINED
    >>> name = Parameter("name", Type(frozenset({"Text"})))
    >>> parameters_schema(TypeSignature((name,), UNCONSTRAINED))["properties"]
    {'name': {'type': 'string'}}
    """
    writer = SchemaWriter(signature.shapes)
    properties, required = writer.fields(signature.parameters)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    definitions = writer.definitions()
    overlay = signature.root.overlay()
    if (more := overlay.get("$defs")) is not None and isinstance(more, dict):
        overlay["$defs"] = {**definitions, **more}
    elif definitions:
        schema["$defs"] = definitions
    schema = _without_nulls({**schema, **overlay})
    return _without_definitions_of_the_result(schema, signature)


def result_schema(signature: TypeSignature) -> dict[str, Any] | None:
    """The schema of a tool's result, or None when anything may come.

    The types it refers to are in its own ``$defs``.
    """
    writer = SchemaWriter(signature.shapes)
    schema = writer.schema(signature.returns.type)
    if schema is False:
        return {"not": {}}
    if schema is True or schema == {}:
        return None
    assert isinstance(schema, dict)
    definitions = writer.definitions()
    named = _reached(schema, definitions)
    used = {name: definitions[name] for name in definitions if name in named}
    if used:
        schema["$defs"] = {**used, **schema.get("$defs", {})}
    return schema


def reference_to(name: str) -> str:
    """The ``$ref`` to a named type: a JSON pointer, written as a URI fragment.

    >>> reference_to("User"), reference_to("a/b c")
    ('#/$defs/User', '#/$defs/a~1b%20c')
    """
    pointer = name.replace("~", "~0").replace("/", "~1")
    return "#/$defs/" + quote(pointer, safe="!$&'()*+,;=:@?-._~")


_FIRST: tuple[str, ...] = ("title", "description")
"""What a reader of a schema wants to see first."""


MAX_TYPES = 100_000
"""How many types a signature may have once its local shapes are expanded."""


class SchemaWriter:
    """Writes types as schemas; labels may name the given shapes."""

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self.shapes = {shape.name: shape for shape in shapes}
        self._made = self._level = 0

    def definitions(self) -> dict[str, Schema]:
        """The schemas of the named types."""
        return {
            shape.name: self.schema(shape.type) for shape in self.shapes.values() if shape.named
        }

    def schema(self, type: Type) -> Schema:
        """The schema of one type."""
        self._made += 1
        if self._made > MAX_TYPES or self._level > MAX_LEVELS:
            message = f"the signature expands to too many types: label shared ones {NAMED}"
            raise SignatureError([Diagnostic("endless-type", "error", message)])
        self._level += 1
        schema = self._schema(type)
        self._level -= 1
        return schema

    def _schema(self, type: Type) -> Schema:
        if type.constant is not None:
            return type.constant
        head = self._head(type.labels)
        own, overlay = self._parts(type), type.overlay()
        if isinstance(head, bool):
            if not own and not overlay:
                return head
            head = {} if head else {"not": {}}
        first = {key: overlay[key] for key in _FIRST if key in overlay}
        return _without_nulls({**head, **first, **own, **overlay})

    def fields(self, members: Iterable[Parameter]) -> tuple[dict[str, Schema], list[str]]:
        """The ``properties`` and ``required`` of named members."""
        properties: dict[str, Schema] = {}
        required = []
        for member in members:
            assert member.name is not None
            schema = properties[member.name] = self.schema(member.type)
            if _is_required(member, schema):
                required.append(member.name)
        return properties, required

    def _head(self, labels: frozenset[str]) -> Schema:
        """What the labels alone say."""
        if all(map(basic, labels)):
            types = json_types(labels)
            return {"type": types[0] if len(types) == 1 else types}
        (label,) = labels
        return self._named(label)

    def _named(self, label: str) -> Schema:
        if basic(label):
            return {"type": json_types([label])[0]}
        if label in (ANY, PARAMETERS) or label in COMBINATORS:
            return {}
        shape = self.shapes.get(label)
        if shape is None:
            message = unknown_type(label, "the signature", self.shapes)
            raise SignatureError([Diagnostic("unknown-type", "error", message)])
        return {"$ref": reference_to(label)} if shape.named else self.schema(shape.type)

    def _parts(self, type: Type) -> dict[str, Any]:
        """What members and names of types say: alternatives, items, fields."""
        parts: dict[str, Any] = {}
        unnamed = [self.schema(each.type) for each in type.members if each.name is None]
        fields = [each for each in type.members if each.name is not None]
        for label in type.labels & COMBINATORS.keys():
            parts[COMBINATORS[label]] = [*map(self._named, type.of), *unnamed]
            unnamed = []
        if type.element_type is not None:
            parts["items"] = self._named(type.element_type)
        elif unnamed:
            parts["items"] = unnamed[0]
        if fields:
            parts["properties"], required = self.fields(fields)
            parts |= {"required": required} if required else {}
        return parts


def _is_required(member: Parameter, schema: Schema) -> bool:
    if member.optional is not None:
        return not member.optional
    return isinstance(schema, bool) or "default" not in schema


def _without_nulls(schema: dict[str, Any]) -> dict[str, Any]:
    """A ``null`` over ``type`` or ``properties``, which no schema can have, leaves the key out."""
    for key in ("type", "properties"):
        if key in schema and schema[key] is None:
            del schema[key]
    return schema


# --- which definitions belong to which schema


def _without_definitions_of_the_result(
    schema: dict[str, Any], signature: TypeSignature
) -> dict[str, Any]:
    """Definitions that the result alone refers to say nothing about the parameters."""
    definitions = schema.get("$defs")
    if not isinstance(definitions, dict):
        return schema
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    of_the_result = named_by([signature.returns.type], signature.shapes)
    foreign = of_the_result & definitions.keys() - _reached(rest, definitions)
    kept = {name: value for name, value in definitions.items() if name not in foreign}
    return {**rest, **({"$defs": kept} if kept else {})} if foreign else schema


def named_by(types: Iterable[Type], shapes: Iterable[Shape]) -> set[str]:
    """The names of the shapes that types lead to."""
    by_name = {shape.name: shape.type for shape in shapes}
    names: set[str] = set()
    pending = list(types)
    while pending:
        current = pending.pop()
        pending.extend(member.type for member in current.members)
        for label in {*current.labels, *current.of, current.element_type or ""} - names:
            if label in by_name:
                names.add(label)
                pending.append(by_name[label])
    return names


def _reached(schema: object, definitions: dict[str, Schema]) -> set[str]:
    """The names of the definitions that a schema refers to, or that these refer to."""
    name_of = {reference_to(name): name for name in definitions}
    reached: set[str] = set()
    pending: list[object] = [schema]
    while pending:
        match pending.pop():
            case dict() as mapping:
                reference = mapping.get("$ref")
                name = name_of.get(reference) if isinstance(reference, str) else None
                if name is not None and name not in reached:
                    reached.add(name)
                    pending.append(definitions[name])
                pending.extend(mapping.values())
            case list() as items:
                pending.extend(items)
    return reached

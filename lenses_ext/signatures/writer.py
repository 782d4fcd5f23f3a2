"""Writes signatures: as patterns, as the text of these patterns, and as JSON Schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from attrs import evolve

import gram
from gram import Diagnostic, Document, GramEncodeError, Pattern, Subject, Value
from gram.errors import expect
from gram.trees import WALK_SUBJECT
from gram.writing import Spelling

from ..cycles import reached
from ..labels import is_agent, is_answer, is_runnable, is_tool
from ..schemas import Schema, from_json_value, json_literal, subschemas
from . import values
from .faults import SignatureError, unknown_type
from .parts import is_chain, is_path, is_typed_path, signature_of
from .values import NAMED, Parameter, Shape, Type, TypeSignature, basic

_PLAIN = Spelling()
_NODE = Spelling("::")
_INSIDE = Spelling("::", "=")
_CHAIN = Spelling("::", "=", path=True)
_SHAPE = Spelling("::", "=", path=False, bracketed=True)
_BRACKET = Spelling("::", "=", path=False)


def agent_style(within: tuple[Pattern, ...]) -> Spelling:
    """The spelling of a pattern of a program: a style for `gram.dumps` and `gram.parse`.

    Args:
        within: its ancestors, outermost first, itself last.
    """
    *ancestors, pattern = within
    tools = [index for index, ancestor in enumerate(ancestors) if is_tool(ancestor)]
    if not tools:
        return _style_outside_tools(within)
    if tools[-1] < len(ancestors) - 1:
        return _CHAIN if is_chain(ancestors[tools[-1] + 1]) else _BRACKET
    if is_chain(pattern):
        return _CHAIN
    if not pattern.elements and signature_of(ancestors[-1].elements) is pattern:
        return _INSIDE
    return _SHAPE


def _style_outside_tools(within: tuple[Pattern, ...]) -> Spelling:
    """An agent's answer is written as the types beside a signature are, its signature as a tool's.

    Of the arrows only the nodes are written otherwise than in plain gram.
    """
    for around, element in pairwise(within):
        if not is_runnable(around):
            continue
        if is_agent(around) and is_answer(element):
            return _SHAPE if element is within[-1] else _BRACKET
        if is_typed_path(element):
            return _CHAIN
        if is_path(element) and not within[-1].elements:
            return _NODE
    return _PLAIN


def write_program(pattern: Pattern | Iterable[Pattern]) -> str:
    """The canonical text of a program, its signatures in their own style.

    >>> write_program(gram.loads_one('[t:Tool | (a:Text)-->(:String)]'))
    '[t:Tool | (a::Text)==>(::String)]'
    """
    return gram.dumps(pattern, style=agent_style)


def parse_program(text: str, filename: str | None = None) -> Document:
    """The document of a program: what is written into it is written in the program's style.

    Raises:
        GramDecodeError: the text is not gram.
    """
    return gram.parse(text, filename, style=agent_style)


_ON_THE_NODE = ("title", "description", "default")
"""Keywords about a parameter and not its type: they stay on the node when the type gets a shape."""


def write_type_signature(signature: TypeSignature) -> str:
    """The canonical text of a signature: its path, then its shapes, one to a line.

    Raises:
        SignatureError: it nests deeper than a pattern can.
    """
    expect(signature, TypeSignature, "signature", by="write_type_signature")
    return _write(signature_patterns(signature))


def signature_patterns(signature: TypeSignature) -> tuple[Pattern, ...]:
    """The elements of a tool with this signature: its path, then its shapes.

    Members of a parameter become a shape of their own, named after the parameter.

    Raises:
        SignatureError: it nests deeper than a pattern can.
    """
    try:
        return _patterns(signature)
    except GramEncodeError as error:
        message = f"the signature has no notation: {error}"
        raise SignatureError([Diagnostic("not-gram", "error", message)]) from None


def signature_text(tool: Pattern) -> str:
    """The text of a tool's elements in the signature style, read back as the same elements.

    >>> from gram import loads_one
    >>> signature_text(loads_one('[t:Tool | (a:Text)-->(:String)]'))
    '(a::Text)==>(::String)'
    """
    expect(tool, Pattern, "tool", by="signature_text")
    return _write(tool.elements)


def _write(elements: tuple[Pattern, ...]) -> str:
    tool = Pattern(Subject("", {"ToolSpecification"}), elements)
    lines = [gram.write_pattern(element, style=agent_style, within=(tool,)) for element in elements]
    return "\n".join(lines)


# --- patterns


def _patterns(signature: TypeSignature) -> tuple[Pattern, ...]:
    shapes = list(signature.shapes)
    taken = {shape.name for shape in shapes} | {p.name or "" for p in signature.parameters}
    nodes = []
    for parameter in (*signature.parameters, signature.returns):
        if parameter.type.members:
            name = _free_name(parameter.name or "Result", taken)
            taken.add(name)
            parameter, shape = _lifted(parameter, name)
            shapes.append(shape)
        nodes.append(_node(parameter))
    root = Pattern(Subject("", {values.PARAMETERS}, dict(_record(signature.root))))
    roots = [root] if root.value.properties else []
    ends = nodes if len(nodes) > 1 else [Pattern(), *nodes]
    edges = [Pattern(elements=two) for two in pairwise(ends)]
    path = edges[0] if len(edges) == 1 else Pattern(WALK_SUBJECT, edges)
    return (path, *roots, *map(_shape, shapes))


def _lifted(parameter: Parameter, name: str) -> tuple[Parameter, Shape]:
    """A parameter whose type is now a name, and the shape of that name."""
    type = parameter.type
    records = type.keywords, type.foreign
    own, own_foreign = (each.only(*_ON_THE_NODE) for each in records)
    keywords, foreign = (each.without(*_ON_THE_NODE) for each in records)
    node = Type(frozenset({name}), keywords=own, foreign=own_foreign)
    shape = Shape(name, evolve(type, keywords=keywords, foreign=foreign))
    return evolve(parameter, type=node), shape


def _free_name(parameter: str, taken: Iterable[str]) -> str:
    """The parameter's name in camel case, with a number while it is taken."""
    words = re.split(r"[^0-9A-Za-z]+", parameter)
    base = "".join(word[:1].upper() + word[1:] for word in words)
    if not base or base[0].isdigit():
        base = f"Shape{base}"
    name, number = base, 1
    while name in taken or name in values.RESERVED:
        number += 1
        name = f"{base}{number}"
    return name


def _node(parameter: Parameter) -> Pattern:
    """A member, with its own members as elements."""
    identity, record = "", dict(_record(parameter.type))
    if parameter.name is not None:
        if parameter.name and "\0" not in parameter.name:
            identity = parameter.name
        else:  # which no gram parser takes as an identity
            record["paramName"] = from_json_value(parameter.name)
    if parameter.optional is not None:
        record["optional"] = parameter.optional
    members = map(_node, parameter.type.members)
    return Pattern(Subject(identity, parameter.type.labels, record), members)


def _shape(shape: Shape) -> Pattern:
    labels = shape.type.labels | ({NAMED} if shape.named else set())
    members = map(_node, shape.type.members)
    return Pattern(Subject(shape.name, labels, dict(_record(shape.type))), members)


def _record(type: Type) -> Iterator[tuple[str, Value]]:
    foreign = dict(type.foreign)
    for key, value in type.keywords.items():
        if key in values.RESERVED_KEYS or not key or "\0" in key:
            foreign.setdefault(key, value)
        else:
            yield key, from_json_value(value)
    if type.constant is not None:
        yield "keywords", json_literal(type.constant)
    elif foreign:
        yield "keywords", json_literal(foreign)
    if type.element_type is not None:
        yield "elementType", type.element_type
    if type.of:
        yield "of", list(type.of)  # type: ignore[misc]  # frozen by the subject


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
        if self._made > MAX_TYPES or self._level > gram.MAX_LEVELS:
            message = f"the signature expands to too many types: label shared ones {NAMED}"
            raise SignatureError([Diagnostic("endless-type", "error", message)])
        self._level += 1
        schema = self._schema(type)
        self._level -= 1
        return schema

    def _schema(self, type: Type) -> Schema:
        if type.constant is not None:
            return type.constant
        head = self._head(*type.labels)
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
            has_default = isinstance(schema, dict) and "default" in schema
            if not (has_default if member.optional is None else member.optional):
                required.append(member.name)
        return properties, required

    def _head(self, *labels: str) -> Schema:
        """What labels alone say."""
        if all(map(basic, labels)):
            types = values.json_types(labels)
            return {"type": types[0] if len(types) == 1 else types}
        (label,) = labels
        if label in (values.ANY, values.PARAMETERS) or label in values.COMBINATORS:
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
        for label in type.labels & values.COMBINATORS.keys():
            parts[values.COMBINATORS[label]] = [*map(self._head, type.of), *unnamed]
            unnamed = []
        if type.element_type is not None:
            parts["items"] = self._head(type.element_type)
        elif unnamed:
            parts["items"] = unnamed[0]
        if fields:
            parts["properties"], required = self.fields(fields)
            parts |= {"required": required} if required else {}
        return parts


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
    first = [name for type in types for name in by_name.keys() & type_names_in(type)]
    return {*reached(first, lambda name: by_name.keys() & type_names_in(by_name[name]))}


def type_names_in(type: Type) -> Iterator[str]:
    """The names of types that a type and its members have, but for basic ones."""
    yield from (label for label in type.labels if basic(label) is None)
    yield from type.of
    if type.element_type is not None:
        yield type.element_type
    for member in type.members:
        yield from type_names_in(member.type)


def _reached(schema: object, definitions: dict[str, Schema]) -> set[str]:
    """The names of the definitions that a schema refers to, or that these refer to."""
    name_of = {reference_to(name): name for name in definitions}

    def names_in(schema: object) -> list[str]:
        references = (str(part.get("$ref")) for _, part in subschemas(schema))
        return [name_of[each] for each in references if each in name_of]

    return {*reached(names_in(schema), lambda name: names_in(definitions[name]))}

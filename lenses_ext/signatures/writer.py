"""Writes signatures: as patterns, and as the text of these patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from attrs import evolve

import gram
from gram import Diagnostic, Document, GramEncodeError, Pattern, Subject, Value, write_pattern
from gram.errors import expect
from gram.trees import WALK_SUBJECT
from gram.writing import Spelling

from ..labels import is_agent, is_answer, is_runnable, is_tool
from ..schemas import from_json_value, json_literal
from .faults import SignatureError
from .parts import is_chain, is_path, is_typed_path, signature_of
from .values import (
    NAMED,
    PARAMETERS,
    RESERVED,
    RESERVED_KEYS,
    Parameter,
    Shape,
    Type,
    TypeSignature,
)

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
    lines = [write_pattern(element, style=agent_style, within=(tool,)) for element in elements]
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
    root = Pattern(Subject("", {PARAMETERS}, dict(_record(signature.root))))
    roots = [root] if root.value.properties else []
    return (_chain(nodes), *roots, *map(_shape, shapes))


def _chain(nodes: list[Pattern]) -> Pattern:
    """The path along nodes, the last of them the return type."""
    if len(nodes) == 1:
        nodes = [Pattern(), *nodes]
    edges = [Pattern(elements=ends) for ends in pairwise(nodes)]
    return edges[0] if len(edges) == 1 else Pattern(WALK_SUBJECT, edges)


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
    while name in taken or name in RESERVED:
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
        if key in RESERVED_KEYS or not key or "\0" in key:
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

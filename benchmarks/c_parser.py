"""The other way to read gram: the C parser of tree-sitter-gram, and attrs trees made in Python.

The trees are as ours are: frozen attrs objects with a frozenset of labels, a pmap of properties
and a tuple of elements, without the checks that constructors make. Places are offsets of bytes.
It knows what the benchmark's texts are made of, not all of the notation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tree_sitter
import tree_sitter_gram
from attrs import frozen
from pyrsistent import PMap, pmap, pvector

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_gram.language()))


@frozen(cache_hash=True)
class Subject:
    """A name, labels and properties."""

    identity: str
    labels: frozenset[str]
    properties: PMap[str, object]


@frozen(cache_hash=True)
class Pattern:
    """A subject and its elements."""

    value: Subject
    elements: tuple[Pattern, ...]
    place: tuple[int, int]


def parse_only(text: str) -> None:
    """The C parser alone, nothing built."""
    PARSER.parse(text.encode())


def read(text: str) -> tuple[Pattern, ...]:
    """The trees of a text."""
    root = PARSER.parse(text.encode()).root_node
    assert not root.has_error
    return tuple(PATTERNS[node.type](node) for node in root.named_children if node.type in PATTERNS)


def _subject(parts: list[Any]) -> Subject:
    identity, labels, properties = "", _NO_LABELS, _NO_PROPERTIES
    for part in parts:
        kind = part.type
        if kind == "symbol":
            identity = part.text.decode()
        elif kind == "labels":
            labels = frozenset([name.text.decode() for name in part.named_children])
        elif kind == "record":
            properties = pmap(
                dict([_entry(entry) for entry in part.named_children if entry.type != "comment"])
            )
    return Subject(identity, labels, properties)


def _entry(entry: Any) -> tuple[str, object]:
    key, value = entry.named_children
    return key.text.decode(), VALUES[value.type](value)


def _node(node: Any) -> Pattern:
    return Pattern(_subject(node.named_children), (), (node.start_byte, node.end_byte))


def _bracket(node: Any) -> Pattern:
    parts = node.named_children
    elements: tuple[Pattern, ...] = ()
    if parts and parts[-1].type == "subject_pattern_elements":
        elements = tuple([PATTERNS[part.type](part) for part in parts.pop().named_children])
    return Pattern(_subject(parts), elements, (node.start_byte, node.end_byte))


def _edge(node: Any) -> Pattern:
    """An edge; the benchmark's texts have no walks."""
    left, arrow, right = node.named_children
    ends = _node(left), _node(right)
    if arrow.type == "left_arrow":
        ends = ends[1], ends[0]
    return Pattern(_subject(arrow.named_children), ends, (node.start_byte, node.end_byte))


PATTERNS: dict[str, Callable[[Any], Pattern]] = {
    "node_pattern": _node,
    "subject_pattern": _bracket,
    "relationship_pattern": _edge,
    "pattern_reference": _node,
}
VALUES: dict[str, Callable[[Any], object]] = {
    "string_literal": lambda node: node.text[1:-1].decode(),
    "integer": lambda node: int(node.text),
    "decimal": lambda node: float(node.text),
    "boolean_literal": lambda node: node.text == b"true",
    "array": lambda node: pvector([VALUES[item.type](item) for item in node.named_children]),
}
_NO_LABELS: frozenset[str] = frozenset()
_NO_PROPERTIES: PMap[str, object] = pmap()

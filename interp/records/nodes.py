"""Labelled nodes, the one form that is written of runs: as a pattern, or at once as a line of text.

A line costs a fraction of the pattern, which a run that is recorded never needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Union

from gram import (
    ONE_LINE,
    Pattern,
    Spelling,
    Subject,
    write_node,
    write_pattern,
)

from .pattern_parts import Written


class Node(NamedTuple):
    """A pattern to be: with a label, and without an identity.

    Attributes:
        label: its label.
        properties: its properties.
        elements: its elements.
    """

    label: str
    properties: Mapping[str, Written] = {}
    elements: tuple[Union[Node, Pattern], ...] = ()

    def pattern(self) -> Pattern:
        """The node as a pattern."""
        elements = (each if isinstance(each, Pattern) else each.pattern() for each in self.elements)
        return Pattern(Subject("", {self.label}, self.properties), elements)

    def line(self) -> str:
        """The node as canonical text on one line."""
        return write_node(self.label, self.properties, [*map(_line, self.elements)])

    def line_with(self, key: str, value_of: Callable[[str], str]) -> str:
        """The same with one more property, whose value is made of the line without it.

        Args:
            key: its name; no other property is behind it in the order of the alphabet.
            value_of: gives its value, a plain word, for the line.
        """
        subject = write_node(self.label, self.properties, [])[1:-1]
        elements = ", ".join(map(_line, self.elements))
        value = value_of(_in_brackets(subject, elements))
        start = f"{subject[:-1]}, " if self.properties else f"{subject} {{"
        return _in_brackets(f'{start}{key}: "{value}"}}', elements)


def pattern_line(pattern: Pattern) -> str:
    """The canonical text of a pattern on one line."""
    return write_pattern(pattern, style=_on_one_line)


def _in_brackets(subject: str, elements: str) -> str:
    return f"[{subject} | {elements}]" if elements else f"({subject})"


def _line(node: Node | Pattern) -> str:
    return pattern_line(node) if isinstance(node, Pattern) else node.line()


def _on_one_line(_: tuple[Pattern, ...]) -> Spelling:
    return ONE_LINE

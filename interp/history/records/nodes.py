"""Labelled nodes, the one form that is written of runs: as a pattern, or at once as a line of text.

A line costs a fraction of the pattern, which a run that is recorded never needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Union

from gram import ONE_LINE, Pattern, Spelling, Subject, write_node, write_pattern

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


def pattern_line(pattern: Pattern) -> str:
    """The canonical text of a pattern on one line."""
    return write_pattern(pattern, style=_on_one_line)


def _line(node: Node | Pattern) -> str:
    return pattern_line(node) if isinstance(node, Pattern) else node.line()


def _on_one_line(_: tuple[Pattern, ...]) -> Spelling:
    return ONE_LINE

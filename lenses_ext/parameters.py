"""The lens onto one parameter of a tool: the node of its signature that names it."""

from __future__ import annotations

import attrs

from gram import Pattern
from gram.operations import para

from .errors import FocusError
from .optics import Getter, Lens, computed, lens_of
from .signatures.source import signature_of


def _get_nodes(tool: Pattern) -> tuple[Pattern, ...]:
    return tuple({node.value.identity: node for node in _nodes(tool)}.values())


tool_parameters: Getter[Pattern, tuple[Pattern, ...]] = computed("tool_parameters", _get_nodes)
"""The nodes of a tool's signature that are its parameters, in order."""


def parameter_names(tool: Pattern) -> tuple[str, ...]:
    """The names of a tool's parameters that stand as nodes in its signature, in order."""
    return tuple(dict.fromkeys(node.value.identity for node in _nodes(tool) if node.value.identity))


def parameter(name: str) -> Lens[Pattern, Pattern]:
    """The lens from a tool onto the node of one of its parameters.

    A node between two arrows stands twice in the tree, at the end of one edge and the beginning of
    the next: both are set.
    """
    optic, path = f"parameter({name!r})", "elements"

    def get(tool: Pattern) -> Pattern:
        for node in _nodes(tool):
            if node.value.identity == name:
                return node
        known = ", ".join(parameter_names(tool)) or "none"
        raise FocusError(optic, path, tool, f'no parameter "{name}" (there are: {known})')

    def set_(tool: Pattern, new: Pattern) -> Pattern:
        if not isinstance(new, Pattern) or new.elements:
            raise FocusError(optic, path, tool, "a parameter is an atom")
        chain = signature_of(tool.elements)

        def rebuilt(pattern: Pattern, elements: tuple[Pattern, ...]) -> Pattern:
            if not pattern.elements and pattern.value.identity == name:
                return new
            return attrs.evolve(pattern, elements=elements)

        elements = tuple(para(rebuilt, each) if each is chain else each for each in tool.elements)
        return attrs.evolve(tool, elements=elements)

    return lens_of(optic, get, set_)


def _nodes(tool: Pattern) -> list[Pattern]:
    """The nodes along a tool's signature but its last, the return type."""
    chain = signature_of(tool.elements)
    if chain is None or not chain.elements:
        return []
    edges = chain.elements if chain.elements[0].elements else (chain,)
    return [edge.elements[0] for edge in edges]

"""The nodes along the path of a signature."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from gram import WALK, Pattern

from .faults import Faults
from .parts import Element, Parts
from .vocabulary import RESERVED

INPUT = "input"
"""What the only parameter is called that has no name of its own."""


def names_of(parameters: Iterable[Pattern]) -> tuple[str, ...]:
    """The names under which models see parameters, those of a path's nodes but the last.

    The only parameter is called ``input`` when it is written without a name; of several, one
    without a name is called ``arg1``, ``arg2``, … by its place.

    >>> from gram import loads
    >>> names_of(loads("(::Text)")), names_of(loads("(::Text) (age::Int) (::Text)"))
    (('input',), ('arg1', 'age', 'arg3'))
    """
    written = [_written_name(each) for each in parameters]
    if written == [None]:
        return (INPUT,)
    names: list[str] = []
    for place, name in enumerate(written, 1):
        if name is None:
            free = (f"arg{number}" for number in count(place))
            name = next(each for each in free if each not in written and each not in names)
        names.append(name)
    return tuple(names)


def _written_name(parameter: Pattern) -> str | None:
    subject = parameter.value
    written = subject.properties.get("paramName")
    if isinstance(written, str):
        return written
    is_type = subject.identity in RESERVED and not subject.labels  # in the place of the name
    return None if is_type else subject.identity or None


def nodes_of(parts: Parts, faults: Faults) -> list[Element] | None:
    """The nodes of a signature's path, the return type last; None when it is not a path."""
    chain = parts.chain
    if parts.nodes is not None:
        return list(parts.nodes)
    if chain is None:
        return []
    if any(each.code == "arrow" for each in faults.found):
        return None  # an arrow of the text points elsewhere, so it is not known which node is last
    if not chain.pattern.elements:
        return [chain]
    if chain.pattern.value.properties:
        faults.tell("arrow", "the path of a signature has no record", chain)
    is_walk = WALK in chain.pattern.value.labels
    nodes: list[Element] = []
    for edge in chain.below() if is_walk else [chain]:
        ends = edge.below()
        if len(ends) != 2 or (nodes and nodes[-1].pattern != ends[0].pattern):
            message = 'an arrow of the path does not point to a return type; use "==>"'
            faults.tell("arrow", message, edge)
            return None
        subject = edge.pattern.value
        if subject.identity or subject.labels or (is_walk and subject.properties):
            message = "an arrow of a signature has no name, type or record"
            faults.tell("arrow", message, edge)
        nodes.extend(ends[1:] if nodes else ends)
    return nodes

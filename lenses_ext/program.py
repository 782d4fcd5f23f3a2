"""Programs: the agents of a document, with what they share by reference put in its place.

An element of an agent may be the bare name of a tool or agent defined elsewhere in the document,
and a tool's signature may use types defined at its top. This is the one place where such
references are resolved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from gram import Fault, Pattern
from gram.faults import fault
from gram.near import did_you_mean
from gram.origin import carry_origin
from gram.serializer import is_reference
from gram.walk import TreePath

from .answer import answer_with_shared_shapes
from .labels import AGENT, TOOLS, is_agent, is_answer, is_tool
from .shared_shapes import shared_shapes, with_shared_shapes

UNDEFINED_REFERENCE = "undefined-reference"
REFERENCE_CYCLE = "reference-cycle"
TOO_MANY_AGENTS = "too-many-agents"


MOST_HINTS = 50
"""For how many references the nearest names are looked up, which takes long among many names."""

MAX_AGENTS = 100
"""How many agents one may hold by reference; agents that hold each other twice grow without end."""


def find_agents(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    """The agents of a document, those below annotations and groups too, in the order of the text.

    An agent inside another is part of that one.
    """
    return tuple(agent for _, agent in outermost(patterns, {AGENT}))


def outermost(
    patterns: Iterable[Pattern], labels: Collection[str]
) -> list[tuple[TreePath, Pattern]]:
    """The patterns with one of some labels and the paths to them, but none inside another."""
    found = []
    pending: list[tuple[TreePath, Pattern]] = [((i,), each) for i, each in enumerate(patterns)]
    pending.reverse()
    while pending:
        path, pattern = pending.pop()
        if not pattern.value.labels.isdisjoint(labels):
            found.append((path, pattern))
        else:
            below = list(enumerate(pattern.elements))
            pending.extend(((*path, index), element) for index, element in reversed(below))
    return found


def definitions(patterns: Iterable[Pattern]) -> dict[str, Pattern]:
    """The tools and agents of a document by name; of a name given twice, the first."""
    found: dict[str, Pattern] = {}
    pending = list(patterns)[::-1]
    while pending:
        pattern = pending.pop()
        subject = pattern.value
        if subject.labels & {AGENT, *TOOLS} and subject.identity:
            found.setdefault(subject.identity, pattern)
        if not is_tool(pattern):
            pending.extend(reversed(pattern.elements))
    return found


def resolve_references(
    agent: Pattern, patterns: Iterable[Pattern]
) -> tuple[Pattern, tuple[Fault, ...]]:
    """An agent with each reference replaced by the definition it names.

    Args:
        agent: the agent; it may be one of ``patterns``.
        patterns: the document in which the names are defined.

    Returns:
        The agent, and a fault for every reference that names nothing or leads back to an agent
        it stands in, with the path to it; these references are left as they are.
    """
    patterns = tuple(patterns)
    known, shapes = definitions(patterns), shared_shapes(patterns)
    faults: list[Fault] = []
    expanded: list[str] = []

    def resolved(pattern: Pattern, within: tuple[str, ...], path: TreePath) -> Pattern:
        inside = (*within, pattern.value.identity)
        elements = tuple(
            completed(element, inside, (*path, index))
            for index, element in enumerate(pattern.elements)
        )
        if all(new is old for new, old in zip(elements, pattern.elements, strict=True)):
            return pattern
        return carry_origin(attrs.evolve(pattern, elements=elements), pattern)

    def completed(element: Pattern, within: tuple[str, ...], path: TreePath) -> Pattern:
        if is_tool(element):
            return with_shared_shapes(element, shapes)
        if is_agent(element):
            return resolved(element, within, path)
        if is_answer(element):
            return answer_with_shared_shapes(element, shapes)
        return replaced(element, within, path)

    def replaced(element: Pattern, within: tuple[str, ...], path: TreePath) -> Pattern:
        name = element.value.identity
        if not is_reference(element):
            return element
        if name not in known:
            near = known if len(faults) < MOST_HINTS else ()
            faults.append(undefined_reference(element, near).below(*path))
            return element
        if name in within:
            chain = " -> ".join((*within[within.index(name) :], name))
            message = f'agent "{name}" contains itself: {chain}'
            faults.append(fault(REFERENCE_CYCLE, message, element).below(*path))
            return element
        if is_agent(known[name]):
            expanded.append(name)
            if len(expanded) > MAX_AGENTS:
                if len(expanded) == MAX_AGENTS + 1:
                    message = f"more than {MAX_AGENTS} agents stand in each other by reference"
                    faults.append(fault(TOO_MANY_AGENTS, message, element).below(*path))
                return element
        return completed(known[name], within, path)

    return resolved(agent, (), ()), tuple(faults)


def undefined_reference(element: Pattern, known: Iterable[str]) -> Fault:
    """The fault of a reference that names none of the ``known`` definitions."""
    name = element.value.identity
    hint = did_you_mean(name, known)
    message = f'"{name}" is not defined: no tool or agent of this name in the document'
    return fault(UNDEFINED_REFERENCE, message, element, hint=hint)

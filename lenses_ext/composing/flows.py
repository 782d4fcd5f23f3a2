"""Workflows from parts: steps in a row, or at once.

Like the other functions that compose, these take patterns and give others; nothing that was given
is changed, so the result goes into a text with `gram.Document.replace`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias, Union

from gram import Pattern, Subject, is_reference
from gram.errors import expect
from gram.trees import WALK_SUBJECT

from ..errors import FocusError
from ..labels import WORKFLOW, kind_of
from ..language import is_node
from ..optics import with_elements

Step: TypeAlias = Union[Pattern, str]
"""A node: an agent, a tool, a workflow, or the name of one that is defined elsewhere."""


def sequence(name: str, *steps: Step, description: str | None = None) -> Pattern:
    """A workflow of steps, each of which gets what the one before it gives.

    A step that comes again is another use of the same agent or tool.

    Args:
        name: the name of the workflow.
        steps: what the nodes use, or the names of what is defined elsewhere.
        description: what the workflow is for.

    Raises:
        FocusError: there is no step, or one of them has no name.

    >>> from lenses_ext import write_program
    >>> print(write_program(sequence("news", "writer", "editor", "writer")))
    [news:Workflow | writer, editor, (writer)-->(editor)-->(writer2::writer)]
    """
    nodes = _nodes("sequence", name, steps, description)
    elements = {each.value.identity: each for each in nodes}
    ends: list[Pattern] = []
    used: set[str] = set()
    for each in nodes:
        identity = each.value.identity
        label, number = identity, 1
        while label in used or (number > 1 and label in elements):
            number += 1
            label = f"{identity}{number}"
        used.add(label)
        ends.append(Pattern(Subject(label, {identity} if number > 1 else ())))
    edges = [Pattern(Subject(), two) for two in pairwise(ends)]
    arrows = [Pattern(WALK_SUBJECT, edges)] if len(edges) > 1 else edges
    return _workflow("sequence", name, description, [*elements.values(), *arrows])


def parallel(name: str, *steps: Step, description: str | None = None) -> Pattern:
    """A workflow of steps that all get its input, and run at once; it gives a record by name.

    Args:
        name: the name of the workflow.
        steps: what the nodes use, or the names of what is defined elsewhere.
        description: what the workflow is for.

    Raises:
        FocusError: there is no step, one has no name, or two have one name.

    >>> from lenses_ext import write_program
    >>> print(write_program(parallel("both", "left", "right")))
    [both:Workflow | left, right]
    """
    nodes = _nodes("parallel", name, steps, description)
    names = [each.value.identity for each in nodes]
    for each in nodes:
        if names.count(each.value.identity) > 1:
            reason = f'two steps are named "{each.value.identity}"'
            raise FocusError("parallel", "elements", each, reason)
    return _workflow("parallel", name, description, nodes)


# --- steps


def _nodes(by: str, name: object, steps: Iterable[object], description: object) -> list[Pattern]:
    expect(name, str, "name", by=by)
    expect(description, (str, type(None)), "description", by=by)
    nodes: list[Pattern] = []
    for step in steps:
        expect(step, (str, Pattern), "step", by=by)
        node = Pattern(Subject(step)) if isinstance(step, str) else step
        assert isinstance(node, Pattern)
        if not is_node(node):
            reason = f"a step is an agent, a tool or a workflow, not a {kind_of(node)}"
            if not node.value.identity:
                reason = "a step is the name of an agent, a tool or a workflow"
            raise FocusError(by, "elements", node, reason)
        if not node.value.identity:
            raise FocusError(by, "value.identity", node, "a step has no name")
        if node.value.identity == name and is_reference(node):
            raise FocusError(by, "elements", node, f'the workflow "{name}" would contain itself')
        same = next((each for each in nodes if each.value.identity == node.value.identity), node)
        if same != node and not (is_reference(same) or is_reference(node)):
            reason = f'"{node.value.identity}" is two different steps'
            raise FocusError(by, "elements", node, reason, "give one of them another name")
        nodes.append(node)
    if not nodes:
        raise FocusError(by, "elements", Pattern(Subject(str(name))), "there are no steps")
    return nodes


def _workflow(by: str, name: str, description: str | None, elements: Iterable[Pattern]) -> Pattern:
    if not name:
        raise FocusError(by, "value.identity", Pattern(), "a workflow needs a name")
    record = {} if description is None else {"description": description}
    return with_elements(by, Pattern(Subject(name, {WORKFLOW}, record)), elements)

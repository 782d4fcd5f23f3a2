"""Workflows from parts: steps in a row, at once, by choice, for each item, and in rounds.

Like the other functions that compose, these take patterns and give others; nothing that was given
is changed, so the result goes into a text with `gram.Document.replace`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, TypeAlias, Union

from gram import Pattern, Subject, is_reference
from gram.errors import expect
from gram.trees import WALK_SUBJECT
from gram.words import did_you_mean

from ..errors import FocusError
from ..labels import LOOP, WORKFLOW, kind_of
from ..language import is_node
from ..optics import with_elements
from ..schemas import from_json_value
from ..workflows import EACH, OTHERWISE, WHEN

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
    return _workflow("sequence", name, [*elements.values(), *arrows], description=description)


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
    nodes = _different("parallel", _nodes("parallel", name, steps, description))
    return _workflow("parallel", name, nodes, description=description)


def choice(
    name: str,
    chooser: Step,
    arms: Mapping[Any, Step],
    *,
    otherwise: Step | None = None,
    description: str | None = None,
) -> Pattern:
    """A workflow in which the answer of a step says which step comes next.

    That one gets what the choosing step was given.

    Args:
        name: the name of the workflow.
        chooser: the step whose answer decides.
        arms: the step for each answer: a text, a number, a bool, or what else gram can write.
        otherwise: the step for all other answers.
        description: what the workflow is for.

    Raises:
        FocusError: there is no arm, a step has no name, or two have one name.

    >>> from lenses_ext import write_program
    >>> print(write_program(choice("desk", "ask", {"bill": "pay"}, otherwise="help")))
    [desk:Workflow | ask, pay, help, (ask)-[:WHEN {is: "bill"}]->(pay), (ask)-[:OTHERWISE]->(help)]
    """
    expect(arms, Mapping, "arms", by="choice")
    steps = [chooser, *arms.values(), *(() if otherwise is None else (otherwise,))]
    nodes = _nodes("choice", name, steps, description)
    known: dict[str, Pattern] = {}
    for each in nodes[1:]:  # of one that comes again, a definition goes before a reference to it
        if is_reference(known.setdefault(each.value.identity, each)):
            known[each.value.identity] = each
    different = _different("choice", [nodes[0], *known.values()])
    if not arms:
        raise FocusError("choice", "elements", Pattern(Subject(name)), "there are no arms")
    ends = [Pattern(Subject(each.value.identity)) for each in nodes]
    labelled = [Subject("", {WHEN}, {"is": from_json_value(answer)}) for answer in arms]
    labelled += [Subject("", {OTHERWISE})] * (otherwise is not None)
    arrows = [Pattern(label, (ends[0], end)) for label, end in zip(labelled, ends[1:], strict=True)]
    return _workflow("choice", name, [*different, *arrows], description=description)


def for_each(
    name: str,
    source: Step,
    worker: Step,
    *,
    at_once: int | None = None,
    description: str | None = None,
) -> Pattern:
    """A workflow in which a step is used for each item of a list; it gives the list of results.

    Args:
        name: the name of the workflow.
        source: the step that gives the list.
        worker: the step that takes an item.
        at_once: how many items are under way at once; None leaves it to the run.
        description: what the workflow is for.

    Raises:
        FocusError: a step has no name, or both have one name.

    >>> from lenses_ext import write_program
    >>> print(write_program(for_each("review", "files", "reviewer", at_once=4)))
    [review:Workflow | files, reviewer, (files)-[:EACH {at_once: 4}]->(reviewer)]
    """
    nodes = _different("for_each", _nodes("for_each", name, (source, worker), description))
    ends = [Pattern(Subject(each.value.identity)) for each in nodes]
    label = Subject("", {EACH}, {} if at_once is None else {"at_once": at_once})
    return _workflow("for_each", name, [*nodes, Pattern(label, ends)], description=description)


def loop(
    name: str,
    *steps: Step,
    max: int,
    until: Any,
    result: str | None = None,
    description: str | None = None,
) -> Pattern:
    """Steps that are repeated until one of them says so.

    Args:
        name: the name of the loop.
        steps: what comes one after another in each round.
        max: how many rounds there are at the most.
        until: what the last step says at the end, or a mapping from the name of a step to that.
        result: the step whose answer the loop gives; None is the last one.
        description: what the loop is for.

    Raises:
        FocusError: there is no step, one has no name, two have one name, or none is ``result``.

    >>> from lenses_ext import write_program
    >>> print(write_program(loop("refine", "write", "judge", max=3, until="fine", result="write")))
    [refine:Loop {max: 3, until: "fine"} | write, judge, (write)-->(judge), (write)-->()]
    """
    nodes = _different("loop", _nodes("loop", name, steps, description))
    names = [each.value.identity for each in nodes]
    if result is not None and result not in names:
        reason, hint = f'no step is named "{result}"', did_you_mean(result, names)
        raise FocusError("loop", "elements", Pattern(Subject(name)), reason, hint)
    ends = [Pattern(Subject(each)) for each in names]
    arrows = [Pattern(Subject(), two) for two in pairwise(ends)]
    if result is not None and result != names[-1]:
        arrows.append(Pattern(Subject(), (Pattern(Subject(result)), Pattern())))
    record = {"max": max, "until": from_json_value(until), "description": description}
    return _workflow("loop", name, [*nodes, *arrows], LOOP, **record)


# --- steps


def _nodes(by: str, name: object, steps: Iterable[object], description: object) -> list[Pattern]:
    expect(name, str, "name", by=by)
    expect(description, (str, type(None)), "description", by=by)
    nodes: list[Pattern] = []
    for step in steps:
        expect(step, (str, Pattern), "step", by=by)
        node = Pattern(Subject(step)) if isinstance(step, str) else step
        assert isinstance(node, Pattern)
        own = node.value.identity
        same = next((each for each in nodes if each.value.identity == own), node)
        path, hint, reason = "elements", None, ""
        if not is_node(node):
            reason = "a step is the name of an agent, a tool or a workflow"
            if own:
                reason = f"a step is an agent, a tool or a workflow, not a {kind_of(node)}"
        elif not own:
            path, reason = "value.identity", "a step has no name"
        elif own == name and is_reference(node):
            reason = f'the workflow "{name}" would contain itself'
        elif same != node and not (is_reference(same) or is_reference(node)):
            reason, hint = f'"{own}" is two different steps', "give one of them another name"
        if reason:
            raise FocusError(by, path, node, reason, hint)
        nodes.append(node)
    if not nodes:
        raise FocusError(by, "elements", Pattern(Subject(str(name))), "there are no steps")
    return nodes


def _different(by: str, nodes: list[Pattern]) -> list[Pattern]:
    """The nodes; two of one name are refused."""
    names = Counter(each.value.identity for each in nodes)
    for each in (each for each in nodes if names[each.value.identity] > 1):
        raise FocusError(by, "elements", each, f'two steps are named "{each.value.identity}"')
    return nodes


def _workflow(
    by: str, name: str, elements: Iterable[Pattern], label: str = WORKFLOW, **record: Any
) -> Pattern:
    """The workflow, with the properties of its record that are not None."""
    if not name:
        raise FocusError(by, "value.identity", Pattern(), f"a {label.lower()} needs a name")
    said = {key: value for key, value in record.items() if value is not None}
    return with_elements(by, Pattern(Subject(name, {label}, said)), elements)

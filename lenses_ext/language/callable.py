"""Agents and workflows as what they are to a caller: functions with a signature.

A path among the elements whose last node is unnamed and typed is the signature. Without one an
agent takes ``(input::String)`` and gives what its `Answer` declares, or a text; a workflow takes
the same and gives its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

import attrs

from gram import Pattern, Subject
from gram.trees import carry_origin

from ..errors import FocusError, PartError
from ..labels import TOOL, is_agent, is_answer, is_runnable, is_tool
from ..optics import expect_definition, lens_of, text
from ..signatures import (
    INPUT,
    PARAMETERS,
    RESERVED,
    is_typed_path,
    parse_type_signature,
    shared_shapes,
    signature_elements,
    signature_of,
    signature_text,
    used_shapes,
    with_other_elements,
)
from ..weak_cache import memo
from .answer import answer_elements
from .parameters import with_signature

_TEXT = Pattern(Subject("", {"String"}))
_ANY = Pattern(Subject("", {"Any"}))
_INPUT = Pattern(Subject(INPUT, {"String"}))


@memo
def written_signature(pattern: Pattern) -> Pattern | None:
    """The path among the elements of an agent or workflow that is its signature, or None."""
    return next(filter(is_typed_path, pattern.elements), None)


def tool_spec_of(pattern: Pattern) -> Pattern:
    """The tool specification that an agent or workflow is to its caller; a tool itself.

    It has the name, the description and the signature, and the types that this uses. Whatever
    reads tools reads it: `tool_spec_schema`, `parse_type_signature`, `result_schema`. The same
    pattern gives the same specification.

    Raises:
        FocusError: it is neither a tool nor an agent nor a workflow.

    >>> from lenses_ext import write_program, parse_program
    >>> agent = parse_program("[a:Agent {description: 'Sums up.'} | (article::Text)==>(::String)]")
    >>> print(write_program(tool_spec_of(agent.patterns[0])))
    [a:ToolSpecification {description: "Sums up."} | (article::Text)==>(::String)]
    """
    if is_tool(pattern):
        return pattern
    if not is_runnable(pattern):
        reason = "expected a tool, an agent or a workflow"
        raise FocusError("tool_spec_of", "value.labels", pattern, reason)
    return _tool_spec(pattern)


@memo
def _tool_spec(pattern: Pattern) -> Pattern:
    name = pattern.value.identity
    description = pattern.value.properties.get("description")
    if not isinstance(description, str) or not description.strip():
        description = f"The {'agent' if is_agent(pattern) else 'workflow'} {name}."
    subject = Subject(name, {TOOL}, {"description": description})
    return carry_origin(Pattern(subject, _signature_elements(pattern)), pattern)


def _signature_elements(pattern: Pattern) -> tuple[Pattern, ...]:
    """The elements of the tool that an agent or workflow is."""
    path = written_signature(pattern)
    if path is not None:
        shapes = shared_shapes(pattern.elements)
        roots = [each for each in pattern.elements if PARAMETERS in each.value.labels]
        return (path, *roots, *used_shapes([path, *roots], shapes))
    answer = next(filter(is_answer, pattern.elements), None) if is_agent(pattern) else None
    if answer is not None:
        elements = answer_elements(answer)
        result = signature_of(elements) or _ANY
        beside = (each for each in elements if each is not result)
        return (Pattern(elements=(_INPUT, result)), *beside)
    return (Pattern(elements=(_INPUT, _TEXT if is_agent(pattern) else _ANY)),)


def signature_with_shared_shapes(pattern: Pattern, shapes: Mapping[str, Pattern]) -> Pattern:
    """An agent or workflow with the types put behind its elements that its signature shares."""
    own = written_signature(pattern)
    roots = [each for each in pattern.elements if PARAMETERS in each.value.labels]
    shared = {**shapes, **shared_shapes(pattern.elements)}
    named = used_shapes([own, *roots], shared) if own is not None else ()
    mine = {id(each) for each in pattern.elements}
    used = (each for each in named if id(each) not in mine)
    return with_other_elements(pattern, (*pattern.elements, *used))


# --- the lens


def _own(elements: Sequence[Pattern]) -> range:
    """The places of a signature among elements: its path, and the types directly behind it."""
    for start, element in enumerate(elements):
        if is_typed_path(element):
            behind = takewhile(_is_type, elements[start + 1 :])
            return range(start, start + 1 + sum(1 for _ in behind))
    return range(0)


def _is_type(element: Pattern) -> bool:
    return bool(element.value.labels & RESERVED)


def _get_signature(pattern: Pattern) -> str | None:
    expect_definition(pattern)
    if not is_runnable(pattern):
        raise PartError("expected an agent or a workflow")
    places = _own(pattern.elements)
    if not places:
        return None
    tool = Pattern(Subject("", {TOOL}), pattern.elements[places.start : places.stop])
    parse_type_signature(tool, open=True)  # what is not one cannot be set, so it is not shown
    return signature_text(tool)


def _set_signature(pattern: Pattern, signature: str | None) -> Pattern:
    if signature == _get_signature(pattern):
        return pattern
    old = pattern.elements
    places = _own(old)
    if not places:
        first = next((place for place, each in enumerate(old) if not _is_type(each)), len(old))
        places = range(first, first)
    new = () if signature is None else _elements_of(text(signature))
    new = with_signature(old[places.start : places.stop], new)
    return attrs.evolve(pattern, elements=(*old[: places.start], *new, *old[places.stop :]))


def _elements_of(signature: str) -> tuple[Pattern, ...]:
    """The elements that say a signature: its path, then its types."""
    elements = signature_elements(signature, open=True)
    path = signature_of(elements)
    assert path is not None, "it has been read as a signature"
    types = [each for each in elements if each is not path]
    for each in types:
        if not _is_type(each):
            name = each.value.identity
            reason = f'the type "{name}" is only another name for a type'
            raise PartError(reason, "write it as an element of its own, away from the signature")
    return (path if path.elements else Pattern(elements=(Pattern(), path)), *types)


agent_type_signature = lens_of(
    "agent_type_signature",
    _get_signature,
    _set_signature,
    "elements",
    'The signature of an agent or workflow as text, such as "(article::Text)==>(::String)"; '
    "None if it has none.",
)
"""The types that are written directly behind the path are part of it; others are names.

Put-get holds of the texts that it shows: a result alone, ``(::String)``, is put as a path. Put-put
holds but for None put where the signature is not the first element: its place is forgotten.
"""

"""Agents and workflows as what they are to a caller: functions with a signature and an answer.

A path among the elements whose last node is unnamed and typed is the signature. Without one an
agent takes ``(input::String)`` and gives what its `Answer` declares, or a text; a workflow takes
the same and gives its result.

An answer ``[:Answer:Object | (name::String), (age::Integer)]`` is written as a type beside a
tool's signature is, and means what it would mean there: its labels and members are the type, its
record holds JSON Schema keywords. Its own name, when it has one, is what providers call the
schema. Labelled ``Type`` too, its members may refer to it by the label ``Answer``.

Without another label it holds what a signature without parameters holds, a type and the shapes
that it names: ``[:Answer | (:Array {elementType: Person}), [Person:Object | (name::String)]]``. An
answer of the first form that names a type shared by the document is resolved to this one.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import attrs

from gram import Diagnostic, Pattern, Subject, only_errors
from gram.errors import expect
from gram.trees import carry_origin

from .. import signatures
from ..errors import FocusError, PartError
from ..labels import ANSWER, TOOL, is_agent, is_answer, is_runnable, is_tool
from ..optics import expect_definition, lens_of, text
from ..signatures import PARAMETERS, used_shapes
from ..weak_cache import memo
from .tool_spec import with_signature

_REFERENCE = Pattern(Subject("", {ANSWER}))


@memo
def answer_signature(answer: Pattern) -> signatures.TypeSignature:
    """The type of an answer: a signature without parameters that returns it.

    Raises:
        SignatureError: it is not a type; all its faults are listed.
    """
    signature = signatures.parse_type_signature(_as_tool(answer))
    if signature.parameters:
        message = "an answer has no parameters: write the type alone, [:Answer | (::Person), …]"
        raise signatures.SignatureError([Diagnostic.of("answer-parameters", message, answer)])
    return signature


def answer_schema(answer: Pattern) -> dict[str, Any]:
    """The JSON Schema of an answer, a fresh copy each time; ``{}`` when anything may come.

    Raises:
        SignatureError: it is not a type.

    >>> from gram import loads_one
    >>> answer_schema(loads_one("[:Answer:Object | (name::String)]"))
    {'type': 'object', 'properties': {'name': {'type': 'string'}}, 'required': ['name']}
    """
    expect(answer, Pattern, "answer", by="answer_schema")
    return copy.deepcopy(_schema(answer))


def json_schema_to_answer(schema: Mapping[str, Any], name: str = "result") -> Pattern:
    """The answer that a JSON Schema says, without loss.

    `answer_schema` gives the schema back, but for definitions that nothing refers to, and a default
    of the whole, which is none of an answer.

    Args:
        schema: the schema; it is not changed.
        name: a name for the type, for where it needs one beside other types.

    Raises:
        SignatureError: it is not a schema, or refers to something outside itself.

    >>> from gram import dumps
    >>> dumps(json_schema_to_answer({"type": "string", "enum": ["long", "short"]}))
    '(:Answer:String {enum: ["long", "short"]})'
    """
    expect(schema, Mapping, "schema", by="json_schema_to_answer")
    expect(name, str, "name", by="json_schema_to_answer")
    own = {key: value for key, value in schema.items() if key != "default"}
    path, *shapes = _as_parameter(name, own, schema.get("$defs"))
    if any(PARAMETERS in each.value.labels for each in shapes):  # it has odd definitions
        path, *shapes = _as_parameter(name, own, None)
    node = path.elements[0]
    first = shapes[0].value if shapes else node.value
    labels, properties = node.value.labels, node.value.properties.discard("paramName")
    if not shapes:
        return Pattern(Subject("", labels | {ANSWER}, properties))
    if len(shapes) == 1 and labels == {first.identity} and signatures.NAMED not in first.labels:
        subject = Subject("", first.labels | {ANSWER}, first.properties.update(properties))
        return Pattern(subject, shapes[0].elements)
    return Pattern(Subject("", {ANSWER}), (Pattern(Subject("", labels, properties)), *shapes))


def _as_parameter(name: str, schema: dict[str, Any], definitions: Any) -> tuple[Pattern, ...]:
    """The elements of a tool with one parameter of a type; definitions are types beside it."""
    whole: dict[str, Any] = {"type": "object", "properties": {name: schema}, "required": [name]}
    if definitions is not None:
        schema = {key: value for key, value in schema.items() if key != "$defs"}
        whole = {**whole, "properties": {name: schema}, "$defs": definitions}
    return signatures.signature_elements(signatures.json_schema_to_type_signature(whole))


def answer_diagnostics(answer: Pattern) -> tuple[Diagnostic, ...]:
    """What is wrong with an answer, and likely slips in it, in the order of the text."""
    faults = signatures.signature_diagnostics(_as_tool(answer))
    if not only_errors(faults):
        try:
            answer_signature(answer)
        except signatures.SignatureError as error:
            faults = error.faults
    if _holds_a_signature(answer):
        if any(each.elements for each in answer.elements):
            return faults
        hint = "fields are those of a record: [:Answer:Object | …]"
        return tuple(attrs.evolve(it, hint=hint) if it.code == "no-return" else it for it in faults)
    # the type is the second element of the signature that it is read as
    return tuple(attrs.evolve(each, path=each.path[1:]) for each in faults)


def _holds_a_signature(answer: Pattern) -> bool:
    return answer.value.labels == {ANSWER} and bool(answer.elements)


def answer_elements(answer: Pattern) -> tuple[Pattern, ...]:
    """The elements of a tool without parameters that returns an answer, its result first."""
    if _holds_a_signature(answer):
        return answer.elements
    subject = answer.value
    named = attrs.evolve(subject, identity=ANSWER, labels=subject.labels - {ANSWER})
    return _REFERENCE, carry_origin(attrs.evolve(answer, value=named), answer)


def _as_tool(answer: Pattern) -> Pattern:
    return Pattern(Subject("answer", {TOOL}), answer_elements(answer))


@memo
def _schema(answer: Pattern) -> dict[str, Any]:
    return signatures.result_schema(answer_signature(answer)) or {}


_TEXT = Pattern(Subject("", {"String"}))
_ANY = Pattern(Subject("", {"Any"}))
_INPUT = Pattern(Subject(signatures.INPUT, {"String"}))


@memo
def written_signature(pattern: Pattern) -> Pattern | None:
    """The path among the elements of an agent or workflow that is its signature, or None."""
    return next(filter(signatures.is_typed_path, pattern.elements), None)


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
        shapes = signatures.shared_shapes(pattern.elements)
        roots = [each for each in pattern.elements if PARAMETERS in each.value.labels]
        return (path, *roots, *used_shapes([path, *roots], shapes))
    answer = next(filter(is_answer, pattern.elements), None) if is_agent(pattern) else None
    if answer is not None:
        elements = answer_elements(answer)
        result = signatures.signature_of(elements) or _ANY
        beside = (each for each in elements if each is not result)
        return (Pattern(elements=(_INPUT, result)), *beside)
    return (Pattern(elements=(_INPUT, _TEXT if is_agent(pattern) else _ANY)),)


def with_types(pattern: Pattern, types: Mapping[str, Pattern]) -> Pattern:
    """A definition with the shared types that it uses behind its elements; itself if it uses none.

    Of an agent or workflow they are those that its signature uses.

    Args:
        pattern: a tool, an answer, an agent or a workflow.
        types: the shared types by name; a type of its own hides one of the same name.
    """
    old = pattern.elements
    if is_tool(pattern):
        return signatures.with_other_elements(pattern, (*old, *used_shapes(old, types)))
    if is_answer(pattern):
        old = answer_elements(pattern)
        used = used_shapes(old, types)
        whole = Pattern(Subject(pattern.value.identity, {ANSWER}), (*old, *used))
        return carry_origin(whole, pattern) if used else pattern
    signature = written_signature(pattern)
    roots = [each for each in old if PARAMETERS in each.value.labels]
    shared = {**types, **signatures.shared_shapes(old)}
    named = () if signature is None else used_shapes([signature, *roots], shared)
    mine = {*map(id, old)}
    return signatures.with_other_elements(
        pattern, (*old, *(each for each in named if id(each) not in mine))
    )


# --- the lens


def _own(elements: Sequence[Pattern]) -> range:
    """The places of a signature among elements: its path, and the types directly behind it."""
    for start, element in enumerate(elements):
        if signatures.is_typed_path(element):
            behind = takewhile(_is_type, elements[start + 1 :])
            return range(start, start + 1 + sum(1 for _ in behind))
    return range(0)


def _is_type(element: Pattern) -> bool:
    return bool(element.value.labels & signatures.RESERVED)


def _get_signature(pattern: Pattern) -> str | None:
    expect_definition(pattern)
    if not is_runnable(pattern):
        raise PartError("expected an agent or a workflow")
    places = _own(pattern.elements)
    if not places:
        return None
    tool = Pattern(Subject("", {TOOL}), pattern.elements[places.start : places.stop])
    # what is not one cannot be set, so it is not shown
    signatures.parse_type_signature(tool, open=True)
    return signatures.signature_text(tool)


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
    elements = signatures.signature_elements(signature, open=True)
    path = signatures.signature_of(elements)
    assert path is not None, "it has been read as a signature"
    types = [each for each in elements if each is not path]
    for each in types:
        if not _is_type(each):
            name = each.value.identity
            reason = f'the type "{name}" is only another name for a type'
            raise PartError(reason, "write it as an element of its own, away from the signature")
    return (path if path.elements else Pattern(elements=(Pattern(), path)), *types)


_TYPES = 'The signature of an agent or workflow as text, "(article::Text)==>(::Text)", or None.'
agent_type_signature = lens_of(
    "agent_type_signature", _get_signature, _set_signature, "elements", _TYPES
)
"""The types that are written directly behind the path are part of it; others are names.

Put-get holds of the texts that it shows: a result alone, ``(::String)``, is put as a path. Put-put
holds but for None put where the signature is not the first element: its place is forgotten.
"""

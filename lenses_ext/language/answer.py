"""The type of an agent's answer: an element labelled ``Answer``.

``[:Answer:Object | (name::String), (age::Integer)]`` is written as a type beside a tool's signature
is, and means what it would mean there: its labels and members are the type, its record holds JSON
Schema keywords. Its own name, when it has one, is what providers call the schema. Labelled ``Type``
too, its members may refer to it by the label ``Answer``.

Without another label it holds what a signature without parameters holds, a type and the shapes
that it names: ``[:Answer | (:Array {elementType: Person}), [Person:Object | (name::String)]]``. An
answer of the first form that names a type shared by the document is resolved to this one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from gram import Diagnostic, Pattern, Subject, only_errors
from gram.errors import expect
from gram.trees import carry_origin

from ..labels import ANSWER, TOOL
from ..signatures import (
    NAMED,
    PARAMETERS,
    SignatureError,
    TypeSignature,
    json_schema_to_type_signature,
    parse_type_signature,
    result_schema,
    signature_diagnostics,
    signature_elements,
    with_shared_shapes,
)
from ..weak_cache import memo

_REFERENCE = Pattern(Subject("", {ANSWER}))


@memo
def answer_signature(answer: Pattern) -> TypeSignature:
    """The type of an answer: a signature without parameters that returns it.

    Raises:
        SignatureError: it is not a type; all its faults are listed.
    """
    signature = parse_type_signature(_as_tool(answer))
    if signature.parameters:
        message = "an answer has no parameters: write the type alone, [:Answer | (::Person), …]"
        raise SignatureError([Diagnostic.of("answer-parameters", message, answer)])
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
    if len(shapes) == 1 and labels == {first.identity} and NAMED not in first.labels:
        subject = Subject("", first.labels | {ANSWER}, first.properties.update(properties))
        return Pattern(subject, shapes[0].elements)
    return Pattern(Subject("", {ANSWER}), (Pattern(Subject("", labels, properties)), *shapes))


def _as_parameter(name: str, schema: dict[str, Any], definitions: Any) -> tuple[Pattern, ...]:
    """The elements of a tool with one parameter of a type; definitions are types beside it."""
    whole: dict[str, Any] = {"type": "object", "properties": {name: schema}, "required": [name]}
    if definitions is not None:
        schema = {key: value for key, value in schema.items() if key != "$defs"}
        whole = {**whole, "properties": {name: schema}, "$defs": definitions}
    return signature_elements(json_schema_to_type_signature(whole))


def answer_diagnostics(answer: Pattern) -> tuple[Diagnostic, ...]:
    """What is wrong with an answer, and likely slips in it, in the order of the text."""
    faults = signature_diagnostics(_as_tool(answer))
    if not only_errors(faults):
        try:
            answer_signature(answer)
        except SignatureError as error:
            faults = error.faults
    if _holds_a_signature(answer):
        return faults
    # the type is the second element of the signature that it is read as
    return tuple(attrs.evolve(each, path=each.path[1:]) for each in faults)


def answer_with_shared_shapes(answer: Pattern, shapes: Mapping[str, Pattern]) -> Pattern:
    """An answer with the shared shapes that it uses put beside its type; itself when none."""
    whole = Pattern(Subject(answer.value.identity, {ANSWER}), answer_elements(answer))
    completed = with_shared_shapes(whole, shapes)
    return answer if completed is whole else carry_origin(completed, answer)


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


_schema: Callable[[Pattern], dict[str, Any]] = memo(
    lambda answer: result_schema(answer_signature(answer)) or {}
)

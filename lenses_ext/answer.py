"""The answer that an agent declares: an element labelled ``Answer`` that is a type.

``[:Answer:Object | (name::String), (age::Integer)]`` is written as a type beside a tool's signature
is, and means what it would mean there: its labels and members are the type, its record holds JSON
Schema keywords. Its own name, when it has one, is what providers call the schema. Labelled ``Type``
too, its members may refer to it by the label ``Answer``.
"""

from __future__ import annotations

import copy
from typing import Any

import attrs

from gram import Pattern, Subject, origin
from gram.origin import remember

from .labels import ANSWER, TOOL
from .memo import Memo
from .signature import TypeSignature
from .type_signatures import parse_type_signature, result_schema

_REFERENCE = Pattern(Subject("", {ANSWER}))


def answer_signature(answer: Pattern) -> TypeSignature:
    """The type of an answer: a signature without parameters that returns it.

    Raises:
        SignatureError: it is no type; all its faults are listed.
    """
    return _signature(answer)


def answer_schema(answer: Pattern) -> dict[str, Any]:
    """The JSON Schema of an answer, a fresh copy each time; ``{}`` when anything may come.

    Raises:
        SignatureError: it is no type.

    >>> from gram import loads_one
    >>> answer_schema(loads_one("[:Answer:Object | (name::String)]"))
    {'type': 'object', 'properties': {'name': {'type': 'string'}}, 'required': ['name']}
    """
    return copy.deepcopy(_schema(answer))


def _read(answer: Pattern) -> TypeSignature:
    subject = answer.value
    named = attrs.evolve(subject, identity=ANSWER, labels=subject.labels - {ANSWER})
    shape = attrs.evolve(answer, value=named)
    place = origin(answer)
    if place is not None:  # faults of the type cite the answer's place
        remember(shape, place.source, place.span.start, place.span.end)
    return parse_type_signature(Pattern(Subject("answer", {TOOL}), (_REFERENCE, shape)))


_signature: Memo[Pattern, TypeSignature] = Memo(_read)
_schema: Memo[Pattern, dict[str, Any]] = Memo(
    lambda answer: result_schema(answer_signature(answer)) or {}
)

"""Type signatures for everybody: what is read, what it means in JSON Schema, how it is written."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, Union

from gram import Pattern

from ..memo import Memo
from .checks import check_signature
from .errors import SignatureError
from .from_schema import json_schema_faults, signature_from_schema
from .hindley_milner import is_hindley_milner, parse_hindley_milner
from .reader import SignatureReader
from .source import SignatureSource, is_tool, source_of_pattern, source_of_text
from .to_schema import parameters_schema, result_schema as schema_of_result
from .values import TypeSignature
from .writer import signature_patterns, signature_text, write_type_signature

SignatureLike: TypeAlias = Union[str, Pattern, TypeSignature]
"""A signature in any form: text, a tool or signature pattern, or what was parsed of these."""


def parse_type_signature(x: SignatureLike, *, shapes: Iterable[Pattern] = ()) -> TypeSignature:
    """The parameters, result and types of a signature.

    Args:
        x: text (a gram path with its shapes, a tool, or the form ``(name: Text) --> IO Text``),
            a tool pattern, or the pattern of a signature (path or atom).
        shapes: types defined beside the tool, which it may name.

    Raises:
        SignatureError: with everything that is wrong, in ``faults``.

    >>> signature = parse_type_signature('(name::Text)==>(age::Int {default: 18})==>(::String)')
    >>> [parameter.name for parameter in signature.parameters]
    ['name', 'age']
    """
    if isinstance(x, TypeSignature):
        return x
    outer = tuple(shapes)
    if isinstance(x, Pattern) and not outer:
        return _signature_of_pattern(x)
    return _parse(x, outer)


def type_signature_to_json_schema(
    x: SignatureLike, *, shapes: Iterable[Pattern] = ()
) -> dict[str, Any]:
    """The JSON Schema of a tool's parameters, a fresh copy each time.

    Raises:
        SignatureError: the signature is not valid.

    >>> type_signature_to_json_schema('(name::Text)==>(::String)')
    {'type': 'object', 'properties': {'name': {'type': 'string'}}, 'required': ['name']}
    """
    schema: dict[str, Any] = copy.deepcopy(_schema(parse_type_signature(x, shapes=shapes)))
    return schema


def result_schema(x: SignatureLike, *, shapes: Iterable[Pattern] = ()) -> dict[str, Any] | None:
    """The JSON Schema of a tool's result, a fresh copy each time; None when anything may come.

    Raises:
        SignatureError: the signature is not valid.

    >>> result_schema('(name::Text)==>(::String)')
    {'type': 'string'}
    """
    return schema_of_result(parse_type_signature(x, shapes=shapes))


def json_schema_to_type_signature(
    schema: Mapping[str, Any], *, return_schema: Mapping[str, Any] | bool | None = None
) -> str:
    """The text of the signature that a JSON Schema says, without loss.

    ``type_signature_to_json_schema`` gives the schema back: equal but for the order of keys and
    of ``required``, and an empty ``required``.

    Args:
        schema: the schema of an object, one property a parameter; it is not changed.
        return_schema: the schema of the result, or None when anything may come.

    Raises:
        SignatureError: it is no schema of an object, or refers to something outside itself.

    >>> json_schema_to_type_signature({"type": "object", "properties": {"n": {"type": "integer"}}})
    '(n::Integer {optional: true})==>(::Any)'
    """
    return write_type_signature(signature_from_schema(schema, return_schema))


def signature_elements(x: SignatureLike) -> tuple[Pattern, ...]:
    """The elements of a tool with a signature: as they were written, where that was in gram.

    What has no gram of its own (the text form, ``fields``) comes as `signature_patterns`.

    Raises:
        SignatureError: the signature is not valid.

    >>> from gram import dumps
    >>> dumps(signature_elements('(::Text {paramName: "a"})==>(::String)'))
    '(:Text {paramName: "a"})-->(:String)'
    """
    signature = parse_type_signature(x)
    if isinstance(x, Pattern):
        return x.elements if is_tool(x) else (x,)
    if isinstance(x, TypeSignature) or is_hindley_milner(x):
        return signature_patterns(signature)
    elements = source_of_text(x).elements
    if any("fields" in each.value.properties for each in _all_of(elements)):
        return signature_patterns(signature)
    return elements


def _all_of(patterns: Iterable[Pattern]) -> Iterator[Pattern]:
    for pattern in patterns:
        yield pattern
        yield from _all_of(pattern.elements)


def _parse(x: str | Pattern, shapes: tuple[Pattern, ...]) -> TypeSignature:
    if isinstance(x, str):
        if is_hindley_milner(x):
            return parse_hindley_milner(x)
        return _read(source_of_text(x), shapes)
    return _read(source_of_pattern(x), shapes)


def _read(source: SignatureSource, shapes: tuple[Pattern, ...]) -> TypeSignature:
    reader = SignatureReader((*source.outer, *shapes))
    signature = reader.read(source)
    if not reader.faults:
        check_signature(signature, reader)
    if reader.faults:
        raise SignatureError(sorted(reader.faults, key=lambda each: each.span or (0, 0)))
    return signature


_signature_of_pattern: Memo[Pattern, TypeSignature] = Memo(lambda pattern: _parse(pattern, ()))
_schema: Memo[TypeSignature, dict[str, Any]] = Memo(parameters_schema)


__all__ = [
    "SignatureError",
    "SignatureLike",
    "TypeSignature",
    "json_schema_faults",
    "json_schema_to_type_signature",
    "parse_type_signature",
    "result_schema",
    "signature_elements",
    "signature_patterns",
    "signature_text",
    "type_signature_to_json_schema",
    "write_type_signature",
]

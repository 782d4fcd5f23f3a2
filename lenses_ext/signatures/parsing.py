"""What a signature says, in whatever form it comes, and what that means in JSON Schema."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, TypeAlias, Union

from gram import Pattern

from ..memo import Memo
from .checks import check_signature
from .errors import SignatureError
from .reader import SignatureReader
from .source import SignatureSource, source_of_pattern, source_of_text
from .to_schema import parameters_schema, result_schema as schema_of_result
from .values import TypeSignature

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


def _parse(x: str | Pattern, shapes: tuple[Pattern, ...]) -> TypeSignature:
    if isinstance(x, str):
        from .hindley_milner import is_hindley_milner, parse_hindley_milner

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

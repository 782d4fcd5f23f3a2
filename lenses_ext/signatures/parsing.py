"""Reads signatures in any form, and gives their JSON Schemas."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, TypeAlias, Union

from gram import Diagnostic, Pattern, walk
from gram.errors import expect, expect_all

from ..labels import is_tool
from ..weak_cache import memo
from .checks import check_signature
from .faults import Faults, SignatureError
from .parts import Parts, parts_of_pattern, parts_of_text
from .reader import SignatureReader
from .to_schema import parameters_schema, result_schema as schema_of_result
from .values import TypeSignature
from .writer import signature_patterns

SignatureLike: TypeAlias = Union[str, Pattern, TypeSignature]
"""A signature in any form: text, a tool or signature pattern, or what was parsed of these."""

_Reading: TypeAlias = tuple[TypeSignature | None, tuple[Diagnostic, ...]]
"""A signature as it was read, None when it has errors, and its faults."""


def parse_type_signature(
    x: SignatureLike, *, shapes: Iterable[Pattern] = (), open: bool = False
) -> TypeSignature:
    """The parameters, result and types of a signature.

    Args:
        x: text (a gram path with its shapes, a tool, or the form ``(name: Text) --> IO Text``),
            a tool pattern, or the pattern of a signature (path or atom).
        shapes: the patterns at the top of the file, whose shapes the signature may use.
        open: whether a name that is not defined is taken for a type that is defined elsewhere.

    Raises:
        SignatureError: with everything that is wrong, in ``faults``.

    >>> signature = parse_type_signature('(name::Text)==>(age::Int {default: 18})==>(::String)')
    >>> [parameter.name for parameter in signature.parameters]
    ['name', 'age']
    """
    if isinstance(x, TypeSignature):
        return x
    signature, faults = _reading(x, shapes, open)
    if signature is None:
        raise SignatureError(each for each in faults if each.severity == "error")
    return signature


def signature_diagnostics(
    x: SignatureLike, *, shapes: Iterable[Pattern] = ()
) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a signature and likely slips in it, in the order of the text.

    Args:
        x: a signature, as `parse_type_signature` takes it.
        shapes: the patterns at the top of the file, whose shapes the signature may use.

    >>> for fault in signature_diagnostics("(limit::Int {optinal: true})==>(::String)"):
    ...     print(fault.severity, fault.message)
    warning unknown key "optinal" of "limit"; did you mean "optional"?
    """
    if isinstance(x, TypeSignature):
        return ()
    return _reading(x, shapes, False)[1]


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


def signature_elements(x: SignatureLike, *, open: bool = False) -> tuple[Pattern, ...]:
    """The elements of a tool with a signature: as they were written, where that was in gram.

    What gram has other words for (the text form, ``fields``) comes as `signature_patterns`.

    Args:
        x: a signature, as `parse_type_signature` takes it.
        open: whether a name that is not defined is taken for a type that is defined elsewhere.

    Raises:
        SignatureError: the signature is not valid.

    >>> from gram import dumps
    >>> dumps(signature_elements('(::Text {paramName: "a"})==>(::String)'))
    '(:Text {paramName: "a"})-->(:String)'
    """
    signature = parse_type_signature(x, open=open)
    if isinstance(x, Pattern):
        return x.elements if is_tool(x) else (x,)
    if isinstance(x, TypeSignature):
        return signature_patterns(signature)
    parts = _parts_of(x, ())
    if parts.nodes is not None or any(
        "fields" in each.value.properties for top in parts.elements for _, each in walk(top)
    ):
        return signature_patterns(signature)
    return parts.elements


def _reading(x: object, around: Iterable[Pattern], open: bool) -> _Reading:
    expect(x, (str, Pattern, TypeSignature), "x", by="parse_type_signature")
    shapes = expect_all(around, Pattern, "shapes", by="parse_type_signature")
    if isinstance(x, Pattern):
        return _read(parts_of_pattern(x, shapes), open) if shapes or open else _of_pattern(x)
    try:
        return _read(_parts_of(str(x), shapes), open)
    except SignatureError as error:  # the text is of no form
        return None, error.faults


def _parts_of(text: str, shapes: tuple[Pattern, ...]) -> Parts:
    from .text_form import is_text_form, parts_of_text_form  # most signatures are patterns

    return (parts_of_text_form if is_text_form(text) else parts_of_text)(text, shapes)


def _read(parts: Parts, open: bool = False) -> _Reading:
    faults = Faults(parts.faults, parts.spans, parts.source)
    reader = SignatureReader(faults, parts.known, open=open)
    signature = reader.read(parts)
    if not faults.errors:
        check_signature(signature, reader)
    found = faults.sorted()
    return None if faults.errors else signature, found


@memo
def _of_pattern(pattern: Pattern) -> _Reading:
    return _read(parts_of_pattern(pattern))


_schema = memo(parameters_schema)

"""A signature in another form: a JSON Schema as text, a text as the elements of a tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gram import Pattern

from ..labels import is_tool
from .from_schema import signature_from_schema
from .hindley_milner import is_hindley_milner
from .parsing import SignatureLike, parse_type_signature
from .source import source_of_text
from .values import TypeSignature
from .writer import signature_patterns, write_type_signature


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

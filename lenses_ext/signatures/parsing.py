"""Reads signatures in any form, checks them as a whole, and gives their JSON Schemas."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any, TypeAlias, Union

from attrs import evolve

from gram import Diagnostic, Pattern, only_errors, walk
from gram.errors import expect
from gram.words import dotted

from .. import schemas
from ..cycles import cycles
from ..labels import is_tool
from ..schemas import breaches, default_misfits, dump_json, is_of, remote_references, subschemas
from ..weak_cache import memo
from . import writer
from .faults import Faults, Owner, SignatureError, keyword_hint
from .parts import Parts, parts_of_pattern, parts_of_text
from .reader import SignatureReader
from .text_form import is_text_form, parts_of_text_form
from .values import NAMED, TypeSignature, basic, json_types


def check_signature(signature: TypeSignature, reader: SignatureReader) -> None:
    """Note what is wrong with a signature whose parts are right."""
    if signature.shapes and not _check_expansion(signature, reader):
        return
    if not _check_keywords(reader):
        return
    if signature.shapes:
        _check_use(signature, reader)
    _check_values(reader)
    if not reader.undefined:
        _check_defaults(signature, reader)


# --- shapes that contain shapes


def _check_expansion(signature: TypeSignature, reader: SignatureReader) -> bool:
    """Whether expanding every local shape where it is used comes to an end, and soon."""
    local = {shape.name: shape for shape in signature.shapes if not shape.named}
    uses = {name: local.keys() & writer.type_names_in(shape.type) for name, shape in local.items()}
    endless = {min(way) for way in cycles(uses)}
    for name in sorted(endless):
        labels = "::".join(sorted(local[name].type.labels))
        message = f'type "{name}" contains itself: label it {NAMED}, [{name}:{NAMED}:{labels} | …]'
        reader.faults.tell("endless-type", message, reader.shapes[name])
    if endless or reader.undefined:
        return not endless
    try:
        writer.parameters_schema(signature)
        writer.result_schema(signature)
    except SignatureError as error:
        reader.faults.tell("endless-type", error.faults[0].message, reader.chain)
        return False
    return True


def _check_use(signature: TypeSignature, reader: SignatureReader) -> None:
    """Warn of types beside the signature that nothing uses, except those in ``$defs``."""
    named = [shape for shape in signature.shapes if shape.named]
    types = [each.type for each in (*signature.parameters, signature.returns)]
    types += [shape.type for shape in named]
    used = writer.named_by(types, signature.shapes) | {shape.name for shape in named}
    names = {parameter.name for parameter in signature.parameters}
    for name in reader.shapes.keys() - used:
        written = "::".join([name, *sorted(reader.shapes[name].pattern.value.labels)])
        hint = f"a parameter is a part of the path: ({written})==>…"
        hint = f"write ({name}::{name}) to use it" if name in names else hint
        message = f'type "{name}" is not used by the signature'
        owner = Owner("type", f'"{name}"', reader.shapes[name], reader.faults)
        owner.warn("unused-type", message, "identity", hint)


def _check_values(reader: SignatureReader) -> None:
    """Warn of types that no value, or not every value they list, can have."""
    for owner, type in reader.written:
        keywords, labels = type.keywords, type.labels
        types = json_types(labels) if all(map(basic, labels)) else []
        consts = [keywords["const"]] if "const" in keywords else []
        listed = [("enum", "no-effect", "has", keywords.get("enum", ()))]
        for key, code, says, values in (*listed, ("const", "no-value", "is", consts)):
            wrong = [value for value in values if types and not is_of(value, types)]
            if wrong:
                shown = f"{says} {dump_json(wrong[0], compact=True)}"
                message = f"{key} of {owner.words} {shown}, but its type is "
                owner.warn(code, message + " or ".join(types), key)
        for path, schema in subschemas(keywords.to_json()):
            text = schema.get("pattern")
            if isinstance(text, str) and not schemas.is_regular_expression(text):
                where = f"{dotted((*path, 'pattern'))} of {owner.words}"
                message = f'{where} is not a regular expression: "{text}"; no call can be checked'
                owner.warn("pattern", message, str((*path, "pattern")[0]))


# --- keywords


def _check_keywords(reader: SignatureReader) -> bool:
    """Whether the keywords are a JSON Schema's, without references to elsewhere."""
    written = [(owner, type) for owner, type in reader.written if type.keywords or type.foreign]
    overlays = [type.overlay().items() for _, type in written]
    no_null = ("type", "properties")  # where null leaves the keyword out
    judged = [{k: v for k, v in it if v is not None or k not in no_null} for it in overlays]
    for breach in breaches(judged):
        owner, keyword = written[breach.index][0], dotted(breach.path)
        message = f'"{keyword}" of {owner.words} {breach.reason}'
        hint = keyword_hint(keyword, breach.value)
        owner.tell("not-a-schema", message, str(breach.path[0]), hint=hint)
    for (owner, _), schema in zip(written, judged, strict=True):
        for path, reference in remote_references(schema):
            message = remote_reference(str(path[-1]), reference)
            owner.tell("remote-reference", message, str(path[0]))
    return not only_errors(reader.faults)


def remote_reference(keyword: str, reference: str) -> str:
    """The message for a reference that leads out of the schema."""
    return f'"{keyword}" to "{reference}" is not local: only #/$defs/… is allowed'


def _check_defaults(signature: TypeSignature, reader: SignatureReader) -> None:
    """A default that is written fits its type; null is also the mark of no default."""
    written = []
    for owner, type in reader.written:
        said = type.keywords.without(*type.foreign)
        if "default" in said and (said["default"] is not None or not owner.is_optional):
            written.append((owner, type))
    writing = writer.SchemaWriter(signature.shapes)
    made = [writing.schema(evolve(type, constant=None)) for _, type in written]
    dicts = [schema for schema in made if isinstance(schema, dict)]
    reasons = default_misfits(partial(writer.parameters_schema, signature), dicts)
    for (owner, type), reason in zip(written, reasons, strict=True):
        if reason is not None:
            default = dump_json(type.keywords["default"], compact=True)
            message = f"default {default} of {owner.words} {reason}"
            owner.tell("default-mismatch", message, "default")


SignatureLike: TypeAlias = Union[str, Pattern, TypeSignature]
"""A signature in any form: text, a tool or signature pattern, or what was parsed of these."""

_Reading: TypeAlias = tuple[TypeSignature | None, tuple[Diagnostic, ...]]
"""A signature as it was read, None when it has errors, and its faults."""


def parse_type_signature(x: SignatureLike, *, open: bool = False) -> TypeSignature:
    """The parameters, result and types of a signature.

    Args:
        x: text (a gram path with its shapes, a tool, or the form ``(name: Text) --> IO Text``),
            a tool pattern, or the pattern of a signature (path or atom).
        open: whether a name that is not defined is taken for a type that is defined elsewhere.

    Raises:
        SignatureError: with everything that is wrong, in ``faults``.

    >>> signature = parse_type_signature('(name::Text)==>(age::Int {default: 18})==>(::String)')
    >>> [parameter.name for parameter in signature.parameters]
    ['name', 'age']
    """
    if isinstance(x, TypeSignature):
        return x
    signature, faults = _reading(x, open)
    if signature is None:
        raise SignatureError(each for each in faults if each.severity == "error")
    return signature


def signature_diagnostics(x: SignatureLike) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a signature and likely slips in it, in the order of the text.

    Args:
        x: a signature, as `parse_type_signature` takes it.

    >>> for fault in signature_diagnostics("(limit::Int {optinal: true})==>(::String)"):
    ...     print(fault.severity, fault.message)
    warning unknown key "optinal" of "limit"; did you mean "optional"?
    """
    return () if isinstance(x, TypeSignature) else _reading(x, False)[1]


def type_signature_to_json_schema(x: SignatureLike) -> dict[str, Any]:
    """The JSON Schema of a tool's parameters, a fresh copy each time.

    Raises:
        SignatureError: the signature is not valid.

    >>> type_signature_to_json_schema('(name::Text)==>(::String)')
    {'type': 'object', 'properties': {'name': {'type': 'string'}}, 'required': ['name']}
    """
    schema: dict[str, Any] = copy.deepcopy(_schema(parse_type_signature(x)))
    return schema


def result_schema(x: SignatureLike) -> dict[str, Any] | None:
    """The JSON Schema of a tool's result, or None when anything may come; a fresh copy each time.

    Raises:
        SignatureError: the signature is not valid.

    >>> result_schema('(name::Text)==>(::String)')
    {'type': 'string'}
    """
    return writer.result_schema(parse_type_signature(x))


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
        return writer.signature_patterns(signature)
    parts = _parts_of(x)
    nodes = (each for top in parts.elements for _, each in walk(top))
    has_fields = any("fields" in each.value.properties for each in nodes)
    is_plain = parts.nodes is None and not has_fields
    return parts.elements if is_plain else writer.signature_patterns(signature)


def _reading(x: object, open: bool) -> _Reading:
    expect(x, (str, Pattern, TypeSignature), "x", by="parse_type_signature")
    if isinstance(x, Pattern):
        return _read(parts_of_pattern(x), open) if open else _of_pattern(x)
    try:
        return _read(_parts_of(str(x)), open)
    except SignatureError as error:  # the text is of no form
        return None, error.faults


def _parts_of(text: str) -> Parts:
    return (parts_of_text_form if is_text_form(text) else parts_of_text)(text)


def _read(parts: Parts, open: bool = False) -> _Reading:
    faults = Faults(parts.faults)
    reader = SignatureReader(faults, parts.known, open=open)
    signature = reader.read(parts)
    if not only_errors(faults):
        check_signature(signature, reader)
    found = sorted(faults, key=lambda each: each.span or (0, 0))
    return None if only_errors(found) else signature, tuple(found)


@memo
def _of_pattern(pattern: Pattern) -> _Reading:
    return _read(parts_of_pattern(pattern))


_schema = memo(writer.parameters_schema)

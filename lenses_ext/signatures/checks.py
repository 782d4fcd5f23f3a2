"""Checks of a signature as a whole, once its parts were read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any

from attrs import evolve

from gram import MAX_LEVELS

from ..schemas import SchemaPath, breaches, default_misfits, dump_json, is_of, remote_references
from .faults import Written, format_hint, keyword_hint
from .reader import SignatureReader
from .to_schema import SchemaWriter, named_by, parameters_schema
from .values import NAMED, Shape, Type, TypeSignature, basic, json_types

MAX_TYPES = 20_000
"""How many types a signature may have once its local shapes are expanded."""


def check_signature(signature: TypeSignature, reader: SignatureReader) -> None:
    """Note what is wrong with a signature whose parts are right."""
    may_grow = signature.shapes or len(reader.written) > MAX_TYPES
    if may_grow and not _check_expansion(signature, reader):
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
    uses = {
        name: {label for label in _labels(shape.type) if label in local}
        for name, shape in local.items()
    }
    endless = False
    for name in _cycles(uses):
        endless = True
        labels = "::".join(sorted(local[name].type.labels))
        message = f'type "{name}" contains itself: label it {NAMED}, [{name}:{NAMED}:{labels} | …]'
        reader.faults.tell("endless-type", message, reader.shapes[name])
    return not endless and _check_size(signature, local, uses, reader)


def _cycles(uses: dict[str, set[str]]) -> Iterator[str]:
    """A name of each cycle, which is taken out, so that there is none at the end."""
    while True:
        try:
            TopologicalSorter(uses).prepare()
            return
        except CycleError as error:
            name = min(error.args[1])
        yield name
        del uses[name]
        for names in uses.values():
            names.discard(name)


def _check_size(
    signature: TypeSignature,
    local: dict[str, Shape],
    uses: dict[str, set[str]],
    reader: SignatureReader,
) -> bool:
    sizes: dict[str, int] = {}
    levels: dict[str, int] = {}

    def measure(type: Type) -> tuple[int, int]:
        names = [label for label in _own_labels(type) if label in sizes]
        members = [measure(member.type) for member in type.members]
        size = 1 + sum(sizes[name] for name in names) + sum(size for size, _ in members)
        below = max([levels[name] for name in names] + [level for _, level in members], default=0)
        return size, 1 + below

    for name in TopologicalSorter(uses).static_order():
        sizes[name], levels[name] = measure(local[name].type)
        if levels[name] > MAX_LEVELS or sizes[name] > MAX_TYPES:
            message = f'type "{name}" expands to too many types: label it {NAMED}'
            reader.faults.tell("endless-type", message, reader.shapes[name])
            return False
    places = (*signature.parameters, signature.returns)
    types = [*(place.type for place in places), *(s.type for s in signature.shapes if s.named)]
    if sum(measure(type)[0] for type in types) > MAX_TYPES * 5:
        message = f"the signature expands to too many types: label shared ones {NAMED}"
        reader.faults.tell("endless-type", message, reader.chain)
        return False
    return True


def _own_labels(type: Type) -> Iterator[str]:
    yield from (label for label in type.labels if basic(label) is None)
    yield from type.of
    if type.element_type is not None:
        yield type.element_type


def _labels(type: Type) -> Iterator[str]:
    yield from _own_labels(type)
    for member in type.members:
        yield from _labels(member.type)


def _check_use(signature: TypeSignature, reader: SignatureReader) -> None:
    """Warn of types beside the signature that nothing uses, except those in ``$defs``."""
    places = (*signature.parameters, signature.returns)
    named = [shape for shape in signature.shapes if shape.named]
    types = [*(each.type for each in places), *(each.type for each in named)]
    used = named_by(types, signature.shapes)
    used |= {shape.name for shape in named}
    names = {parameter.name for parameter in signature.parameters}
    for name in reader.shapes.keys() - used:
        hint = f"write ({name}::{name}) to use it" if name in names else None
        element = reader.shapes[name]
        message = f'type "{name}" is not used by the signature'
        reader.faults.tell(
            "unused-type", message, element, "identity", severity="warning", hint=hint
        )


def _check_values(reader: SignatureReader) -> None:
    """Warn of types that no value, or not every value they list, can have."""
    for each in reader.written:
        keywords, labels = each.type.keywords, each.type.labels
        if not keywords:
            continue
        types = json_types(labels) if all(map(basic, labels)) else []
        consts = [keywords["const"]] if "const" in keywords else []
        listed = [("enum", "no-effect", "has", keywords.get("enum", ()))]
        for key, code, says, values in (*listed, ("const", "no-value", "is", consts)):
            wrong = [value for value in values if types and not is_of(value, types)]
            if wrong:
                shown = f"{says} {dump_json(wrong[0], compact=True)}"
                message = f"{key} of {each.owner.words} {shown}, but its type is "
                reader.faults.warn(code, message + " or ".join(types), each.owner, key)
        if isinstance(written := keywords.get("format"), str) and (hint := format_hint(written)):
            message = f'format "{written}" of {each.owner.words} is not one of JSON Schema'
            reader.faults.warn("unknown-format", message, each.owner, "format", hint)


# --- keywords


def _check_keywords(reader: SignatureReader) -> bool:
    """Whether the keywords are a JSON Schema's, without references to elsewhere."""
    written = [each for each in reader.written if each.type.keywords or each.type.foreign]
    schemas = [_judged(each.type) for each in written]
    for breach in breaches(schemas):
        each, keyword = written[breach.index], dotted(breach.path)
        message = f'"{keyword}" of {each.owner.words} {breach.reason}'
        hint = keyword_hint(keyword, breach.value)
        reader.faults.tell(
            "not-a-schema", message, each.owner.element, str(breach.path[0]), hint=hint
        )
    for each, schema in zip(written, schemas, strict=True):
        for path, reference in remote_references(schema):
            message = remote_reference(str(path[-1]), reference)
            reader.faults.tell("remote-reference", message, each.owner.element, str(path[0]))
    return not reader.faults.errors


def _judged(type: Type) -> dict[str, Any]:
    """The keywords of a type, without the nulls that leave a keyword out."""
    return {
        key: value
        for key, value in type.overlay().items()
        if value is not None or key not in ("type", "properties")
    }


def dotted(path: SchemaPath) -> str:
    """A path as messages show it.

    >>> dotted(("anyOf", 0, "minimum"))
    'anyOf[0].minimum'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def remote_reference(keyword: str, reference: str) -> str:
    """The message for a reference that leads out of the schema."""
    return f'"{keyword}" to "{reference}" is not local: only #/$defs/… is allowed'


def _check_defaults(signature: TypeSignature, reader: SignatureReader) -> None:
    """A default that is written fits its type; null is also the mark of no default."""
    written = [each for each in reader.written if _has_checked_default(each)]
    if not written:
        return
    writer = SchemaWriter(signature.shapes)
    schemas = [writer.schema(evolve(each.type, constant=None)) for each in written]
    dicts = [schema for schema in schemas if isinstance(schema, dict)]
    reasons = default_misfits(partial(parameters_schema, signature), dicts)
    for each, reason in zip(written, reasons, strict=True):
        if reason is not None:
            default = dump_json(each.type.keywords["default"], compact=True)
            message = f"default {default} of {each.owner.words} {reason}"
            reader.faults.tell("default-mismatch", message, each.owner.element, "default")


def _has_checked_default(written: Written) -> bool:
    keywords = written.type.keywords
    if "default" not in keywords or "default" in written.type.foreign:
        return False
    return not (written.optional and keywords["default"] is None)

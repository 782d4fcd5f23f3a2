"""Types while one reads and writes: along the arrows of workflows, and inside a signature."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from lsprotocol.types import (
    InlayHint,
    InlayHintKind,
    ParameterInformation,
    SignatureHelp,
    SignatureInformation,
)

from gram import GramError, pattern_at
from gram.checks import Reading
from gram.reading import spans_in_text
from lenses_ext import tool_spec_type_signature, view
from lenses_ext.language import tool_spec_of
from lenses_ext.rules import Flow, Types
from lenses_ext.schemas import Schema

from .completion import levels_at
from .open_files import Meaning

_LONGEST = 40


def arrow_hints(meaning: Meaning) -> Iterator[InlayHint]:
    """What each arrow of a workflow carries, behind the arrow."""
    file = meaning.file
    reading = Reading(meaning.names.patterns, None, meaning.names.files)
    types = Types(reading)
    for holder in meaning.names.workflows.values():
        if not meaning.is_here(holder.pattern):
            continue
        flow = Flow(types, holder)
        for arrow in flow.read.arrows:
            if not arrow.is_written or arrow.pattern is None:
                continue
            try:
                told = type_words(flow.carried(arrow))
            except (GramError, KeyError):  # a node that is not defined, which is a fault
                continue
            end = pattern_at(meaning.names.patterns, (*holder.path, *arrow.path, 0))
            spans = spans_in_text(end)
            if told and spans:
                at = file.places.position(spans.pattern.end)
                yield InlayHint(at, f": {told}", kind=InlayHintKind.Type, padding_right=True)


def type_words(schema: Schema) -> str:
    """A JSON Schema in a few words; "" for any value.

    >>> type_words({"type": "array", "items": {"enum": ["a", "b"]}})
    'list of "a" | "b"'
    """
    words: str
    if isinstance(schema, bool):
        words = ""
    elif "enum" in schema:
        words = " | ".join(json.dumps(each, ensure_ascii=False) for each in schema["enum"])
    elif "const" in schema:
        words = json.dumps(schema["const"], ensure_ascii=False)
    elif schema.get("type") == "array":
        items = type_words(schema.get("items") or {})
        words = f"list of {items}" if items else "list"
    elif "properties" in schema:
        words = f"{{{', '.join(schema['properties'])}}}"
    else:
        known = schema.get("type", "")
        words = known if isinstance(known, str) else " | ".join(known)
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def signature_help(meaning: Meaning, offset: int) -> SignatureHelp | None:
    """The signature that is being written at an offset, with the parameter that is meant."""
    levels = levels_at(meaning.file.text, offset)
    holder = next((each for each in reversed(levels) if each[:1] == ["["]), [])
    parts = max((at for at, each in enumerate(holder) if each in ("|", ",")), default=0)
    place = holder[parts:].count("(") - 1
    if place < 0:
        return None
    for each in (each for both in meaning.both for each in both.names.named.values()):
        if each.name == holder[1].strip("`"):
            try:
                signature = view(tool_spec_type_signature, tool_spec_of(each.pattern))
            except GramError:
                return None
            labels = re.findall(r"\([^()]*\)(?===>)", signature)
            told = [ParameterInformation(label) for label in labels]
            return SignatureHelp([SignatureInformation(signature, parameters=told)], 0, place)
    return None

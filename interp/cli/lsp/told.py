"""What is told of a place: what a name, a key or a model is, what an arrow carries, and which
parameter of a signature is being written."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from pathlib import Path

from lsprotocol import types as lsp

import lenses_ext
from gram import GramError, Pattern, Span, format_text, pattern_at
from gram.checks import Reading
from gram.reading import spans_in_text
from lenses_ext import is_agent, is_workflow, view
from lenses_ext.labels import AGENT, TOOLS, WORKFLOWS, kind_of
from lenses_ext.language import AGENTS, SETTINGS, TOOL_SPECS, WORKFLOW_PARTS, tool_spec_of
from lenses_ext.optics import Vocabulary
from lenses_ext.rules import Flow, Types
from lenses_ext.schemas import Schema
from lenses_ext.signatures import write_program

from ...machine import Usage
from ...models import RETIRED, find_provider, price_of, unknown_provider
from .open_files import Meaning, levels_at

_LONGEST = 40  # characters of a hint
_MILLION = Usage(1_000_000, 0), Usage(0, 1_000_000)


def told_at(meaning: Meaning, offset: int) -> tuple[str, Span] | None:
    """What is told at an offset, as Markdown, and the span that it is about."""
    if (used := meaning.use_at(offset)) is not None:
        span, use = used
        return _definition(meaning, use.meant.pattern), span
    around = [pattern for _, pattern in meaning.around(offset)]
    if not around or not (spans := spans_in_text(pattern := around[-1])):
        return None
    for key, span in spans.keys.items():
        words = vocabulary_of(pattern.value.labels)
        if span.start <= offset <= span.end and words and (text := told_of_key(words, key)):
            return text, span
    span = spans.values.get("model", Span(0, -1))
    if is_agent(pattern) and span.start <= offset <= span.end:
        return _model(pattern), span
    return None


def vocabulary_of(labels: Collection[str]) -> Vocabulary | None:
    """The vocabulary of an agent, a workflow or a tool, by its labels; None for others."""
    kinds = (({AGENT}, AGENTS), (WORKFLOWS, WORKFLOW_PARTS), (TOOLS, TOOL_SPECS))
    return next((words for known, words in kinds if known.intersection(labels)), None)


def told_of_key(words: Vocabulary, key: str) -> str | None:
    """What a key of an agent, a workflow or a tool means; None for a key of one's own."""
    if key in words.properties:
        return (words.properties[key].__doc__ or "").strip().partition("\n\n")[0]
    if words is AGENTS and key in SETTINGS:
        return f"A setting of the model: {SETTINGS[key].allowed}."
    return None


def _definition(meaning: Meaning, pattern: Pattern) -> str:
    """A definition: what it is, what it is for, how it is called, and where it is written."""
    parts = [f"**{kind_of(pattern)}** `{pattern.value.identity}`"]
    if place := meaning.place(pattern, "identity"):
        source, span = place
        if source is not meaning.file.document.source:
            name = Path(source.filename or "").name
            parts[0] += f" in {name}:{source.position(span.start)[0]}"
    description = pattern.value.properties.get("description")
    if isinstance(description, str) and description.strip():
        parts.append(description)
    try:
        shown = tool_spec_of(pattern) if is_agent(pattern) or is_workflow(pattern) else pattern
        parts.append(f"```gram\n{format_text(write_program(shown)).strip()}\n```")
    except GramError:  # it is faulty, which is told as such
        pass
    if is_agent(pattern):
        parts.append(_model(pattern))
    return "\n\n".join(filter(None, parts))


def _model(agent: Pattern) -> str:
    """A model: whose it is, what it costs, and when it retires."""
    try:
        model = view(lenses_ext.agent_model, agent)
    except lenses_ext.FocusError:
        return ""
    told = [f"Model `{model}`"]
    try:
        if find_provider(model) is None:
            return unknown_provider(model)
        prices = [price_of(model, each) for each in _MILLION]
        if all(prices):
            told.append("${} in and ${} out for a million tokens".format(*map(_short, prices)))
    except GramError:  # prices are not installed
        pass
    if model.provider.lower() == "openai" and model.name in RETIRED:
        told.append(f"retires on {RETIRED[model.name]}")
    return ", ".join(told)


def _short(price: Decimal | None) -> str:
    return f"{price:.2f}".removesuffix(".00")


# --- types


def arrow_hints(meaning: Meaning) -> Iterator[lsp.InlayHint]:
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
                kind = lsp.InlayHintKind.Type
                yield lsp.InlayHint(at, f": {told}", kind=kind, padding_right=True)


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


def signature_help(meaning: Meaning, offset: int) -> lsp.SignatureHelp | None:
    """The signature that is being written at an offset, with the parameter that is meant."""
    levels = levels_at(meaning.file.text, offset)
    holder = next((each for each in reversed(levels) if each[0] == "["), [])
    parts = max((at for at, each in enumerate(holder) if each in ("|", ",")), default=0)
    place = holder[parts:].count("(") - 1
    if place < 0:
        return None
    for each in (each for both in meaning.both for each in both.names.named.values()):
        if each.name == holder[1].strip("`"):
            try:
                signature = view(lenses_ext.tool_spec_type_signature, tool_spec_of(each.pattern))
            except GramError:
                return None
            labels = re.findall(r"\([^()]*\)(?===>)", signature)
            told = [lsp.ParameterInformation(label) for label in labels]
            return lsp.SignatureHelp(
                [lsp.SignatureInformation(signature, parameters=told)], 0, place
            )
    return None

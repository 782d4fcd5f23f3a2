"""What is told of a file and of a place in it, and what may be typed there."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from lsprotocol import types as lsp
from lsprotocol.types import CompletionItem

import lenses_ext
from gram import GramError, Pattern, Span, format_text, highlighted, pattern_at
from gram.checks import Reading
from gram.reading import spans_in_text, tokens
from lenses_ext import is_agent, is_tool, is_workflow, language, view
from lenses_ext.labels import AGENT, ANSWER, LOOP, TOOL, TOOLS, WORKFLOW, WORKFLOWS, kind_of
from lenses_ext.language import AGENTS, SETTINGS, SKILLS, is_arrows, tool_spec_of
from lenses_ext.names import SKILL_FILE, find_runnables
from lenses_ext.optics import Vocabulary
from lenses_ext.rules import Flow, Types
from lenses_ext.schemas import Schema
from lenses_ext.signatures import RESERVED, write_program
from lenses_ext.workflows import EACH, HANDOFF, OTHERWISE, WHEN

from ...machine import Usage
from ...models import RETIRED, find_provider, price_of, unknown_provider
from ..completion.completing import models_of
from .open_files import LINE_ENDS, Meaning, OpenFile, levels_at

_ARROWS: Final = (WHEN, OTHERWISE, EACH, HANDOFF)
_DEFINITIONS: Final = (AGENT, TOOL, WORKFLOW, LOOP)
_TYPES: Final = tuple(sorted(RESERVED))
_KEYS: Final = ("default", "description", "enum", "optional", "elementType", "minimum", "maximum")
_COLONS: Final = (":", "::")
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
    kinds = (({AGENT}, AGENTS), (WORKFLOWS, language.WORKFLOW_PARTS), (TOOLS, language.TOOL_SPECS))
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
            cost = (f"${price:.2f}".removesuffix(".00") for price in prices)
            told.append("{} in and {} out for a million tokens".format(*cost))
    except GramError:  # prices are not installed
        pass
    if model.provider.lower() == "openai" and model.name in RETIRED:
        told.append(f"retires on {RETIRED[model.name]}")
    return ", ".join(told)


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


# --- completion


def key_of(level: list[str]) -> str:
    """In a record, the key whose value is being typed."""
    if level[0] != "{":
        return ""
    start = max((at for at, each in enumerate(level) if each == ","), default=0)
    typed = level[start + 1 :]
    return typed[0].strip('`"') if typed[1:2] and typed[1] in _COLONS else ""


def completions(meaning: Meaning, offset: int) -> list[CompletionItem]:
    """What may be typed at an offset of a file."""
    levels = levels_at(meaning.file.text, offset)
    here, keys = levels[-1], [key for each in levels if (key := key_of(each))]
    if here[0] == "{" and not key_of(here):
        found = _keys(levels, keys)
    elif keys:
        found = _values(meaning, keys[-1])
    elif len(levels) > 1 and here[-1] in _COLONS:
        found = _labels(meaning, levels)
    else:
        found = _names(meaning, offset)
    return list(found)


def _is_of_arrow(levels: list[list[str]], at: int) -> bool:
    """Whether a bracket opens the label of an arrow, as in ``-[:WHEN``."""
    return levels[at - 1][-2][-1:] in ("-", "=", "~")


def _labels(meaning: Meaning, levels: list[list[str]]) -> Iterator[CompletionItem]:
    if _is_of_arrow(levels, len(levels) - 1):
        yield from _items(_ARROWS, lsp.CompletionItemKind.Keyword)
    elif levels[-1][0] == "(":
        programs = [each.names for each in meaning.both]
        types = (name for one in programs for scope in one.scopes for name in one.types_in(scope))
        yield from _items(_TYPES, lsp.CompletionItemKind.TypeParameter)
        yield from _items(types, lsp.CompletionItemKind.Struct)
    else:
        yield from _items((*_DEFINITIONS, ANSWER, *_TYPES), lsp.CompletionItemKind.Class)


def _keys(levels: list[list[str]], keys: list[str]) -> Iterator[CompletionItem]:
    holder = max(at for at, each in enumerate(levels) if each[0] != "{")  # 0 outside of all
    labels = {word for mark, word in pairwise(levels[holder]) if mark in _COLONS}
    if not holder:
        yield from _items(("imports", "kind", "lint"), lsp.CompletionItemKind.Property)
    elif keys[-1:] == ["settings"]:
        yield from _items(SETTINGS, lsp.CompletionItemKind.Property)
    elif keys:
        return  # a map of one's own
    elif words := vocabulary_of(labels):
        for key in words.properties:
            told = told_of_key(words, key)
            yield CompletionItem(key, kind=lsp.CompletionItemKind.Property, documentation=told)
    elif _is_of_arrow(levels, holder):
        yield from _items(("is", "as", "at_once"), lsp.CompletionItemKind.Property)
    elif labels & RESERVED:
        yield from _items(_KEYS, lsp.CompletionItemKind.Property)


def _values(meaning: Meaning, key: str) -> Iterator[CompletionItem]:
    path = meaning.file.path
    if key == "imports" and path:
        found = (each for each in _below(path.parent, "*.gram") if each != path)
        yield from _items(_relative(found, path), lsp.CompletionItemKind.File)
    elif key == SKILLS and path:
        found = (each.parent for each in _below(path.parent, SKILL_FILE))
        yield from _items(_relative(found, path), lsp.CompletionItemKind.Folder)
    elif key in ("model", "models", "fallbacks"):
        models, providers = models_of([meaning.file.document])
        yield from _items([*models, *providers], lsp.CompletionItemKind.Value)
    elif key in ("elementType", "of"):
        yield from _items(_TYPES, lsp.CompletionItemKind.TypeParameter)


def _names(meaning: Meaning, offset: int) -> Iterator[CompletionItem]:
    seen = {name: it for each in meaning.both for name, it in each.seen_at(offset).items()}
    for name, meant in seen.items():
        description = meant.value.properties.get("description")
        item = CompletionItem(name, kind=lsp.CompletionItemKind.Function, detail=kind_of(meant))
        item.documentation = description if isinstance(description, str) else None
        yield item


def _below(folder: Path, name: str) -> list[Path]:
    """The files of a name below a folder, without those that are hidden."""
    found = [each.relative_to(folder) for each in sorted(folder.glob(f"**/{name}"))[:200]]
    return [folder / each for each in found if not any(part[0] == "." for part in each.parts)]


def _relative(paths: Iterable[Path], file: Path) -> list[str]:
    return [each.relative_to(file.parent).as_posix() for each in paths]


def _items(words: Iterable[str], kind: lsp.CompletionItemKind) -> Iterator[CompletionItem]:
    return (CompletionItem(word, kind=kind) for word in dict.fromkeys(words))


# --- a file at a glance

COLOURS: Final = {
    "name": "function",
    "label": "type",
    "key": "property",
    "string": "string",
    "number": "number",
    "word": "enumMember",
    "comment": "comment",
    "mark": "operator",
}
"""The semantic token of each kind of text."""

_SYMBOL_KINDS: Final = (
    (is_agent, lsp.SymbolKind.Class),
    (is_workflow, lsp.SymbolKind.Module),
    (is_tool, lsp.SymbolKind.Function),
)


def symbols(file: OpenFile) -> list[lsp.DocumentSymbol]:
    """The definitions of a file, those inside others below them."""
    return list(_symbols(file, file.document.patterns))


def _symbols(file: OpenFile, patterns: tuple[Pattern, ...]) -> Iterator[lsp.DocumentSymbol]:
    for each in patterns:
        spans = spans_in_text(each)
        if spans is None or is_arrows(each):
            continue
        below = list(_symbols(file, each.elements))
        if spans.identity is None or not (each.value.labels or each.value.properties):
            yield from below
            continue
        kind = next((kind for is_one, kind in _SYMBOL_KINDS if is_one(each)), lsp.SymbolKind.Object)
        whole, own = file.places.range(spans.pattern), file.places.range(spans.identity)
        detail = ", ".join(sorted(each.value.labels))
        yield lsp.DocumentSymbol(each.value.identity, kind, whole, own, detail, children=below)


def folds(file: OpenFile) -> list[lsp.FoldingRange]:
    """What folds: brackets and fences over several lines, and comments."""
    found: list[tuple[int, int, lsp.FoldingRangeKind | None]] = []
    opened: list[int] = []
    places = file.places
    for token in tokens(file.text):
        mark, line = file.text[token.start : token.end], places.position(token.start).line
        if mark in ("(", "[", "{"):
            opened.append(line)
        elif mark in (")", "]", "}") and opened:
            found.append((opened.pop(), line - 1, None))
        elif mark.startswith("```"):
            found.append((line, places.position(token.end).line, None))
    lines = enumerate(LINE_ENDS.split(file.text))  # as an editor counts them
    comments = [line for line, each in lines if each.lstrip()[:2] == "//"]
    for line in comments:
        if found and found[-1][2] and found[-1][1] == line - 1:
            found[-1] = (found[-1][0], line, lsp.FoldingRangeKind.Comment)
        else:
            found.append((line, line, lsp.FoldingRangeKind.Comment))
    return [lsp.FoldingRange(start, end, kind=kind) for start, end, kind in found if start < end]


def colours(file: OpenFile) -> lsp.SemanticTokens:
    """The semantic tokens, as the protocol packs them: each relative to the one before."""
    kinds, packed = list(COLOURS), list[int]()
    at, last = 0, lsp.Position(0, 0)
    for kind, piece in highlighted(file.text):
        for part in piece.splitlines(keepends=True):  # an editor's token is on one line
            if kind in COLOURS and (shown := part.strip()):
                start = at + part.index(shown)
                here = file.places.range(Span(start, start + len(shown)))
                lines = here.start.line - last.line
                moved = here.start.character - (0 if lines else last.character)
                width = here.end.character - here.start.character
                packed += [lines, moved, width, kinds.index(kind), 0]
                last = here.start
            at += len(part)
    return lsp.SemanticTokens(packed)


def formatted(file: OpenFile) -> list[lsp.TextEdit] | None:
    """The edit that lays a file out; None where its faults are in the way."""
    try:
        new = format_text(file.text)
    except GramError:
        return None
    whole = file.places.range(Span(0, len(file.text)))
    return [lsp.TextEdit(whole, new)] if new != file.text else []


def lenses(file: OpenFile) -> list[lsp.CodeLens]:
    """What can be done with the agents and workflows of a file: run, chat, check their tools."""
    found = []
    for each in find_runnables(file.document) if file.path else ():
        spans = spans_in_text(each)
        if spans is None or spans.identity is None:
            continue
        for title, command in (("run", "run"), ("chat", "chat"), ("check tools", "tools")):
            arguments = [str(file.path), each.value.identity]
            what = lsp.Command(title, f"gram.{command}", arguments=arguments)
            found.append(lsp.CodeLens(file.places.range(spans.identity), command=what))
    return found

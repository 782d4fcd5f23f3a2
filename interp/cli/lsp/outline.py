"""A file at a glance: its symbols, what folds, its colours, and what can be run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lsprotocol import types as lsp

from gram import GramError, Pattern, Span, format_text, highlighted
from gram.reading import spans_in_text, tokens
from lenses_ext import is_agent, is_tool, is_workflow
from lenses_ext.language import is_arrows
from lenses_ext.names import find_runnables

from .open_files import OpenFile

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

_KINDS: Final = (
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
        kind = next((kind for is_one, kind in _KINDS if is_one(each)), lsp.SymbolKind.Object)
        yield lsp.DocumentSymbol(
            name=each.value.identity,
            kind=kind,
            range=file.places.range(spans.pattern),
            selection_range=file.places.range(spans.identity),
            detail=", ".join(sorted(each.value.labels)),
            children=below,
        )


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
    comments = [n for n, each in enumerate(file.text.splitlines()) if each.lstrip()[:2] == "//"]
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

"""The server: what an editor asks, and which part of this room answers.

It reads what is typed and the files that it imports; it runs no code and asks no model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from gram import (
    Diagnostic,
    Document,
    GramError,
    Source,
    Span,
    format_text,
    only_errors,
    syntax_errors,
)
from gram.checks import syntax_fault
from lenses_ext import Project, rename
from lenses_ext.places import Named
from lenses_ext.rules import with_levels

from ...models import check_program, lint_program
from ..fault_report import project_levels
from . import hints, outline
from .completion import completions
from .open_files import Meaning, OpenFile, Positions
from .told import told_at

PAUSE = 0.2
"""How many seconds after the last key faults are looked for."""

_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}


class GramServer(LanguageServer):
    """The language server of gram: the files that are open, and what they mean.

    Attributes:
        files: the open files by their addresses.
        faults: what was last found in each of them.
    """

    def __init__(self) -> None:
        super().__init__("gram", version("gram-agents"))
        self.files: dict[str, OpenFile] = {}
        self.faults: dict[str, tuple[Diagnostic, ...]] = {}
        self._meanings: dict[str, Meaning] = {}
        self._before: dict[str, Meaning] = {}
        self._waiting: asyncio.TimerHandle | None = None

    @property
    def encoding(self) -> str:
        """What columns are counted in, as the editor and the server have agreed."""
        return self.server_capabilities.position_encoding or lsp.PositionEncodingKind.Utf16

    def read(self, uri: str) -> None:
        """Take the text of a file as it is in the editor now, and look for faults after a pause."""
        path = to_fs_path(uri) if uri.startswith("file:") else None
        text = self.workspace.get_text_document(uri).source
        known = self._before[uri].file.text if uri in self._before else None
        file = OpenFile(text, Path(path).resolve() if path else None, self.encoding, known)
        self.files[uri] = file
        self.faults.pop(uri, None)  # their places are those of the text before
        self._meanings.clear()  # another file may import this one
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().call_later(PAUSE, self.tell_faults)

    def forget(self, uri: str) -> None:
        """A file was closed."""
        for known in (self.files, self.faults, self._meanings, self._before):
            known.pop(uri, None)
        self._meanings.clear()
        self._publish(uri, [])

    def file(self, uri: str) -> OpenFile:
        """A file that is open, or one that an answer leads to."""
        if uri not in self.files:
            self.read(uri)
        return self.files[uri]

    def meaning(self, uri: str) -> Meaning:
        """What a file means now."""
        if uri not in self._meanings:
            file = self.file(uri)
            others = {each.path: each for each in self.files.values() if each.path}
            before = None if file.is_whole else self._before.get(uri)
            found = self._meanings[uri] = Meaning(file, others, before)
            if file.is_whole:
                self._before[uri] = found
        return self._meanings[uri]

    def place(self, uri: str, position: lsp.Position) -> tuple[Meaning, int]:
        """What a file means, and the offset of a position in it."""
        return self.meaning(uri), self.file(uri).places.offset(position)

    def location(self, source: Source, span: Span) -> lsp.Location | None:
        """Where a place is, for the editor."""
        for uri, file in self.files.items():
            if file.document.source is source:
                return lsp.Location(uri, file.places.range(span))
        if source.filename is None:
            return None
        uri = Path(source.filename).resolve().as_uri()
        return lsp.Location(uri, Positions(source.text, self.encoding).range(span))

    # --- faults

    def tell_faults(self) -> None:
        """Tell the editor what is wrong in the files that are open."""
        self._waiting = None
        for uri, file in list(self.files.items()):
            if file.is_whole:
                faults = self._judged(uri)
            else:
                faults = tuple(map(syntax_fault, syntax_errors(file.text)))
            self.faults[uri] = faults
            self._publish(uri, [self._shown(file, each) for each in faults])
            _ = self.meaning(uri).uses  # so that what is asked next is answered at once

    def _judged(self, uri: str) -> tuple[Diagnostic, ...]:
        meaning = self.meaning(uri)
        found = check_program(meaning.program)
        if not only_errors(found):  # what is doubtful matters when nothing is wrong
            found += lint_program(meaning.program, today=date.today())
        here = meaning.file.document.source
        faults = with_levels(found, meaning.program.patterns, project_levels())
        return tuple(each for each in faults if each.source in (here, None))

    def _shown(self, file: OpenFile, fault: Diagnostic) -> lsp.Diagnostic:
        message = f"{fault.message}\n{fault.hint}" if fault.hint else fault.message
        span = fault.span or Span(0, 0)
        severity = _SEVERITIES[fault.severity]
        where = file.places.range(span)
        return lsp.Diagnostic(where, message, severity=severity, code=fault.code, source="gram")

    def _publish(self, uri: str, faults: list[lsp.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, faults))

    def fixes(self, uri: str, range_: lsp.Range) -> Iterator[lsp.CodeAction]:
        """What mends the faults in a range, where there is something that does."""
        file = self.file(uri)
        wanted = file.places.span(range_)
        for fault in self.faults.get(uri, ()):
            span = fault.span
            if not fault.fix or span is None or not _meet(span, wanted):
                continue
            edits = [lsp.TextEdit(file.places.range(each.span), each.text) for each in fault.fix]
            yield lsp.CodeAction(
                f"Mend: {fault.hint or fault.message}",
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[self._shown(file, fault)],
                edit=lsp.WorkspaceEdit(changes={uri: edits}),
            )

    # --- names

    def uses_of(self, meaning: Meaning, offset: int) -> list[lsp.Location]:
        """Every place, in a file and what it imports, of the name at an offset."""
        found = meaning.use_at(offset)
        if found is None:
            return []
        meant = found[1].meant.path
        places = (
            meaning.place(pattern, use.part)
            for pattern, use in meaning.uses
            if use.meant.path == meant
        )
        located = (self.location(*place) for place in places if place is not None)
        return [each for each in located if each is not None]

    def renamed(self, uri: str, position: lsp.Position, name: str) -> lsp.WorkspaceEdit:
        """The edits that give what is named at a position another name, wherever it is meant.

        Raises:
            JsonRpcException: the new name is refused.
        """
        meaning, offset = self.place(uri, position)
        found = meaning.use_at(offset)
        if found is None:
            return lsp.WorkspaceEdit()
        try:
            after = rename(meaning.program, Named.of(found[1].meant), name)
        except GramError as error:
            code = lsp.LSPErrorCodes.RequestFailed
            raise JsonRpcException(str(error), code=code) from None
        changes: dict[str, list[lsp.TextEdit]] = {}
        for before, document in zip(_documents(meaning.program), _documents(after), strict=True):
            for each in document.changes:
                place = self.location(before.source, each.before)
                if place is not None:
                    edit = lsp.TextEdit(place.range, each.new)
                    changes.setdefault(place.uri, []).append(edit)
        return lsp.WorkspaceEdit(changes=changes)


def _documents(program: Document | Project) -> list[Document]:
    return [*program.documents.values()] if isinstance(program, Project) else [program]


def _meet(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def make_server() -> GramServer:
    """The server with everything that it answers."""
    server = GramServer()
    answer = server.feature
    legend = lsp.SemanticTokensLegend(list(outline.COLOURS.values()), [])

    @answer(lsp.TEXT_DOCUMENT_DID_OPEN)
    @answer(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(asked: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams) -> None:
        server.read(asked.text_document.uri)

    @answer(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(_: lsp.DidSaveTextDocumentParams) -> None:
        server.tell_faults()

    @answer(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(asked: lsp.DidCloseTextDocumentParams) -> None:
        server.forget(asked.text_document.uri)

    def hover(meaning: Meaning, offset: int) -> lsp.Hover | None:
        found = told_at(meaning, offset)
        if found is None:
            return None
        text, span = found
        shown = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
        return lsp.Hover(shown, meaning.file.places.range(span))

    def definition(meaning: Meaning, offset: int) -> lsp.Location | None:
        found = meaning.use_at(offset)
        place = meaning.place(found[1].meant.pattern, "identity") if found else None
        return server.location(*place) if place else None

    def prepare_rename(meaning: Meaning, offset: int) -> lsp.Range | None:
        found = meaning.use_at(offset)
        return meaning.file.places.range(found[0]) if found else None

    def at_place(method: str, tell: Callable[[Meaning, int], Any], *options: Any) -> None:
        """Answer what is asked of a place in a file."""

        @answer(method, *options)
        def told(asked: Any) -> Any:
            return tell(*server.place(asked.text_document.uri, asked.position))

    triggers = lsp.CompletionOptions(trigger_characters=[":", "|", ",", "(", "{", '"'])
    of_signature = lsp.SignatureHelpOptions(trigger_characters=["(", ">"])
    at_place(lsp.TEXT_DOCUMENT_HOVER, hover)
    at_place(lsp.TEXT_DOCUMENT_COMPLETION, completions, triggers)
    at_place(lsp.TEXT_DOCUMENT_DEFINITION, definition)
    at_place(lsp.TEXT_DOCUMENT_REFERENCES, server.uses_of)
    at_place(lsp.TEXT_DOCUMENT_PREPARE_RENAME, prepare_rename)
    at_place(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, hints.signature_help, of_signature)

    @answer(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename_(asked: lsp.RenameParams) -> lsp.WorkspaceEdit:
        return server.renamed(asked.text_document.uri, asked.position, asked.new_name)

    @answer(lsp.TEXT_DOCUMENT_FORMATTING)
    def format_(asked: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        file = server.file(asked.text_document.uri)
        try:
            new = format_text(file.text)
        except GramError:  # the faults say why
            return None
        whole = file.places.range(Span(0, len(file.text)))
        return [lsp.TextEdit(whole, new)] if new != file.text else []

    @answer(lsp.TEXT_DOCUMENT_CODE_ACTION)
    def actions(asked: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        return list(server.fixes(asked.text_document.uri, asked.range))

    @answer(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hints(asked: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        return list(hints.arrow_hints(server.meaning(asked.text_document.uri)))

    def of_file(method: str, tell: Callable[[OpenFile], Any], *options: Any) -> None:
        """Answer what is asked of a whole file."""

        @answer(method, *options)
        def told(asked: Any) -> Any:
            return tell(server.file(asked.text_document.uri))

    of_file(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, outline.symbols)
    of_file(lsp.TEXT_DOCUMENT_FOLDING_RANGE, outline.folds)
    of_file(lsp.TEXT_DOCUMENT_CODE_LENS, outline.lenses)
    of_file(
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        lambda file: lsp.SemanticTokens(outline.colours(file)),
        legend,
    )
    return server

"""The server: what an editor asks, and which part of this room answers.

It reads what is typed and the files that it imports; it runs no code and asks no model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from gram import Diagnostic, GramError, Source, Span, only_errors, syntax_errors
from gram.checks import syntax_fault
from lenses_ext import rename
from lenses_ext.places import Named
from lenses_ext.rules import with_levels

from ...errors import ConfigurationError
from ...models import check_program, lint_program
from ..inputs.project import project_levels
from . import told
from .open_files import Meaning, OpenFile, Positions

PAUSE = 0.2
"""How many seconds after the last key faults are looked for."""

_SEVERITIES = dict(zip(("error", "warning", "info"), lsp.DiagnosticSeverity, strict=False))


class _GramServer(LanguageServer):
    """The language server of gram: the files that are open, and what they mean."""

    def __init__(self) -> None:
        super().__init__("gram", version("gram-agents"))
        self.files: dict[str, OpenFile] = {}
        self._meanings: dict[str, Meaning] = {}
        self._waiting: asyncio.TimerHandle | None = None

    @property
    def encoding(self) -> str:
        """What columns are counted in, as the editor and the server have agreed."""
        return self.server_capabilities.position_encoding or lsp.PositionEncodingKind.Utf16

    def read(self, uri: str) -> None:
        """Take the text of a file as it is in the editor now, and look for faults after a pause."""
        path = to_fs_path(uri) if uri.startswith("file:") else None
        text, known = self.workspace.get_text_document(uri).source, self.files.get(uri)
        resolved = Path(path).resolve() if path else None
        self.files[uri] = OpenFile(text, resolved, self.encoding, known.last if known else None)
        self.judge_again()

    def judge_again(self) -> None:
        """Read what files mean again, and look for faults after a pause: a file has changed."""
        self._meanings.clear()  # another file may import the one that has changed
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().call_later(PAUSE, self.tell_faults)

    def forget(self, uri: str) -> None:
        self.files.pop(uri, None)
        self._publish(uri, [])
        self.judge_again()

    async def watch(self) -> None:
        """Ask the editor to tell which files on disk change: open ones may import them."""
        workspace = self.client_capabilities.workspace
        watching = workspace and workspace.did_change_watched_files
        if watching and watching.dynamic_registration:
            options = lsp.DidChangeWatchedFilesRegistrationOptions(
                [lsp.FileSystemWatcher("**/*.gram")]
            )
            wanted = lsp.Registration("programs", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            with suppress(JsonRpcException):  # some editors offer it and refuse
                await self.client_register_capability_async(lsp.RegistrationParams([wanted]))

    def file(self, uri: str) -> OpenFile:
        """A file that is open, or one that an answer leads to."""
        if uri not in self.files:
            self.read(uri)
        return self.files[uri]

    def meaning(self, uri: str) -> Meaning:
        if uri not in self._meanings:
            file = self.file(uri)
            others = {each.path: each for each in self.files.values() if each.path}
            found = self._meanings[uri] = Meaning(file, others)
            if file.is_whole:
                file.last = found
        return self._meanings[uri]

    def place(self, uri: str, position: lsp.Position) -> tuple[Meaning, int]:
        """What a file means, and the offset of a position in it."""
        return self.meaning(uri), self.file(uri).places.offset(position)

    def location(self, source: Source, span: Span) -> lsp.Location | None:
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
                file.faults = _judged(self.meaning(uri))
            else:
                file.faults = tuple(map(syntax_fault, syntax_errors(file.text)))
            self._publish(uri, [_shown(file, each) for each in file.faults])
            _ = self.meaning(uri).uses  # so that what is asked next is answered at once

    def _publish(self, uri: str, faults: list[lsp.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, faults))

    def fixes(self, uri: str, range_: lsp.Range) -> Iterator[lsp.CodeAction]:
        """What mends the faults in a range, where there is something that does."""
        file = self.file(uri)
        start, end = file.places.span(range_)
        for fault in file.faults:
            span = fault.span
            if not fault.fix or span is None or span.start > end or span.end < start:
                continue
            edits = [lsp.TextEdit(file.places.range(each.span), each.text) for each in fault.fix]
            title, kind = f"Mend: {fault.hint or fault.message}", lsp.CodeActionKind.QuickFix
            edit = lsp.WorkspaceEdit(changes={uri: edits})
            yield lsp.CodeAction(title, kind, [_shown(file, fault)], edit=edit)

    # --- names

    def hover(self, meaning: Meaning, offset: int) -> lsp.Hover | None:
        if (found := told.told_at(meaning, offset)) is None:
            return None
        text, span = found
        shown = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
        return lsp.Hover(shown, meaning.file.places.range(span))

    def definition(self, meaning: Meaning, offset: int) -> lsp.Location | None:
        found = meaning.use_at(offset)
        place = meaning.place(found[1].meant.pattern, "identity") if found else None
        return self.location(*place) if place else None

    def range_of_name(self, meaning: Meaning, offset: int) -> lsp.Range | None:
        found = meaning.use_at(offset)
        return meaning.file.places.range(found[0]) if found else None

    def uses_of(self, meaning: Meaning, offset: int) -> list[lsp.Location]:
        """Every place, in a file and what it imports, of the name at an offset."""
        found = meaning.use_at(offset)
        meant = found[1].meant.path if found else None
        uses = ((pattern, use.part) for pattern, use in meaning.uses if use.meant.path == meant)
        places = (meaning.place(pattern, part) for pattern, part in uses)
        return [*filter(None, (self.location(*place) for place in places if place))]

    def renamed(self, uri: str, asked: lsp.RenameParams) -> lsp.WorkspaceEdit:
        """The edits that give what is named at a position another name, wherever it is meant."""
        meaning, offset = self.place(uri, asked.position)
        found = meaning.use_at(offset)
        if found is None:
            return lsp.WorkspaceEdit()
        try:
            after = rename(meaning.program, Named.of(found[1].meant), asked.new_name)
        except GramError as error:
            code = lsp.LSPErrorCodes.RequestFailed
            raise JsonRpcException(str(error), code=code) from None
        changes: dict[str, list[lsp.TextEdit]] = {}
        for path, before in meaning.program.documents.items():
            for each in after.documents[path].changes:
                if place := self.location(before.source, each.before):
                    edit = lsp.TextEdit(place.range, each.new)
                    changes.setdefault(place.uri, []).append(edit)
        return lsp.WorkspaceEdit(changes=changes)


def _judged(meaning: Meaning) -> tuple[Diagnostic, ...]:
    found = check_program(meaning.program)
    if not only_errors(found):  # what is doubtful matters when nothing is wrong
        found += lint_program(meaning.program, today=date.today())
    try:
        levels = project_levels()
    except ConfigurationError:  # its file is being typed; the commands say what is wrong with it
        levels = {}
    here = meaning.file.document.source
    faults = with_levels(found, meaning.program.patterns, levels)
    return tuple(each for each in faults if each.source in (here, None))


def _shown(file: OpenFile, fault: Diagnostic) -> lsp.Diagnostic:
    message = f"{fault.message}\n{fault.hint}" if fault.hint else fault.message
    where, severity = file.places.range(fault.span or Span(0, 0)), _SEVERITIES[fault.severity]
    return lsp.Diagnostic(where, message, severity=severity, code=fault.code, source="gram")


def make_server() -> _GramServer:
    """The server with everything that it answers."""
    server = _GramServer()
    legend = lsp.SemanticTokensLegend(list(told.COLOURS.values()), [])
    options: dict[str, Any] = {
        lsp.TEXT_DOCUMENT_COMPLETION: lsp.CompletionOptions(trigger_characters=[*':|,({"']),
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP: lsp.SignatureHelpOptions(trigger_characters=["(", ">"]),
        lsp.TEXT_DOCUMENT_RENAME: lsp.RenameOptions(prepare_provider=True),
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: legend,
    }

    def answer(method: str, tell: Callable[[str, Any], Any]) -> None:
        """Answer what is asked of a file; the function gets its address, and all that is asked."""

        @server.feature(method, options.get(method))
        def answered(asked: Any) -> Any:
            return tell(asked.text_document.uri, asked)

    def at_place(tell: Callable[[Meaning, int], Any]) -> Callable[[str, Any], Any]:
        return lambda uri, asked: tell(*server.place(uri, asked.position))

    def of_file(tell: Callable[[OpenFile], Any]) -> Callable[[str, Any], Any]:
        return lambda uri, _: tell(server.file(uri))

    answer(lsp.TEXT_DOCUMENT_DID_OPEN, lambda uri, _: server.read(uri))
    answer(lsp.TEXT_DOCUMENT_DID_CHANGE, lambda uri, _: server.read(uri))
    answer(lsp.TEXT_DOCUMENT_DID_SAVE, lambda _, __: server.judge_again())
    answer(lsp.TEXT_DOCUMENT_DID_CLOSE, lambda uri, _: server.forget(uri))
    answer(lsp.TEXT_DOCUMENT_RENAME, server.renamed)
    answer(lsp.TEXT_DOCUMENT_CODE_ACTION, lambda uri, asked: [*server.fixes(uri, asked.range)])
    answer(lsp.TEXT_DOCUMENT_INLAY_HINT, lambda uri, _: [*told.arrow_hints(server.meaning(uri))])
    answer(lsp.TEXT_DOCUMENT_HOVER, at_place(server.hover))
    answer(lsp.TEXT_DOCUMENT_COMPLETION, at_place(told.completions))
    answer(lsp.TEXT_DOCUMENT_DEFINITION, at_place(server.definition))
    answer(lsp.TEXT_DOCUMENT_REFERENCES, at_place(server.uses_of))
    answer(lsp.TEXT_DOCUMENT_PREPARE_RENAME, at_place(server.range_of_name))
    answer(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, at_place(told.signature_help))
    answer(lsp.TEXT_DOCUMENT_FORMATTING, of_file(told.formatted))
    answer(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, of_file(told.symbols))
    answer(lsp.TEXT_DOCUMENT_FOLDING_RANGE, of_file(told.folds))
    answer(lsp.TEXT_DOCUMENT_CODE_LENS, of_file(told.lenses))
    answer(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, of_file(told.colours))

    @server.feature(lsp.INITIALIZED)
    async def begun(_: lsp.InitializedParams) -> None:
        await server.watch()

    server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)(lambda _: server.judge_again())
    return server

"""The language server over the protocol, with what VS Code and Neovim send."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

from interp.cli.lsp.open_files import Meaning, OpenFile
from interp.cli.lsp.told import completions, folds
from tests.interp.cli.process import has, relayed, rows
from tests.paths import DATA, ROOT

DESK, TOOLS = ((DATA / "editor" / f"{name}.gram").read_text("utf-8") for name in ("desk", "tools"))
EDITORS = ("visual_studio_code", "neovim")


class Editor:
    """A file that is open in an editor with our server."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.version = 1

    def uri(self, name: str = "desk.gram") -> str:
        return (self.folder / name).as_uri()

    def open(self, text: str, name: str = "desk.gram") -> None:
        item = lsp.TextDocumentItem(self.uri(name), "gram", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def change(self, text: str) -> None:
        self.version += 1
        which = lsp.VersionedTextDocumentIdentifier(self.version, self.uri())
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(which, [whole]))

    async def faults(self, name: str = "desk.gram") -> list[lsp.Diagnostic]:
        """What is told after the next pause."""
        while True:
            told = self.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
            await asyncio.wait_for(told, 30)
            if self.uri(name) in self.client.diagnostics:
                return list(self.client.diagnostics[self.uri(name)])

    async def ask(self, method: str, kind: type[Any], **given: Any) -> Any:
        document = lsp.TextDocumentIdentifier(self.uri())
        asked = kind(text_document=document, **given)
        return await asyncio.wait_for(self.client.protocol.send_request_async(method, asked), 30)


def at(text: str, words: str, after: int = 0) -> lsp.Position:
    """The position of some words, in UTF-16 units."""
    offset = text.index(words) + after
    line = text.count("\n", 0, offset)
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    return lsp.Position(line, len(before.encode("utf-16-le")) // 2)


def in_editor(
    name: str, folder: Path, work: Callable[[Editor], Awaitable[None]], *, cwd: Path = ROOT
) -> None:
    """Do something in an editor that has started the server."""
    (folder / "gram.toml").touch()
    (folder / "tools.gram").write_text(TOOLS)
    (folder / "desk.gram").write_text(DESK)

    async def session() -> None:
        client = make_test_lsp_client()
        await client.start_io(*relayed("lsp"), cwd=cwd)
        capabilities = client_capabilities(name)
        await client.initialize_session(
            lsp.InitializeParams(capabilities=capabilities, root_uri=folder.as_uri())
        )
        await work(Editor(client, folder))
        await client.shutdown_session()
        assert not client.messages, "nothing is shown in a box: this editor refuses to watch files"

    asyncio.run(session())


@pytest.mark.parametrize("name", EDITORS)
def test_an_editor_gets_faults_and_their_end_as_somebody_types(name: str, tmp_path: Path) -> None:
    async def work(editor: Editor) -> None:
        editor.open(DESK.replace("  search\n", "  serch\n"))
        (fault,) = [each for each in await editor.faults() if each.severity == 1]
        assert fault.code == "undefined-reference"
        assert "did you mean search" in fault.message
        assert fault.range.start == at(DESK, "  search", 2)
        editor.change(DESK)
        assert [each for each in await editor.faults() if each.severity == 1] == []
        editor.change(DESK.replace("[flow", "[flow {"))
        assert {each.code for each in await editor.faults()} == {"syntax"}

    in_editor(name, tmp_path, work)


def test_faults_are_told_where_the_project_file_is_broken(tmp_path: Path) -> None:
    async def work(editor: Editor) -> None:
        (tmp_path / "gram.toml").write_text("lint = 5\n")
        editor.open(DESK.replace("  search\n", "  serch\n"))
        assert "undefined-reference" in {each.code for each in await editor.faults()}

    in_editor("neovim", tmp_path, work, cwd=tmp_path)


@pytest.mark.parametrize("name", EDITORS)
def test_an_imported_file_means_what_is_typed_and_after_that_what_is_saved(
    name: str, tmp_path: Path
) -> None:
    other = TOOLS.replace("search:", "find:")

    async def work(editor: Editor) -> None:
        async def until(code: str, *, is_told: bool) -> None:
            while (code in {each.code for each in await editor.faults()}) is not is_told:
                pass

        client, tools = editor.client, editor.uri("tools.gram")
        editor.open(DESK)
        editor.open(other, "tools.gram")
        await until("undefined-reference", is_told=True)
        closed = lsp.TextDocumentIdentifier(tools)
        client.text_document_did_close(lsp.DidCloseTextDocumentParams(closed))
        await until("undefined-reference", is_told=False)
        (tmp_path / "tools.gram").write_text(other)
        changed = lsp.FileEvent(tools, lsp.FileChangeType.Changed)
        client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([changed]))
        await until("undefined-reference", is_told=True)

    in_editor(name, tmp_path, work)


def test_names_lead_to_their_definitions_in_other_files(tmp_path: Path) -> None:
    async def work(editor: Editor) -> None:
        editor.open(DESK)
        here = {"position": at(DESK, "  search", 3)}
        found = await editor.ask("textDocument/definition", lsp.DefinitionParams, **here)
        assert (found.uri, found.range.start) == (editor.uri("tools.gram"), lsp.Position(0, 1))
        told = await editor.ask("textDocument/hover", lsp.HoverParams, **here)
        has(told.contents.value, "Searches the archive", "tools.gram:1")
        renamed = await editor.ask(
            "textDocument/rename", lsp.RenameParams, **here, new_name="look up"
        )
        edits = {uri: [each.new_text for each in edits] for uri, edits in renamed.changes.items()}
        assert edits == {editor.uri(): ["`look up`"], editor.uri("tools.gram"): ["`look up`"]}
        with pytest.raises(JsonRpcException, match='"desk" is used already'):
            await editor.ask("textDocument/rename", lsp.RenameParams, **here, new_name="desk")

    in_editor("neovim", tmp_path, work)


def test_what_is_above_and_below_a_break_goes_on_working(tmp_path: Path) -> None:
    broken = DESK.replace("[flow:Workflow | (desk)-->(refine)]", "[flow:Workflow | (desk)-[:W")

    async def work(editor: Editor) -> None:
        editor.open(DESK)
        editor.change(broken)
        symbols = await editor.ask("textDocument/documentSymbol", lsp.DocumentSymbolParams)
        assert [each.name for each in symbols] == ["desk", "refine"]
        here = {"position": at(broken, "[:W", 3)}
        offered = await editor.ask("textDocument/completion", lsp.CompletionParams, **here)
        assert [each.label for each in offered] == ["WHEN", "OTHERWISE", "EACH", "HANDOFF"]

    in_editor("visual_studio_code", tmp_path, work)


@pytest.mark.parametrize(("typed", "offered"), rows("typed"))
def test_what_may_be_typed_is_offered(typed: str, offered: str, tmp_path: Path) -> None:
    folder = tmp_path / ".projects"  # what is hidden is left out inside of it
    skill = folder / "skills" / "refunds" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.touch()
    (folder / "tools.gram").write_text(TOOLS)
    path = folder / "desk.gram"
    rest = "\n[User:Object | (n::Text)]\n" + DESK.partition("\n")[2]
    path.write_text(DESK)
    before = Meaning(OpenFile(rest, path, "utf-16"), {})
    meaning = Meaning(OpenFile(typed + rest, path, "utf-16", before), {})

    assert offered in [each.label for each in completions(meaning, len(typed))]


WHOLE = "".join(f"[a{n}:Agent {{n: {n}}} |\n  (t{n}:Tool),\n  t{n}\n]\n" for n in range(5))


@example(148, 7, "")  # the end of one, whose beginning is not changed
@given(st.integers(0, len(WHOLE)), st.integers(0, 20), st.text("ab({[]|)\n:,`\"'@ ", max_size=5))
def test_above_and_below_a_change_a_text_is_read(at: int, cut: int, typed: str) -> None:
    text = WHOLE[:at] + typed + WHOLE[at + cut :]

    last = Meaning(OpenFile(WHOLE, None, "utf-16"), {})
    document = OpenFile(text, None, "utf-16", last).document

    assert len(document.text) == len(text)
    assert (document.text == text) == OpenFile(text, None, "utf-16").is_whole
    if document.text != text:
        starts = [WHOLE.index(f"[a{n}") for n in range(5)]
        above = {n for n, behind in enumerate(starts[1:]) if behind < at}
        below = {n for n, start in enumerate(starts) if start > at + cut}
        assert {f"a{n}" for n in above | below} <= {
            each.value.identity for each in document.patterns
        }


def test_comments_fold_in_the_lines_of_the_editor() -> None:
    """A line separator of Unicode, as texts from the web have it, ends no line there."""
    text = '(a {k: "x\u2028y"})\n// one\n// two\n(b)\n'
    (fold,) = folds(OpenFile(text, None, lsp.PositionEncodingKind.Utf16))
    assert (fold.start_line, fold.end_line) == (1, 2)

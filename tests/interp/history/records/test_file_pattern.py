"""Files in conversations and records: their bytes once, and nothing is opened to read them."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest
from attrs import evolve

import interp
from gram import dumps, loads_one
from interp import ConversationContext, File, Message, ScriptedModel, load_run, run
from interp.history import from_pattern, to_pattern
from interp.history.records.recorded_run import fingerprint
from interp.machine import Request
from lenses_ext import Model

AGENT = loads_one('[seer:Agent {instruction: "Look.", model: "OpenAI/gpt-5.6-luna"}]')
CHART = File(b"\x89PNG\r\n\x1a\n" + b"chart" * 9, "chart.png")
BYTES = b64encode(CHART.content or b"").decode()


def said(*files: File) -> Message:
    return Message(interp.UserRole, "What is this?", attachments=files)


def test_the_bytes_of_a_file_are_written_once() -> None:
    same = File(CHART.content or b"", "again.png")
    context = ConversationContext(
        [said(CHART), Message(interp.AssistantRole, "A chart."), said(same)]
    )
    text = dumps(to_pattern(context))
    assert text.count(BYTES) == 1
    assert text.count("sha256") == 1
    assert from_pattern(loads_one(text)) == context


def test_a_run_is_read_with_its_files(tmp_path: Path) -> None:
    first = run(AGENT, ["What is this?", CHART], model=ScriptedModel(["A chart."]))
    path = tmp_path / "second.run.gram"
    given = ["Sure?", CHART, File("https://example.com/b.png")]
    model = ScriptedModel(["Sure."])
    second = run(AGENT, given, context=first.context, model=model, record=path)
    read = load_run(path)
    assert path.read_text().count(BYTES) == 1
    assert read.state.context == second.context
    assert read.state.run.attachments == (CHART, File("https://example.com/b.png"))


def test_the_turns_of_a_file_have_the_bytes_once(tmp_path: Path) -> None:
    path = tmp_path / "talk.gram"
    for answer in ("A chart.", "Still one."):
        model = ScriptedModel([answer])
        run(AGENT, ["And this?", CHART], model=model, record=path, conversation=True)
    assert [each.attachments for each in load_run(path).state.context] == [(CHART,), ()] * 2
    assert path.read_text().count(BYTES) == 1


def test_each_page_of_a_conversation_of_a_store_has_its_files(tmp_path: Path) -> None:
    with interp.open_store(tmp_path / "runs.db") as store:
        for answer in ("A chart.", "Still one.", "Yes."):
            model = ScriptedModel([answer])
            run(AGENT, ["And this?", CHART], model=model, record=store, conversation="talk")
        conversation = store.conversation("talk")
        assert [each.attachments for each in conversation.context] == [(CHART,), ()] * 3
        assert conversation.page(limit=2) == conversation.context[-2:]
        assert conversation.page(before=3, limit=1) == conversation.context[2:3]
        recorded = [store.recorded(row.id).state for row in store.rows()]
        assert conversation.context in [state.context for state in recorded]
        assert all(state.run.attachments == (CHART,) for state in recorded)


def test_a_fingerprint_tells_files_apart() -> None:
    request = Request(Model("A", "b"), "x", ConversationContext([said(CHART)]))
    other = evolve(request, messages=ConversationContext([said(File(b"GIF89a", "chart.png"))]))
    without = evolve(request, messages=ConversationContext([said()]))
    assert len({fingerprint(each) for each in (request, other, without)}) == 3
    assert fingerprint(request) == fingerprint(evolve(request))


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ('address: "/etc/passwd"', "an address begins with"),
        ('bytes: "AAAA"', "must be base64`…`"),
        ("bytes: base64`not so`", "must be base64`…`"),
        ("bytes: base64``", "is empty"),
        ('sha256: "abc"', "no file before this one"),
        ("", "either bytes, their sha256 or an address"),
        ('bytes: base64`AAAA`, sha256: "abc"', "either bytes, their sha256 or an address"),
    ],
)
def test_what_is_no_file_is_refused_with_its_place(file: str, told: str) -> None:
    properties = ", ".join(filter(None, ('type: "image/png"', file)))
    text = f'[:Conversation | [:User {{content: "x"}} | (:File {{{properties}}})]]'
    with pytest.raises(interp.ValidationError, match=told) as caught:
        from_pattern(loads_one(text))
    assert caught.value.faults

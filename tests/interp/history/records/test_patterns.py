"""Conversations, responses and events as gram and back; nothing else is read as one of them."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

import interp
from gram import GramDecodeError, GramError, Pattern, dumps, loads_one, write_pattern
from gram.writing import ONE_LINE
from interp import AgentResponse, ConversationContext, File, Message, ScriptedModel, load_run, run
from interp.history import from_pattern, to_pattern
from interp.history.records.patterns import event_from_pattern, event_to_pattern
from interp.history.records.recorded_run import fingerprint
from interp.machine import Event, Request
from lenses_ext import Model
from tests.gram.strategies import patterns
from tests.interp import strategies
from tests.paths import tables

REFUSED = tables("runs.toml")

CONTEXT = ConversationContext(
    [
        Message(interp.UserRole, "hello"),
        Message(interp.AssistantRole, "", (interp.ToolCall("c1", "greet", '{"name": "Al"}'),)),
        Message(interp.FunctionRole("greet"), "Hello, Al!", call_id="c1"),
        Message(interp.AssistantRole, "I said hello."),
    ]
)


def test_a_conversation_reads_as_one() -> None:
    expected = (
        '[:Conversation | (:User {content: "hello"}), '
        '[:Assistant | (:ToolCall {arguments: json`{"name": "Al"}`, id: "c1", name: "greet"})], '
        '(:Function {callId: "c1", content: "Hello, Al!", name: "greet"}), '
        '(:Assistant {content: "I said hello."})]'
    )
    assert dumps(to_pattern(CONTEXT)) == expected


@given(strategies.contexts())
def test_every_conversation_comes_back_from_its_text(context: ConversationContext) -> None:
    assert from_pattern(loads_one(dumps(to_pattern(context)))) == context


@given(strategies.responses())
def test_every_response_comes_back_from_its_text(response: AgentResponse) -> None:
    assert from_pattern(loads_one(dumps(to_pattern(response)))) == response


def test_an_answer_of_a_declared_type_keeps_its_value() -> None:
    used = (interp.ToolInvocation("t", {}, [1]),)
    response = AgentResponse('{"a":1}', used, CONTEXT, is_typed=True)
    assert from_pattern(to_pattern(response)) == response


SECONDS = st.none() | st.floats(0, 1e6).map(lambda seconds: round(seconds, 6))


@given(strategies.events(), SECONDS)
def test_every_event_comes_back_equal_from_one_line(event: Event, seconds: float | None) -> None:
    line = write_pattern(event_to_pattern(event, set(), seconds), style=lambda _: ONE_LINE)
    assert "\n" not in line
    assert event_from_pattern(loads_one(line), {})[:2] == (event, seconds)
    assert from_pattern(to_pattern(event)) == event


@given(patterns())
def test_any_other_pattern_is_refused_with_an_error_of_ours(pattern: Pattern) -> None:
    with pytest.raises(GramError):
        from_pattern(pattern)


@pytest.mark.parametrize(("text", "column", "message"), REFUSED["patterns"])
def test_what_is_none_of_them_is_told_with_its_place(text: str, column: str, message: str) -> None:
    with pytest.raises(interp.ValidationError) as caught:
        from_pattern(loads_one("\n" + text))
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"2:{column}")


# --- files in conversations and records: their bytes once, and nothing is opened to read them


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


@pytest.mark.parametrize(("file", "told"), REFUSED["files"])
def test_what_is_no_file_is_refused_with_its_place(file: str, told: str) -> None:
    properties = ", ".join(filter(None, ('type: "image/png"', file)))
    text = f'[:Conversation | [:User {{content: "x"}} | (:File {{{properties}}})]]'
    with pytest.raises(interp.ValidationError, match=told) as caught:
        from_pattern(loads_one(text))
    assert caught.value.faults


# --- conversations in files


def test_a_conversation_is_saved_for_its_owner_and_comes_back(tmp_path: Path) -> None:
    path, said = tmp_path / "c.gram", Message(interp.UserRole, "é \0\ud800")
    context = ConversationContext([said])
    interp.save_context(path, context)
    assert interp.load_context(path) == context
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("text", "message"), REFUSED["conversations"])
def test_a_file_that_is_no_conversation_is_told(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "c.gram"
    path.write_text(text)
    with pytest.raises((interp.ValidationError, GramDecodeError)) as caught:
        interp.load_context(path)
    assert message in str(caught.value)
    assert str(caught.value).count("c.gram") == 1

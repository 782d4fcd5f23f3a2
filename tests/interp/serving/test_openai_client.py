"""What the `openai` client gets of agents that are served, in both APIs, whole and streamed."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai
import pytest

from interp import AssistantRole, ScriptedModel, ToolLibrary, UserRole, ask_all, tool
from interp.history.stores import open_store
from interp.machine import Limits, Request
from interp.serving import Serving
from interp.workers import decide_run
from tests.interp.model_server import Answer, ModelServer, completion, tool_calls
from tests.interp.serving.served import (
    GREETER,
    Asynchronous,
    Slow,
    agents,
    asked_of,
    client,
    serving,
)

HI = [{"role": "user", "content": "Hi"}]

TYPED = """
[judge:Agent {instruction: "Judge.", model: "OpenAI/gpt-5.6-luna"} |
  (text::Text)==>(::Array {elementType: String})]
"""
COUNTER = """
[counter:Agent {instruction: "Count.", model: "OpenAI/gpt-5.6-luna"} |
  [add:ToolSpecification {description: "Adds two numbers"} |
    (a::Integer)==>(b::Integer)==>(::Integer)]]
"""


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers"""
    return a + b


CALL = tool_calls(("c", "add", {"a": 1, "b": 2}), content="Let me see.")


class Parrot(Asynchronous):
    """Says what the user said last, when others have had their turn."""

    async def acomplete(self, request: Request) -> str:
        await asyncio.sleep(0.001)
        return f"You said: {request.messages[-1].content}"


def chat(asking: openai.OpenAI, model: str = "greeter", **more: Any) -> Any:
    return asking.chat.completions.create(model=model, messages=more.pop("messages", HI), **more)


def streamed(asking: openai.OpenAI, model: str = "greeter", **more: Any) -> tuple[str, list[Any]]:
    chunks = list(chat(asking, model, stream=True, **more))
    said = (each.choices[0].delta.content or "" for each in chunks if each.choices)
    return "".join(said), chunks


def test_agents_and_workflows_are_models() -> None:
    flow = '[flow:Workflow {description: "Greets twice"} | greeter]'
    with asked_of(GREETER + flow, model=ScriptedModel([])) as asking:
        listed = list(asking.models.list())
        found = asking.models.retrieve("flow")

        assert [each.id for each in listed] == ["greeter", "flow"]
        assert found.model_extra == {"description": "Greets twice"}
        with pytest.raises(openai.NotFoundError, match="did you mean"):
            asking.models.retrieve("flo")


def test_all_four_ways_give_the_same_answer(model_server: ModelServer) -> None:
    model_server.will_say(*["Hello, you."] * 4)
    with asked_of(GREETER, base_url=model_server.url, dialect="tools") as asking:
        whole = chat(asking)
        words, chunks = streamed(asking, stream_options={"include_usage": True})
        response = asking.responses.create(model="greeter", input="Hi")
        with asking.responses.stream(model="greeter", input="Hi") as events:
            kinds = [each.type for each in events]
            final = events.get_final_response()

    assert whole.choices[0].message.content == words == "Hello, you."
    assert response.output_text == final.output_text == "Hello, you."
    assert whole.choices[0].finish_reason == chunks[-2].choices[0].finish_reason == "stop"
    assert (response.status, final.status) == ("completed", "completed")
    assert whole.usage == chunks[-1].usage
    assert (whole.usage.prompt_tokens, response.usage.total_tokens) == (10, 15)
    assert kinds.count("response.output_text.delta") > 1


def test_the_model_is_told_what_the_client_says_was_said() -> None:
    model = ScriptedModel(["Fine."] * 2)
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "And you?"},
    ]
    with asked_of(GREETER, model=model) as asking:
        chat(asking, messages=said)
        asking.responses.create(model="greeter", instructions="Be brief.", input=said[1:])

    roles = (UserRole, UserRole, AssistantRole, UserRole)
    texts = ("Be brief.", "Hi", "Hello.", "And you?")
    for request in model.requests:
        told = [(each.role, each.content) for each in request.messages]
        assert told == list(zip(roles, texts, strict=True))
        assert request.instruction == "Greet."


def test_files_come_with_the_message_and_no_path_is_opened() -> None:
    model = ScriptedModel(["A dot."])
    dot = "data:image/png;base64,iVBORw0KGgo="
    with asked_of(GREETER, model=model) as asking:
        look = {"type": "text", "text": "Look"}
        picture = {"type": "image_url", "image_url": {"url": dot}}
        chat(asking, messages=[{"role": "user", "content": [look, picture]}])
        for url in ("/etc/passwd", "file:///etc/passwd", "data:image/png;base64,?"):
            picture["image_url"] = {"url": url}
            with pytest.raises(openai.BadRequestError, match=r"messages\[0\]"):
                chat(asking, messages=[{"role": "user", "content": [look, picture]}])

    (file,) = model.requests[0].messages[-1].attachments
    assert file.content == b"\x89PNG\r\n\x1a\n"


def test_a_declared_answer_is_json_and_a_text_may_be_the_arguments() -> None:
    model = ScriptedModel(['["yes"]'] * 3)
    with asked_of(TYPED, model=model) as asking:
        whole = chat(asking, "judge").choices[0].message.content
        words, _ = streamed(asking, "judge")
        chat(asking, "judge", messages=[{"role": "user", "content": '{"text": "This"}'}])

    assert whole == words == '["yes"]'
    assert [each.messages[-1].content for each in model.requests] == ["Hi", "Hi", "This"]


def test_calls_of_tools_stay_inside_or_are_events_of_their_own(model_server: ModelServer) -> None:
    model_server.will_say(*[CALL, "Three."] * 4)
    how = {"base_url": model_server.url, "dialect": "tools"}
    with asked_of(COUNTER, ToolLibrary.of(add), **how) as asking:
        whole = chat(asking, "counter").choices[0].message
        words, chunks = streamed(asking, "counter")
    shown = Serving(agents(COUNTER, ToolLibrary.of(add), **how), shows_tools=True)
    with serving(shown) as port, client(port) as asking:
        _, with_tools = streamed(asking, "counter")
        events: list[Any] = list(asking.responses.create(model="counter", input="Hi", stream=True))

    assert (whole.content, whole.tool_calls) == ("Three.", None)
    assert words == "Let me see.\n\nThree."
    assert all(each.choices for each in chunks)
    told = [each.model_extra["gram"] for each in with_tools if not each.choices]
    assert [each["type"] for each in told] == ["tool_started", "tool_finished"]
    assert told[1]["result"] == 3
    own = [each.type for each in events if each.type.startswith("gram.")]
    assert own == ["gram.tool_started", "gram.tool_finished"]
    said = [each.content[0].text for each in events[-1].response.output]
    assert said == ["Let me see.", "Three."]


def test_agents_inside_are_events_too() -> None:
    flow = '[flow:Workflow {description: "Greets"} | greeter]'
    shown = Serving(agents(GREETER + flow, model=ScriptedModel(["Hello."])), shows_tools=True)
    with serving(shown) as port, client(port) as asking:
        _, chunks = streamed(asking, "flow")

    assert [each.model_extra["gram"] for each in chunks if not each.choices] == [
        {"type": "agent_started", "at": ["greeter"], "name": "greeter"},
        {"type": "agent_finished", "at": ["greeter"], "name": "greeter", "result": "Hello."},
    ]


def test_finish_reasons_say_how_it_ended(model_server: ModelServer) -> None:
    cut = Answer(completion({"content": "Hel"}, choice={"finish_reason": "length"}))
    no = {"role": "assistant", "content": None, "refusal": "No."}
    model_server.will_say(cut, cut, no, no)
    with asked_of(GREETER, base_url=model_server.url, dialect="tools") as asking:
        was_cut = chat(asking).choices[0]
        incomplete = asking.responses.create(model="greeter", input="Hi")
        refused = chat(asking).choices[0].message
        response: Any = asking.responses.create(model="greeter", input="Hi")

    assert (was_cut.finish_reason, was_cut.message.content) == ("length", "Hel")
    assert incomplete.incomplete_details.reason == "max_output_tokens"
    assert (refused.content, refused.refusal) == (None, "No.")
    refusal = response.output[0].content[0]
    assert (refusal.type, refusal.refusal) == ("refusal", "No.")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "the program's"),
        ({"response_format": {"type": "json_object"}}, "the program declares"),
        ({"n": 2}, "one answer"),
        ({"messages": [*HI, {"role": "tool", "tool_call_id": "1", "content": "3"}]}, "tool"),
        ({"messages": [{"role": "assistant", "content": "Hello"}]}, "ends with what the user"),
        ({"extra_headers": {"X-Gram-Conversation": "a"}}, "without --record"),
    ],
)
def test_what_no_run_does_is_refused_with_the_reason(more: dict[str, Any], why: str) -> None:
    refused = pytest.raises(openai.BadRequestError, match=why)
    with asked_of(GREETER, model=ScriptedModel([])) as asking, refused:
        chat(asking, **more)


def test_what_asks_for_nothing_is_taken() -> None:
    with asked_of(GREETER, model=ScriptedModel(["Hello."])) as asking:
        plain = {"tools": [], "response_format": {"type": "text"}, "n": 1, "temperature": 0.5}
        assert chat(asking, **plain).choices[0].message.content == "Hello."


def test_the_log_says_of_which_run_it_tells(
    model_server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    model_server.will_say(Answer({"error": {"message": "busy"}}, 503, {"retry-after": "0"}), "Hi.")
    with (
        caplog.at_level("INFO", "interp"),
        asked_of(GREETER, base_url=model_server.url, dialect="tools") as asking,
    ):
        answered = asking.chat.completions.with_raw_response.create(model="greeter", messages=HI)  # type: ignore[arg-type]  # a list of dicts is taken
    records = (vars(each) for each in caplog.records)
    told = {each["event"]: each["run"] for each in records if "event" in each}
    assert told == dict.fromkeys(
        ("model_retried", "exchange_ended"), answered.headers["x-gram-run"]
    )


def test_failures_are_errors_of_their_kinds(model_server: ModelServer) -> None:
    model_server.will_say(*[Answer({"error": {"message": "out of order"}}, 400)] * 3, CALL)
    how = {"base_url": model_server.url, "dialect": "tools", "limits": Limits(iterations=0)}
    with asked_of(COUNTER, ToolLibrary.of(add), **how) as asking:
        with pytest.raises(openai.InternalServerError) as failed:
            chat(asking, "counter")
        with pytest.raises(openai.APIError, match="out of order"):
            streamed(asking, "counter")
        *_, last = asking.responses.create(model="counter", input="Hi", stream=True)
        with pytest.raises(openai.UnprocessableEntityError) as limited:
            chat(asking, "counter")

    assert (failed.value.status_code, failed.value.code) == (502, "model_failed")
    assert failed.value.response.headers["x-should-retry"] == "false"
    assert (last.type, last.response.error.code) == ("response.failed", "model_failed")
    assert limited.value.code == "limit_reached"


@pytest.mark.parametrize("count", [15, pytest.param(200, marks=pytest.mark.nightly)])
def test_nothing_of_many_conversations_is_lost_or_mixed(count: int) -> None:
    """Conversations at once, of three turns each, in both APIs, streamed and not."""
    served = Serving(agents(GREETER, model=Parrot()), at_once=count)
    with serving(served) as port, client(port) as asking:

        def talk(number: int) -> list[str]:
            messages, heard = list[Any](), list[str]()
            for turn in range(3):
                messages.append({"role": "user", "content": f"{number}, {turn}"})
                if number % 3 == 0:
                    answer = chat(asking, messages=messages).choices[0].message.content
                elif number % 3 == 1:
                    answer, _ = streamed(asking, messages=messages)
                else:
                    answer = asking.responses.create(model="greeter", input=messages).output_text
                messages.append({"role": "assistant", "content": answer})
                heard.append(answer)
            return heard

        with ThreadPoolExecutor(count) as pool:
            heard = list(pool.map(talk, range(count)))

    for number, each in enumerate(heard):
        assert each == [f"You said: {number}, {turn}" for turn in range(3)]


# --- conversations that are kept: named ones go on, and people answer what a run asks

TRIAGE = """
[triage:Agent {description: "Sorts", instruction: "Sort.", model: "OpenAI/gpt-5.6-luna"} |
  (triage)-[:HANDOFF]->(billing)]
[billing:Agent {description: "Bills", instruction: "Bill.", model: "OpenAI/gpt-5.6-luna"}]
"""
PAYER = """
[payer:Agent {instruction: "Pay.", model: "OpenAI/gpt-5.6-luna"} |
  [pay:ToolSpecification {description: "Pays"} | (sum::Integer)==>(::Text)]]
"""
NAMED = {"X-Gram-Conversation": "one"}


@tool
def pay(sum: int) -> str:
    """Pays"""
    return f"paid {sum}"


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    return tool_calls(("c", name, arguments))


def said(asking: openai.OpenAI, model: str, *texts: str, **more: Any) -> str:
    roles = ["user", "assistant"] * len(texts)
    messages: list[Any] = [
        {"role": role, "content": text} for role, text in zip(roles, texts, strict=False)
    ]
    whole = asking.chat.completions.create(model=model, messages=messages, **more)
    return str(whole.choices[0].message.content)


def test_a_named_conversation_remembers_who_was_handed_over_to(tmp_path: Path) -> None:
    replies = {"triage": [call("billing"), "Again?"], "billing": ["A bill.", "Paid."]}
    model, store = ScriptedModel(replies), str(tmp_path / "runs.db")
    with asked_of(TRIAGE, record=store, model=model) as asking:
        first = said(asking, "triage", "My bill", extra_headers=NAMED)
        second = said(asking, "triage", "My bill", first, "And?", extra_headers=NAMED)
        forgotten = said(asking, "triage", "My bill", first, "And?")

    assert (first, second, forgotten) == ("A bill.", "Paid.", "Again?")
    with open_store(store) as opened:
        contents = [each.content for each in opened.conversation("one").context]
        assert contents[0] == "My bill"
        assert contents[-2:] == ["And?", "Paid."]
        assert len(list(opened.rows())) == 3


def test_both_apis_go_on_with_one_conversation(tmp_path: Path) -> None:
    model, store = ScriptedModel(["Hello.", "Fine."]), str(tmp_path / "runs.db")
    with asked_of(GREETER, record=store, model=model) as asking:
        said(asking, "greeter", "Hi", extra_headers=NAMED)
        response = asking.responses.create(model="greeter", input="And you?", conversation="one")

    assert response.output_text == "Fine."
    assert response.conversation is not None
    assert response.conversation.id == "one"
    assert [each.content for each in model.requests[1].messages] == ["Hi", "Hello.", "And you?"]


def test_what_a_client_asks_again_is_not_said_twice(tmp_path: Path) -> None:
    model = Slow()
    with asked_of(GREETER, record=tmp_path / "runs.db", model=model) as asking:
        impatient = asking.with_options(max_retries=3, timeout=0.5)
        with pytest.raises(openai.ConflictError, match="another turn of the conv") as refused:
            said(impatient, "greeter", "Hi", extra_headers=NAMED)
        model.may_answer = True

    assert model.answered == 1
    assert "runs.db" not in str(refused.value)  # where runs are kept is not told


@pytest.mark.parametrize("name", ["two\nlines", "x" * 201])
def test_a_name_that_no_log_could_show_is_refused(tmp_path: Path, name: str) -> None:
    refused = pytest.raises(openai.BadRequestError, match="can be shown")
    how: Any = {"record": tmp_path / "runs.db", "model": ScriptedModel([])}
    with asked_of(GREETER, **how) as asking, refused:
        asking.responses.create(model="greeter", input="Hi", conversation=name)


def test_what_waits_for_a_person_is_told_and_then_the_result_is_given(tmp_path: Path) -> None:
    model, store = ScriptedModel([call("pay", '{"sum": 3}'), "It is paid."]), str(tmp_path / "r.db")
    how: Any = {"model": model, "policy": ask_all}
    with asked_of(PAYER, ToolLibrary.of(pay), record=store, **how) as asking:
        waits = said(asking, "payer", "Pay 3", extra_headers=NAMED)
        still = said(asking, "payer", "Pay 3", waits, "Well?", extra_headers=NAMED)
        with open_store(store) as opened:
            (row,) = opened.rows()
            decide_run(opened, row.id, True)
        result = said(asking, "payer", "Pay 3", waits, "Well?", extra_headers=NAMED)

    assert row.id in waits
    assert 'pay({"sum": 3})' in waits.replace('{"sum":3}', '{"sum": 3}')
    assert waits == still
    assert result == "It is paid."


def test_a_run_that_waits_without_a_conversation_names_what_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel([call("pay", '{"sum": 3}')])
    how: Any = {"model": model, "policy": ask_all, "record": tmp_path / "r.db"}
    with asked_of(PAYER, ToolLibrary.of(pay), **how) as asking:
        assert "`gram resume` goes on" in said(asking, "payer", "Pay 3")

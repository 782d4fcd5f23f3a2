"""What runs cost, counted instead of timed: a regression is one on any machine.

Bounds leave some room, also for what each Python calls of its own. Whoever needs more of it says in
`docs/performance.md` what for.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from gram import Pattern, parse
from interp import (
    AssistantRole,
    ConversationContext,
    Limits,
    Message,
    ModelReplied,
    ScriptedModel,
    Tool,
    ToolCall,
    ToolLibrary,
    ToolReturned,
    UserRole,
    arun,
    create_agent_pattern,
    create_tool_specification,
    run,
    start,
    step,
)
from interp.concurrency import threads
from interp.models.request_json import request_content
from lenses_ext import resolve, tool_spec_name, tool_spec_schema, view
from tests.interp.model_server import ModelServer, tool_calls

SIGNATURE = '(personName::Text {default: "world"})==>(::String)'
CALL = Message(AssistantRole, "", [ToolCall("call_1", "hello0", '{"personName": "Alice"}')])
ROOM = 40 if sys.version_info >= (3, 13) else 0
"""Calls that are counted besides from Python 3.13 on, in a run of one round."""
HERE = Limits(iterations=20, tool_seconds=None, run_seconds=None)
"""Limits without time, under which all is done in the thread that is counted."""


def agent_with(tools: int) -> tuple[Pattern, ToolLibrary]:
    """An agent with so many tools, and their implementations."""
    specs = [create_tool_specification(f"hello{n}", "Greets", SIGNATURE) for n in range(tools)]
    agent = create_agent_pattern("greeter", "Greets people", "OpenAI/x", "Greet them.", specs)
    return agent, ToolLibrary.of(map(implemented, specs))


def implemented(spec: Pattern) -> Tool:
    """A tool that does what a specification says."""
    return Tool(
        view(tool_spec_name, spec),
        "Greets",
        view(tool_spec_schema, spec),
        lambda arguments: f"Hello, {arguments['personName']}!",
        result_schema={"type": "string"},
    )


def conversation(length: int) -> ConversationContext:
    """A conversation of so many messages."""
    roles = (UserRole, AssistantRole)
    return ConversationContext(Message(roles[n % 2], f"Message {n}") for n in range(length))


def a_run(*, rounds: int = 1, tools: int = 1, earlier: int = 0) -> Callable[[], object]:
    """A run that has been made once before, as a function."""
    (agent, library), context = agent_with(tools), conversation(earlier)

    def act() -> object:
        model = ScriptedModel([*[CALL] * rounds, "Hello."])
        return run(agent, "Hello", library, context, model=model, limits=HERE)

    act()
    return act


def calls_of(act: Callable[[], object]) -> Counter[str]:
    """How often each function of Python is called, by its name."""
    counts: Counter[str] = Counter()

    def count(frame: Any, event: str, _: object) -> None:
        if event == "call":
            counts[frame.f_code.co_name] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(before)
    return counts


def test_a_run_makes_few_calls() -> None:
    assert calls_of(a_run()).total() < 392 + ROOM


def test_another_round_makes_few_calls() -> None:
    one, ten = (calls_of(a_run(rounds=rounds)).total() for rounds in (1, 10))

    assert (ten - one) / 9 < 210 + ROOM / 2


def test_earlier_messages_and_other_tools_cost_a_run_nothing() -> None:
    alone = calls_of(a_run()).total()

    assert calls_of(a_run(earlier=1_000)).total() <= alone + 20
    assert calls_of(a_run(tools=50)).total() <= alone + 20


def test_a_program_is_judged_and_bound_only_once() -> None:
    counts = calls_of(a_run(tools=5))

    for each in ("agent_faults", "_differences", "tool_spec_schema", "form_of"):
        assert counts[each] == 0


def test_one_request_is_built_for_each_reply() -> None:
    assert calls_of(a_run(rounds=3))["ask_model"] == 3 + 1


def test_a_run_copies_no_conversation() -> None:
    def peak(earlier: int) -> int:
        act = a_run(earlier=earlier)
        tracemalloc.start()
        act()
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(10_000) < peak(0) + 20_000  # a list of them alone would have 80,000 bytes


def test_a_message_is_encoded_once() -> None:
    agent, library = agent_with(1)
    model = ScriptedModel(["Hello."])
    run(agent, "Hello", library, conversation(1_000), model=model, limits=HERE)
    request = model.requests[0]

    first, second = (calls_of(lambda: request_content(request)) for _ in range(2))

    assert first["encode_message"] >= 1_000
    assert second["encode_message"] == 0
    assert second.total() < 1_400


def test_a_run_loads_nothing_that_it_does_not_need() -> None:
    code = """
import sys
from interp import AssistantRole, Message, ScriptedModel, Tool, ToolCall, ToolLibrary, run
from interp import create_agent_pattern, create_tool_specification
schema = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
whole = {"type": "integer"}
library = ToolLibrary.of([Tool("look", "Looks", schema, lambda _: 1, result_schema=whole)])
look = create_tool_specification("look", "Looks", "(at::String)==>(::Integer)")
agent = create_agent_pattern("a", "An agent", "A/b", "x", [look])
call = Message(AssistantRole, "", [ToolCall("1", "look", '{"at": "x"}')])
run(agent, "Hello", library, model=ScriptedModel([call, "x"]))
print(*(name for name in sys.modules if name.startswith(("interp.", "jsonschema_rs"))))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = done.stdout.split()

    assert "interp.execution.runs" in loaded
    rooms = ("cli", "records", "replaying", "views", "experiments", "tools.from_functions")
    others = ("tools.hello_world", "models.server", "models.rehearsal", "execution.recording")
    unneeded = ("jsonschema_rs", *(f"interp.{name}" for name in (*rooms, *others)))
    assert not [name for name in loaded if name.startswith(unneeded)]


def test_no_collection_walks_through_what_was_imported_for_the_network() -> None:
    code = """
import gc
from interp.models.server import Server
server = Server.at("http://127.0.0.1:1", "key", timeout=1, connect_timeout=1, max_bytes=1)
with server.client():
    print(len(gc.get_objects(generation=0)), gc.isenabled(), gc.get_freeze_count())
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    young, *others = done.stdout.split()

    assert int(young) < 5_000
    assert others == ["True", "0"]


def test_a_first_answer_over_http_loads_nothing_that_others_need(model_server: ModelServer) -> None:
    model_server.will_say("Hello.")
    code = """
import sys
from interp import run
from gram import loads_one
run(loads_one('[a:Agent {instruction: "x", model: "OpenAI/m"}]'), "Hello")
unneeded = ("httpcore2", "tenacity", "interp.models.stream_reading")
print(*(name for name in unneeded if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.split() == []


def test_no_certificates_are_read_where_nothing_is_secured(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create() -> None:
        raise AssertionError("certificates are read")

    monkeypatch.setattr("httpx2.create_ssl_context", create)
    agent, _ = agent_with(0)
    model_server.will_say("Hello.")

    assert run(agent, "Hello").content == "Hello."


def test_a_request_over_http_makes_few_calls(model_server: ModelServer) -> None:
    agent, library = agent_with(1)
    call = tool_calls(("call_1", "hello0", {"personName": "Alice"}))
    model_server.will_say(*[call, "Hello."] * 2)
    run(agent, "Hello", library, limits=HERE)

    counts = calls_of(lambda: run(agent, "Hello", library, limits=HERE))

    assert (counts.total() - calls_of(a_run()).total()) / 2 < 980  # most are of openai


def sequence(length: int) -> Pattern:
    """A workflow of so many agents, one after another."""
    names = [f"a{n}" for n in range(length)]
    agents = "".join(f'({name}:Agent {{instruction: "x", model: "A/b"}})' for name in names)
    return resolve(parse(f"[w:Workflow | {'-->'.join(f'({name})' for name in names)}] {agents}"))


def test_a_step_of_a_workflow_costs_little_more_than_its_agent() -> None:
    def calls(program: Pattern) -> int:
        def act() -> object:
            return run(program, "hi", model=ScriptedModel(["ok"] * 40), limits=HERE)

        act()
        return calls_of(act).total()

    alone = calls(create_agent_pattern("a", None, "A/b", "x"))
    short, long = calls(sequence(10)), calls(sequence(30))

    assert (long - short) / 20 < alone + 110 + 3 * ROOM


def test_a_map_takes_memory_for_what_is_in_flight_and_for_results() -> None:
    program = resolve(
        parse(
            """[w:Workflow | [list:Tool {description: "Lists"} | (n::String)==>(::Any)],
              (list)-[:EACH {at_once: 4}]->(worker)]
            (worker:Agent {instruction: "x", model: "A/b"})"""
        )
    )

    def peak(items: int) -> int:
        state, _, _ = start(program, "x")
        state, effects, _ = step(state, ToolReturned(("list",), json.dumps(["item"] * items)))
        waiting = list(effects)
        tracemalloc.start()
        while waiting:
            said = Message(AssistantRole, "said " * 100)
            state, effects, _ = step(state, ModelReplied(waiting.pop(0).at, said))
            waiting += effects
            assert len(waiting) <= 4
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert (peak(500) - peak(100)) / 400 < 2_000  # the text of a result has 500


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """The threads that are started."""
    found: list[threading.Thread] = []
    start = threading.Thread.start

    def counted(thread: threading.Thread) -> None:
        found.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", counted)
    return found


def test_runs_use_one_thread_again_and_again(started: list[threading.Thread]) -> None:
    agent, library = agent_with(1)

    for _ in range(5):
        run(agent, "Hello", library, model=ScriptedModel([*[CALL] * 5, "Hello."]))

    assert len(started) <= 1


def test_a_run_changes_threads_once(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, library = agent_with(1)
    begun: list[threads._Work] = []
    begin = threads._Work.begin

    def counted(work: threads._Work) -> None:
        begun.append(work)
        begin(work)

    monkeypatch.setattr(threads._Work, "begin", counted)
    run(agent, "Hello", library, model=ScriptedModel([*[CALL] * 5, "Hello."]))

    assert len(begun) == 1


def test_what_a_run_has_made_goes_with_its_response() -> None:
    agent, library = agent_with(1)
    gc.disable()
    try:
        response = run(agent, "Hello", library, model=ScriptedModel([CALL, "Hello."]))
        left = weakref.ref(response), weakref.ref(response.context)
        del response
        assert [each() for each in left] == [None, None]
    finally:
        gc.enable()


def test_runs_over_http_use_one_connection_and_one_thread(model_server: ModelServer) -> None:
    agent, library = agent_with(1)
    call = tool_calls(("call_1", "hello0", {"personName": "Alice"}))
    model_server.will_say(*[call, "Hello."] * 5)
    serving = threading.active_count()

    for _ in range(5):
        run(agent, "Hello", library)

    assert model_server.connections == 1
    assert threading.active_count() <= serving + 2  # ours, and the server's for the connection


def test_runs_at_once_use_a_connection_each(model_server: ModelServer) -> None:
    agent, _ = agent_with(0)
    model_server.will_say(*["Hello."] * 30)

    async def three_times_ten() -> None:
        for _ in range(3):
            await asyncio.gather(*(arun(agent, "Hello") for _ in range(10)))

    asyncio.run(three_times_ten())

    assert model_server.connections <= 10

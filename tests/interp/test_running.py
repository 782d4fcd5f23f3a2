"""The short forms of running an agent: what they take, and what they refuse before they ask."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import interp
from gram import ArgumentError, GramError, Pattern, loads_one
from interp import ScriptedModel, arun, astream, begin, hello_world_tool_library, run, stream, tool
from interp.evaluation import Arm
from interp.history import to_pattern
from interp.machine import empty_context, start
from interp.running import execute_agent, execute_agent_with_library
from interp.tools import empty_tool_library
from lenses_ext import parse_program, validate_agent_pattern
from tests.interp.model_server import tool_calls

TALKER = loads_one('[talker:Agent {instruction: "Talk.", model: "OpenAI/x"}]')
EARLIER = interp.ConversationContext([interp.Message(interp.UserRole, "I'm Alice.")])
CALL = tool_calls(("c", "sayHello", {"personName": "Alice"}))
WRONG: Any = EARLIER
"""A conversation where a library belongs."""
GREETED = "Hello, Alice! Nice to meet you."


def test_an_agent_is_executed_without_a_library_after_the_conversation_before() -> None:
    model = ScriptedModel(["Hi, Alice."])
    response = execute_agent(TALKER, "hi", EARLIER, model=model)
    (request,) = model.requests
    assert [message.content for message in request.messages] == ["I'm Alice.", "hi"]
    assert [message.content for message in response.context] == ["I'm Alice.", "hi", "Hi, Alice."]
    assert execute_agent(TALKER, "hi", model=ScriptedModel(["Hi."])).content == "Hi."


def test_a_list_of_messages_is_a_context() -> None:
    model = ScriptedModel(["Hi, Alice."])
    response = execute_agent(TALKER, "hi", [*EARLIER], model=model)
    assert isinstance(response.context, interp.ConversationContext)
    assert response == execute_agent(TALKER, "hi", EARLIER, model=ScriptedModel(["Hi, Alice."]))
    assert to_pattern([*EARLIER]) == to_pattern(EARLIER)
    assert start(TALKER, "hi", [*EARLIER]) == start(TALKER, "hi", EARLIER)


def test_an_agent_is_executed_with_the_context_before_the_library(hello_world: Pattern) -> None:
    model = ScriptedModel([CALL, "Done."])
    given = (hello_world, "hi", EARLIER, hello_world_tool_library)
    response = execute_agent_with_library(*given, model=model)
    assert [message.content for message in model.requests[0].messages] == ["I'm Alice.", "hi"]
    assert [each.result for each in response.tools_used] == [GREETED]


SWAPPED: list[Callable[[Any], Any]] = [
    lambda agent: run(agent, "hi", WRONG, hello_world_tool_library),
    lambda agent: asyncio.run(arun(agent, "hi", WRONG)),
    lambda agent: execute_agent(agent, "hi", hello_world_tool_library),  # type: ignore[arg-type]  # wrong on purpose
    # both are empty: only their types tell them apart
    lambda agent: execute_agent_with_library(agent, "hi", empty_tool_library, empty_context),  # type: ignore[arg-type]  # wrong on purpose
]


@pytest.mark.parametrize("swapped", SWAPPED)
def test_a_swapped_library_is_recognised(hello_world: Pattern, swapped: Callable[..., Any]) -> None:
    with pytest.raises(interp.ConfigurationError, match="the tools and the context are swapped"):
        swapped(hello_world)


@pytest.mark.parametrize("given", [5, (each for each in ["hi"])])
def test_what_is_no_message_is_refused_where_a_run_starts(given: Any) -> None:
    with pytest.raises(ArgumentError, match="start: given must be a str or a mapping or a seq"):
        start(TALKER, given)


@pytest.mark.parametrize(
    "options",
    [
        {"user_input": None}, {"library": []}, {"context": ["hi"]}, {"context": "hi"},
        {"limits": 3}, {"policy": "ask"}, {"settings": 5}, {"observe": 5}, {"watch": 5},
        {"observe": asyncio.sleep}, {"on_tool_error": "ignore"}, {"observes": print},
        {"match": "nam"}, {"record": 5}, {"record": b"x"}, {"record": ["x"]},
    ],
)  # fmt: skip
def test_an_argument_of_another_type_is_refused_before_the_model_is_asked(
    hello_world: Pattern, options: dict[str, Any]
) -> None:
    model = ScriptedModel(["hi"])
    with pytest.raises(GramError):
        run(hello_world, **{"user_input": "hi", "model": model, **options})
    assert model.requests == []


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (None, "must be a"),
        ([5], "must be a"),
        ("hello.gram", r": program is a path: read it with load\('hello.gram'\)"),
        (Path("hello.gram"), "program is a path"),
        ('[a:Agent {instruction: "x"}]', "program is a text: read it with .*parse_program"),
    ],
)
def test_what_is_no_program_is_refused_and_what_reads_it_told(program: Any, message: str) -> None:
    for attempt in (
        lambda: run(program, "hi", model=ScriptedModel(["a"])),
        lambda: start(program, "hi"),
        lambda: interp.bind_agent_tools(program, empty_tool_library),
    ):
        with pytest.raises(ArgumentError, match=message):
            attempt()


def test_a_document_is_run_and_one_of_its_agents_chosen() -> None:
    program = parse_program(
        """
        [greet:Tool {description: "Greets"} | (name::String)==>(::String)]
        [one:Agent {instruction: "One.", model: "OpenAI/x"} | greet]
        [two:Agent {instruction: "Two.", model: "OpenAI/x"}]
        """
    )

    @tool
    def greet(name: str) -> str:
        """Greets"""
        return f"Hello, {name}!"

    library, model = interp.ToolLibrary.of([greet]), ScriptedModel(["a"] * 4)

    async def aran() -> list[Any]:
        await arun(program, "hi", model=model, agent="two")
        return [each async for each in astream(program, "hi", model=model, agent="two")]

    run(program, "hi", library, model=model, agent="one")
    asyncio.run(aran())
    instructions = [request.instruction for request in model.requests]
    assert instructions == ["One.", "Two.", "Two."]
    assert start(program, "hi", agent="two")[0].agent == program.patterns[2]
    (bound,) = interp.bind_agent_tools(program, library, agent="one")
    assert bound.name == "greet"
    with pytest.raises(interp.ValidationError, match="2 agents"):
        run(program, "hi", model=model)


@pytest.mark.parametrize("text", ["", " ", "\n", "\t \r\n", "\u3000"])
def test_nothing_said_is_refused_before_the_model_is_asked(text: str) -> None:
    model = ScriptedModel(["a"] * 3)

    async def watched() -> None:
        async for _ in astream(TALKER, text, model=model):
            pass

    for attempt in (
        lambda: run(TALKER, text, model=model),
        lambda: list(stream(TALKER, text, model=model)),
        lambda: asyncio.run(watched()),
    ):
        with pytest.raises(interp.ValidationError, match="the user's message is empty"):
            attempt()

    assert model.requests == []


def test_the_faults_of_an_invalid_program_are_in_the_error() -> None:
    agent = loads_one('[a:Agent {instruction: "", model: "b"}]')
    with pytest.raises(interp.ValidationError) as caught:
        run(agent, "hi", model=ScriptedModel(["a"]))
    codes = [fault.code for fault in caught.value.faults]
    assert codes == [fault.code for fault in validate_agent_pattern(agent)]
    assert "empty-instruction" in codes


# --- the context of a call

WATCHER = loads_one(
    '[watcher:Agent {instruction: "Look.", model: "OpenAI/x"} | '
    '[whereAmI:Tool {description: "Says where it is"} | (n::Integer)==>(::Any)]]'
)
LOOK = tool_calls(("a", "whereAmI", {"n": 1}), ("b", "whereAmI", {"n": 2}))


@tool(name="whereAmI", description="Says where it is")
def where_am_i(n: int, context: interp.ToolContext) -> Any:
    said = [message.content for message in context.conversation]
    return [context.agent_name, context.tool_name, len(context.conversation), said[0]]


@tool(name="whereAmI", description="Says where it is")
async def where_am_i_later(n: int, context: interp.ToolContext) -> Any:
    await asyncio.sleep(0)
    return where_am_i(n=n)


@pytest.mark.parametrize("implementation", [where_am_i, where_am_i_later])
def test_a_run_tells_each_tool_where_it_is_called(implementation: Any) -> None:
    library, model = interp.ToolLibrary.of([implementation]), ScriptedModel([LOOK, LOOK, "Done."])
    response = run(WATCHER, "hi", library, model=model)

    # the user's words and the reply that calls; a round later also two results and a reply
    seen = [each.result or each.error for each in response.tools_used]
    assert seen == [["watcher", "whereAmI", count, "hi"] for count in (2, 2, 5, 5)]


# --- how a run is shown, and what is refused by name


def test_a_run_says_where_it_stands(hello_world: Pattern) -> None:
    begun = begin(hello_world, "hi", hello_world_tool_library, model="Offline/rehearsal")
    before = repr(begun)
    begun.finish()

    assert before == "<Run of hello_world_agent: awaiting the model's reply, turn 0, 0 calls>"
    assert repr(begun) == "<Run of hello_world_agent: done, turn 1, 1 call>"
    assert repr(begun.state).startswith("<State of hello_world_agent: done")
    assert begun._repr_mimebundle_()["text/plain"] == repr(begun)
    assert "Hello, world! Nice to meet you." in begun._repr_mimebundle_()["text/html"]


CALLED = (begin, run, arun, stream, astream, execute_agent, interp.resume_run, interp.Run)


@pytest.mark.parametrize("called", CALLED, ids=lambda each: each.__name__)
def test_a_misspelt_keyword_names_its_function(
    called: Callable[..., Any], hello_world: Pattern
) -> None:
    state, _, _ = start(hello_world, "hi")
    given = (state,) if called in (interp.resume_run, interp.Run) else (hello_world, "hi")

    async def call() -> None:
        if inspect.isawaitable(found := called(*given, modle="x/y")):
            await found

    with pytest.raises(ArgumentError) as refused:
        asyncio.run(call())

    assert str(refused.value) == f"{called.__name__}: there is no option modle; did you mean model?"


def test_errors_of_a_run_have_no_frames_of_ours_but_the_call(hello_world: Pattern) -> None:
    model = ScriptedModel([interp.ModelError("no")])
    with pytest.raises(interp.ModelError) as failed:
        run(hello_world, "hi", hello_world_tool_library, model=model)
    assert len(failed.traceback) <= 4


@pytest.mark.parametrize("function", [*CALLED[:-1], execute_agent_with_library])
def test_the_hints_of_the_short_forms_can_be_read(function: Callable[..., Any]) -> None:
    hints = get_type_hints(function)
    assert hints.keys() - {"return"} == inspect.signature(function).parameters.keys()


# --- limits by name


def test_limits_are_taken_by_name_and_a_mistaken_name_has_the_nearest() -> None:
    begun = begin(TALKER, "hi", model=ScriptedModel(["a"]), limits={"iterations": 3})
    assert begun.state.limits == interp.Limits(iterations=3)
    assert Arm(limits={"iterations": 3}) == Arm(limits=interp.Limits(iterations=3))
    with pytest.raises(ArgumentError, match="no limit 'iteration'; did you mean iterations"):
        begin(TALKER, "hi", limits={"iteration": 3})
    with pytest.raises(interp.ValidationError, match="iterations is an integer"):
        begin(TALKER, "hi", limits={"iterations": -1})

"""Agents in libraries: they take the place of the tools that they implement."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

import interp
from gram import Pattern, dumps, loads_one
from interp import Message, ScriptedModel, ToolBindingError, ToolError, ToolLibrary, begin, run
from interp.tools import tool_of_agent

BOSS = loads_one(
    """[boss:Agent {instruction: "Delegate.", model: "A/b"} |
      [count:Tool {description: "Counts words"} | (text::String)==>(::Integer)]]"""
)


def calling(name: str) -> Message:
    """A reply that calls a tool."""
    return Message(interp.AssistantRole, "", (interp.ToolCall("c", name, '{"text": "a b"}'),))


CALL = calling("count")


def counter(result: str = "Integer") -> Pattern:
    """An agent that counts words."""
    return loads_one(
        f"""[count:Agent {{description: "Counts words", instruction: "Count.", model: "A/b"}} |
          (text::String)==>(::{result})]"""
    )


def test_whether_a_tool_is_code_or_an_agent_is_said_by_the_library() -> None:
    code = interp.Tool(
        "count",
        "Counts words",
        {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        lambda args: len(args["text"].split()),
        result_schema={"type": "integer"},
    )

    by_code = run(BOSS, "go", ToolLibrary.of(code), model=ScriptedModel([CALL, "Two."]))
    by_agent = run(BOSS, "go", ToolLibrary.of(counter()), model=ScriptedModel([CALL, "2", "Two."]))

    assert by_code.tools_used == by_agent.tools_used
    assert by_agent.tools_used[0].result == 2


def test_the_program_of_the_run_holds_the_agent() -> None:
    begun = begin(BOSS, "go", ToolLibrary.of(counter()), model=ScriptedModel([]))

    assert begun.state.agent.elements == (counter(),)


def test_an_agent_that_does_not_fit_does_not_bind() -> None:
    with pytest.raises(ToolBindingError, match='tool "count" differs: type of the result'):
        run(BOSS, "go", ToolLibrary.of(counter("String")), model=ScriptedModel([]))


def test_an_agent_takes_the_name_that_the_library_gives_it() -> None:
    boss = loads_one(dumps(BOSS).replace("count:", "words:"))
    library = ToolLibrary.of(counter()).rename("count", "words")

    answer = run(boss, "go", library, model=ScriptedModel([calling("words"), "2", "Two."]))

    assert answer.content == "Two."


def test_it_cannot_be_called_outside_of_a_run_and_a_specification_is_no_implementation() -> None:
    made: Any = tool_of_agent(counter())

    with pytest.raises(ToolError, match="this tool is an agent"):
        made(text="a b")
    with pytest.raises(ToolError, match='"count" is a specification, which implements nothing'):
        ToolLibrary.of(*BOSS.elements)


def agent_with_a_tool(tool: str) -> Pattern:
    """The agent that counts words, with a tool of its own."""
    agent, own = counter(), loads_one(dumps(BOSS.elements[0]).replace("count:", f"{tool}:"))
    return evolve(agent, elements=(*agent.elements, own))


def test_an_agent_of_a_library_has_its_tools_from_the_library_too() -> None:
    tool = loads_one(dumps(counter()).replace("[count:", "[add:"))
    model = ScriptedModel([CALL, calling("add"), "2", "2", "Two."])

    answer = run(BOSS, "go", ToolLibrary.of(agent_with_a_tool("add"), tool), model=model)

    assert (answer.content, answer.tools_used[0].result) == ("Two.", 2)
    assert len(model.requests) == 5


def test_an_agent_of_a_library_does_not_implement_its_own_tool() -> None:
    library = ToolLibrary.of(agent_with_a_tool("count"))

    with pytest.raises(ToolBindingError, match="contains itself: count -> count"):
        begin(BOSS, "go", library)

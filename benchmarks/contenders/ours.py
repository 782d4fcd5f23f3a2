"""This project."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from task import (
    ARGUMENTS,
    GREETING,
    INSTRUCTION,
    MESSAGE,
    MODEL,
    NAME,
    TOOL,
    TOOL_DESCRIPTION,
    earlier_messages,
    expect,
    say_hello,
)

from gram import Pattern
from interp import (
    AssistantRole,
    ConversationContext,
    Limits,
    Message,
    Tool,
    ToolCall,
    ToolLibrary,
    UserRole,
    arun,
    run,
)
from lenses_ext import (
    create_agent_pattern,
    create_tool_specification,
    tool_spec_name,
    tool_spec_schema,
    view,
)


class Contender:
    """One agent and one library; connections are the interpreter's own affair."""

    cannot: Mapping[str, str] = {}

    def __init__(self, address: str) -> None:
        self._address = address

    def over_http(self, earlier: int = 0, tools: int = 1) -> Any:
        context, (agent, library) = _conversation(earlier), _agent(tools)

        def act() -> None:
            expect(run(agent, MESSAGE, library, context, base_url=self._address).content)

        return act

    def over_http_async(self, earlier: int = 0) -> Any:
        context, (agent, library) = _conversation(earlier), _agent(1)

        async def act() -> None:
            response = await arun(agent, MESSAGE, library, context, base_url=self._address)
            expect(response.content)

        return act

    def in_process(self, rounds: int = 1, earlier: int = 0, tools: int = 1) -> Any:
        context, (agent, library) = _conversation(earlier), _agent(tools)
        model, limits = _Replies(rounds), Limits(iterations=rounds)

        def act() -> None:
            expect(run(agent, MESSAGE, library, context, model=model, limits=limits).content)

        return act


class _Replies:
    """A model whose replies cost nothing: so many calls, then the answer, again and again."""

    def __init__(self, rounds: int) -> None:
        call = Message(AssistantRole, "", [ToolCall("call_1", TOOL, ARGUMENTS)])
        self._replies = cycle([*[call] * rounds, Message(AssistantRole, GREETING)])

    def complete(self, _: object) -> Message:
        return next(self._replies)


def _agent(tools: int) -> tuple[Pattern, ToolLibrary]:
    names = [TOOL, *(f"other{n}" for n in range(1, tools))]
    signature = '(personName::Text {default: "world"})==>(::String)'
    specs = [create_tool_specification(name, TOOL_DESCRIPTION, signature) for name in names]
    agent = create_agent_pattern(NAME, "Greets people", f"OpenAI/{MODEL}", INSTRUCTION, specs)
    return agent, ToolLibrary.of(map(_tool, specs))


def _tool(spec: Pattern) -> Tool:
    return Tool(
        view(tool_spec_name, spec),
        TOOL_DESCRIPTION,
        view(tool_spec_schema, spec),
        lambda arguments: say_hello(**arguments),
        result_schema={"type": "string"},
    )


def _conversation(earlier: int) -> ConversationContext:
    roles = {"user": UserRole, "assistant": AssistantRole}
    messages = earlier_messages(earlier)
    return ConversationContext(Message(roles[each["role"]], each["content"]) for each in messages)

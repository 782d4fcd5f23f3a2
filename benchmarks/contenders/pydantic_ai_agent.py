"""Pydantic AI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits
from task import (
    ARGUMENTS,
    GREETING,
    INSTRUCTION,
    MESSAGE,
    MODEL,
    TOOL,
    TOOL_DESCRIPTION,
    earlier_messages,
    expect,
    say_hello,
)

_NO_LIMITS = UsageLimits(request_limit=None)


class Contender:
    """One agent for all runs."""

    cannot: Mapping[str, str] = {}

    def __init__(self, address: str) -> None:
        self._address = address

    def over_http(self, earlier: int = 0) -> Any:
        agent, history = self._connected(), _history(earlier)
        return lambda: expect(agent.run_sync(MESSAGE, message_history=history).output)

    def over_http_async(self, earlier: int = 0) -> Any:
        agent, history = self._connected(), _history(earlier)

        async def act() -> None:
            expect((await agent.run(MESSAGE, message_history=history)).output)

        return act

    def in_process(self, rounds: int = 1, earlier: int = 0, tools: int = 1) -> Any:
        history = _history(earlier)
        call = ModelResponse(parts=[ToolCallPart(TOOL, ARGUMENTS, "call_1")])
        answer = ModelResponse(parts=[TextPart(GREETING)])

        def reply(messages: list[ModelMessage], _: Any) -> ModelResponse:
            is_over = len(messages) > len(history) + 2 * rounds
            return answer if is_over else call

        agent = _agent(FunctionModel(reply), tools)

        def act() -> None:
            found = agent.run_sync(MESSAGE, message_history=history, usage_limits=_NO_LIMITS)
            expect(found.output)

        return act

    def _connected(self) -> Any:
        provider = OpenAIProvider(base_url=self._address, api_key="none")
        return _agent(OpenAIChatModel(MODEL, provider=provider), 1)


def _agent(model: Any, tools: int) -> Any:
    agent: Any = Agent(model, instructions=INSTRUCTION)
    for name in [TOOL, *(f"other{n}" for n in range(1, tools))]:
        agent.tool_plain(say_hello, name=name, description=TOOL_DESCRIPTION)
    return agent


def _history(earlier: int) -> list[ModelMessage]:
    return [
        ModelRequest(parts=[UserPromptPart(each["content"])])
        if each["role"] == "user"
        else ModelResponse(parts=[TextPart(each["content"])])
        for each in earlier_messages(earlier)
    ]

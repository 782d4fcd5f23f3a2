"""LangGraph with LangChain's agent and model of OpenAI."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from task import (
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


class Contender:
    """One agent for all runs."""

    cannot: Mapping[str, str] = {}

    def __init__(self, address: str) -> None:
        self._address = address

    def over_http(self, earlier: int = 0) -> Any:
        return _sync(self._connected(), earlier)

    def over_http_async(self, earlier: int = 0) -> Any:
        agent, given = self._connected(), _input(earlier)

        async def act() -> None:
            expect((await agent.ainvoke(given))["messages"][-1].content)

        return act

    def in_process(self, rounds: int = 1, earlier: int = 0, tools: int = 1) -> Any:
        call = {"name": TOOL, "args": {"personName": "Alice"}, "id": "call_1"}
        calls = [AIMessage("", tool_calls=[call]) for _ in range(rounds)]
        model = _Replies(replies=cycle([*calls, AIMessage(GREETING)]))
        return _sync(_agent(model, tools), earlier)

    def _connected(self) -> Any:
        return _agent(ChatOpenAI(model=MODEL, base_url=self._address, api_key="none"), 1)


class _Replies(BaseChatModel):
    """A model whose replies cost nothing, again and again."""

    replies: Any

    @property
    def _llm_type(self) -> str:
        return "replies"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        message = next(self.replies).model_copy()
        return ChatResult(generations=[ChatGeneration(message=message)])


def _sync(agent: Any, earlier: int) -> Any:
    given, config = _input(earlier), {"recursion_limit": 100}
    return lambda: expect(agent.invoke(given, config)["messages"][-1].content)


def _agent(model: Any, tools: int) -> Any:
    names = [TOOL, *(f"other{n}" for n in range(1, tools))]
    made = [
        StructuredTool.from_function(say_hello, name=name, description=TOOL_DESCRIPTION)
        for name in names
    ]
    return create_agent(model, made, system_prompt=INSTRUCTION)


def _input(earlier: int) -> dict[str, Any]:
    return {"messages": [*earlier_messages(earlier), {"role": "user", "content": MESSAGE}]}

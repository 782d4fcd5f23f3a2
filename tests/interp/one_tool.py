"""An agent with one tool, libraries that do its work, and both ways to run it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gram import loads_one
from interp import AgentResponse, ScriptedModel, ToolLibrary, arun, run, tool
from tests.interp.model_server import tool_calls

AGENT = loads_one(
    """
    [a:Agent {instruction: "Help.", model: "OpenAI/x"} |
      [work:Tool {description: "Works"} | (n::Integer)==>(::Any)]]
    """
)


def working(function: Callable[[int], Any]) -> ToolLibrary:
    """A library with the agent's tool, which does what the function does."""

    @tool(name="work", description="Works")
    def work(n: int) -> Any:
        return function(n)

    return ToolLibrary.of([work])


def aworking(function: Callable[[int], Any]) -> ToolLibrary:
    """The same with a tool that is a coroutine function."""

    @tool(name="work", description="Works")
    async def work(n: int) -> Any:
        return await function(n)

    return ToolLibrary.of([work])


DOUBLE = working(lambda n: 2 * n)


def asking(*numbers: int) -> dict[str, Any]:
    """A reply that calls the tool with each of the numbers."""
    return tool_calls(*((f"c{n}", "work", {"n": n}) for n in numbers))


def by_run(library: ToolLibrary, replies: Any, **options: Any) -> AgentResponse:
    return run(AGENT, "hi", library, model=ScriptedModel(replies), match="types", **options)


def by_arun(library: ToolLibrary, replies: Any, **options: Any) -> AgentResponse:
    return asyncio.run(
        arun(AGENT, "hi", library, model=ScriptedModel(replies), match="types", **options)
    )


either_driver = pytest.mark.parametrize("drive", [by_run, by_arun])

"""The context of a tool call."""

from __future__ import annotations

import asyncio

import pytest

from interp.tools.from_functions.function_tools import tool
from interp.tools.invocation import ToolContext, current_context, providing


def test_a_context_ends_with_its_call_even_when_it_fails() -> None:
    with pytest.raises(ZeroDivisionError), providing(ToolContext("agent", "tool")):
        _ = 1 / 0

    assert current_context.get() is None


def test_tools_that_run_side_by_side_see_their_own_context() -> None:
    @tool
    async def who(context: ToolContext) -> str:
        """Says who it is."""
        await asyncio.sleep(0)
        return f"{context.tool_name} {current_context.get() is context}"

    async def call(name: str) -> str:
        with providing(ToolContext("agent", name)):
            found: str = await who()
            return found

    async def both() -> list[str]:
        return list(await asyncio.gather(call("a"), call("b")))

    assert asyncio.run(both()) == ["a True", "b True"]

"""Calling a tool's Python: functions and coroutines, and whatever may go wrong in them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gram import ArgumentError
from interp import Tool, ToolError, create_tool
from interp.concurrency import FromOutside
from interp.tools import invoke_tool
from interp.tools.implementation import ToolContext, acall_tool, current_context, providing


def made(invoke: Callable[[Any], Any]) -> Tool:
    """A tool that does what a function does."""
    return create_tool("t", "Does it.", {"type": "object"}, invoke)


def invoked_inside(called: Tool, args: Any) -> Any:
    """The result, from within a running event loop, as in a notebook."""

    async def inside() -> Any:
        return invoke_tool(called, args)

    return asyncio.run(inside())


def ainvoked(called: Tool, args: Any) -> Any:
    """The result without blocking, as `arun` calls a tool."""
    return asyncio.run(acall_tool(called, args)).text.value


either_way = pytest.mark.parametrize("invoke", [invoke_tool, invoked_inside, ainvoked])


def twice(args: Any) -> Any:
    return 2 * args.pop("n")


async def twice_later(args: Any) -> Any:
    await asyncio.sleep(0)
    return 2 * args.pop("n")


@either_way
@pytest.mark.parametrize("function", [twice, twice_later, lambda args: twice_later(args)])
def test_a_tool_is_called_whether_it_is_a_coroutine_or_not(invoke: Any, function: Any) -> None:
    args = {"n": 21}

    assert invoke(made(function), args) == 42
    assert args == {"n": 21}, "a tool has its own, which it may change"


# --- what goes wrong


@pytest.mark.parametrize(("tool", "args"), [(3, {}), (made(twice), 3)])
def test_what_is_no_tool_and_are_no_arguments_is_refused(tool: Any, args: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^invoke_tool: (tool|args) must be "):
        invoke_tool(tool, args)


class Mute(Exception):  # noqa: N818  # a tool's own exception
    """An exception that cannot say what went wrong."""

    def __str__(self) -> str:
        raise ValueError


class Stop(BaseException):
    """A BaseException that is not an Exception."""


def raising(error: BaseException) -> Any:
    """A tool's function that raises."""

    def invoke(_: Any) -> Any:
        raise error

    return invoke


def raising_later(error: BaseException) -> Any:
    """The same as a coroutine function."""

    async def invoke(_: Any) -> Any:
        raise error

    return invoke


@either_way
@pytest.mark.parametrize("kind", [raising, raising_later])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no"), "ValueError: no"),
        (KeyError("k"), "KeyError: 'k'"),
        (SystemExit(3), "SystemExit: 3"),
        (OSError("\udcff"), r"OSError: \udcff"),
        (Mute(), "Mute: (its message cannot be shown)"),
        (ToolError("inner"), "inner"),
        (asyncio.CancelledError("c"), "CancelledError: c"),
        (GeneratorExit("g"), "GeneratorExit: g"),
        (Stop("s"), "Stop: s"),
    ],
)
def test_the_error_for_a_tool_that_raises_has_its_name_and_what_it_raised(
    invoke: Any, kind: Any, error: BaseException, said: str
) -> None:
    with pytest.raises(ToolError) as caught:
        invoke(made(kind(error)), {})

    assert str(caught.value) == f'tool "t" failed: {said}'
    assert caught.value.__cause__ is error


@either_way
@pytest.mark.parametrize("result", [object(), float("nan"), {1: 2}, "\ud800", b"x", (1 + 2j)])
def test_a_result_that_is_not_json_is_a_tool_error(invoke: Any, result: Any) -> None:
    with pytest.raises(ToolError, match=r'^tool "t" returned what is not JSON: '):
        invoke(made(lambda _: result), {})


@either_way
def test_a_tool_that_cancels_its_task_is_a_tool_error(invoke: Any) -> None:
    async def cancel_itself(_: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    with pytest.raises(ToolError, match=r'^tool "t" failed: CancelledError$'):
        invoke(made(cancel_itself), {})


def test_a_call_that_is_cancelled_is_cancelled_with_its_tool() -> None:
    ended: list[str] = []

    async def sleep(_: Any) -> None:
        try:
            await asyncio.sleep(10)
        finally:
            ended.append("tool")

    async def cancel() -> None:
        call = asyncio.ensure_future(acall_tool(made(sleep), {}))
        await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancel())
    assert ended == ["tool"]


@either_way
@pytest.mark.parametrize("kind", [raising, raising_later])
def test_ctrl_c_in_a_tool_goes_on(invoke: Any, kind: Any) -> None:
    with pytest.raises((KeyboardInterrupt, FromOutside)):  # which a run takes out of its loop
        invoke(made(kind(KeyboardInterrupt())), {})


def test_the_context_of_a_call_ends_with_it_even_when_it_fails() -> None:
    with pytest.raises(ZeroDivisionError), providing(ToolContext("agent", "tool")):
        _ = 1 / 0

    assert current_context.get() is None

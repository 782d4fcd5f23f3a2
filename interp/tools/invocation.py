"""Calls the Python functions of tools and turns their exceptions into errors for the model.

``SystemExit`` becomes an error for the model too; ``KeyboardInterrupt`` comes from the user and is
not caught. Nothing can be done about ``os._exit``, which ends the process at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping
from typing import Any

from gram import GramError, expect

from ..concurrency import LoopThread, call_in_thread
from ..errors import ToolError, said_by
from ..json_text import Json, JsonText, write_json
from .implementation import Tool
from .users_code import is_from_outside


def call_tool(tool: Tool, args: Mapping[str, Json], *, loop: LoopThread | None = None) -> JsonText:
    """Call a tool with arguments that have been checked; return its result as JSON text.

    Args:
        tool: the tool.
        args: its arguments.
        loop: the event loop for an async tool; None to open one and close it after the call.

    Raises:
        ArgumentError: ``tool`` is not a Tool, or ``args`` not a mapping.
        ToolError: the tool raised, or returned what is not JSON.
    """
    expect(tool, Tool, "tool", by="invoke_tool")
    expect(args, Mapping, "args", by="invoke_tool")
    result = _called(tool, args)
    if inspect.isawaitable(result):
        used = loop or LoopThread()
        try:
            with _Telling(tool):
                result = used.run(_awaited(result))
        finally:
            if loop is None:
                used.close()
    return _written(tool, result)


async def acall_tool(tool: Tool, args: Mapping[str, Json]) -> JsonText:
    """Call a tool like `call_tool`, without blocking: a plain function runs in a thread.

    Raises:
        ToolError: the tool raised, or returned what is not JSON.
    """
    import asyncio  # imported late: it takes longer than a short program

    if inspect.iscoroutinefunction(tool.invoke):
        result = _called(tool, args)
    else:
        result = await call_in_thread(lambda: _called(tool, args))
    if inspect.isawaitable(result):

        async def told() -> Any:
            with _Telling(tool):
                return await result

        # In a new task, so that a tool that cancels its task does not cancel the run.
        task = asyncio.ensure_future(told())
        try:
            result = await task
        except asyncio.CancelledError as error:
            if not is_from_outside(error):
                raise _failure(tool, error) from error
            if not task.done() or task.cancelled() or task.exception() is not None:
                raise
            result = task.result()  # it had ended when the run was cancelled
    return _written(tool, result)


def invoke_tool(tool: Tool, args: Mapping[str, Json]) -> Json:
    """Call a tool with arguments that have been checked; return its result. See `call_tool`.

    Raises:
        ToolError: the tool raised, or returned what is not JSON.
    """
    return call_tool(tool, args).value


def _called(tool: Tool, args: Mapping[str, Json]) -> Any:
    """Call the function of a tool; the result may be an awaitable.

    Its exceptions become a ToolError here, in its thread, because some exceptions, such as
    StopIteration, cannot be raised out of a coroutine.
    """
    with _Telling(tool):
        return tool.invoke(dict(args))


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


class _Telling:
    """Turns what a tool raises inside into a ToolError; a cancellation from outside goes on.

    A class, since one made by `contextmanager` takes three times as long, at every call.

    Args:
        tool: the tool that is called.
    """

    __slots__ = ("_tool",)

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None or is_from_outside(error):
            return
        raise _failure(self._tool, error) from error


def _failure(tool: Tool, error: BaseException) -> ToolError:
    # the class of an error of ours says nothing to a model that its message does not say
    told = str(error) if isinstance(error, GramError) else ""
    return ToolError(f'tool "{tool.name}" failed: {told or said_by(error)}')


def _written(tool: Tool, result: object) -> JsonText:
    try:
        return write_json(result)
    except Exception as error:  # noqa: BLE001  # user code in the result may raise anything
        raise ToolError(f'tool "{tool.name}" returned what is not JSON: {error}') from None

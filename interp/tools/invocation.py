"""Calls the Python functions of tools and turns their exceptions into errors for the model.

``SystemExit`` becomes an error for the model too; ``KeyboardInterrupt`` comes from the user and is
not caught. Nothing can be done about ``os._exit``, which ends the process at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping
from typing import Any, TypeAlias

from gram import expect

from ..errors import ToolError, said_by
from ..event_loop import LoopThread
from ..json_text import Json, JsonText, write_json
from ..threads import call_in_thread
from .implementation import Tool


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
        result = _result(tool, *_finish(result, loop))
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
        # In a new task, so that a tool that cancels its task does not cancel the run.
        task = asyncio.ensure_future(_outcome(result))
        try:
            outcome = await task
        except asyncio.CancelledError as error:
            if _is_being_cancelled():
                raise
            outcome = None, error
        result = _result(tool, *outcome)
    return _written(tool, result)


def invoke_tool(tool: Tool, args: Mapping[str, Json]) -> Json:
    """Call a tool with arguments that have been checked; return its result. See `call_tool`.

    Raises:
        ToolError: the tool raised, or returned what is not JSON.
    """
    return call_tool(tool, args).value


_Outcome: TypeAlias = tuple[Any, BaseException | None]


def _called(tool: Tool, args: Mapping[str, Json]) -> Any:
    """Call the function of a tool; the result may be an awaitable.

    Its exceptions become a ToolError here, in its thread, because some exceptions, such as
    StopIteration, cannot be raised out of a coroutine.
    """
    try:
        return tool.invoke(dict(args))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a tool may raise anything
        raise _failure(tool, error) from error


async def _outcome(awaitable: Awaitable[Any]) -> _Outcome:
    """Await a tool's result; return the result and None, or None and the exception.

    The exception is returned, so that the caller can distinguish it from its own cancellation.
    """
    import asyncio

    try:
        return await awaitable, None
    except KeyboardInterrupt:
        raise
    except asyncio.CancelledError as error:
        if _is_being_cancelled():
            raise
        return None, error
    except BaseException as error:  # noqa: BLE001  # the caller reports it to the model
        return None, error


def _is_being_cancelled() -> bool:
    import asyncio

    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _result(tool: Tool, result: Any, error: BaseException | None) -> Any:
    if error is not None:
        raise _failure(tool, error) from error
    return result


def _failure(tool: Tool, error: BaseException) -> ToolError:
    return ToolError(f'tool "{tool.name}" failed: {said_by(error)}')


def _written(tool: Tool, result: object) -> JsonText:
    try:
        return write_json(result)
    except Exception as error:  # noqa: BLE001  # user code in the result may raise anything
        raise ToolError(f'tool "{tool.name}" returned what is not JSON: {error}') from None


def _finish(awaitable: Awaitable[Any], loop: LoopThread | None) -> _Outcome:
    """Run an awaitable to its end, from a thread that may already be running an event loop."""
    import asyncio

    used = loop or LoopThread()
    try:
        outcome: _Outcome = used.run(_outcome(awaitable))
        return outcome
    except asyncio.CancelledError as error:  # the tool cancelled its own task
        return None, error
    finally:
        if loop is None:
            used.close()

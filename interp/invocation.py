"""Calling a tool's Python: the one place where any exception is caught, to be told to the model.

``SystemExit`` is told to the model too; ``KeyboardInterrupt`` is the user's and goes through.
Nothing can be done about ``os._exit``, which ends the process at once.
"""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Awaitable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .errors import ToolError
from .json_text import Json, write_json
from .threads import call_in_thread
from .tools import Tool


def invoke_tool(tool: Tool, args: Mapping[str, Json]) -> Json:
    """The result of calling a tool with arguments that have been checked.

    A tool that is a coroutine function is run to its end.

    Raises:
        ToolError: the tool raised, or returned what is not JSON.
    """
    try:
        result = tool.invoke(dict(args))
        if inspect.isawaitable(result):
            result = _finish(result)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a tool may raise anything
        raise _failure(tool, error) from error
    return _checked(tool, result)


async def ainvoke_tool(tool: Tool, args: Mapping[str, Json]) -> Json:
    """The same without blocking: a plain function runs in a thread.

    Raises:
        ToolError: the tool raised, or returned what is not JSON.
    """
    import asyncio  # imported where it is used: it takes longer than a short program

    try:
        if inspect.iscoroutinefunction(tool.invoke):
            result = await tool.invoke(dict(args))
        else:
            result = await call_in_thread(lambda: tool.invoke(dict(args)))
            if inspect.isawaitable(result):
                result = await result
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _failure(tool, error) from error  # nobody has cancelled it but the tool itself
    except (Exception, SystemExit) as error:  # a tool may raise anything
        raise _failure(tool, error) from error
    return _checked(tool, result)


def _failure(tool: Tool, error: BaseException) -> ToolError:
    try:
        said = str(error)
    except Exception:  # noqa: BLE001  # the tool's own exception: even this may fail
        said = "(it cannot say what)"
    message = f'tool "{tool.name}" failed: {type(error).__name__}: {said}'
    return ToolError(message.encode(errors="backslashreplace").decode())


def _checked(tool: Tool, result: object) -> Json:
    try:
        write_json(result)
    except Exception as error:  # noqa: BLE001  # an object of the tool's may fail in any way
        raise ToolError(f'tool "{tool.name}" returned what is not JSON: {error}') from None
    return result


def _finish(awaitable: Awaitable[Any]) -> Any:
    """The value of an awaitable, from a thread that may be running an event loop already."""
    import asyncio

    async def value() -> Any:
        try:
            return await awaitable
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise RuntimeError("it was cancelled") from error

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(value())
    inside = contextvars.copy_context()  # a tool's context goes with it
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(inside.run, asyncio.run, value()).result()

"""Calling a tool's Python: the one place where any exception is caught, to be told to the model.

``SystemExit`` is told to the model too; ``KeyboardInterrupt`` is the user's and goes through.
Nothing can be done about ``os._exit``, which ends the process at once.
"""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Awaitable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

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
    result = _called(tool, args)
    if inspect.isawaitable(result):
        result = _result(tool, *_finish(result))
    return _checked(tool, result)


async def ainvoke_tool(tool: Tool, args: Mapping[str, Json]) -> Json:
    """The same without blocking: a plain function runs in a thread.

    Raises:
        ToolError: the tool raised, or returned what is not JSON.
    """
    import asyncio  # imported where it is used: it takes longer than a short program

    if inspect.iscoroutinefunction(tool.invoke):
        result = _called(tool, args)
    else:
        result = await call_in_thread(lambda: _called(tool, args))
    if inspect.isawaitable(result):
        # In a task of its own, so that a tool that cancels its task does not cancel the run.
        task = asyncio.ensure_future(_outcome(result))
        try:
            outcome = await task
        except asyncio.CancelledError as error:
            if _is_being_cancelled():
                raise
            outcome = None, error
        result = _result(tool, *outcome)
    return _checked(tool, result)


_Outcome: TypeAlias = tuple[Any, BaseException | None]


def _called(tool: Tool, args: Mapping[str, Json]) -> Any:
    """What the tool's function returns, which may have to be awaited.

    What it raises becomes a ToolError here, in its own thread: not everything can be raised out
    of a coroutine as it is.
    """
    try:
        return tool.invoke(dict(args))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a tool may raise anything
        raise _failure(tool, error) from error


async def _outcome(awaitable: Awaitable[Any]) -> _Outcome:
    """How an awaitable ends.

    What it raises is returned, so that the caller can tell it from what happens to itself.
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
    except BaseException as error:  # noqa: BLE001  # told to the model by the caller
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


def _finish(awaitable: Awaitable[Any]) -> _Outcome:
    """How an awaitable ends, from a thread that may be running an event loop already."""
    import asyncio

    def finished() -> _Outcome:
        try:
            return asyncio.run(_outcome(awaitable))
        except asyncio.CancelledError as error:  # its task was cancelled by itself
            return None, error

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return finished()
    inside = contextvars.copy_context()  # a tool's context goes with it
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(inside.run, finished).result()

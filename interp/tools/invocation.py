"""Calls the Python functions of tools and turns their exceptions into errors for the model.

``SystemExit`` becomes an error for the model too; ``KeyboardInterrupt`` comes from the user and is
not caught. Nothing can be done about ``os._exit``, which ends the process at once.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from gram import GramError
from lenses_ext.schemas import NotJson

from ..concurrency import SelfCancelledError, call_in_thread, in_loop_of_user, waited_for
from ..errors import ToolError, said_by
from ..files import File
from ..json_text import Json, JsonText, write_json
from .implementation import Tool
from .users_code import is_from_outside

PlainCall: TypeAlias = Callable[[Callable[[], Any]], Awaitable[Any]]
"""How the plain function of a tool is called without blocking: by default in a worker thread."""


class ToolResult(NamedTuple):
    """What a tool returns.

    Attributes:
        text: the result as JSON text, with words in the place of each file.
        files: the files in it, in order.
    """

    text: JsonText
    files: tuple[File, ...] = ()


async def acall_tool(
    tool: Tool, args: Mapping[str, Json], plainly: PlainCall = call_in_thread
) -> ToolResult:
    """Call a tool with arguments that have been checked; return its result.

    Args:
        tool: the tool.
        args: its arguments.
        plainly: how its function is called, unless that is a coroutine function.

    Raises:
        ToolError: the tool raised, or returned what is not JSON.
    """
    try:
        if inspect.iscoroutinefunction(tool.invoke):
            result = await in_loop_of_user(lambda: _awaited(tool, _called(tool, args)))
        else:
            result = await plainly(lambda: _called(tool, args))
            if inspect.isawaitable(result):
                result = await in_loop_of_user(lambda: _awaited(tool, result))
    except SelfCancelledError as error:
        raise _failure(tool, asyncio.CancelledError()) from error
    return _written(tool, result)


def call_tool(tool: Tool, args: Mapping[str, Json]) -> ToolResult:
    """The same for code that blocks: a plain function is called right here.

    Raises:
        ToolError: the tool raised, or returned what is not JSON.
    """
    if inspect.iscoroutinefunction(tool.invoke):
        return waited_for(lambda: acall_tool(tool, args))
    result = _called(tool, args)
    if inspect.isawaitable(result):
        result = waited_for(lambda: in_loop_of_user(lambda: _awaited(tool, result)))
    return _written(tool, result)


def invoke_tool(tool: Tool, args: Mapping[str, Json]) -> Json:
    """Call a tool with arguments that have been checked; return its result as a JSON value.

    In the place of a `File` are words that say what it is.

    Raises:
        ToolError: the tool raised, or returned what is not JSON.
    """
    return call_tool(tool, args).text.value


def _called(tool: Tool, args: Mapping[str, Json]) -> Any:
    """Call the function of a tool; the result may be an awaitable.

    Its exceptions become a ToolError here, in its thread, because some exceptions, such as
    StopIteration, cannot be raised out of a coroutine.
    """
    with _telling(tool):
        return tool.invoke(dict(args))


async def _awaited(tool: Tool, result: Awaitable[Any]) -> Any:
    """What a tool gives that is a coroutine."""
    with _telling(tool):
        return await result


@contextmanager
def _telling(tool: Tool) -> Iterator[None]:
    """Turn what a tool raises inside into a ToolError; a cancellation from outside goes on."""
    try:
        yield
    except BaseException as error:  # a tool of the user may raise anything
        if is_from_outside(error):
            raise
        raise _failure(tool, error) from error


def _failure(tool: Tool, error: BaseException) -> ToolError:
    # the class of an error of ours says nothing to a model that its message does not say
    told = str(error) if isinstance(error, GramError) else ""
    return ToolError(f'tool "{tool.name}" failed: {told or said_by(error)}')


def _written(tool: Tool, result: object) -> ToolResult:
    if isinstance(result, ToolResult):
        return result
    files: list[File] = []
    try:
        try:
            return ToolResult(write_json(result))
        except NotJson:  # there may be files in it
            in_words = _in_words(result, files)
            if not files:
                raise
            return ToolResult(write_json(in_words), tuple(files))
    except Exception as error:  # noqa: BLE001  # user code in the result may raise anything
        raise ToolError(f'tool "{tool.name}" returned what is not JSON: {error}') from None


def _in_words(value: Any, files: list[File]) -> Any:
    """A value with words in the place of each file, which are added to the others."""
    if isinstance(value, File):
        files.append(value)
        return str(value).encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _in_words(below, files) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [_in_words(item, files) for item in value]
    return value

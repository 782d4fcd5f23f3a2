"""Calls the Python functions of tools and turns their exceptions into errors for the model.

``SystemExit`` becomes an error for the model too; ``KeyboardInterrupt`` comes from the user and is
not caught. Nothing can be done about ``os._exit``, which ends the process at once.

A tool can ask about the run that calls it, and report how far it is.

A function receives it in a parameter with the hint `ToolContext`, which the model does not see.
The caller of the tool provides it with `providing`, around the call of `Tool.invoke` and around
the await of its result (an asyncio task started inside keeps it). It is a context variable, so
tools that run at the same time do not see each other's context; a new thread has to be started
with ``contextvars.copy_context().run``.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeAlias

from attrs import field, frozen

from gram import GramError
from gram.errors import expect
from lenses_ext.schemas import NotJson

from .. import concurrency
from ..concurrency import SelfCancelledError, call_in_thread, in_loop_of_user, waited_for
from ..errors import ToolError, said_by
from ..files import File
from ..json_text import Json, JsonText, write_json
from ..machine import ConversationContext, empty_context
from ..terminated import Terminated
from .implementation import Tool


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a function is written with ``async def``; others may return awaitables too."""
    if inspect.iscoroutinefunction(function):
        return True
    return not inspect.isroutine(function) and inspect.iscoroutinefunction(type(function).__call__)


def returned_unfinished(function: object) -> str | None:
    """What a function is that returns before its code has run, in words; None for any other.

    What such a function returns is always true, so that it would hold whatever its code says.
    """
    if inspect.iscoroutinefunction(function):
        return "a coroutine function"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return "a generator function"
    return None


def is_from_outside(error: BaseException) -> bool:
    """Whether an exception is not of the code it comes out of.

    That is Ctrl-C, a signal to end, or the cancellation of a task. Whatever else the code of users
    raises, ``SystemExit`` too, is a failure of that code alone.
    """
    if isinstance(error, Exception):
        return False
    if not isinstance(error, asyncio.CancelledError):
        return isinstance(error, KeyboardInterrupt | concurrency.FromOutside | Terminated)
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop runs here
        return False
    return task is not None and task.cancelling() > 0


ProgressWatcher: TypeAlias = Callable[[float, float | None, str], object]
"""Takes how much of a call is done, of how much, and what is said beside it."""


@frozen
class ToolContext:
    """The run a tool is called in.

    Attributes:
        agent_name: the agent that calls.
        tool_name: the name the tool is called by.
        conversation: the conversation before the call.
        key: a unique name of this call. If the result is lost and the call is run again, the key
            is the same, so that a service that takes an idempotency key does the work only once.
    """

    agent_name: str
    tool_name: str
    conversation: ConversationContext = empty_context
    key: str = ""
    _watcher: ProgressWatcher | None = field(default=None, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        for name in ("agent_name", "tool_name", "key"):
            expect(getattr(self, name), str, name, by="ToolContext")
        expect(self.conversation, ConversationContext, "conversation", by="ToolContext")

    def report_progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell whoever watches the run how far the call is; from any thread, without waiting.

        It is shown as a `ToolProgress` and not kept: neither the model nor a record of the run
        has it. Of many reports that nobody has read yet, some are dropped.

        Args:
            done: how much is done, in any unit.
            total: how much there is to do, or None if that is not known.
            message: what is done now, or nothing.

        Raises:
            ArgumentError: an argument is of the wrong type.
        """
        by = "report_progress"
        expect(done, (int, float), "done", by=by)
        expect(total, (int, float, type(None)), "total", by=by)
        expect(message, str, "message", by=by)
        if self._watcher is not None:
            self._watcher(done, total, message)


current_context: ContextVar[ToolContext | None] = ContextVar("current_context", default=None)
"""The context of the current tool call, or None outside a run."""


@contextmanager
def providing(context: ToolContext | None) -> Iterator[None]:
    """Tools that are called inside get this context.

    >>> with providing(ToolContext("greeter", "hello")):
    ...     current_context.get().agent_name
    'greeter'
    """
    token = current_context.set(context)
    try:
        yield
    finally:
        current_context.reset(token)


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

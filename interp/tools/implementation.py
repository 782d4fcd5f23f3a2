"""The Python side of a tool: its name, description, schema and function, and calls of the function.

A program writes a tool as a specification (`lenses_ext.tool_spec_name` and the like read it).
`bind_tool` finds the implementation of a specification in a library.

What a function raises becomes an error for the model. ``SystemExit`` does too;
``KeyboardInterrupt`` comes from the user and is not caught.

A function receives the run that calls it in a parameter with the hint `ToolContext`, which the
model does not see. The caller provides it with `providing`, around the call of `Tool.invoke` and
around the await of its result. It is a context variable: tools that run at the same time do not see
each other's, and a new thread has to be started with ``contextvars.copy_context().run``.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from enum import Enum
from types import NoneType
from typing import Any, Final, NamedTuple, TypeAlias

import attrs
from attrs import field, frozen

from gram import ArgumentError, GramError, Pattern
from gram.errors import expect
from gram.words import counted
from lenses_ext.schemas import NotJson

from .. import concurrency
from ..concurrency import SelfCancelledError, call_in_thread, in_loop_of_user, setting, waited_for
from ..errors import ToolError, ValidationError, said_by
from ..files import File
from ..json_text import Json, JsonText, write_json
from ..machine import ConversationContext, empty_context
from ..machine.contracts import require_schema
from ..terminated import Terminated


def _schema_text(schema: Mapping[str, Json] | None) -> JsonText:
    if isinstance(schema, JsonText):  # that of another tool
        return schema
    expect(schema, (Mapping, NoneType), "a schema", by="Tool")
    try:
        return write_json(schema and dict(schema))
    except NotJson as error:
        raise ToolError(f"the schema of a tool: {error}") from None


_KINDS: Final[Mapping[str, Any]] = {
    "description": str, "place": (str, NoneType), "server": (str, NoneType),
    "agent": (Pattern, NoneType), "once": bool, "alone": bool, "may_report": bool, "hints": Mapping,
}  # fmt: skip


@frozen(repr=False)
class Tool:
    """A tool: its name, description and schemas, and the function that does the work.

    Two tools are equal if these are equal.

    Args:
        name: the name that programs use.
        description: the text that tells the model what it does.
        schema: the JSON Schema of its parameters.
        invoke: takes the arguments as one dict, checked and with defaults filled in, and returns
            a JSON value or an awaitable of a JSON value.
        result_schema: the JSON Schema of its result, or None if it is not declared.
        place: the file and line of the function, or None.
        function: the Python function that ``invoke`` calls; ``invoke`` itself by default.
        once: a call of it is never repeated by itself: when a recorded run is resumed and the call
            had begun, the run asks before it is run again. A program may say so, too.
        alone: no other call of the run is under way beside a call of it.
        agent: the agent or workflow that it is, see `tool_of_agent`; None for a function.
        may_report: whether a call may report how far it is, see `ToolContext`.
        hints: what its server says that it ``returns`` and ``sends``, for programs to be written.
        server: the server or document that lists it, by its name: it may say other things tomorrow.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ToolError: the name is empty or has a slash, or a schema is not valid.
    """

    name: str
    description: str
    _schema: JsonText = field(converter=_schema_text)
    invoke: Callable[[dict[str, Json]], Any] = field(eq=False)
    _result_schema: JsonText = field(default=None, converter=_schema_text, kw_only=True)
    place: str | None = field(default=None, kw_only=True)
    function: Callable[..., Any] = field(kw_only=True)
    once: bool = field(default=False, kw_only=True)
    alone: bool = field(default=False, kw_only=True)
    agent: Pattern | None = field(default=None, kw_only=True)
    may_report: bool = field(default=False, kw_only=True)
    hints: Mapping[str, str | bool] = field(factory=dict, eq=False, kw_only=True)
    server: str | None = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        expect(self.name, str, "name", by="Tool")
        if not self.name.strip():
            raise ToolError(f"a tool needs a name, found {self.name!r}")
        if "/" in self.name:
            said = f"the name of a tool has no slash, found {self.name!r}"
            raise ToolError(f"{said}: write _ or . instead")
        by = f'Tool "{self.name}"'
        for part in ("invoke", "function"):
            if not callable(given := getattr(self, part)):
                raise ArgumentError(f"{by}: {part} must be a function, got {given!r}")
        try:
            require_schema(self._schema.value)
            if self._result_schema.value is not None:
                require_schema(self._result_schema.value)
        except ValidationError as error:
            raise ToolError(f'tool "{self.name}": {error}') from None
        for part, kind in _KINDS.items():
            expect(getattr(self, part), kind, part, by=by)

    @function.default
    def _invoke_itself(self) -> Callable[..., Any]:
        return self.invoke

    @property
    def schema(self) -> dict[str, Json]:
        """The JSON Schema of the parameters, a fresh copy."""
        found: dict[str, Json] = self._schema.value
        return found

    @property
    def result_schema(self) -> dict[str, Json] | None:
        """The JSON Schema of the result, a fresh copy, or None."""
        found: dict[str, Json] | None = self._result_schema.value
        return found

    @property
    def is_built_in(self) -> bool:
        """Whether it is a tool of `hello_world_tool_library`."""
        return getattr(self.function, "__module__", None) == f"{__package__}.hello_world"

    @property
    def why_undescribed(self) -> str | None:
        """What to say of a tool without a description, which no program can declare; else None."""
        if self.description.strip():
            return None
        if self.place is None or self.server is not None:
            return f'tool "{self.name}" has no description; the model needs one to know its use'
        return (
            f'{self.place}: tool "{self.name}" has no docstring; write what it does in one, '
            "below its def: the model reads it"
        )

    def __call__(self, *values: Any, **arguments: Any) -> Any:
        """Call ``invoke`` with these arguments and return its result.

        Positional arguments are matched to the parameters in the order of the schema. An async
        tool, as those of MCP servers and of OpenAPI documents are, returns an awaitable: write
        ``await tool(…)``, or `invoke_tool(tool, {…})` to wait for the result.

        Raises:
            ArgumentError: there are too many, one is given twice, or one is missing.
        """
        schema = self.schema
        names = list(schema.get("properties", {}))
        if len(values) > len(names):
            raise ArgumentError(
                f"{self.name} takes {counted(len(names), 'argument')}, {len(values)} given"
            )
        for name in names[: len(values)]:
            if name in arguments:
                raise ArgumentError(f"{self.name} got {name} twice, by position and by name")
        given = {**dict(zip(names, values, strict=False)), **arguments}
        if missing := [name for name in schema.get("required", ()) if name not in given]:
            raise ArgumentError(f"{self.name} needs {', '.join(missing)}")
        return self.invoke(given)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    def __copy__(self) -> Tool:
        return self

    def __deepcopy__(self, memo: object) -> Tool:
        return self


def create_tool(
    name: str,
    description: str,
    schema: Mapping[str, Json],
    invoke: Callable[[dict[str, Json]], Any],
) -> Tool:
    """Make a tool from its parts; see `Tool`.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ToolError: the name or the description is empty, the name has a slash, or the schema is
            not valid.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    >>> create_tool("double", "Doubles a number", schema, lambda args: 2 * args["n"])(n=2)
    4
    """
    made = Tool(name, description, schema, invoke)
    if not description.strip():
        raise ToolError(f'tool "{name}" needs a description: it tells the model what it does')
    return made


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


def providing(context: ToolContext | None) -> AbstractContextManager[None]:
    """Tools that are called inside get this context.

    >>> with providing(ToolContext("greeter", "hello")):
    ...     current_context.get().agent_name
    'greeter'
    """
    return setting(current_context, context)


PlainCall: TypeAlias = Callable[[Callable[[], Any]], Awaitable[Any]]
"""How the plain function of a tool is called without blocking: by default in a worker thread."""


class ToolResult(NamedTuple):
    """What a tool returns: JSON text with words in the place of each file, and the files."""

    text: JsonText
    files: tuple[File, ...] = ()


async def acall_tool(
    tool: Tool, args: Mapping[str, Json], plainly: PlainCall = call_in_thread
) -> ToolResult:
    """Call a tool with arguments that have been checked; a plain function is called ``plainly``.

    Raises:
        ToolError: the tool raised, or returned what is not JSON.
    """
    if inspect.iscoroutinefunction(tool.invoke):
        return await _awaited(tool, lambda: tool.invoke(dict(args)))
    result = await plainly(lambda: _called(tool, args))
    if inspect.isawaitable(result):
        return await _awaited(tool, lambda: result)
    return _written(tool, result)


def call_tool(tool: Tool, args: Mapping[str, Json]) -> ToolResult:
    """The same for code that blocks: a plain function is called right here."""
    if inspect.iscoroutinefunction(tool.invoke):
        return waited_for(lambda: acall_tool(tool, args))
    result = _called(tool, args)
    if inspect.isawaitable(result):
        return waited_for(lambda: _awaited(tool, lambda: result))
    return _written(tool, result)


def invoke_tool(tool: Tool, args: Mapping[str, Json]) -> Json:
    """Call a tool with arguments that have been checked; return its result as a JSON value.

    In the place of a `File` are words that say what it is.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ToolError: the tool raised, or returned what is not JSON.
    """
    expect(tool, Tool, "tool", by="invoke_tool")
    expect(args, Mapping, "args", by="invoke_tool")
    return call_tool(tool, args).text.value


def _called(tool: Tool, args: Mapping[str, Json]) -> Any:
    """Call the function of a tool; the result may be an awaitable.

    What it raises becomes a ToolError in its thread: no coroutine can raise a StopIteration.
    """
    with _telling(tool):
        return tool.invoke(dict(args))


async def _awaited(tool: Tool, begin: Callable[[], Awaitable[Any]]) -> ToolResult:
    async def awaited() -> Any:
        with _telling(tool):
            return await begin()

    try:
        return _written(tool, await in_loop_of_user(awaited))
    except SelfCancelledError as error:
        raise _failure(tool, asyncio.CancelledError()) from error


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


_SCALARS = (str, int, float, bool, type(None))


def to_json_value(value: Any) -> Json:
    """Convert a Python value to JSON, at every depth: records, enums, tuples, sets, dates, ….

    Records are dataclasses, attrs classes and pydantic models. A value without a JSON form is
    left unchanged: a `File`, and what `interp.json_text.write_json` refuses later.

    >>> to_json_value({"sizes": (1, 2)})
    {'sizes': [1, 2]}
    """
    if type(value) in _SCALARS or isinstance(value, File):
        return value
    if isinstance(value, Enum):
        return to_json_value(value.value)
    if isinstance(value, Mapping):
        named = ((key.value if isinstance(key, Enum) else key, each) for key, each in value.items())
        return {key: to_json_value(each) for key, each in named}
    if isinstance(value, list | tuple | deque):
        return [to_json_value(item) for item in value]
    if isinstance(value, set | frozenset):
        items = [to_json_value(item) for item in value]
        try:
            return sorted(items)  # an order that is the same in every process
        except TypeError:
            return sorted(items, key=repr)  # of several types
    if isinstance(value, type | str | int | float | bytes | bytearray | memoryview | complex):
        return value
    by_pydantic = hasattr(type(value), "__pydantic_serializer__")
    if not by_pydantic and dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: to_json_value(getattr(value, name)) for name in names}
    if not by_pydantic and attrs.has(type(value)):
        # Under the names that the constructor takes: `_name` is called `name` there.
        fields = attrs.fields(type(value))
        return {field.alias: to_json_value(getattr(value, field.name)) for field in fields}
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    if isinstance(value, Iterator):  # reading it would use it up
        return value
    with suppress(PydanticSerializationError):
        return to_jsonable_python(value, by_alias=True)
    return value

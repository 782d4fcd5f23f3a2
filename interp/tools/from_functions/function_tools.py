"""Makes tools from Python functions: docstring and type hints become description and schema.

A hint that has no JSON form is an error when the tool is defined; the error names the parameter,
the type and the place of the function. `json_types` reads the hints. The model does not
see a parameter whose hint is `interp.tools.ToolContext`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from functools import partial
from typing import Any, Generic, ParamSpec, TypeVar, get_args, get_origin, overload

from attrs import frozen
from typing_extensions import TypedDict, Unpack

from gram import ArgumentError, Pattern

from ...errors import ToolError
from ...json_text import Json
from ..implementation import Tool, ToolContext, current_context, is_async, to_json_value
from . import callables
from .callables import NO_DEFAULT, Member
from .json_types import json_type, parameters_type

AnyFunction = Callable[..., Any]
P = ParamSpec("P")
R = TypeVar("R")

_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@frozen(repr=False)
class FunctionTool(Tool, Generic[P, R]):
    """A tool that `tool` made from a function; type checkers let you call it like the function."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the function returns, as JSON."""
        result: R = super().__call__(*args, **kwargs)
        return result


class _Options(TypedDict, total=False):
    name: str | None
    description: str | None
    once: bool
    alone: bool


@overload
def tool(function: Callable[P, R], /, **options: Unpack[_Options]) -> FunctionTool[P, R]: ...
@overload
def tool(**options: Unpack[_Options]) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
def tool(
    function: AnyFunction | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    once: bool = False,
    alone: bool = False,
) -> FunctionTool[Any, Any] | Callable[[AnyFunction], FunctionTool[Any, Any]]:
    """Make a tool from a function, sync or async; also a decorator, with or without arguments.

    The JSON arguments become the types that the hints name (enum members, records, tuples, dates),
    and such values in the result become JSON. The tool can be called like the function.

    Args:
        function: a function, bound method, ``functools.partial`` (what it binds by keyword is
            hidden from the model) or object with ``__call__``.
        name: the tool's name; by default the name of the function.
        description: the tool's description; by default the docstring up to its first section.
        once: a call of it is never repeated by itself, see `Tool`.
        alone: no other call of the run is under way beside a call of it.

    Raises:
        ArgumentError: the argument is not a function, or the name or description is not a str.
        ToolError: the function cannot be made into a tool: a parameter has no hint, a hint has
            no JSON form, or a default does not fit its hint.

    >>> @tool
    ... def double(n: int) -> int:
    ...     '''Doubles a number.'''
    ...     return 2 * n
    >>> double.description, double.schema["properties"], double(2)
    ('Doubles a number.', {'n': {'type': 'integer'}}, 4)
    """
    made = partial(_make_tool, name=name, description=description, once=once, alone=alone)
    return made if function is None else made(function)


def tool_spec_from_function(function: AnyFunction | Tool) -> Pattern:
    """The specification that a program needs to use a function as a tool.

    Args:
        function: a function as for `tool`, or a tool.

    Raises:
        ToolError: the function cannot be made into a tool, or has no docstring.
    """
    from lenses_ext import create_tool_specification, json_schema_to_type_signature

    made = function if isinstance(function, Tool) else _make_tool(function)
    if made.why_undescribed:
        raise ToolError(made.why_undescribed)
    signature = json_schema_to_type_signature(made.schema, return_schema=made.result_schema)
    return create_tool_specification(made.name, made.description, signature, once=made.once)


def _make_tool(
    function: AnyFunction, name: str | None = None, description: str | None = None, **marks: Any
) -> FunctionTool[Any, Any]:
    if isinstance(function, Tool):
        raise ToolError(f'tool "{function.name}": it is a tool already')
    if not callable(function):
        raise ArgumentError(f"{function!r} is not a function, so it cannot be made into a tool")
    name = callables.name_of(function) if name is None else name
    place = callables.place_of(function)
    try:
        return _tool_of(function, name, description, place=place, **marks)
    except ToolError as error:
        where, what = f"{place}: " if place else "", f'tool "{name}": '
        raise ToolError(f"{where}{what}{str(error).removeprefix(what)}") from None


def _tool_of(
    function: AnyFunction, name: str, description: str | None, **marks: Any
) -> FunctionTool[Any, Any]:
    if isinstance(function, type):
        raise ToolError("it is a class; make the tool of a function that calls it")
    if name == "<lambda>":
        raise ToolError("a lambda has no name; give one, tool(…, name=…)")
    said, of_parameters = callables.read_docstring(callables.docstring_of(function))
    hints = callables.resolve_hints(callables.definition_of(function))
    signature = callables.signature_of(function)
    contexts = [each for key, each in signature.parameters.items() if _is_context(hints.get(key))]
    parameters = parameters_type([*_members(signature, hints, of_parameters)])

    def call(arguments: dict[str, Json]) -> Any:
        values, context = parameters.read(arguments), current_context.get()
        for each in contexts:
            if context is not None:
                values[each.name] = context
            elif each.default is inspect.Parameter.empty:
                raise ToolError(
                    f'tool "{name}" needs a ToolContext as "{each.name}", but no run provides '
                    "one; call it inside `with interp.tools.providing(ToolContext(…))`"
                )
        bound = inspect.BoundArguments(signature, values)
        bound.apply_defaults()
        return function(*bound.args, **bound.kwargs)

    def invoke(arguments: dict[str, Json]) -> Any:
        result = call(arguments)
        return _awaited(result) if inspect.isawaitable(result) else to_json_value(result)

    async def ainvoke(arguments: dict[str, Json]) -> Json:
        return await _awaited(call(arguments))

    return FunctionTool(
        name,
        said if description is None else description,
        parameters.schema,
        ainvoke if is_async(function) else invoke,  # drivers run the others in a thread
        result_schema=_result_schema(hints),
        function=function,
        may_report=bool(contexts),
        **marks,
    )


async def _awaited(result: Awaitable[Any]) -> Json:
    return to_json_value(await result)


def _members(
    signature: inspect.Signature, hints: dict[str, Any], said: dict[str, str]
) -> Iterator[Member]:
    """The parameters that the model fills: all but the `ToolContext`."""
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind in _STARRED:
            bare = parameter.replace(annotation=inspect.Parameter.empty)
            raise ToolError(f"{bare} gives the model no parameter names; write out each parameter")
        if name not in hints and index == 0 and name in ("self", "cls"):
            raise ToolError(f'"{name}" is bound to nothing yet; use tool(instance.method)')
        if name not in hints:
            raise ToolError(f'parameter "{name}" has no type hint; annotate it, as in {name}: str')
        if not _is_context(hints[name]):
            required = parameter.default is inspect.Parameter.empty
            default = NO_DEFAULT if required else parameter.default
            yield Member(name, hints[name], required, default, said.get(name))


def _result_schema(hints: dict[str, Any]) -> dict[str, Json] | None:
    if "return" not in hints:
        return None
    hint = hints["return"]
    if get_origin(hint) in (Awaitable, Coroutine):
        hint = get_args(hint)[-1]
    try:
        return json_type(hint, "serialization").schema
    except ToolError as error:
        raise ToolError(f"its result: {error}") from None


def _is_context(hint: Any) -> bool:
    return hint is ToolContext or hint == ToolContext | None

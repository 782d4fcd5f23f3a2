"""Tools of Python functions: name, docstring and type hints become name, description and schema.

What a hint cannot say in JSON is an error where the tool is defined, with the parameter, the type
and the place of the function. See `interp.type_forms` for the hints that are known,
`interp.tool_context` for a parameter that the model does not see.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, get_args, get_origin, overload

from .docstrings import Documentation, read_docstring
from .errors import ToolError
from .json_text import Json
from .json_values import to_json_value
from .records import NO_DEFAULT, Member, resolve_hints
from .tool import Tool
from .tool_context import ToolContext, current_context
from .type_forms import TypeForms

if TYPE_CHECKING:
    from gram import Pattern

AnyFunction = Callable[..., Any]

_NEVER_PASSED: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


@overload
def tool(
    function: AnyFunction, /, *, name: str | None = ..., description: str | None = ...
) -> Tool: ...
@overload
def tool(
    *, name: str | None = ..., description: str | None = ...
) -> Callable[[AnyFunction], Tool]: ...
def tool(
    function: AnyFunction | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
) -> Tool | Callable[[AnyFunction], Tool]:
    """A tool of a function, sync or async; a decorator, with or without arguments.

    The JSON arguments arrive as what the hints ask for (enum members, records, tuples, sets), and
    such values in the result become JSON. The tool can be called like the function, by keyword.

    Args:
        function: a function, bound method, ``functools.partial`` (what it binds by keyword is
            hidden from the model) or object with ``__call__``.
        name: the tool's name; else the function's.
        description: the tool's description; else the docstring up to its sections.

    Raises:
        ToolError: it cannot be made into a tool: a parameter has no hint, a hint has no JSON
            form, a default does not fit.

    >>> @tool
    ... def double(n: int) -> int:
    ...     '''Doubles a number.'''
    ...     return 2 * n
    >>> double.description, double.schema["properties"], double(n=2)
    ('Doubles a number.', {'n': {'type': 'integer'}}, 4)
    """
    if function is None:
        return lambda decorated: _make_tool(decorated, name, description)
    return _make_tool(function, name, description)


def tool_spec_from_function(function: AnyFunction | Tool) -> Pattern:
    """The specification of a function's tool, as a program writes it.

    Args:
        function: what `tool` takes, or a tool.

    Raises:
        ToolError: it cannot be made into a tool.
        SpecificationError: the tool has no description.
    """
    from lenses_ext import create_tool_specification, json_schema_to_type_signature

    made = function if isinstance(function, Tool) else tool(function)
    signature = json_schema_to_type_signature(made.schema, return_schema=made.result_schema)
    return create_tool_specification(made.name, made.description, signature)


def _make_tool(function: AnyFunction, name: str | None, description: str | None) -> Tool:
    if isinstance(function, staticmethod):
        function = function.__func__
    code = _code(function)
    place = f"{code.co_filename}:{code.co_firstlineno}" if code else None
    known_as = name or str(getattr(_named(function), "__name__", type(function).__name__))
    try:
        return _tool_of(function, known_as, description, place)
    except ToolError as error:
        where = f"{place}: " if place else ""
        raise ToolError(f'{where}tool "{known_as}": {error}') from None


def _tool_of(function: AnyFunction, name: str, description: str | None, place: str | None) -> Tool:
    _require_function(function, name)
    documentation = _documentation(function)
    hints = resolve_hints(_hinted(function))
    signature = _signature(function)
    contexts = [key for key, hint in hints.items() if key != "return" and _is_context(hint)]
    forms = TypeForms()
    members = _members(signature, function, hints, documentation, contexts)
    parameters = forms.object_of(members, "parameter")

    def invoke(arguments: dict[str, Json]) -> Any:
        values = parameters.read(arguments)
        for key in contexts:
            values |= _context_argument(key, signature.parameters[key], name)
        call = inspect.BoundArguments(signature, values)
        call.apply_defaults()
        result = function(*call.args, **call.kwargs)
        return _awaited(result) if inspect.isawaitable(result) else to_json_value(result)

    said = documentation.description if description is None else description
    schema = _with_definitions(parameters.schema, forms)
    result_schema = _result_schema(hints)
    return Tool(name, said, schema, invoke, result_schema=result_schema, place=place)


async def _awaited(result: Awaitable[Any]) -> Json:
    return to_json_value(await result)


def _require_function(function: AnyFunction, name: str) -> None:
    if isinstance(function, Tool):
        raise ToolError("it is a tool already")
    if isinstance(function, classmethod):
        raise ToolError("a class method is bound to no class yet; use tool(Class.method)")
    if isinstance(function, type) or not callable(function):
        raise ToolError(f"{function!r} is not a function")
    if name == "<lambda>":
        raise ToolError("a lambda has no name; give one, tool(…, name=…)")


def _members(
    signature: inspect.Signature,
    function: AnyFunction,
    hints: dict[str, Any],
    documentation: Documentation,
    contexts: list[str],
) -> list[Member]:
    """What the model passes: every parameter but the contexts and what a partial binds."""
    bound = function.keywords if isinstance(function, functools.partial) else {}
    members: list[Member] = []
    for key, parameter in signature.parameters.items():
        if key in contexts or key in bound:
            continue
        if stars := _NEVER_PASSED.get(parameter.kind):
            raise ToolError(f"{stars}{key} has no names for the model to use; list the parameters")
        if key not in hints:
            raise _no_hint(key, first=not members)
        has_default = parameter.default is not inspect.Parameter.empty
        members.append(
            Member(
                key,
                hints[key],
                required=not has_default,
                default=parameter.default if has_default else NO_DEFAULT,
                description=documentation.parameters.get(key),
            )
        )
    return members


def _no_hint(key: str, first: bool) -> ToolError:
    if first and key in ("self", "cls"):
        return ToolError(f'"{key}" is bound to nothing yet; use tool(instance.method)')
    return ToolError(f'parameter "{key}" has no type hint; annotate it, as in {key}: str')


def _signature(function: AnyFunction) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        raise ToolError("Python does not know its parameters; wrap it in a function") from None


def _result_schema(hints: dict[str, Any]) -> dict[str, Json] | None:
    if "return" not in hints:
        return None
    hint = hints["return"]
    if get_origin(hint) in (Awaitable, Coroutine):
        hint = get_args(hint)[-1]
    forms = TypeForms()
    try:
        form = forms.of(hint)
    except ToolError as error:
        raise ToolError(f"its result: {error}") from None
    return _with_definitions(form.schema, forms)


def _with_definitions(schema: dict[str, Json], forms: TypeForms) -> dict[str, Json]:
    return {**schema, "$defs": forms.definitions} if forms.definitions else schema


def _is_context(hint: Any) -> bool:
    return hint is ToolContext or (ToolContext in get_args(hint) and len(get_args(hint)) == 2)


def _context_argument(key: str, parameter: inspect.Parameter, name: str) -> dict[str, Any]:
    context = current_context.get()
    if context is not None:
        return {key: context}
    if parameter.default is not inspect.Parameter.empty:
        return {}
    raise ToolError(
        f'tool "{name}" needs a ToolContext as "{key}", but no run provides one; '
        f"call it inside `with providing(ToolContext(…))`"
    )


def _named(function: AnyFunction) -> Any:
    return function.func if isinstance(function, functools.partial) else function


def _hinted(function: AnyFunction) -> Any:
    """What carries the hints of a callable: a partial and an object carry none themselves."""
    named = _named(function)
    return named if inspect.isroutine(named) else type(named).__call__


def _documentation(function: AnyFunction) -> Documentation:
    named = _named(function)
    said = _hinted(function).__doc__
    return read_docstring(said if inspect.isroutine(named) or said else type(named).__doc__)


def _code(function: Any) -> Any:
    """The code behind a callable, or None when it is not written in Python."""
    return getattr(inspect.unwrap(_hinted(function)), "__code__", None)

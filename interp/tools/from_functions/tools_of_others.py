"""Makes tools of the tools of other frameworks, known by their shape: none of them is imported.

`SHAPES` has a row for each framework: the attributes that only its tools have, and how these are
read. A framework that says nothing of results has results of any type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ...errors import ToolError, said_by
from ...json_text import Json
from ..implementation import Tool, to_json_value


def tool_of_others(value: Any) -> Tool | None:
    """Make a tool of the tool of another framework; None for anything else."""
    if (framework := framework_of(value)) is None:
        return None
    try:
        return SHAPES[framework][1](value)
    except ToolError as error:
        raise ToolError(f"a tool of {framework}: {error}") from None
    except Exception as error:  # the code of others may raise anything
        name, said = getattr(value, "name", type(value).__name__), said_by(error)
        raise ToolError(f'a tool of {framework}, "{name}", cannot be read: {said}') from error


def framework_of(value: object) -> str | None:
    """The framework that a value is a tool of, if it is one of another framework."""
    # A lens or a mock has whatever attribute it is asked for: that is no shape.
    if isinstance(value, _NO_TOOLS) or hasattr(value, "attribute_of_no_framework"):
        return None
    fits = (name for name, (has, _) in SHAPES.items() if all(hasattr(value, each) for each in has))
    return next(fits, None)


_NO_TOOLS: Final = (type, Tool, list, tuple, set, Mapping, Iterator)


def _langchain(tool: Any) -> Tool:
    async def ainvoke(arguments: dict[str, Json]) -> Json:
        return to_json_value(await tool.ainvoke(arguments))

    def invoke(arguments: dict[str, Json]) -> Json:
        return to_json_value(tool.invoke(arguments))

    is_async = getattr(tool, "coroutine", None) is not None
    schema: Mapping[str, Json] = tool.tool_call_schema
    if not isinstance(schema, Mapping):  # a class of pydantic, with the tool's own description
        said = tool.tool_call_schema.model_json_schema()
        schema = {key: each for key, each in said.items() if key not in ("title", "description")}
    return Tool(tool.name, tool.description, schema, ainvoke if is_async else invoke)


def _llama_index(tool: Any) -> Tool:
    def invoke(arguments: dict[str, Json]) -> Json:
        output = tool.call(**arguments)
        if getattr(output, "is_error", False):
            raise ToolError(str(output.content))
        return to_json_value(output.raw_output)

    about = tool.metadata
    return Tool(about.get_name(), about.description, about.get_parameters_dict(), invoke)


def _smolagents(tool: Any) -> Tool:
    def schema_of(given: dict[str, Any]) -> dict[str, Json]:
        more = {key: value for key, value in given.items() if key not in ("type", "nullable")}
        return {**_smolagents_type(given["type"]), **more}

    required = [name for name, given in tool.inputs.items() if not given.get("nullable")]
    properties = {name: schema_of(given) for name, given in tool.inputs.items()}
    schema = {"type": "object", "properties": properties, "required": required}

    def invoke(arguments: dict[str, Json]) -> Json:
        return to_json_value(tool(**arguments))

    result = _smolagents_type(tool.output_type) or None
    return Tool(tool.name, tool.description, schema, invoke, result_schema=result)


def _smolagents_type(kind: str | list[str]) -> dict[str, Json]:
    kinds = {kind} if isinstance(kind, str) else {*kind}
    if not kinds <= {"any", "string", "boolean", "integer", "number", "array", "object", "null"}:
        raise ToolError(f"the type {kind} is no type of JSON")
    return {} if "any" in kinds else {"type": kind}


def _pydantic_ai(tool: Any) -> Tool:
    if tool.takes_ctx:
        said = f'"{tool.name}" takes a RunContext, which only an agent of that framework has'
        raise ToolError(said)
    function = tool.function_schema

    async def ainvoke(arguments: dict[str, Json]) -> Json:
        values = function.validator.validate_python(arguments)
        return to_json_value(await function.call(values, None))

    return Tool(tool.name, tool.description or "", function.json_schema, ainvoke)


SHAPES: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Any], Tool]]]] = {
    "LangChain": (("name", "description", "tool_call_schema", "invoke"), _langchain),
    "LlamaIndex": (("metadata", "call", "acall"), _llama_index),
    "smolagents": (("name", "description", "inputs", "output_type", "forward"), _smolagents),
    "pydantic-ai": (("name", "function", "takes_ctx", "function_schema"), _pydantic_ai),
}
"""The frameworks whose tools are taken: the attributes that these have, all of them, and how they
are read."""

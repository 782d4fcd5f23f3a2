"""A built-in tool library with the tool of the hello-world program."""

from __future__ import annotations

from lenses_ext import create_tool_specification, tool_spec_schema, view

from ..json_text import Json
from .implementation import Tool
from .library import ToolLibrary

_SPECIFICATION = create_tool_specification(
    "sayHello",
    "Returns a friendly greeting message for the given name",
    '(personName::Text {default: "world"})==>(::String)',
)


def _say_hello(args: dict[str, Json]) -> str:
    return f"Hello, {args['personName']}! Nice to meet you."


say_hello = Tool(
    "sayHello",
    "Returns a friendly greeting message for the given name",
    view(tool_spec_schema, _SPECIFICATION),
    _say_hello,
    result_schema={"type": "string"},
)

hello_world_tool_library: ToolLibrary = ToolLibrary({"sayHello": say_hello})
"""A library with ``sayHello``, which greets a person by name."""

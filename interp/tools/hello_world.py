"""A built-in tool library with the tool of the hello-world program."""

from __future__ import annotations

from lenses_ext import type_signature_to_json_schema

from ..json_text import Json
from .implementation import Tool
from .library import ToolLibrary


def _say_hello(args: dict[str, Json]) -> str:
    return f"Hello, {args['personName']}! Nice to meet you."


say_hello = Tool(
    "sayHello",
    "Returns a friendly greeting message for the given name",
    type_signature_to_json_schema('(personName::Text {default: "world"})==>(::String)'),
    _say_hello,
    result_schema={"type": "string"},
)

hello_world_tool_library: ToolLibrary = ToolLibrary({"sayHello": say_hello})
"""A library with ``sayHello``, which greets a person by name."""

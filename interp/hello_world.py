"""The small built-in library: the tool of the hello-world program."""

from __future__ import annotations

from lenses_ext import create_tool_specification, tool_spec_schema, view

from .library import ToolLibrary, empty_tool_library, register_tool
from .tools import create_tool

_SPECIFICATION = create_tool_specification(
    "sayHello",
    "Returns a friendly greeting message for the given name",
    '(personName::Text {default: "world"})==>(::String)',
)

say_hello = create_tool(
    "sayHello",
    "Returns a friendly greeting message for the given name",
    view(tool_spec_schema, _SPECIFICATION),
    lambda args: f"Hello, {args['personName']}! Nice to meet you.",
)

hello_world_tool_library: ToolLibrary = register_tool("sayHello", say_hello, empty_tool_library)
"""A library with ``sayHello``, which greets a person by name."""

"""Tools of other frameworks in a library: of the real packages where they are installed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from interp import ToolError, ToolLibrary, tool_spec_from_function
from interp.tools import invoke_tool
from interp.tools.from_functions.tools_of_others import SHAPES
from lenses_ext import signature_text


def add(first: int, second: int = 2) -> int:
    """Adds two numbers.

    Args:
        first: the first number
        second: the second number
    """
    return first + second


async def aadd(first: int, second: int = 2) -> int:
    """Adds two numbers, later."""
    return first + second


REASON = "needs the package {0}, which is no dependency: pip install {0}"


def langchain(function: Any) -> Any:
    tools = pytest.importorskip("langchain_core.tools", reason=REASON.format("langchain-core"))
    is_async = function is aadd
    return tools.StructuredTool.from_function(
        **{"coroutine" if is_async else "func": function}, parse_docstring=function is add
    )


def llama_index(function: Any) -> Any:
    tools = pytest.importorskip("llama_index.core.tools", reason=REASON.format("llama-index-core"))
    return tools.FunctionTool.from_defaults(**{"async_fn" if function is aadd else "fn": function})


def smolagents(function: Any) -> Any:
    package = pytest.importorskip("smolagents", reason=REASON.format("smolagents"))
    if function is aadd:
        pytest.skip("smolagents has no async tools")

    class Made(package.Tool):  # type: ignore[misc, name-defined]  # loaded late
        name = function.__name__
        description = function.__doc__.splitlines()[0]
        inputs = {"first": {"type": "integer", "description": "the first number"}}  # noqa: RUF012  # as its users write it
        output_type = "integer"
        forward = staticmethod(function)
        skip_forward_signature_validation = True

    if function is add:
        Made.inputs = {
            **Made.inputs,
            "second": {"type": "integer", "description": "the second number", "nullable": True},
        }
    return Made()


def pydantic_ai(function: Any) -> Any:
    package = pytest.importorskip("pydantic_ai", reason=REASON.format("pydantic-ai-slim"))
    return package.Tool(function)


MAKERS = [langchain, llama_index, smolagents, pydantic_ai]


@pytest.mark.parametrize("made", MAKERS)
def test_a_tool_of_another_framework_is_a_tool(made: Any) -> None:
    library = ToolLibrary.of([made(add)])

    assert list(library) == ["add"]
    assert "Adds two numbers" in library["add"].description
    schema = library["add"].schema
    assert schema["required"] == ["first"]
    assert schema["properties"]["first"]["type"] == "integer"
    assert invoke_tool(library["add"], {"first": 40}) == 42
    assert invoke_tool(library["add"], {"first": 40, "second": 1}) == 41
    assert signature_text(tool_spec_from_function(library["add"])).startswith("(first::Integer")


@pytest.mark.parametrize("made", MAKERS)
def test_an_async_tool_of_another_framework_runs(made: Any) -> None:
    assert invoke_tool(ToolLibrary.of(made(aadd))["aadd"], {"first": 1, "second": 3}) == 4


def test_a_tool_that_needs_its_own_framework_s_agent_is_refused() -> None:
    like_pydantic_ai = SimpleNamespace(name="f", function=add, takes_ctx=True, function_schema=None)

    with pytest.raises(ToolError, match='a tool of pydantic-ai: "f" takes a RunContext'):
        ToolLibrary.of(like_pydantic_ai)


def test_a_tool_that_gives_a_picture_is_refused_in_plain_words() -> None:
    attributes, _ = SHAPES["smolagents"]
    painter = SimpleNamespace(**dict.fromkeys(attributes, "x"))
    painter.name, painter.inputs, painter.output_type = "paint", {}, "image"
    with pytest.raises(ToolError, match="the type image is no type of JSON"):
        ToolLibrary.of(painter)


@pytest.mark.parametrize("framework", SHAPES)
def test_a_broken_tool_is_refused_by_name_of_its_framework(framework: str) -> None:
    attributes, _ = SHAPES[framework]
    broken = SimpleNamespace(**dict.fromkeys(attributes))

    with pytest.raises(ToolError, match=f"a tool of {framework}"):
        ToolLibrary.of(broken)

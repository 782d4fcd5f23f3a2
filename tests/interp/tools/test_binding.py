"""Binding: which implementation stands behind a tool of a program, and why one does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import interp
import lenses_ext
from gram import Pattern
from interp import ToolLibrary, bind_agent_tools, create_tool, load_tools, tool
from interp.tools import Tool, bind_tool, empty_tool_library, explain_binding, invoke_tool
from lenses_ext import create_tool_specification

SPEC = create_tool_specification("add", "Adds", "(x::Integer)==>(::Integer)")
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


def library(name: str = "add", description: str = "Adds", schema: Any = None) -> ToolLibrary:
    """A library with one tool."""
    return ToolLibrary.of([create_tool(name, description, schema or SCHEMA, lambda args: 1)])


TYPED = {**SCHEMA, "properties": {"x": {"type": "string"}}}


@pytest.mark.parametrize(
    ("tools", "binds"),
    [
        (library(), ("full", "types", "name")),
        (library(description="Sums"), ("types", "name")),
        (library(description=" Adds\r\n"), ("full", "types", "name")),  # how it is laid out
        (library(schema=TYPED), ("name",)),
        (library("ad"), ()),
        (empty_tool_library, ()),
    ],
)
def test_what_has_to_agree_is_for_the_caller_to_say(
    tools: ToolLibrary, binds: tuple[str, ...]
) -> None:
    for match in ("full", "types", "name"):
        bound = bind_tool(SPEC, tools, match=match)
        why = explain_binding(SPEC, tools, match=match)

        assert (bound is not None) == (why is None) == (match in binds)
        if bound is not None:
            assert bound is tools["add"]


def searching(parameters: str, result: str = "-> str") -> Callable[..., Any]:
    """A function ``search`` of these parameters, as they are written in Python."""
    made: dict[str, Any] = {}
    exec(f"def search({parameters}){result}: 'Searches.'", globals(), made)  # of this file
    function: Callable[..., Any] = made["search"]
    return function


no_limit = searching("query: str")
limit_of_one = searching("query: str, limit: int = 1")
needs_limit = searching("query: str, limit: int")
any_query = searching("query: Any, limit: int = 10")
number_query = searching("query: float | str, limit: float = 10")
returns_number = searching("query: str", "-> int")
returns_maybe = searching("query: str", "-> str | None")
returns_anything = searching("query: str", "")
Two, Three = Literal["c", "f"], Literal["c", "f", "k"]
unit_of_two, unit_of_three = searching("unit: Two"), searching("unit: Three = 'c'")
several = searching("words: list[str], deep: dict[str, int] | None = None")

QUERY = "(query::String)==>(::String)"
OPTIONAL = "(query::String)==>(limit::Integer {optional: true})==>(::String)"
TEN = "(query::String)==>(limit::Integer {default: 10})==>(::String)"
UNIT = '(unit::String {enum: ["c", "f"]})==>(::String)'
WORDS = '(words::Array {elementType: "String"})==>(::String)'

FITS: list[tuple[str, Callable[..., Any]]] = [
    (QUERY, no_limit),
    (QUERY, limit_of_one),  # it may have more parameters that are optional
    (QUERY, number_query),
    (QUERY, returns_anything),
    (OPTIONAL, limit_of_one),
    (TEN, any_query),
    (UNIT, unit_of_three),
    (WORDS, several),
    ("(query::String)==>(::Number)", returns_number),
    ("(query::String)==>(::String::Null)", returns_maybe),
]

DIFFERS: list[tuple[str, Callable[..., Any], list[str]]] = [
    (OPTIONAL, no_limit, ["the function does not take `limit`, which the program declares"]),
    (TEN, limit_of_one, ["default of `limit`: spec 10, implementation 1"]),
    (QUERY, needs_limit, ["the function needs `limit`, which the program does not declare"]),
    (QUERY, unit_of_two, ["query", "unit"]),
    (QUERY, returns_number, ["type of the result: spec "]),
    ("(query::Integer)==>(::String)", no_limit, ["type of `query`"]),
    ("(query::Any)==>(::String)", no_limit, ["type of `query`: spec has none"]),
    (UNIT.replace('"f"', '"x"'), unit_of_two, ["enum of `unit`"]),
    ('(words::Array {elementType: "Integer"})==>(::String)', several,
     ["type of the items of `words`"]),
    ("(query::Integer)==>(limit::Integer {default: 10})==>(::Integer)", limit_of_one,
     ["type of `query`", "default of `limit`", "type of the result"]),
]  # fmt: skip


def search(signature: str) -> Pattern:
    """The specification of a tool of a signature."""
    return create_tool_specification("search", "Searches.", signature)


@pytest.mark.parametrize(("signature", "function"), FITS)
@pytest.mark.parametrize("match", ["full", "types"])
def test_an_implementation_may_take_more_and_return_less_than_the_program_says(
    signature: str, function: Callable[..., Any], match: Any
) -> None:
    tools = ToolLibrary.of(function)

    assert explain_binding(search(signature), tools, match=match) is None
    assert bind_tool(search(signature), tools, match=match) is tools["search"]


@pytest.mark.parametrize(("signature", "function", "told"), DIFFERS)
@pytest.mark.parametrize("match", ["full", "types"])
def test_all_reasons_why_an_implementation_does_not_bind_are_reported(
    signature: str, function: Callable[..., Any], told: list[str], match: Any
) -> None:
    tools = ToolLibrary.of(function)

    lines = (explain_binding(search(signature), tools, match=match) or "").splitlines()

    assert len(lines) >= len(told)
    for line in lines:
        assert line.startswith('tool "search" differs: ')
        assert f"(implemented at {tools['search'].place})" in line
    assert all(any(part in line for line in lines) for part in told), lines
    assert bind_tool(search(signature), tools, match=match) is None


def agent(*specs: Pattern) -> Pattern:
    """An agent with some tools."""
    return lenses_ext.create_agent_pattern("a", None, "OpenAI/x", "Help.", specs)


def test_a_difference_of_words_alone_says_what_would_bind_it_and_one_of_types_does_not() -> None:
    assert explain_binding(SPEC, library(description="Sums")) == (
        "tool \"add\" differs: description: spec 'Adds', implementation 'Sums'; "
        'match="types" would bind it'
    )
    for match in ("full", "types"):
        problem = explain_binding(SPEC, library(schema=TYPED), match=match) or ""

        assert problem.startswith(
            'tool "add" differs: type of `x`: spec "integer", implementation "string"; '
        )
        assert "match=" not in problem


@pytest.mark.parametrize(
    ("tools", "known"),
    [
        (library("ad"), "did you mean ad?"),
        (ToolLibrary.of([*library("ad").values(), *library("addd").values()]),
         "did you mean addd or ad?"),
        (ToolLibrary.of([*library("xyz").values(), *library("mul").values()]), "it has mul, xyz"),
        (empty_tool_library, "it has no tools"),
    ],
)  # fmt: skip
def test_the_error_for_a_missing_tool_has_the_nearest_names(tools: ToolLibrary, known: str) -> None:
    assert explain_binding(SPEC, tools) == f'tool "add" is not in the library; {known}'


def test_a_function_that_has_no_tool_beside_tools_is_named(tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text("from interp import tool\n@tool\ndef mul(): 'M'\ndef add(x: int): 'Adds'\n")
    problem = explain_binding(SPEC, load_tools(file)) or ""
    assert problem.endswith("tools.py:4 has no @tool")


def test_places_of_the_program_and_of_the_function_are_cited() -> None:
    @tool
    def add(x: int) -> int:
        """Sums"""
        return x

    text = '[a:Agent {instruction: "x", model: "A/b"} |\n  [add:Tool {description: "Adds"} |\n'
    document = lenses_ext.parse_program(text + "    (x::Integer)==>(::Integer)]]", "p.gram")
    (spec,) = document.patterns[0].elements

    problem = explain_binding(spec, ToolLibrary.of([add])) or ""

    assert problem.startswith('p.gram:2:3: tool "add" differs: ')
    assert " (implemented at tests/interp/tools/test_binding.py:" in problem


def test_every_tool_that_does_not_bind_is_listed() -> None:
    other = create_tool_specification("mul", "x", "(::Integer)")

    said = r'(?s)tool "add" differs.*tool "mul" is not in the library'
    with pytest.raises(interp.ToolBindingError, match=said):
        bind_agent_tools(agent(SPEC, other), library(description="Sums"))


def test_a_way_to_match_that_there_is_not_is_a_configuration_error() -> None:
    with pytest.raises(
        interp.ConfigurationError, match="match is one of full, types, name, found 'nam'"
    ):
        bind_tool(SPEC, library(), match="nam")  # type: ignore[arg-type]  # wrong on purpose


def test_a_program_says_that_a_tool_runs_only_once_whatever_its_implementation_says() -> None:
    spec = create_tool_specification("add", "Adds", "(x::Integer)==>(::Integer)", once=True)
    tools = library()

    bound = bind_tool(spec, tools)
    (of_agent,) = bind_agent_tools(agent(spec), tools)

    assert not tools["add"].once
    assert bound is not None
    assert bound.once
    assert of_agent.once
    assert (bound.name, bound.schema, bound(3)) == ("add", SCHEMA, 1)


@pytest.mark.parametrize(
    ("declared", "given", "comes"),
    [
        ('(::Array {elementType: "Point"}) [Point:Object | (x::Integer)]', [{"x": 1}], [{"x": 1}]),
        ("(::Array)", "no object around it", "no object around it"),
        ("(::Point) [Point:Object | (result::Any)]", [1], {"result": [1]}),
        ("(::Any)", [1], {"result": [1]}),
    ],
)
def test_an_object_that_a_server_wraps_a_result_in_is_left_out_where_none_is_declared(
    declared: str, given: Any, comes: Any
) -> None:
    async def invoke(_: dict[str, Any]) -> Any:
        return given if isinstance(given, str) else {"result": given}

    point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    items = {"type": "array", "items": {"$ref": "#/$defs/Point"}, "title": "Result"}
    listed = {
        "type": "object",
        "properties": {"result": items},
        "required": ["result"],
        "$defs": {"Point": point},
        "x-fastmcp-wrap-result": True,
    }
    listing = Tool("list", "Lists.", {"type": "object"}, invoke, result_schema=listed, server="s")
    spec = create_tool_specification("list", "Lists.", f"()==>{declared}")

    bound = bind_tool(spec, [listing])

    assert bound is not None, explain_binding(spec, [listing])
    assert invoke_tool(bound, {}) == comes


def test_the_result_of_a_plain_function_is_taken_as_it_is() -> None:
    listed = {"type": "object", "properties": {"result": {}}, "required": ["result"]}
    plain = Tool("list", "Lists.", {"type": "object"}, dict, result_schema=listed, server="s")

    assert bind_tool(create_tool_specification("list", "Lists.", "()==>(::Array)"), [plain]) is None

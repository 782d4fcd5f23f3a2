"""Binding: which implementation stands behind a tool of a program, and why one does not."""

from __future__ import annotations

from typing import Any

import pytest

from gram import Pattern
from interp import (
    ConfigurationError,
    ToolBindingError,
    ToolLibrary,
    bind_agent_tools,
    bind_tool,
    create_agent_pattern,
    create_tool,
    create_tool_specification,
    empty_tool_library,
    explain_binding,
    tool,
)
from lenses_ext import parse

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


def test_by_default_everything_has_to_agree() -> None:
    assert bind_tool(SPEC, library(description="Sums")) is None
    with pytest.raises(ToolBindingError):
        bind_agent_tools(agent(SPEC), library(description="Sums"))


def agent(*specs: Pattern) -> Pattern:
    """An agent with some tools."""
    return create_agent_pattern("a", None, "OpenAI/x", "Help.", specs)


def test_a_difference_of_words_alone_says_what_would_bind_it() -> None:
    assert explain_binding(SPEC, library(description="Sums")) == (
        "tool \"add\" differs: description: spec 'Adds', implementation 'Sums'; "
        'match="types" would bind it'
    )


def test_a_difference_of_types_says_no_such_thing() -> None:
    for match in ("full", "types"):
        assert explain_binding(SPEC, library(schema=TYPED), match=match) == (
            'tool "add" differs: $.properties.x.type: spec "integer", implementation "string"'
        )


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
def test_a_tool_that_is_not_there_is_told_with_the_nearest_names(
    tools: ToolLibrary, known: str
) -> None:
    assert explain_binding(SPEC, tools) == f'tool "add" is not in the library; {known}'


def test_places_of_the_program_and_of_the_function_are_cited() -> None:
    @tool
    def add(x: int) -> int:
        """Sums"""
        return x

    text = '[a:Agent {instruction: "x", model: "A/b"} |\n  [add:Tool {description: "Adds"} |\n'
    document = parse(text + "    (x::Integer)==>(::Integer)]]", "p.gram")
    (spec,) = document.patterns[0].elements

    problem = explain_binding(spec, ToolLibrary.of([add])) or ""

    assert problem.startswith('p.gram:2:3: tool "add" differs: ')
    assert f" (implemented at {add.place}); " in problem
    assert add.place is not None
    assert add.place.startswith(f"{__file__}:")


def test_every_tool_that_does_not_bind_is_listed() -> None:
    other = create_tool_specification("mul", "x", "(::Integer)")

    with pytest.raises(ToolBindingError) as caught:
        bind_agent_tools(agent(SPEC, other), library(description="Sums"))

    assert 'tool "add" differs' in str(caught.value)
    assert 'tool "mul" is not in the library' in str(caught.value)


def test_tools_are_bound_in_the_order_of_the_agent() -> None:
    names = ["c", "a", "b"]
    specs = [create_tool_specification(name, "x", "(::Integer)") for name in names]
    empty = {"type": "object", "properties": {}, "required": []}
    tools = ToolLibrary.of(create_tool(name, "x", empty, lambda args: 1) for name in "abc")

    assert [each.name for each in bind_agent_tools(agent(*specs), tools)] == names


def test_a_way_to_match_that_there_is_not_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="match is one of full, types, name, found 'nam'"):
        bind_tool(SPEC, library(), match="nam")  # type: ignore[arg-type]  # wrong on purpose

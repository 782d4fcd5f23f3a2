"""Tool libraries: tools by name, and what cannot be registered, restricted or renamed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, strategies as st

import interp
from gram import ArgumentError, GramError, loads_one
from interp import Tool, ToolError, ToolLibrary, create_tool, hello_world_tool_library, load_tools
from interp.evaluation import judged_by
from interp.machine import start
from interp.tools import (
    LibraryLike,
    bind_tool,
    empty_tool_library,
    explain_binding,
    lookup_tool,
    register_tool,
)
from tests.paths import EXAMPLES


@pytest.mark.parametrize(
    ("part", "wrong", "said"),
    [
        ("name", 5, "Tool: name must be a str, got int"),
        ("name", "a/b", "the name of a tool has no slash"),
        ("description", None, 'Tool "t": description must be a str'),
        ("schema", None, 'tool "t": not a JSON Schema: expected an object, found None'),
        ("schema", "{}", "Tool: a schema must be"),
        ("schema", {"type": "no"}, 'tool "t": not a JSON Schema: "no" is not'),
        ("result_schema", {"type": "no"}, 'tool "t": not a JSON Schema: "no" is not'),
        ("invoke", 5, 'Tool "t": invoke must be a function, got 5'),
        ("once", "yes", 'Tool "t": once must be a bool, got str'),
        ("agent", "a", 'Tool "t": agent must be'),
        ("server", 5, 'Tool "t": server must be'),
        ("hints", 5, 'Tool "t": hints must be'),
        ("function", 5, 'Tool "t": function must be a function, got 5'),
    ],
)
def test_a_part_of_a_tool_that_is_wrong_is_refused(part: str, wrong: Any, said: str) -> None:
    parts: dict[str, Any] = {"name": "t", "description": "d", "schema": {}, "invoke": print}

    with pytest.raises(GramError, match=f"^{said}"):
        Tool(**parts | {part: wrong})
    with pytest.raises(ToolError, match='tool "t" needs a description'):
        interp.create_tool("t", " \n", {}, print)


def made(name: str, description: str = "Does it.") -> Tool:
    """A tool that says its own name."""
    schema = {"type": "object", "properties": {}, "required": []}
    return create_tool(name, description, schema, lambda _: name)


HELLO = interp.load(EXAMPLES / "hello_world.gram")
SPEC = HELLO.elements[0]
JUDGE = loads_one('[judge:Agent {instruction: "Judge.", model: "A/b"} | (:Answer:Boolean)]')
ADD, SUB = made("add"), made("sub")
BOTH = ToolLibrary.of([ADD, SUB])


def test_a_tool_is_looked_up_by_its_name() -> None:
    assert lookup_tool("add", BOTH) is ADD
    assert lookup_tool("Add", BOTH) is lookup_tool("add", empty_tool_library) is None


LOOKS_UP: list[Callable[[LibraryLike], object]] = [
    lambda library: lookup_tool("sayHello", library),
    lambda library: bind_tool(SPEC, library),
    lambda library: interp.bind_agent_tools(HELLO, library)[0],
    lambda library: explain_binding(SPEC, library) is None,
    lambda library: interp.run(HELLO, "hi", library, model="Offline/rehearsal").content,
    lambda library: (
        interp.Run(start(HELLO, "hi")[0], library, model="Offline/rehearsal").finish().content
    ),
    lambda library: judged_by(JUDGE, library, model="Offline/rehearsal").details,
    lambda library: [*register_tool("add", ADD, library)],
]


@pytest.mark.parametrize("look_up", LOOKS_UP)
def test_what_takes_a_library_takes_a_list_of_tools_as_well(
    look_up: Callable[[LibraryLike], object],
) -> None:
    tools = [*hello_world_tool_library.values()]

    expected = look_up(hello_world_tool_library)

    assert look_up(tools) == look_up(iter(tools)) == look_up(tools[0]) == expected
    with pytest.raises(ArgumentError, match="tools must be tools, functions, modules or"):
        look_up("sayHello")


def test_a_python_file_and_a_module_are_libraries_wherever_one_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    code = "@tool\ndef double(n: int) -> int:\n    'Doubles.'\n    return 2 * n\n"
    code = f"from interp import ToolLibrary, tool\n{code}\nmore = ToolLibrary.of(double)\n"
    file.write_text(code)
    expected = load_tools(file)

    assert [*expected] == ["double"]
    assert [*load_tools(f"{file}:more")] == ["double"]
    for source in (str(file), file, [str(file)], ModuleType("m", "no tools")):
        if isinstance(source, ModuleType):
            source.__dict__["double"] = expected["double"]
        assert bind_tool(interp.tool_spec_from_function(expected["double"]), source) is not None
    with pytest.raises(interp.ConfigurationError, match=r'has no "doubel"; did you mean double'):
        load_tools(f"{file}:doubel")
    with pytest.raises(ArgumentError, match="load_tools: source must be"):
        load_tools(5)  # type: ignore[arg-type]  # it is refused


def test_a_tool_is_registered_in_the_place_of_one_of_the_same_name() -> None:
    other = made("add", "Another.")

    assert lookup_tool("add", register_tool("add", other, BOTH)) is other
    assert lookup_tool("add", BOTH) is ADD
    assert dict(register_tool("add", ADD, empty_tool_library)) == {"add": ADD}
    assert dict(empty_tool_library) == {}


def shout(word: str) -> str:
    return word.upper()


def whisper(word: str) -> str:
    return word.lower()


@pytest.mark.parametrize(
    ("library", "names"),
    [
        (ToolLibrary.of(), []),
        (ToolLibrary.of(shout, whisper), ["shout", "whisper"]),
        (ToolLibrary.of([shout, whisper]), ["shout", "whisper"]),
        (ToolLibrary.of(each for each in (shout, whisper)), ["shout", "whisper"]),
        (ToolLibrary.of(ADD, [shout], BOTH.restrict(["sub"])), ["add", "shout", "sub"]),
        (ToolLibrary.of({"add": ADD}), ["add"]),
        (register_tool("sub", SUB, ToolLibrary({"add": ADD})), ["add", "sub"]),
    ],
)
def test_a_library_is_made_of_tools_and_functions_however_they_are_given(
    library: ToolLibrary, names: list[str]
) -> None:
    assert list(library) == names


def test_a_tool_under_another_name_and_two_of_one_name_are_refused() -> None:
    for make in (ToolLibrary, ToolLibrary.of, lambda given: register_tool(*given.popitem(), BOTH)):
        with pytest.raises(ToolError, match=r'^tool "add" cannot be registered as "plus"$'):
            make({"plus": ADD})
    with pytest.raises(ToolError, match='two tools are named "add"'):
        ToolLibrary.of([ADD, SUB, made("add", "Another.")])


def test_what_is_registered_and_is_no_tool_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r'^ToolLibrary: tools\["add"\] must be a Tool, got'):
        register_tool("add", "add", BOTH)  # type: ignore[arg-type]  # wrong on purpose


@given(st.permutations(["b", "a", "c"]))
def test_names_come_in_the_same_order_whatever_order_they_were_given_in(names: list[str]) -> None:
    library = ToolLibrary.of(map(made, names))

    assert list(library) == ["a", "b", "c"]
    assert (len(library), repr(library)) == (3, "ToolLibrary(a, b, c)")


def test_of_two_libraries_the_second_wins() -> None:
    other = made("add", "Another.")
    more = ToolLibrary.of([other, made("mul")])

    assert lookup_tool("add", BOTH | more) is other
    assert lookup_tool("add", more | BOTH) is ADD
    assert list(BOTH | more) == list(more | BOTH) == ["add", "mul", "sub"]
    assert list(BOTH) == ["add", "sub"]


@given(*[st.sets(st.sampled_from("abcd")) for _ in range(3)])
def test_it_does_not_matter_which_two_libraries_are_joined_first(
    one: set[str], two: set[str], three: set[str]
) -> None:
    first, second, third = (
        ToolLibrary.of(made(name, description) for name in names)
        for description, names in (("1", one), ("2", two), ("3", three))
    )

    assert (first | second) | third == first | (second | third)
    assert first | empty_tool_library == first == empty_tool_library | first


def test_a_renamed_tool_does_the_same_under_another_name() -> None:
    renamed = BOTH.rename("add", "plus")

    assert list(renamed) == ["plus", "sub"]
    assert renamed["plus"].name == "plus"
    assert renamed["plus"]() == "add"
    assert renamed["plus"].schema == ADD.schema
    assert list(BOTH) == ["add", "sub"]
    assert list(BOTH.rename("add", "add")) == ["add", "sub"]


def test_a_library_is_restricted_to_some_names_or_some_of_its_tools_are_replaced() -> None:
    other = made("add", "Another.")

    assert dict(BOTH.override([other])) == {"add": other, "sub": SUB}
    assert dict(BOTH.restrict(["sub"])) == {"sub": SUB}
    assert dict(BOTH.restrict([])) == {}
    assert BOTH.restrict(BOTH) == BOTH
    with pytest.raises(ArgumentError, match="restrict: names must be an iterable of strs, got str"):
        BOTH.restrict("sub")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: BOTH.restrict(["ad"]), 'there is no tool "ad" in the library; did you mean add?'),
        (lambda: BOTH.restrict(["sub", "x"]), 'no tool "x" in the library; it has add, sub'),
        (lambda: BOTH.rename("subb", "x"), 'no tool "subb" in the library; did you mean sub?'),
        (lambda: BOTH.rename("add", "sub"), 'there is a tool "sub" already'),
        (lambda: BOTH.rename("add", " "), "a tool needs a name, found ' '"),
        (lambda: BOTH.override([made("addd")]), 'no tool "addd" in the library; did you mean add?'),
    ],
)
def test_a_name_that_is_not_there_or_taken_is_refused(
    change: Callable[[], Any], message: str
) -> None:
    with pytest.raises(ToolError, match=f"{re.escape(message)}$"):
        change()


def test_a_name_that_two_added_libraries_have_is_an_error_when_it_is_used() -> None:
    here, there = made("add", "One"), made("add", "Other")
    added = ToolLibrary.of(here, SUB) + ToolLibrary.of(there)

    assert [*added] == ["sub"]
    assert ToolLibrary.of(ADD) + ToolLibrary.of(SUB) == BOTH == BOTH + BOTH
    with pytest.raises(ToolError, match='2 libraries have a tool "add": unknown place and unknown'):
        added.restrict(["add"])
    assert added.override(there)["add"] == there
    assert (added | ToolLibrary.of(here))["add"] == here
    assert len((added + ToolLibrary.of(made("add", "Third"))).ambiguous["add"]) == 3

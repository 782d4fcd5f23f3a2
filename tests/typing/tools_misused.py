"""Uses of tools that type checkers refuse: each line marked ``# E:``, with what mypy says."""

from typing import assert_type

from interp import Tool, ToolLibrary, tool


@tool
def add(one: int, other: int = 2) -> int:
    """Adds."""
    return one + other


@tool(name="shout", description="Shouts.")
def say(word: str) -> str:
    """Says."""
    return word


def plain(word: str) -> str:
    """Says."""
    return word


def the_arguments_are_wrong() -> None:
    add("1")  # E: incompatible type "str"; expected "int"
    add(1, third=3)  # E: Unexpected keyword argument "third"
    add()  # E: Missing positional argument "one"
    say(word=1)  # E: incompatible type "int"; expected "str"


def the_result_is_of_another_type() -> None:
    word: str = add(1)  # E: expression has type "int", variable has type "str"
    assert word


def what_is_right_is_typed() -> None:
    assert_type(add(1, other=2), int)
    assert_type(say("a"), str)
    made: Tool = add
    assert_type(ToolLibrary.of(made), ToolLibrary)
    assert_type(ToolLibrary.of(add, say, plain), ToolLibrary)
    assert_type(ToolLibrary.of([add, plain]), ToolLibrary)
    assert_type(ToolLibrary.of(plain), ToolLibrary)

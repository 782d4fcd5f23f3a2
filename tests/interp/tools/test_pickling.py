"""Tools, libraries, agents and responses travel between processes by the names of functions."""

from __future__ import annotations

import copy
import functools
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from gram import Pattern
from interp import (
    AgentResponse,
    ScriptedModel,
    Tool,
    ToolError,
    ToolLibrary,
    create_tool,
    hello_world_tool_library,
    run,
    tool,
)
from lenses_ext import parse_program


def plain(word: str) -> str:
    """Says a word."""
    return word


@tool
def decorated(word: str) -> str:
    """Shouts a word."""
    return word.upper()


@tool(name="other", description="Another.")
def renamed(word: str) -> str:
    """Shouts a word."""
    return word.upper()


class Counter:
    def __init__(self, step: int) -> None:
        self.step = step

    def add(self, n: int) -> int:
        """Adds."""
        return n + self.step

    @classmethod
    def zero(cls, n: int) -> int:
        """Nothing."""
        return 0 * n

    @tool
    @staticmethod
    def twice(n: int) -> int:
        """Doubles."""
        return 2 * n


def by_hand(args: dict[str, Any]) -> Any:
    return args["n"]


NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize(
    "made",
    [
        tool(plain),
        tool(plain, name="said"),
        decorated,
        decorated.renamed("loud"),
        renamed,
        tool(functools.partial(plain, "fixed")),
        tool(Counter.zero),
        Counter.twice,
        create_tool("n", "Gives n.", NUMBER, by_hand),
        *hello_world_tool_library.values(),
    ],
    ids=lambda made: made.name,
)
def test_a_tool_of_a_function_of_a_module_is_pickled_by_its_name(made: Tool) -> None:
    again = pickle.loads(pickle.dumps(made))

    assert (again.name, again.description) == (made.name, made.description)
    assert (again.schema, again.result_schema) == (made.schema, made.result_schema)
    assert b"fixed" in pickle.dumps(made) or again == made
    assert pickle.loads(pickle.dumps(ToolLibrary.of(made))).keys() == {made.name}


def test_a_decorated_tool_is_the_same_object_again() -> None:
    assert pickle.loads(pickle.dumps(decorated)) is decorated


def test_the_tool_of_a_method_takes_its_object_along() -> None:
    again = pickle.loads(pickle.dumps(tool(Counter(3).add)))

    assert again(n=1) == 4


def _local() -> Tool:
    def inside(n: int) -> int:
        """Inside."""
        return n

    return tool(inside)


@pytest.mark.parametrize(
    "make",
    [
        _local,
        lambda: tool(lambda: None, name="f", description="x"),
        lambda: create_tool("f", "x", NUMBER, lambda args: 1),
    ],
)
def test_a_tool_that_no_other_process_could_find_says_so(make: Callable[[], Tool]) -> None:
    made = make()

    with pytest.raises(ToolError, match=r"cannot be pickled: .* at the top level of a module"):
        pickle.dumps(ToolLibrary.of(made))
    assert copy.copy(made) is copy.deepcopy(made) is made


AGENT = """
[a:Agent {instruction: "Speak.", model: "A/b"} |
  [say:Tool {description: "Says."} | (word::String)==>(::String)]]
"""


def softly(word: str) -> str:
    """Says."""
    return word.lower()


def loudly(word: str) -> str:
    """Says."""
    return word.upper()


def ran(agent: Pattern, library: ToolLibrary) -> AgentResponse:
    call = {"name": "say", "arguments": '{"word": "Hello"}'}
    model = ScriptedModel([{"content": "", "function_call": call}, "Done."])
    return run(agent, "Go.", library, model=model)


def test_two_libraries_are_compared_in_other_processes() -> None:
    (agent,) = parse_program(AGENT).patterns
    libraries = [ToolLibrary.of(tool(each, name="say")) for each in (softly, loudly)]

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        responses = list(pool.map(ran, [agent, agent], libraries))

    assert [each.tools_used[0].result for each in responses] == ["hello", "HELLO"]
    assert responses == [ran(agent, library) for library in libraries]

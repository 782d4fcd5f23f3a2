"""Libraries of tools that answer in every way that tools do, well and badly."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

from hypothesis import strategies as st

from gram import Pattern
from lenses_ext import (
    ProgramLike,
    result_schema,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    view,
)
from lenses_ext.strategies import json_values

from ...json_text import Json
from ...programs import the_agent, tools_to_bind
from ...tools import Tool, ToolLibrary
from .arguments import results_of


class _Fails:
    """A call that raises."""

    def __repr__(self) -> str:
        return "raises"


@st.composite
def libraries(
    draw: st.DrawFn, program: ProgramLike, *, agent: str | None = None, failing: bool = True
) -> ToolLibrary:
    """Libraries that implement the tools of an agent.

    Each tool gives a few drawn results in turn, of the type that its signature declares.

    Args:
        draw: what draws; Hypothesis gives it.
        program: the program, as for `run`.
        agent: the name of the agent, where the program has several.
        failing: whether tools also raise, and give results of other types.
    """
    tools = tools_to_bind(the_agent(program, agent, by="libraries"))
    specs = {view(tool_spec_name, each): each for each in tools}
    return ToolLibrary.of([_tool(spec, draw(_outcomes(spec, failing))) for spec in specs.values()])


def _outcomes(spec: Pattern, failing: bool) -> st.SearchStrategy[list[Any]]:
    results = results_of(spec)
    if failing:
        results = results | st.builds(_Fails) | json_values()
    return st.lists(results, min_size=1, max_size=3)


def _tool(spec: Pattern, outcomes: list[Any]) -> Tool:
    return Tool(
        view(tool_spec_name, spec),
        view(tool_spec_description, spec),
        view(tool_spec_schema, spec),
        _giving(outcomes),
        result_schema=result_schema(spec),
    )


def _giving(outcomes: list[Any]) -> Callable[[dict[str, Json]], Json]:
    given = cycle(outcomes)

    def invoke(_: dict[str, Json]) -> Json:
        outcome = next(given)
        if isinstance(outcome, _Fails):
            raise RuntimeError("the tool is out of order")
        return outcome

    return invoke

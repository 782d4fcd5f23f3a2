"""Libraries of tools that answer well and badly, and arguments for them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, MutableMapping, MutableSequence
from itertools import cycle
from typing import Any

from hypothesis import strategies as st

from gram import Pattern
from gram.errors import expect
from lenses_ext import (
    ProgramLike,
    result_schema,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    view,
)
from lenses_ext.strategies import json_values
from lenses_ext.weak_cache import memo

from ...json_text import Json
from ...machine.contracts import accepts
from ...programs import the_agent, tools_to_bind
from ...tools import Tool, ToolLibrary
from .schema_values import values_of


def arguments_of(tool: Pattern) -> st.SearchStrategy[dict[str, Json]]:
    """Arguments that the signature of a tool specification accepts."""
    expect(tool, Pattern, "tool", by="arguments_of")
    return values_of(view(tool_spec_schema, tool))


def results_of(tool: Pattern) -> st.SearchStrategy[Json]:
    """Results of the type that a tool specification declares; any JSON where it declares none."""
    expect(tool, Pattern, "tool", by="results_of")
    return _results_of(tool)


def _any_result_of(tool: Pattern) -> st.SearchStrategy[Json]:
    schema = result_schema(tool)
    return json_values() if schema is None else values_of(schema)


_results_of = memo(_any_result_of)


def broken_arguments_of(tool: Pattern) -> st.SearchStrategy[dict[str, Json]]:
    """Arguments that the signature of a tool specification refuses.

    They fit but for one thing: something required is missing, something unknown is there, or
    one value is of another type. Where the signature accepts every object, there are none.
    """
    expect(tool, Pattern, "tool", by="broken_arguments_of")
    schema = view(tool_spec_schema, tool)
    return _broken(values_of(schema)).filter(lambda given: not accepts(schema, given, schema))


@st.composite
def _broken(draw: st.DrawFn, fitting: st.SearchStrategy[dict[str, Json]]) -> dict[str, Json]:
    """Arguments with one place changed, at any depth."""
    given = copy.deepcopy(draw(fitting))
    places = list(_places(given))
    if not places or draw(st.booleans()):
        name = draw(st.sampled_from(["unknown", "", *map(str, given)]))
        given[name] = draw(json_values())
        return given
    around, key = draw(st.sampled_from(places))
    if isinstance(around, MutableMapping) and draw(st.booleans()):
        del around[key]
    else:
        around[key] = draw(json_values())
    return given


def _places(value: Json) -> Iterator[tuple[Json, Json]]:
    """Every place inside a value: what it is in, and its key or index there."""
    if isinstance(value, MutableMapping):
        keys: list[Json] = list(value)
    elif isinstance(value, MutableSequence):
        keys = list(range(len(value)))
    else:
        return
    for key in keys:
        yield value, key
        yield from _places(value[key])


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

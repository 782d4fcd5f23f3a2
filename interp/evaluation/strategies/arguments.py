"""Arguments of tools, those that fit and those that do not, and results."""

from __future__ import annotations

import copy
from collections.abc import Iterator, MutableMapping, MutableSequence

from hypothesis import strategies as st

from gram import Pattern
from gram.errors import expect
from lenses_ext import result_schema, tool_spec_schema, view
from lenses_ext.strategies import json_values
from lenses_ext.weak_cache import memo

from ...json_text import Json
from ...machine.contracts import accepts
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

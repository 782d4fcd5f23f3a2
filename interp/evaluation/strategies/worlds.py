"""Values that a schema accepts, and models and libraries of tools that behave well and badly.

The package hypothesis-jsonschema does not read types that refer to themselves, which signatures
write often. What is made here follows the keywords that signatures write; the rest of a schema is
held by leaving out the values that it refuses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial, reduce
from itertools import cycle
from typing import Any, TypeVar

from hypothesis import strategies as st

import lenses_ext
from gram import Pattern
from gram.errors import expect
from lenses_ext import ProgramLike, tool_spec_name, tool_spec_schema, view
from lenses_ext.schemas import resolve_ref
from lenses_ext.strategies import json_texts, json_values
from lenses_ext.weak_cache import memo

from ...errors import ModelError, ValidationError
from ...json_text import Json, write_json
from ...machine import AssistantRole, CallModel, Message, Request, ToolCall, start
from ...machine.contracts import accepts, require_schema
from ...models import ScriptedModel
from ...programs import the_agent, tools_to_bind
from ...tools import Tool, ToolLibrary

T = TypeVar("T")

_KINDS = ("string", "integer", "number", "boolean", "null", "array", "object")
_LONGEST = 5  # of lists and objects that may have any length: small examples are found sooner

_FORMATS: Mapping[str, st.SearchStrategy[str]] = {
    "date": st.dates().map(lambda day: day.isoformat()),
    "date-time": st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat()),
    "email": st.emails(),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "time": st.times().map(lambda time: time.isoformat() + "Z"),
    "uri": st.sampled_from(["https://example.com", "https://example.com/a?b=c#d"]),
    "uuid": st.uuids().map(str),
}


def values_of(schema: Mapping[str, Json]) -> st.SearchStrategy[Json]:
    """JSON values that a schema accepts, small ones first.

    Args:
        schema: a JSON Schema; references into itself are followed, also around in a circle.

    Raises:
        ValidationError: it is not a JSON Schema.

    >>> from hypothesis import given
    >>> node = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    >>> @given(values_of(node))
    ... def test_it_ends(value):
    ...     assert value.get("next", {}) is not None
    """
    expect(schema, Mapping, "schema", by="values_of")
    require_schema(schema)
    return _Values(schema).of(schema)


class _Values:
    """The values of one schema and of its parts."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._referred: dict[str, st.SearchStrategy[Json]] = {}

    def of(self, schema: Json) -> st.SearchStrategy[Json]:
        """What a part accepts."""
        if isinstance(schema, bool):
            return json_values() if schema else st.nothing()
        # A part that only refers needs no check of its own: what it refers to is checked.
        if set(schema) == {"$ref"}:
            return self._made(schema)
        return self._made(schema).filter(lambda value: accepts(schema, value, self._root))

    def _made(self, schema: dict[str, Json]) -> st.SearchStrategy[Json]:
        if "$ref" in schema:
            return self._at(schema["$ref"])
        if "const" in schema:
            return st.just(schema["const"])
        if "enum" in schema:
            return st.sampled_from(schema["enum"]) if schema["enum"] else st.nothing()
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in schema:
                rest = {key: value for key, value in schema.items() if key != keyword}
                if keyword == "allOf":
                    return self.of(reduce(_both, schema[keyword], rest))
                return st.one_of([self.of(_both(rest, each)) for each in schema[keyword]])
        kinds = schema.get("type", _kinds_of(schema))
        kinds = [kinds] if isinstance(kinds, str) else kinds
        made = {
            "null": lambda _: st.none(),
            "boolean": lambda _: st.booleans(),
            "integer": _integers,
            "number": lambda schema: _integers(schema) | _floats(schema),
            "array": self._arrays,
            "object": self._objects,
            "string": _strings,
        }
        return st.one_of([made[kind](schema) for kind in kinds])

    def _at(self, reference: str) -> st.SearchStrategy[Json]:
        if reference not in self._referred:
            below = resolve_ref(reference, self._root)
            self._referred[reference] = st.deferred(lambda: self.of(below))
        return self._referred[reference]

    def _arrays(self, schema: dict[str, Json]) -> st.SearchStrategy[Json]:
        first = [self.of(each) for each in schema.get("prefixItems", ())]
        least = int(schema.get("minItems", 0))
        most = int(schema.get("maxItems", max(least, len(first)) + _LONGEST))
        items = self.of(schema.get("items", True))
        if first:
            longest = 0 if items.is_empty else _LONGEST
            rest = st.lists(items, min_size=max(0, least - len(first)), max_size=longest)
            return st.tuples(st.tuples(*first), rest).map(lambda two: [*two[0], *two[1]][:most])
        unique_by = repr if schema.get("uniqueItems") else None
        return st.lists(items, min_size=least, max_size=most, unique_by=unique_by)

    def _objects(self, schema: dict[str, Json]) -> st.SearchStrategy[Json]:
        properties, required = schema.get("properties", {}), schema.get("required", ())
        needed = {name: self.of(properties.get(name, True)) for name in required}
        others = {name: self.of(properties[name]) for name in properties if name not in needed}
        own = st.fixed_dictionaries(needed, optional=others)
        rest = schema.get("additionalProperties", not properties)
        if rest is False or (rest is True and properties):
            return own
        least = int(schema.get("minProperties", 0))
        most = int(schema.get("maxProperties", _LONGEST))
        names = json_texts().filter(lambda name: name not in properties)
        more = st.dictionaries(names, self.of(rest), min_size=least, max_size=most)
        return st.tuples(more, own).map(lambda two: {**two[0], **two[1]})


def _both(schema: Json, other: Json) -> Json:
    """A schema with another laid over it."""
    if isinstance(schema, bool) or isinstance(other, bool):
        return other if schema is True else schema if other is True else False
    if "$ref" in other and set(schema) & {"type", "properties"}:
        return other  # what the two say together is held by the check of the whole
    return {**schema, **other}


def _kinds_of(schema: dict[str, Json]) -> tuple[str, ...]:
    """What values may be where a schema does not say it, by the keywords it has."""
    if schema.keys() & {"properties", "required", "additionalProperties"}:
        return ("object",)
    return ("array",) if schema.keys() & {"items", "prefixItems"} else _KINDS


def _integers(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    lower, upper = _bounds(schema)
    step = schema.get("multipleOf", 1)
    step = int(step) if float(step).is_integer() and step else 1
    lower = None if lower is None else math.ceil(lower / step)
    upper = None if upper is None else math.floor(upper / step)
    if lower is not None and upper is not None and lower > upper:
        return st.nothing()
    return st.integers(lower, upper).map(lambda number: number * step)


def _floats(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    lower, upper = (None if each is None else float(each) for each in _bounds(schema))
    if "multipleOf" in schema or (lower is not None and upper is not None and lower > upper):
        return st.nothing()
    return st.floats(lower, upper, allow_nan=False, allow_infinity=False)


def _bounds(schema: dict[str, Json]) -> tuple[Any, Any]:
    """The bounds of numbers; those that exclude themselves are held by the check of the whole."""
    lower = [schema[key] for key in ("minimum", "exclusiveMinimum") if key in schema]
    upper = [schema[key] for key in ("maximum", "exclusiveMaximum") if key in schema]
    return max(lower, default=None), min(upper, default=None)


def _strings(schema: dict[str, Json]) -> st.SearchStrategy[Json]:
    least, most = int(schema.get("minLength", 0)), schema.get("maxLength")
    if "pattern" in schema:
        with suppress(re.error):  # Python has not all that Rust has; the whole is checked
            return st.from_regex(re.compile(schema["pattern"]))
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    if not least and most is None:
        return json_texts()
    characters = st.characters(exclude_categories=["Cs"])
    longest = least + 20 if most is None else min(int(most), least + 20)
    return st.text(characters, min_size=least, max_size=longest)


def arguments_of(tool: Pattern) -> st.SearchStrategy[dict[str, Json]]:
    """Arguments that the signature of a tool specification accepts."""
    expect(tool, Pattern, "tool", by="arguments_of")
    return values_of(view(tool_spec_schema, tool))


def results_of(tool: Pattern) -> st.SearchStrategy[Json]:
    """Results of the type that a tool specification declares; any JSON where it declares none."""
    expect(tool, Pattern, "tool", by="results_of")
    return _results_of(tool)


_results_of: Callable[[Pattern], st.SearchStrategy[Json]] = memo(
    lambda tool: values_of(schema) if (schema := lenses_ext.result_schema(tool)) else json_values()
)


def broken_arguments_of(tool: Pattern) -> st.SearchStrategy[dict[str, Json]]:
    """Arguments that the signature of a tool specification refuses.

    They fit but for one thing: something required is missing, something unknown is there, or
    one value is of another type. Where the signature accepts every object, there are none.
    """
    expect(tool, Pattern, "tool", by="broken_arguments_of")
    schema = view(tool_spec_schema, tool)
    if all(schema[key] in ({}, []) for key in schema.keys() - {"type"}):  # every object fits
        return st.nothing()
    return _broken(values_of(schema)).filter(lambda given: not accepts(schema, given, schema))


@st.composite
def _broken(draw: st.DrawFn, fitting: st.SearchStrategy[dict[str, Json]]) -> dict[str, Json]:
    """Arguments with one thing changed: left out, of another value, or unknown."""
    given = dict(draw(fitting))
    name = draw(st.sampled_from(["unknown", "", *given]))
    if name in given and draw(st.booleans()):
        del given[name]
    else:
        given[name] = draw(json_values())
    return given


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

    def implemented(spec: Pattern) -> Tool:
        results = results_of(spec)
        if failing:
            broken = st.builds(RuntimeError, st.just("the tool is out of order"))
            results = results | broken | json_values()
        outcomes = cycle(draw(st.lists(results, min_size=1, max_size=3)))

        def invoke(_: dict[str, Json]) -> Json:
            if isinstance(outcome := next(outcomes), RuntimeError):
                raise outcome
            return outcome

        name = view(tool_spec_name, spec)
        description = view(lenses_ext.tool_spec_description, spec)
        schema, returned = view(tool_spec_schema, spec), lenses_ext.result_schema(spec)
        return Tool(name, description, schema, invoke, result_schema=returned)

    tools = tools_to_bind(the_agent(program, agent, by="libraries"))
    specs = {view(tool_spec_name, each): each for each in tools}
    return ToolLibrary.of([implemented(each) for each in specs.values()])


def replies_to(request: Request, *, hostile: bool = True) -> st.SearchStrategy[Any]:
    """What a model may reply to a request, in the forms that `ScriptedModel` takes.

    It says something, or calls tools that it is offered with arguments that fit.

    Args:
        request: what the model is asked.
        hostile: whether it may also call tools that do not exist or with arguments that are
            broken, repeat the ids of calls, refuse, be cut off, or say nothing.
    """
    expect(request, Request, "request", by="replies_to")
    return replies_with(request, lambda name: st.none(), hostile=hostile).map(lambda two: two[0])


def replies_with(
    request: Request, beside: Callable[[str], st.SearchStrategy[T]], *, hostile: bool
) -> st.SearchStrategy[tuple[Any, list[T]]]:
    """Replies as of `replies_to`, each with what goes with its calls, by the names of tools.

    A call and what goes with it are one piece, so that the search can leave both out.
    """

    def calling(calls: st.SearchStrategy[ToolCall]) -> st.SearchStrategy[tuple[Any, list[T]]]:
        return _calling(calls.flatmap(lambda call: st.tuples(st.just(call), beside(call.name))))

    def alone(replies: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, list[T]]]:
        return replies.map(lambda reply: (reply, []))

    # Half of the replies call tools as they should; `one_of` would draw each kind as often as it
    # has branches.
    kinds = [alone(words_for(request))]
    if request.tools:
        fitting = st.sampled_from(request.tools).flatmap(_fitting_calls)
        kinds += [calling(fitting)] * 3
    if hostile:
        names = st.sampled_from(["noSuchTool", "functions.run", "a b"])
        odd = st.builds(ToolCall, _IDS, names, st.just("{}"))
        if request.tools:
            odd = st.sampled_from(request.tools).flatmap(_broken_calls) | fitting | odd
        refusals = _said.map(lambda text: Message(AssistantRole, text, refused=True))
        kinds += [calling(odd), alone(refusals | _said.map(_cut_off) | st.just("") | _said)]
    return st.sampled_from(kinds).flatmap(lambda kind: kind)


def words_for(request: Request) -> st.SearchStrategy[Message]:
    """What a model may reply to a request that calls no tools, as it should be."""
    said = _said if request.answer is None else _answers(request.answer)
    return said.map(partial(Message, AssistantRole))


@st.composite
def models(
    draw: st.DrawFn, program: ProgramLike, *, agent: str | None = None, hostile: bool = True
) -> ScriptedModel:
    """Models for an agent: a few replies, then an answer, the same calls for ever, or a failure.

    Args:
        draw: what draws; Hypothesis gives it.
        program: the program, as for `run`.
        agent: the name of the agent, where the program has several.
        hostile: whether the model also misbehaves, see `replies_to`.

    Raises:
        ValidationError: the program is invalid, or a workflow, whose agents each ask for their own.
    """
    effects = start(program, "hello", agent=agent).effects
    if len(effects) != 1 or not isinstance(effects[0], CallModel):
        raise ValidationError("models are drawn for an agent; draw `runs` of a workflow")
    request = effects[0].request
    given: list[Any] = draw(st.lists(replies_to(request, hostile=hostile), max_size=5))
    ends: list[list[Any]] = [[Message(AssistantRole, "Done.")]]
    if hostile and request.tools:
        again = draw(_calling(st.tuples(_fitting_calls(request.tools[0]), st.none())))
        ends.append([again[0]] * 1_000)  # more than limits allow
    if hostile:
        ends.append([ModelError("the model is overloaded")])
    return ScriptedModel([*given, *draw(st.sampled_from(ends))])


# No draw is rejected: a smaller run often needs a reply that ends it, and would be lost.
_said = st.just("Done.") | json_texts().map(lambda text: text if text.strip() else "Done.")


_answers: Callable[[Pattern], st.SearchStrategy[str]] = memo(
    lambda answer: values_of(lenses_ext.answer_schema(answer)).map(write_json)
)


@st.composite
def _calling(
    draw: st.DrawFn, pieces: st.SearchStrategy[tuple[ToolCall, T]]
) -> tuple[Message, list[T]]:
    """Replies that call tools, at times several at once, and with words."""
    # The number comes first: the search lowers it, and leaves out one of what it counts.
    count = draw(st.integers(1, 3))
    words = draw(st.just("") | st.just("Let me see."))
    calls, beside = zip(*(draw(pieces) for _ in range(count)), strict=True)
    return Message(AssistantRole, words, calls), [*beside]


_IDS = st.sampled_from(["call_0", "call_1", ""])
"""Ids of calls, which providers repeat and leave out."""

_NOT_ARGUMENTS = st.sampled_from(['{"', "null", "[]", '""', "{} {}", "NaN"])

_fitting_calls: Callable[[Pattern], st.SearchStrategy[ToolCall]] = memo(
    lambda tool: _calls_of(tool, arguments_of(tool).map(write_json))
)
_broken_calls: Callable[[Pattern], st.SearchStrategy[ToolCall]] = memo(
    lambda tool: _calls_of(tool, _NOT_ARGUMENTS | broken_arguments_of(tool).map(write_json))
)


def _calls_of(tool: Pattern, arguments: st.SearchStrategy[str]) -> st.SearchStrategy[ToolCall]:
    return st.builds(ToolCall, _IDS, st.just(view(tool_spec_name, tool)), arguments)


def _cut_off(text: str) -> dict[str, Any]:
    """A completion that ended at its length limit."""
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": "length"}]}

"""Strategies for what is nearly an agent or a tool, for JSON Schemas and for settings."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

from hypothesis import strategies as st

from gram import Pattern, Subject, Symbol
from gram.strategies import names, patterns, texts
from lenses_ext import Settings, parse_type_signature, write_type_signature
from lenses_ext.schemas import Keywords
from lenses_ext.signatures import Parameter, Shape, SignatureError, Type, TypeSignature
from lenses_ext.strategies import (
    RESERVED_LIKE,
    TOOL_NAMES as TOOL_NAMES,
    agents as agents,
    filled_texts as filled_texts,
    json_texts as json_texts,
    json_values as json_values,
    models as models,
    programs as programs,
    property_names as property_names,
    signature_texts as plain_signature_texts,
    tool_specs as tool_specs,
)


# --- signatures
@cache
def signature_texts() -> st.SearchStrategy[str]:
    """Signatures of tools as `tool_spec_type_signature` shows them, of any type."""
    made = type_signatures().filter(_is_valid).map(write_type_signature)
    return plain_signature_texts() | made


def _is_valid(signature: TypeSignature) -> bool:
    try:
        parse_type_signature(write_type_signature(signature))
    except SignatureError:
        return False
    return True


@cache
def type_signatures() -> st.SearchStrategy[TypeSignature]:
    """Signatures made by hand: aliases, unions, shapes used by name, members in members."""
    basic = ["Text", "String", "Int", "Integer", "Double", "Bool", "Null", "Array", "Object", "Any"]
    one = st.sampled_from([*basic, "User", "Node"])
    some: list[dict[str, Any]] = [{}, {"description": "d"}, {"minimum": 1}, {"enum": ["a", None]}]
    keywords = st.sampled_from(some)
    unions = st.lists(st.sampled_from(basic[:-1]), min_size=1, max_size=3)
    labels = one.map(lambda label: [label]) | unions

    def plain(labels: list[str], keywords: dict[str, Any], foreign: dict[str, Any]) -> Type:
        return Type(frozenset(labels), keywords=Keywords.of(keywords), foreign=Keywords.of(foreign))

    odd: list[dict[str, Any]] = [{}, {"optional": 1}, {"of": "x"}]
    leaves = st.builds(plain, labels, keywords, st.sampled_from(odd))

    def around(below: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
        fields = st.lists(_parameters(below), max_size=3, unique_by=lambda each: each.name)
        unnamed = below.map(lambda type: Parameter(None, type))
        return st.one_of(
            fields.map(lambda members: Type(frozenset({"Object"}), members=tuple(members))),
            unnamed.map(lambda member: Type(frozenset({"Array"}), members=(member,))),
            one.map(lambda label: Type(frozenset({"Array"}), element_type=label)),
            st.lists(unnamed, min_size=1, max_size=3).map(
                lambda members: Type(frozenset({"AnyOf"}), members=tuple(members))
            ),
            st.lists(one, min_size=1, max_size=3).map(
                lambda names: Type(frozenset({"OneOf"}), of=tuple(names))
            ),
        )

    types = st.recursive(leaves, around, max_leaves=5)
    shapes = (
        Shape("User", Type(frozenset({"String"}), keywords=Keywords.of({"maxLength": 3}))),
        Shape("Node", Type(frozenset({"Array"}), element_type="Node"), named=True),
    )
    return st.builds(
        TypeSignature,
        st.lists(_parameters(types), max_size=4, unique_by=lambda each: each.name).map(tuple),
        types.map(lambda type: Parameter(None, type)),
        st.just(shapes),
    )


def _parameters(types: st.SearchStrategy[Type]) -> st.SearchStrategy[Parameter]:
    return st.builds(Parameter, property_names(), types, st.sampled_from([None, True, False]))


# --- agents and tools
@cache
def like_tools() -> st.SearchStrategy[Pattern]:
    """Tools, and patterns that miss one thing or another to be one."""
    return tool_specs() | _spoilt("Tool", st.lists(patterns(3), max_size=2))


@cache
def like_agents(*, tools: bool = True) -> st.SearchStrategy[Pattern]:
    """Agents, and patterns that miss one thing or another to be one, other elements between."""
    others = st.sampled_from([Pattern(Subject("other")), Pattern(Subject("other", {"Note"}))])
    elements = st.lists(like_tools() | others if tools else others, max_size=4)
    own = None if tools else st.just(Pattern(Subject("shared")))
    return agents(depth=0, tools=own) | _spoilt("Agent", elements)


def _spoilt(label: str, elements: st.SearchStrategy[list[Pattern]]) -> st.SearchStrategy[Pattern]:
    keys = ["description", "instruction", "model"]
    odd = st.sampled_from(["", "OpenAI/x", "OpenAI", "/", 3, True, Symbol("OpenAI")]) | texts()
    subject = st.builds(
        Subject,
        st.just("") | names(),
        st.sampled_from([{label}, {label, "Other"}, {"Other"}, set()]),
        st.dictionaries(st.sampled_from(keys), odd),
    )
    return st.builds(Pattern, subject, elements)


@cache
def agent_forests() -> st.SearchStrategy[tuple[Pattern, ...]]:
    """Documents of agents, good and spoilt, in groups, beside anything."""
    group = st.lists(like_agents(), max_size=2).map(lambda some: Pattern(Subject("g"), some))
    return st.lists(like_agents() | group | agents() | patterns(3), max_size=3).map(tuple)


# --- JSON Schemas and signatures
@cache
def json_types() -> st.SearchStrategy[Any]:
    """What the keyword ``type`` may say."""
    names = ["string", "integer", "number", "boolean", "object", "array", "null"]
    one = st.sampled_from(names)
    return one | st.lists(one, min_size=1, max_size=3, unique=True)


@cache
def references() -> st.SearchStrategy[str]:
    """Local references, some of which lead nowhere."""
    named = st.sampled_from(["A", "B", "String", "a%20b", "a b", "a~1b"]).map("#/$defs/{}".format)
    return named | st.sampled_from(["#", "#/properties/a", "#/definitions/A", "#x"])


@cache
def json_schemas(max_leaves: int = 8) -> st.SearchStrategy[Any]:
    """JSON Schemas of draft 2020-12, booleans too."""
    keywords = {
        "type": json_types(),
        "default": json_values(),
        "description": json_texts(),
        "title": json_texts(),
        "enum": st.lists(json_values(), max_size=3),
        "const": json_values(),
        "examples": st.lists(json_values(), max_size=2),
        "minimum": st.integers() | st.floats(allow_nan=False, allow_infinity=False),
        "minLength": st.integers(0, 5),
        "pattern": st.sampled_from(["^a+$", "(", ""]),
        "format": st.sampled_from(["date", "float"]),
        "required": st.lists(property_names(), max_size=3, unique=True),
        "$ref": references(),
        "$schema": st.just("http://json-schema.org/draft-07/schema#"),
        **{key: json_values() for key in RESERVED_LIKE},
        "x-other": json_values(),
        "": json_values(),
    }
    leaves = st.booleans() | _some(keywords)

    def around(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return _some(
            {
                **keywords,
                "properties": st.dictionaries(property_names(), below, max_size=4),
                "items": below,
                "anyOf": st.lists(below, min_size=1, max_size=3),
                "oneOf": st.lists(below, min_size=1, max_size=2),
                "allOf": st.lists(below, min_size=1, max_size=2),
                "not": below,
                "additionalProperties": below,
                "$defs": st.dictionaries(property_names(), below, max_size=2),
            }
        )

    return st.recursive(leaves, around, max_leaves=max_leaves)


@cache
def parameter_schemas() -> st.SearchStrategy[dict[str, Any]]:
    """JSON Schemas of an object: what describes the parameters of a tool."""
    definitions = st.sampled_from(["A", "B", "String", "a b", "a/b", ""])
    parts = {
        "type": st.just("object"),
        "properties": st.dictionaries(property_names(), json_schemas(), max_size=5),
        "required": st.lists(property_names(), max_size=4, unique=True),
        "$defs": st.dictionaries(definitions, json_schemas(4), max_size=3),
        "additionalProperties": json_schemas(2),
        "description": json_texts(),
        "optional": json_values(),
    }
    return st.fixed_dictionaries({}, optional=parts)


@st.composite
def strict_arguments(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema of parameters that has a strict form, and arguments that are valid under it.

    Among them are references, one to what refers to itself, and choices between objects.
    """
    leaves: list[_Typed] = [
        ({"type": "string"}, json_texts()),
        ({"type": ["integer", "boolean"]}, st.booleans() | st.integers()),
        ({"type": "integer", "default": 5}, st.integers()),
        ({"enum": ["x", 1]}, st.sampled_from(["x", 1])),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, json_texts() | st.integers()),
    ]

    def lists(below: _Typed) -> _Typed:
        schema, values = below
        return {"type": "array", "items": schema}, st.lists(values, max_size=3)

    def objects(below: dict[str, tuple[bool, _Typed]]) -> _Typed:
        required = {key: values for key, (needed, (_, values)) in below.items() if needed}
        optional = {key: values for key, (needed, (_, values)) in below.items() if not needed}
        schema = {
            "type": "object",
            "properties": {key: schema for key, (_, (schema, _)) in below.items()},
            "required": list(required),
        }
        return schema, st.fixed_dictionaries(required, optional=optional)

    def properties(below: _Types) -> st.SearchStrategy[dict[str, tuple[bool, _Typed]]]:
        keys = st.sampled_from(["a", "b", "", "$ref", "a b", "is", "default"])
        return st.dictionaries(keys, st.tuples(st.booleans(), below), max_size=4)

    def choices(both: list[dict[str, tuple[bool, _Typed]]]) -> _Typed:
        """One of several objects, each of which says which one it is, or a text."""
        marks: list[_Typed] = [({"enum": [i]}, st.just(i)) for i in range(len(both))]
        made = [objects({**own, "is": (True, mark)}) for own, mark in zip(both, marks, strict=True)]
        made.append(({"type": "string"}, json_texts()))
        return {"anyOf": [schema for schema, _ in made]}, st.one_of([values for _, values in made])

    def around(below: _Types) -> _Types:
        own = properties(below)
        some = st.lists(own, min_size=1, max_size=2)
        return below.map(lists) | own.map(objects) | some.map(choices)

    leaves.append(choices([{"a": (False, leaves[0])}, {"b": (False, leaves[1])}]))
    leaf = st.sampled_from(leaves)
    shared = draw(
        st.dictionaries(st.sampled_from(["A", "a b", "a/b"]), leaf | around(leaf), max_size=2)
    )
    link = {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/Linked"}}
    shared["Linked"] = (
        {"type": "object", "properties": link, "required": ["n"]},
        st.lists(st.integers(), min_size=1, max_size=3).map(_linked),
    )
    for name, (_, values) in shared.items():
        reference = "#/$defs/" + name.replace("/", "~1").replace(" ", "%20")
        leaves.append(({"$ref": reference}, values))
        leaves.append(({"$ref": reference, "default": draw(values)}, values))

    anything = st.recursive(st.sampled_from(leaves), around, max_leaves=4)
    schema, values = objects(draw(properties(anything)))
    definitions = {name: schema for name, (schema, _) in shared.items()}
    return {**schema, "$defs": definitions}, draw(values)


def _linked(numbers: list[int]) -> dict[str, Any]:
    """Numbers, each in an object that holds the rest of them."""
    first, *rest = numbers
    return {"n": first, "next": _linked(rest)} if rest else {"n": first}


_Typed: TypeAlias = tuple[dict[str, Any], st.SearchStrategy[Any]]


_Types: TypeAlias = st.SearchStrategy[_Typed]


def _some(parts: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Dicts with a few of the given keys."""
    keys = st.lists(st.sampled_from(sorted(parts)), max_size=4, unique=True)
    return keys.flatmap(lambda chosen: st.fixed_dictionaries({key: parts[key] for key in chosen}))


def setting_values() -> dict[str, st.SearchStrategy[Any]]:
    """For each setting, the values that it takes."""
    words = texts().filter(bool)
    return {
        "extraBody": st.dictionaries(st.sampled_from(["top_k", "tag"]), st.integers() | words),
        "frequencyPenalty": st.floats(-2, 2) | st.integers(-2, 2),
        "maxTokens": st.integers(1),
        "compactAt": st.floats(0.1, 0.9),
        "contextWindow": st.integers(1),
        "compactBy": words,
        "parallelToolCalls": st.booleans(),
        "presencePenalty": st.floats(-2, 2) | st.integers(-2, 2),
        "reasoningEffort": st.sampled_from(["none", "minimal", "low", "medium", "high", "max"]),
        "reasoningSummary": st.sampled_from(["auto", "concise", "detailed"]),
        "seed": st.integers(),
        "stop": words | st.lists(words, min_size=1, max_size=3),
        "strictTools": st.sampled_from(["off", "auto", "on"]),
        "temperature": st.floats(0, 2) | st.integers(0, 2),
        "toolChoice": st.sampled_from(["auto", "none", "required", "aTool"]),
        "topP": st.floats(0, 1) | st.integers(0, 1),
        "verbosity": st.sampled_from(["low", "medium", "high"]),
    }


@cache
def model_settings() -> st.SearchStrategy[Settings]:
    """Settings that are valid in any agent, none of them too."""
    values = setting_values()
    del values["compactBy"]  # it names another agent, which has to be there
    return _some(values).map(Settings)


# --- programs whose definitions refer to each other
VALID_AGENT = 'Agent {description: "d", instruction: "x", model: "p/m"}'


@st.composite
def linked_programs(draw: st.DrawFn) -> list[str]:
    """The definitions of a program that refer to each other, each a text."""
    count = draw(st.integers(1, 3))

    def some(kind: str, first: int = 0) -> list[str]:
        names = [f"{kind}{number}" for number in range(first, count)]
        return draw(st.lists(st.sampled_from(names), unique=True, max_size=2)) if names else []

    texts = []
    for at in range(count):
        fields = [f"(f{number}::{name})" for number, name in enumerate(some("U", at + 1))]
        texts.append(f"[U{at}:Object | {', '.join([*fields, '(n::Text)'])}]")
        given_ = "".join(f"(p{number}::{name})==>" for number, name in enumerate(some("U")))
        returned = draw(st.sampled_from(["Text", "U0"]))
        texts.append(f"[t{at}:Tool {{description: 'd'}} | {given_ or '()==>'}(::{returned})]")
        handed = [f"(h{at})-[:HANDOFF]->({name})" for name in some("h") if name != f"h{at}"]
        own = draw(st.sampled_from([[], ["[t9:Tool {description: 'd'} | (u::U0)==>(::Text)]"]]))
        for name, held in (
            (f"a{at}", [*some("a", at + 1), *some("t"), *own]),
            (f"h{at}", [*some("t"), *own, *handed]),
        ):
            texts.append(f"[{name}:{VALID_AGENT}{' | ' if held else ''}{', '.join(held)}]")
    if len(steps := [*some("a"), *some("t")]) > 1:
        arrows = "-->".join(f"({each})" for each in steps)
        texts.append(f"[w:Workflow | {', '.join(steps)}, {arrows}]")
    return draw(st.permutations(texts))

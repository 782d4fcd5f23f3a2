"""Hypothesis strategies for everything the tests generate."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from pyrsistent import pmap, pvector

from gram import Measurement, Pattern, Range, Subject, Symbol, TaggedString
from interp import (
    AgentResponse,
    AssistantRole,
    ConversationContext,
    FunctionRole,
    Message,
    ToolCall,
    ToolInvocation,
    Usage,
    UserRole,
)
from lenses_ext import Settings

ODD_TEXTS = ["", "true", "false", "null", "0", "-1", "042", "a b", "é", "`", "```", '"', "\\", "//"]


def texts() -> st.SearchStrategy[str]:
    """Any text that UTF-8 can carry, odd ones often."""
    free = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    lines = st.lists(st.sampled_from(["", " ", "a", "```", "`", "\t", "\r", "// c"]), max_size=5)
    return st.sampled_from(ODD_TEXTS) | free | lines.map("\n".join) | st.just("long " * 30)


def symbols() -> st.SearchStrategy[str]:
    """Words that can be written bare, in any position."""
    words = st.from_regex(r"\A[A-Za-z_][0-9A-Za-z_.\-@]{0,6}\Z")
    return words.filter(lambda word: word not in ("true", "false"))


def names() -> st.SearchStrategy[str]:
    """Identities, labels and keys: mostly a few short symbols, so that they collide."""
    return st.sampled_from(["a", "b", "c", "Agent", "REL"]) | symbols() | texts()


def numbers() -> st.SearchStrategy[int | float]:
    """Integers and finite decimals of any size."""
    return st.integers() | st.floats(allow_nan=False, allow_infinity=False)


def measurements() -> st.SearchStrategy[Measurement]:
    """Numbers with a unit, units that look hexadecimal among them."""
    units = st.sampled_from(["kg", "xFF", "x", "e"]) | st.from_regex(r"\A[A-Za-z]{1,4}\Z")
    return st.builds(Measurement, numbers(), units)


def ranges() -> st.SearchStrategy[Range]:
    """Ranges of numbers and measurements, half of them open."""
    bounds = st.none() | numbers() | measurements()
    pairs = st.tuples(bounds, bounds).filter(lambda pair: pair != (None, None))
    return pairs.map(lambda pair: Range(*pair))


def scalars() -> st.SearchStrategy[Any]:
    """Values that hold no other values, of every kind."""
    return st.one_of(
        texts(),
        st.booleans(),
        numbers(),
        symbols().map(Symbol),
        st.builds(TaggedString, symbols(), texts()),
        measurements(),
        ranges(),
    )


def values() -> st.SearchStrategy[Any]:
    """Values of every kind, arrays and maps nested in each other."""
    return st.recursive(
        scalars(),
        lambda below: (
            st.lists(below, max_size=3).map(pvector)
            | st.dictionaries(names() | st.just("type"), below, max_size=3).map(pmap)
        ),
        max_leaves=6,
    )


def subjects() -> st.SearchStrategy[Subject]:
    """Subjects, empty ones often."""
    return st.just(Subject()) | st.builds(
        Subject,
        st.just("") | names(),
        st.frozensets(names(), max_size=2),
        st.dictionaries(names(), values(), max_size=2).map(pmap),
    )


def patterns(max_leaves: int = 8) -> st.SearchStrategy[Pattern]:
    """Trees of every shape: atoms, annotations, relationships, walks, brackets."""
    atoms = subjects().map(Pattern)

    def around(below: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
        elements = st.lists(below, max_size=3).map(tuple)
        return st.builds(Pattern, subjects(), elements) | walks(atoms)

    return st.recursive(atoms, around, max_leaves=max_leaves)


def walks(atoms: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    """Walks along shared nodes, each hop in either direction."""

    def walk(parts: tuple[list[Pattern], list[tuple[Subject, bool]]]) -> Pattern:
        nodes, hops = parts
        edges = [
            Pattern(subject, (left, right) if forward else (right, left))
            for left, right, (subject, forward) in zip(nodes, nodes[1:], hops, strict=False)
        ]
        return Pattern(Subject("", {"Gram.Walk"}), edges)

    hops = st.lists(st.tuples(subjects(), st.booleans()), min_size=3, max_size=3)
    return st.tuples(st.lists(atoms, min_size=2, max_size=4), hops).map(walk)


def forests() -> st.SearchStrategy[tuple[Pattern, ...]]:
    """The patterns of a document."""
    return st.lists(patterns(), max_size=4).map(tuple)


# --- JSON Schemas and signatures

RESERVED_LIKE = ["default", "optional", "fields", "of", "elementType", "paramName", "keywords"]
ODD_NAMES = ["", "\0", "a\0", "// a", " //", "`", "a b", "1", "-1", "é", "String", "Type", "$ref"]


def json_texts() -> st.SearchStrategy[str]:
    """Any text that JSON can carry in UTF-8, U+0000 too."""
    return texts() | st.sampled_from(ODD_NAMES) | st.just("x\0y\n")


def json_values() -> st.SearchStrategy[Any]:
    """JSON of every kind."""
    scalars = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.integers(-(10**40), 10**40)
        | st.floats(allow_nan=False, allow_infinity=False)
        | json_texts()
    )
    return st.recursive(
        scalars,
        lambda below: (
            st.lists(below, max_size=3) | st.dictionaries(property_names(), below, max_size=3)
        ),
        max_leaves=5,
    )


def property_names() -> st.SearchStrategy[str]:
    """Names of properties: short ones often, odd ones, and keys that mean something elsewhere."""
    return st.sampled_from(["a", "b", "user", *RESERVED_LIKE, *ODD_NAMES]) | json_texts()


def json_types() -> st.SearchStrategy[Any]:
    """What the keyword ``type`` may say."""
    names = ["string", "integer", "number", "boolean", "object", "array", "null"]
    one = st.sampled_from(names)
    return one | st.lists(one, min_size=1, max_size=3, unique=True)


def references() -> st.SearchStrategy[str]:
    """Local references, some of which lead nowhere."""
    named = st.sampled_from(["A", "B", "String", "a%20b", "a b", "a~1b"]).map("#/$defs/{}".format)
    return named | st.sampled_from(["#", "#/properties/a", "#/definitions/A", "#x"])


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


def _some(parts: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Dicts with a few of the given keys."""
    keys = st.lists(st.sampled_from(sorted(parts)), max_size=4, unique=True)
    return keys.flatmap(lambda chosen: st.fixed_dictionaries({key: parts[key] for key in chosen}))


# --- conversations


def any_texts() -> st.SearchStrategy[str]:
    """Any str of Python: what UTF-8 cannot carry, too, and texts that look like our escapes."""
    odd = ["\ud800", "\ud83d\ude00", "\0", "\\u0000", "\\\ud800", "```\n```", '{"a": 1}']
    return json_texts() | st.text(max_size=8) | st.sampled_from(odd) | st.text("\ud800\udc00\\u0")


def tool_calls() -> st.SearchStrategy[ToolCall]:
    """Calls of tools as a model may write them."""
    return st.builds(ToolCall, any_texts(), any_texts(), any_texts())


def messages() -> st.SearchStrategy[Message]:
    """Messages of every role, with what the types allow and no provider would send."""
    roles = st.sampled_from([UserRole, AssistantRole]) | any_texts().map(FunctionRole)
    calls = st.lists(tool_calls(), max_size=2)
    return st.builds(Message, roles, any_texts(), calls, st.none() | any_texts())


def contexts() -> st.SearchStrategy[ConversationContext]:
    """Conversations, the empty one too."""
    return st.lists(messages(), max_size=4).map(ConversationContext)


def invocations() -> st.SearchStrategy[ToolInvocation]:
    """Tool calls that were answered, by a result or by an error."""
    results = st.builds(ToolInvocation, any_texts(), json_values(), json_values())
    errors = st.builds(ToolInvocation, any_texts(), json_values(), error=any_texts())
    return results | errors


def responses() -> st.SearchStrategy[AgentResponse]:
    """What a run may give."""
    used = st.lists(invocations(), max_size=2).map(tuple)
    usage = st.builds(Usage, st.integers(0), st.integers(0))
    return st.builds(AgentResponse, any_texts(), used, contexts(), usage, st.just(False))


def setting_values() -> dict[str, st.SearchStrategy[Any]]:
    """For each setting, the values that it takes."""
    words = texts().filter(bool)
    return {
        "frequencyPenalty": st.floats(-2, 2) | st.integers(-2, 2),
        "maxTokens": st.integers(1),
        "parallelToolCalls": st.booleans(),
        "presencePenalty": st.floats(-2, 2) | st.integers(-2, 2),
        "reasoningEffort": st.sampled_from(["none", "minimal", "low", "medium", "high", "xhigh"]),
        "seed": st.integers(),
        "stop": words | st.lists(words, min_size=1, max_size=3),
        "temperature": st.floats(0, 2) | st.integers(0, 2),
        "topP": st.floats(0, 1) | st.integers(0, 1),
        "verbosity": st.sampled_from(["low", "medium", "high"]),
    }


def model_settings() -> st.SearchStrategy[Settings]:
    """Valid settings, none of them too."""
    return _some(setting_values()).map(Settings)

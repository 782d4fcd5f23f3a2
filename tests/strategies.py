"""Hypothesis strategies for everything the tests generate."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

from hypothesis import strategies as st
from pyrsistent import PMap, PVector, pmap, pvector

from gram import Measurement, Pattern, Range, Subject, Symbol, TaggedString, loads
from interp import (
    AgentResponse,
    ApprovalPolicy,
    ApprovalRule,
    AssistantRole,
    ConversationContext,
    FunctionRole,
    Message,
    ToolCall,
    ToolInvocation,
    Usage,
    UserRole,
)
from lenses_ext import (
    Model,
    Settings,
    SignatureError,
    parse_type_signature,
    signature_text,
    write_type_signature,
)
from lenses_ext.json_values import Keywords
from lenses_ext.signatures.values import Parameter, Shape, Type, TypeSignature

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


# --- agents and tools

TOOL_NAMES = ["sayHello", "add", "look_up", "tell-time", "count"]
SIGNATURES = [
    '(personName::Text {default: "world"})==>(::String)',
    "()==>(::String)",
    "(::Integer)",
    "(a::Int)==>(b::Number {optional: true})==>(::Number)",
    '(u::User)==>(::Any)\n[User::Object | (name::Text), (tags::Array {elementType: "String"})]',
    '(u::Object {fields: [{name: "n", type: "Text"}]})==>(::Boolean)',
    "(a::AB)==>(::String)\n[AB::AnyOf | (::Text), (::Null)]",
]
SIGNATURE_ELEMENTS = {text: loads(text) for text in SIGNATURES}


TOOL_NAMED = st.sampled_from(TOOL_NAMES)


def filled_texts() -> st.SearchStrategy[str]:
    """Texts that say something: not empty, and more than blanks."""
    return st.sampled_from(["Be kind.", "x", "é", "```", "a\nb", '"', "true", " 1 ", "// c"])


def models() -> st.SearchStrategy[Model]:
    """Names of models, slashes in some."""
    providers = st.sampled_from(["OpenAI", "Offline", "é", "a b"])
    return st.builds(Model, providers, st.sampled_from(["gpt-5.6-luna", "qwen/qwen3", "/", "x "]))


def signature_texts() -> st.SearchStrategy[str]:
    """Signatures as the lens writes them: the text of a valid tool's elements, without `fields`."""
    plain = [text for text in SIGNATURES if "fields" not in text]
    written = st.sampled_from([signature_text_of(SIGNATURE_ELEMENTS[text]) for text in plain])
    return written | type_signatures().filter(_is_valid).map(write_type_signature)


def signature_text_of(elements: tuple[Pattern, ...]) -> str:
    """The text of the elements of a tool."""
    return signature_text(Pattern(Subject("", {"ToolSpecification"}), elements))


def _is_valid(signature: TypeSignature) -> bool:
    try:
        parse_type_signature(write_type_signature(signature))
    except SignatureError:
        return False
    return True


def tools(some_names: st.SearchStrategy[str] = TOOL_NAMED) -> st.SearchStrategy[Pattern]:
    """Valid tools."""

    def tool(name: str, description: str, signature: str, label: str, more: bool) -> Pattern:
        properties = {"description": description, **({"version": 2} if more else {})}
        return Pattern(Subject(name, {label}, properties), SIGNATURE_ELEMENTS[signature])

    return st.builds(
        tool,
        some_names,
        filled_texts(),
        st.sampled_from(SIGNATURES),
        st.sampled_from(["ToolSpecification", "Tool"]),
        st.booleans(),
    )


def agents(name: str | None = None, depth: int = 1) -> st.SearchStrategy[Pattern]:
    """Valid agents: tools of different names, and at times an agent among them."""

    def agent(
        name: str, properties: dict[str, Any], model: Model, elements: list[Pattern]
    ) -> Pattern:
        subject = Subject(name, {"Agent"}, {**properties, "model": str(model)})
        return Pattern(subject, elements)

    properties = st.fixed_dictionaries(
        {"instruction": filled_texts()},
        optional={"description": filled_texts(), "temperature": st.just(0.5)},
    )
    elements = st.lists(tools(), max_size=3, unique_by=lambda each: each.value.identity)
    if depth:
        inner = agents("inner", depth - 1).map(lambda each: [each])
        parts = st.tuples(elements, st.just([]) | st.just([]) | inner).map(
            lambda two: [*two[0], *two[1]]
        )
        elements = parts.flatmap(st.permutations).map(list)
    named = st.just(name) if name else st.sampled_from(["greeter", "a", "é b"])
    return st.builds(agent, named, properties, models(), elements)


def programs() -> st.SearchStrategy[tuple[Pattern, ...]]:
    """Valid documents: agents of different names, in a group at times, and plain data."""
    two = st.tuples(agents("first"), agents("second"))
    grouped = two.map(lambda both: (both[0], Pattern(Subject("team"), both[1:])))
    data = st.just((Pattern(Subject("note", (), {"by": "someone"})),)) | st.just(())
    return st.tuples(data, two | grouped).map(lambda parts: (*parts[0], *parts[1]))


def like_tools() -> st.SearchStrategy[Pattern]:
    """Tools, and patterns that miss one thing or another to be one."""
    return tools() | _spoilt("Tool", st.lists(patterns(3), max_size=2))


def like_agents() -> st.SearchStrategy[Pattern]:
    """Agents, and patterns that miss one thing or another to be one, other elements between."""
    elements = st.lists(like_tools() | st.just(Pattern(Subject("other"))), max_size=4)
    return agents() | _spoilt("Agent", elements)


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


def agent_forests() -> st.SearchStrategy[tuple[Pattern, ...]]:
    """Documents of agents, good and spoilt, in groups, beside anything."""
    group = st.lists(like_agents(), max_size=2).map(lambda some: Pattern(Subject("g"), some))
    return st.lists(like_agents() | group | patterns(3), max_size=3).map(tuple)


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

    anything = st.recursive(st.sampled_from(leaves), around, max_leaves=6)
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


# --- talking to models


def completions() -> st.SearchStrategy[dict[str, Any]]:
    """Completions as servers give them, odd ones too."""
    ids = st.sampled_from(["a", "b", "call_0", "call_1", "", None])
    functions = st.fixed_dictionaries(
        {
            "name": st.sampled_from(["sayHello", "nope"]),
            "arguments": st.text('{}:,"x1é', max_size=9),
        }
    )
    signed = st.fixed_dictionaries({"google": st.fixed_dictionaries({"signature": st.text("ab")})})
    call = {"id": ids, "function": functions}
    calls = st.lists(st.fixed_dictionaries(call, optional={"extra_content": signed}), max_size=3)
    details = st.fixed_dictionaries({"type": st.just("reasoning.text"), "text": st.text("ab")})
    content = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
    messages = st.fixed_dictionaries(
        {"content": content},
        optional={
            "refusal": content,
            "tool_calls": calls,
            "reasoning_content": st.text("ab"),
            "reasoning": st.text("ab"),
            "reasoning_details": st.lists(details, max_size=2),
            "extra_content": signed,
        },
    )
    finishes = st.sampled_from(["stop", "tool_calls", "length", "content_filter", "odd"])
    choices = st.fixed_dictionaries({"message": messages, "finish_reason": finishes})
    counts = st.fixed_dictionaries({"prompt_tokens": st.integers(), "completion_tokens": st.none()})
    return st.fixed_dictionaries(
        {"choices": choices.map(lambda choice: [choice]), "usage": st.none() | counts}
    )


def odd_json() -> st.SearchStrategy[Any]:
    """JSON with the keys of completions and chunks where they may and where they may not be."""
    keys = st.sampled_from(
        [
            "choices",
            "message",
            "delta",
            "finish_reason",
            "error",
            "usage",
            "content",
            "refusal",
            "tool_calls",
            "function_call",
            "function",
            "index",
            "id",
            "name",
            "arguments",
            "code",
        ]
    )
    leaves = st.none() | st.integers() | st.booleans() | st.text(max_size=3)
    return st.recursive(
        leaves,
        lambda below: st.lists(below, max_size=2) | st.dictionaries(keys, below, max_size=4),
        max_leaves=12,
    )


def approval_policies() -> st.SearchStrategy[ApprovalPolicy]:
    """Policies with a few rules."""
    decisions = st.sampled_from(["allow", "ask", "deny"])
    globs = st.sampled_from(["*", "read*", "[ab]?", "["]) | texts()
    arguments = st.dictionaries(names().filter(bool), globs, max_size=2)
    rules = st.builds(ApprovalRule, decisions, globs, arguments)
    return st.builds(ApprovalPolicy, st.lists(rules, max_size=3), decisions)


# --- conversations


def message_texts() -> st.SearchStrategy[str]:
    """Any str of Python: what UTF-8 cannot carry, too, and texts that look like our escapes."""
    odd = ["\ud800", "\ud83d\ude00", "\0", "\\u0000", "\\\ud800", "```\n```", '{"a": 1}']
    return json_texts() | st.text(max_size=8) | st.sampled_from(odd) | st.text("\ud800\udc00\\u0")


def tool_calls() -> st.SearchStrategy[ToolCall]:
    """Calls of tools as a model may write them."""
    spelled = message_texts()
    return st.builds(ToolCall, spelled, spelled, spelled, st.none() | spelled)


def messages() -> st.SearchStrategy[Message]:
    """Messages of every role, with what the types allow and no provider would send."""
    roles = st.sampled_from([UserRole, AssistantRole]) | message_texts().map(FunctionRole)
    calls = st.lists(tool_calls(), max_size=2)
    maybe = st.none() | message_texts()
    return st.builds(Message, roles, message_texts(), calls, maybe, st.booleans(), maybe)


def contexts() -> st.SearchStrategy[ConversationContext]:
    """Conversations, the empty one too."""
    return st.lists(messages(), max_size=4).map(ConversationContext)


def invocations() -> st.SearchStrategy[ToolInvocation]:
    """Tool calls that were answered, by a result or by an error."""
    results = st.builds(ToolInvocation, message_texts(), json_values(), json_values())
    errors = st.builds(ToolInvocation, message_texts(), json_values(), error=message_texts())
    return results | errors


def responses() -> st.SearchStrategy[AgentResponse]:
    """What a run may give."""
    used = st.lists(invocations(), max_size=2).map(tuple)
    usage = st.builds(Usage, st.integers(0), st.integers(0))
    return st.builds(AgentResponse, message_texts(), used, contexts(), usage, st.just(False))


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
        "strictTools": st.sampled_from(["off", "auto", "on"]),
        "temperature": st.floats(0, 2) | st.integers(0, 2),
        "topP": st.floats(0, 1) | st.integers(0, 1),
        "verbosity": st.sampled_from(["low", "medium", "high"]),
    }


def model_settings() -> st.SearchStrategy[Settings]:
    """Valid settings, none of them too."""
    return _some(setting_values()).map(Settings)


def type_signatures() -> st.SearchStrategy[TypeSignature]:
    """Signatures made by hand: aliases, unions, shapes used by name, members in members."""
    basic = ["Text", "String", "Int", "Integer", "Double", "Bool", "Null", "Array", "Object", "Any"]
    one = st.sampled_from([*basic, "User", "Node"])
    keywords = st.sampled_from([{}, {"description": "d"}, {"minimum": 1}, {"enum": ["a", None]}])
    unions = st.lists(st.sampled_from(basic[:-1]), min_size=1, max_size=3)
    labels = one.map(lambda label: [label]) | unions

    def plain(parts: tuple[list[str], dict[str, Any], Any]) -> Type:
        return Type(frozenset(parts[0]), keywords=Keywords.of(parts[1]), foreign=parts[2])

    foreign = st.sampled_from([{}, {"optional": 1}, {"of": "x"}]).map(Keywords.of)
    leaves = st.tuples(labels, keywords, foreign).map(plain)

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


# --- source texts: shaped by the grammar, and spoilt


def blanks() -> st.SearchStrategy[str]:
    """What may stand between two tokens, mostly one space."""
    return st.sampled_from([" ", " ", " ", "", "\n", "\t", "\r\n", "\f\v", " // c | ]\n"])


def tokens() -> st.SearchStrategy[str]:
    """Tokens of every kind, and some that only look like one."""
    return st.sampled_from(
        [
            *"()[]{}|,:@=<>-~.",
            *("::", "@@", "..", "...", "-->", "<--", "--", "==>", "<~~", "-[", "]->", "=[", "]=>"),
            *("a", "b", "a.b-c@d", "_", "A", "true", "false", "trueish", "null", "Gram.Walk"),
            *("0", "-1", "42", "007", "08", "0x1F", "0xFg", "-0xFF", "0x", "1.5", "-0.0", "5kg"),
            *("2.5kg", "1..2", "1...", "...2", "1.", ".5", "1e5", "0o7"),
            *('"s"', '"it\'s"', "'s'", "`s s`", '"\\n"', '"\\q"', '"', "'", "`", "``", '""'),
            *("d`1`", "```\nx\n```", "```md\n# x\n```", "```x```", "```", "// c\n", "//", "/"),
            *(" ", "\n", "\r", "\t", "\f", "\v", "\u00a0", "\u2028", "\ufeff", "\0", "é", "“", "#"),
        ]
    )


def token_texts() -> st.SearchStrategy[str]:
    """Tokens in any order."""
    return st.lists(tokens(), max_size=15).map("".join)


def any_texts() -> st.SearchStrategy[str]:
    """Texts of any characters, lone surrogates included."""
    return st.text(st.characters(exclude_categories=[]), max_size=30)


def source_values() -> st.SearchStrategy[str]:
    """Values as they can be written, each spelling of each kind."""
    scalars = st.sampled_from(
        [
            *("0", "-12", "0x1F", "017", "1.50", "-0.0", "5kg", "-0xFF", "2.5kg", "true", "false"),
            *("word", "a.b-c@d", "trueish", '"s"', '"\\"\\/\\b"', "'it\\'s'", "`b\\`c`", "1..2"),
            *(
                "-1.5...",
                "...3kg",
                "date`2026-01-31`",
                "md `x`",
                "```\nline\n  ```",
                "``` md \n```",
            ),
        ]
    )
    inner = scalars | st.sampled_from(["[]", "[[1], 2]", "{}", "{ a : [{b: 1}] }"])
    arrays = st.lists(inner, max_size=2).map(lambda items: f"[{', '.join(items)}]")
    maps = st.lists(st.tuples(source_keys(), inner), max_size=2).map(
        lambda entries: "{" + ",".join(f"{key}: {value}" for key, value in entries) + "}"
    )
    return scalars | arrays | maps


def source_keys() -> st.SearchStrategy[str]:
    """Keys as they can be written."""
    return st.sampled_from(["k", "k", "type", "true", "`a b`", '"a b"'])


def source_subjects() -> st.SearchStrategy[str]:
    """Subjects as they can be written, the empty one often."""
    entries = st.lists(
        st.tuples(source_keys(), st.sampled_from([":", "::"]), source_values()), max_size=2
    )
    return st.builds(
        lambda identity, labels, record: f"{identity}{labels}{record}",
        st.sampled_from(["", "", "a", "b", "`b c`", "42", "-7", "true", "a-"]),
        st.lists(st.sampled_from([":A", "::B", " : `C D`"]), max_size=2).map("".join),
        st.just("")
        | entries.map(
            lambda entries: " {" + ", ".join(f"{k}{colon} {v}" for k, colon, v in entries) + "}"
        ),
    )


def source_paths() -> st.SearchStrategy[str]:
    """Nodes and paths of up to two hops, in every arrow family."""
    bodies = st.just("") | source_subjects().map(lambda subject: f"[{subject}]")
    arrows = st.builds(
        lambda family, tail, body, head: f"{tail}{family}{body}{family}{head}",
        st.sampled_from("-=~"),
        st.sampled_from(["", "<"]),
        bodies,
        st.sampled_from(["", ">"]),
    )
    nodes = source_subjects().map(lambda subject: f"({subject})")
    hops = st.lists(st.tuples(arrows, nodes).map("".join), max_size=2)
    return st.builds(lambda node, hops: node + "".join(hops), nodes, hops)


def source_patterns() -> st.SearchStrategy[str]:
    """Patterns as they can be written, without annotations."""
    names = st.sampled_from(["a", "`b c`", "42", "true"])
    return st.recursive(
        source_paths(),
        lambda below: st.builds(
            lambda subject, elements: f"[{subject} | {', '.join(elements)}]",
            source_subjects(),
            st.lists(below | names, min_size=1, max_size=2),
        ),
        max_leaves=2,
    )


def source_texts() -> st.SearchStrategy[str]:
    """Whole texts of the grammar's shape: headers, annotations, comments, blanks."""
    annotations = st.just("") | st.sampled_from(["@@x ", "@@:L ", "@@x:L @k(1) "])
    more = st.lists(source_values().map(lambda value: f"@k({value}) "), max_size=2).map("".join)
    patterns = st.tuples(annotations, more, source_patterns(), blanks()).map("".join)
    headers = st.sampled_from(["", "", "{}", '{kind: "x"}', "\ufeff", "// c\n"])
    return st.builds(
        lambda header, patterns: header + "".join(patterns),
        headers,
        st.lists(patterns, max_size=2),
    )


def spoilt_texts() -> st.SearchStrategy[str]:
    """Texts of the grammar's shape with a few pieces cut out, doubled or replaced by a token."""

    @st.composite
    def spoilt(draw: st.DrawFn) -> str:
        text = draw(source_texts())
        for _ in range(draw(st.integers(1, 2))):
            start = draw(st.integers(0, len(text)))
            end = draw(st.integers(start, min(len(text), start + 3)))
            text = (
                text[:start]
                + draw(st.just("") | tokens() | st.just(text[start:end] * 2))
                + text[end:]
            )
        return text

    return spoilt()


# --- JSON


def json_data() -> st.SearchStrategy[Any]:
    """JSON in which the special forms of values, whole and spoilt, are frequent."""
    words = st.sampled_from(
        ["symbol", "tagged", "measurement", "range", "map", "kg", "a b", "true"]
    )
    leaves = st.none() | st.booleans() | st.integers(-2, 2) | st.just(1.5) | words
    forms = st.sampled_from(
        [("value",), ("tag", "content"), ("unit", "value"), ("lower", "upper"), ("entries",), ()]
    )

    @st.composite
    def special(draw: st.DrawFn, below: st.SearchStrategy[Any]) -> dict[str, Any]:
        keys = draw(forms) + draw(st.sampled_from([(), (), ("more",)]))
        return {"type": draw(words), **{key: draw(below) for key in keys}}

    return st.recursive(
        leaves,
        lambda below: st.lists(below, max_size=2) | special(below),
        max_leaves=5,
    )


# --- texts with a comment in any gap (for layout and checks)

Tokens = list[str]

SPELLED_SCALARS: list[Tokens] = [
    ["1"],
    ["-0"],
    ["0x1F"],
    ["017"],
    ["2.50"],
    ["5kg"],
    ["2.5kg"],
    ["true"],
    ["word"],
    ["'it'"],
    ['"a // b"'],
    ["`c`"],
    ["``"],
    ['"' + "long " * 9 + '"'],
    ["tag", "`x`"],
    ["```\nfenced\n  // text\n  ```"],
    ["```md\n# title\n```"],
    ["1", "..", "2"],
    ["...", "5kg"],
    ["0.5", "..."],
]


def commented_texts() -> st.SearchStrategy[str]:
    """Documents in any spelling, with numbered comments and odd blanks between their tokens."""
    return st.builds(
        _with_gaps,
        _document_tokens(),
        st.lists(st.sampled_from(GAPS), min_size=1, max_size=40),
        st.sampled_from(["\n", "\n", "\r\n"]),
        st.sampled_from(["", "", "\ufeff"]),
    )


GAPS = [
    "",
    "",
    "",
    " ",
    " ",
    "\n",
    "\n\n\n  ",
    " //#\n",
    "//#\n //# \n\n",
    "\n\t//#\n",
    "\n\n //#\n\n",
]


def _with_gaps(tokens: Tokens, gaps: list[str], line_break: str, bom: str) -> str:
    """The tokens with the gaps between them, in turn; every ``//#`` gets a number."""
    text, number = bom, 0
    for index, token in enumerate([*tokens, ""]):
        gap = gaps[index % len(gaps)]
        if not gap and index and not _may_touch(tokens[index - 1], token):
            gap = " "
        while "//#" in gap:
            number += 1
            gap = gap.replace("//#", f"// {number}", 1)
        text += gap.replace("\n", line_break) + token
    return text


def _may_touch(left: str, right: str) -> bool:
    return not right or left[-1] in "()[]{},|" or right[0] in "()[]{},|"


def _document_tokens() -> st.SearchStrategy[Tokens]:
    headers = st.just([]) | _record_tokens()
    return _sequence(headers, st.lists(_item_tokens(), max_size=4).map(_flatten))


def _item_tokens() -> st.SearchStrategy[Tokens]:
    identified = st.sampled_from([[], ["@@", "a"], ["@@", ":", "L"], ["@@", "`b c`", "::", "L"]])
    annotation = _value_tokens().flatmap(
        lambda value: st.sampled_from(["k", "j"]).map(lambda key: ["@", key, "(", *value, ")"])
    )
    annotations = st.just([]) | st.lists(annotation, max_size=3).map(_flatten)
    return _sequence(identified, annotations, _bracket_tokens() | _path_tokens())


def _bracket_tokens() -> st.SearchStrategy[Tokens]:
    plain = _sequence(_word("["), _subject_tokens(), _word("]"))
    leaves = st.sampled_from([["a"], ["`b c`"], ["7"]]) | _path_tokens()

    def around(below: st.SearchStrategy[Tokens]) -> st.SearchStrategy[Tokens]:
        listed = st.lists(below, min_size=1, max_size=3).map(_separated)
        return _sequence(_word("["), _subject_tokens(), _word("|"), listed, _word("]"))

    return plain | around(st.recursive(leaves, around, max_leaves=4))


def _path_tokens() -> st.SearchStrategy[Tokens]:
    node = _sequence(_word("("), _subject_tokens(), _word(")"))
    halves = st.sampled_from([("-", "->"), ("<=", "="), ("<~", "~>"), ("-", "-"), ("=", "=>")])
    inside = st.just([]) | _sequence(_word("["), _subject_tokens(), _word("]"))
    arrow = st.tuples(halves, inside).map(lambda p: [p[0][0], *p[1], p[0][1]])
    hops = st.lists(_sequence(arrow, node), max_size=3).map(_flatten)
    return _sequence(node, hops)


def _subject_tokens() -> st.SearchStrategy[Tokens]:
    identity = st.sampled_from([[], ["a"], ["b"], ["`b c`"], ["7"]])
    label = st.sampled_from([[":", "L"], ["::", "Text"], [":", "`odd one`"], [":", "true"]])
    return _sequence(
        identity,
        st.lists(label, max_size=2).map(_flatten),
        st.just([]) | _record_tokens(),
    )


def _record_tokens() -> st.SearchStrategy[Tokens]:
    return st.lists(_entry_tokens(_value_tokens()), max_size=3).map(
        lambda entries: ["{", *_separated(entries), "}"]
    )


def _entry_tokens(
    value: st.SearchStrategy[Tokens], colons: tuple[str, ...] = (":", "::")
) -> st.SearchStrategy[Tokens]:
    keys = st.sampled_from([["k"], ["j"], ['"odd key"'], ["`i`"]])
    return _sequence(keys, st.sampled_from([[colon] for colon in colons]), value)


def _value_tokens() -> st.SearchStrategy[Tokens]:
    def around(below: st.SearchStrategy[Tokens]) -> st.SearchStrategy[Tokens]:
        arrays = st.lists(below, max_size=3).map(lambda items: ["[", *_separated(items), "]"])
        entries = st.lists(_entry_tokens(below, (":",)), max_size=2)
        return arrays | entries.map(lambda items: ["{", *_separated(items), "}"])

    return st.recursive(st.sampled_from(SPELLED_SCALARS), around, max_leaves=4)


def _sequence(*parts: st.SearchStrategy[Tokens]) -> st.SearchStrategy[Tokens]:
    return st.tuples(*parts).map(_flatten)


def _word(token: str) -> st.SearchStrategy[Tokens]:
    return st.just([token])


def _separated(parts: list[Tokens]) -> Tokens:
    return _flatten([[",", *part] if index else part for index, part in enumerate(parts)])


def _flatten(parts: Any) -> Tokens:
    return [token for part in parts for token in part]


# --- documents as text, and edits of trees: what the lossless edits are tested with

ATOM_NAMES = ["a", "b", "c", "", "", "x y", "7"]
LABEL_NAMES = ["A", "B", "REL", "odd label"]
KEYS = ["k", "j", "i", "odd key"]


class TextMaker:
    """Writes documents of every spelling: odd blanks, numbered comments in every gap.

    Few names are used, so that they collide.
    """

    def __init__(self, random: Random, *, comments: bool = True) -> None:
        self.random = random
        self.newline = random.choice(["\n", "\n", "\n", "\r\n"])
        self.dense = random.choice([0.0, 0.1, 0.4]) if comments else 0.0
        self.count = 0

    def document(self) -> str:
        """A text with up to four top-level patterns, perhaps with a header."""
        items = [self.item() for _ in range(self.random.randint(0, 4))]
        if self.random.random() < 0.25:
            items.insert(0, self.record())
        bom = "\ufeff" if self.random.random() < 0.1 else ""
        text = bom + self.gap() + self.gap().join(items) + self.gap()
        if self.random.random() < 0.1:
            text += self.comment()
        return text

    def comment(self) -> str:
        self.count += 1
        return f"// comment {self.count}"

    def gap(self) -> str:
        """Blanks and comments, nothing as often as not."""
        if self.random.random() < self.dense:
            lines = self.newline * self.random.randint(1, 2)
            before = self.random.choice(["", " ", self.newline, self.newline * 2 + "  "])
            return before + self.comment() + lines + self.random.choice(["", "  "])
        return self.random.choice(["", "", " ", " ", self.newline, self.newline + "  "])

    def some(self, make: Callable[[], str], most: int) -> list[str]:
        return [make() for _ in range(self.random.randint(0, most))]

    def listed(self, parts: list[str]) -> str:
        """Parts with commas and gaps around each."""
        return ",".join(self.gap() + part + self.gap() for part in parts) or self.gap()

    def item(self) -> str:
        kind = self.random.random()
        if kind < 0.25:
            return self.annotated()
        return self.bracket(2) if kind < 0.6 else self.path()

    def annotated(self) -> str:
        parts = [
            f"@{self.gap()}{self.symbol_key()}{self.gap()}({self.gap()}{self.value(1)}{self.gap()})"
            for _ in range(self.random.randint(0, 3))
        ]
        if not parts or self.random.random() < 0.4:
            name = self.identifier() if self.random.random() < 0.6 else ""
            labels = self.labels() if name and self.random.random() < 0.5 else ""
            parts.insert(0, f"@@{name}{labels or ('' if name else ':A')}")
        parts.append(self.bracket(1) if self.random.random() < 0.5 else self.path())
        # a blank, because `@@a` and `@k` side by side are one symbol
        return (" " + self.gap()).join(parts)

    def bracket(self, depth: int) -> str:
        inside = self.gap() + self.subject() + self.gap()
        if depth and self.random.random() < 0.8:
            elements = [self.element(depth - 1) for _ in range(self.random.randint(1, 4))]
            return f"[{inside}|{self.listed(elements)}]"
        return f"[{inside}]"

    def element(self, depth: int) -> str:
        kind = self.random.random()
        if kind < 0.4:
            return self.identifier()
        return self.bracket(depth) if kind < 0.6 else self.path()

    def path(self) -> str:
        text = self.node()
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2, 3])):
            text += self.gap() + self.arrow() + self.gap() + self.node()
        return text

    def node(self) -> str:
        return f"({self.gap()}{self.subject()}{self.gap()})"

    def arrow(self) -> str:
        body = self.random.choice("--=~")
        before, after = self.random.choice([("", ">"), ("", ">"), ("<", ""), ("<", ">"), ("", "")])
        middle = self.gap()
        if self.random.random() < 0.5:
            middle += f"[{self.gap()}{self.subject()}{self.gap()}]{self.gap()}"
        return f"{before}{body}{middle}{body}{after}"

    def subject(self) -> str:
        parts = []
        if self.random.random() < 0.6:
            parts.append(self.identifier())
        if self.random.random() < 0.3:
            parts.append(self.labels())
        if self.random.random() < 0.35:
            parts.append(self.record())
        return self.gap().join(parts)

    def identifier(self) -> str:
        name = self.random.choice(ATOM_NAMES)
        bare = name in ("a", "b", "c", "7") and self.random.random() < 0.9
        return name if bare else f"`{name}`"

    def labels(self) -> str:
        return self.gap().join(
            self.random.choice([":", "::"]) + self.gap() + self.label()
            for _ in range(self.random.randint(1, 2))
        )

    def label(self) -> str:
        name = self.random.choice(LABEL_NAMES)
        return f"`{name}`" if " " in name or self.random.random() < 0.1 else name

    def symbol_key(self) -> str:
        return self.random.choice(["k", "j", "i"])

    def record(self) -> str:
        return "{" + self.listed(self.some(self.entry, 3)) + "}"

    def entry(self) -> str:
        colon = self.random.choice([":", ":", "::"])
        return f"{self.key()}{self.gap()}{colon}{self.gap()}{self.value(2)}"

    def key(self) -> str:
        key = self.random.choice(KEYS)
        quotes = self.random.choice(['"', "`"]) if " " in key or self.random.random() < 0.2 else ""
        return f"{quotes}{key}{quotes}"

    def value(self, depth: int) -> str:
        kind = self.random.random()
        if depth and kind < 0.12:
            return f"[{self.listed([self.value(depth - 1) for _ in range(3)])}]"
        if depth and kind < 0.25:
            entries = [
                f"{self.key()}{self.gap()}:{self.gap()}{self.value(depth - 1)}" for _ in range(2)
            ]
            return "{" + self.listed(entries) + "}"
        if kind < 0.3:
            tag = self.random.choice(["", "md", " md "])
            end = self.random.choice(["", f"{self.newline}", f"{self.newline}   "])
            return f"```{tag}{self.newline}// no comment{self.newline}`x`.{end}```"
        return self.random.choice(SPELLINGS)


SPELLINGS = [
    *("1", "2", "0x0F", "0xff", "017", "-0xFF", "2.50", "5kg", "1..3", "1...", "...2kg", "true"),
    *("word", "'it'", '"a // b"', "`back`", "tag`x`", "tag `// y`", "-0", "1", "2"),
]


class TreeEditor:
    """Edits trees as programs do: one change at a time, anywhere.

    ``removes`` says whether a change took something away.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.removes = False

    def edit(self, trees: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
        """The trees after one change."""
        if trees and self.random.random() < 0.1:
            return self.renamed(trees)
        return self.edited_list(trees)

    def renamed(self, trees: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
        """All patterns of a name changed alike."""
        name = self.random.choice(ATOM_NAMES)
        change = self.subject_change()

        def changed(tree: Pattern) -> Pattern:
            value = change(tree.value) if tree.value.identity == name else tree.value
            return Pattern(value, map(changed, tree.elements))

        return tuple(map(changed, trees))

    def edited_list(self, trees: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
        kind = self.random.random()
        index = self.random.randrange(len(trees) + 1)
        if kind < 0.2 or not trees:
            return (*trees[:index], self.new_pattern(), *trees[index:])
        index = self.random.randrange(len(trees))
        before, tree, after = trees[:index], trees[index], trees[index + 1 :]
        if kind < 0.3:
            self.removes = True
            return (*before, *after)
        if kind < 0.4:
            rest = [*before, *after]
            rest.insert(self.random.randrange(len(rest) + 1), tree)
            return tuple(rest)
        if kind < 0.45:
            return (*before, Pattern(Subject("w"), (tree,)), *after)
        if kind < 0.5:
            self.removes = True
            return (*before, *tree.elements, *after)
        if kind < 0.55:
            self.removes = True
            return (*before, self.new_pattern(), *after)
        if kind < 0.58:
            return trees[::-1]
        return (*before, self.edited(tree), *after)

    def edited(self, tree: Pattern) -> Pattern:
        if self.random.random() < 0.5:
            return Pattern(tree.value, self.edited_list(tree.elements))
        return Pattern(self.subject_change()(tree.value), tree.elements)

    def subject_change(self) -> Callable[[Subject], Subject]:
        kind = self.random.random()
        name = self.random.choice([*ATOM_NAMES, "new", "true"])
        label = self.random.choice([*LABEL_NAMES, "NEW"])
        key, value = self.random.choice([*KEYS, "new", "true"]), self.new_value()
        if kind < 0.2:
            self.removes = self.removes or not name
            return lambda old: Subject(name, old.labels, old.properties)
        if kind < 0.4:
            return lambda old: Subject(old.identity, old.labels | {label}, old.properties)
        if kind < 0.5:
            self.removes = True
            return lambda old: Subject(old.identity, old.labels - {label}, old.properties)
        if kind < 0.6:
            self.removes = True
            return lambda old: Subject(old.identity, old.labels, old.properties.discard(key))

        def set_property(old: Subject) -> Subject:
            if isinstance(old.properties.get(key), PMap | PVector):
                self.removes = True  # with the comments inside
            return Subject(old.identity, old.labels, old.properties.set(key, value))

        return set_property

    def new_value(self) -> Any:
        plain = [
            1,
            2,
            300,
            2.5,
            True,
            "it",
            "a\nb",
            "it's",
            "```",
            Symbol("word"),
            [],
            [1],
            {"k": 1},
        ]
        odd = [Measurement(2, "kg"), Range(1, 3), TaggedString("tag", "z"), [1, 2, 3], {"k": [2]}]
        return self.random.choice([*plain, *odd])

    def new_pattern(self) -> Pattern:
        text = TextMaker(self.random, comments=False)
        return self.random.choice(loads(text.item()))


@st.composite
def gram_texts(draw: st.DrawFn, *, comments: bool = True) -> str:
    """Documents of every spelling, with numbered comments and odd blanks.

    One random seed makes a document: drawing each of its choices would cost ten times as much,
    and shrinks little.
    """
    return TextMaker(draw(st.randoms(use_true_random=True)), comments=comments).document()


def tree_editors() -> st.SearchStrategy[TreeEditor]:
    """Editors that make random changes."""
    return st.randoms(use_true_random=True).map(TreeEditor)

"""Strategies for agents, tools, signatures and JSON Schemas."""

from __future__ import annotations

from typing import Any, TypeAlias

from hypothesis import strategies as st

from gram import Pattern, Subject, Symbol, loads
from lenses_ext import (
    Model,
    Settings,
    SignatureError,
    parse_type_signature,
    signature_text,
    write_type_signature,
)
from lenses_ext.schemas.json_values import Keywords
from lenses_ext.signatures.values import Parameter, Shape, Type, TypeSignature
from tests.gram.strategies import names, patterns, texts

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
    others = st.sampled_from([Pattern(Subject("other")), Pattern(Subject("other", {"Note"}))])
    elements = st.lists(like_tools() | others, max_size=4)
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


def setting_values() -> dict[str, st.SearchStrategy[Any]]:
    """For each setting, the values that it takes."""
    words = texts().filter(bool)
    return {
        "extraBody": st.dictionaries(st.sampled_from(["top_k", "tag"]), st.integers() | words),
        "frequencyPenalty": st.floats(-2, 2) | st.integers(-2, 2),
        "maxTokens": st.integers(1),
        "parallelToolCalls": st.booleans(),
        "presencePenalty": st.floats(-2, 2) | st.integers(-2, 2),
        "reasoningEffort": st.sampled_from(["none", "minimal", "low", "medium", "high", "xhigh"]),
        "seed": st.integers(),
        "stop": words | st.lists(words, min_size=1, max_size=3),
        "strictTools": st.sampled_from(["off", "auto", "on"]),
        "temperature": st.floats(0, 2) | st.integers(0, 2),
        "toolChoice": st.sampled_from(["auto", "none", "required", "aTool"]),
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

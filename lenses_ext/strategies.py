"""Hypothesis strategies for agents, tool specifications and signatures, for tests of your own.

They need Hypothesis, which the extra ``laws`` brings. Those without arguments are made once.

>>> from hypothesis import given
>>> from lenses_ext import agent_name, put, validate_agent_pattern
>>> @given(agents())
... def test_a_new_name_keeps_an_agent_valid(agent):
...     assert validate_agent_pattern(put(agent_name, "other", agent)) == ()
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from gram import Pattern, Subject, loads
from gram.strategies import texts

from .language.model import Model
from .signatures import signature_text

# --- agents and tools
TOOL_NAMES = ["sayHello", "add", "look_up", "tell-time", "count"]

SIGNATURES = [
    '(personName::Text {default: "world"})==>(::String)',
    "()==>(::String)",
    "(::Integer)",
    "(::Text)==>(::String)",
    "(::Text)==>(age::Int)==>(::Text {optional: true})==>(::String)",
    "(a::Int)==>(b::Number {optional: true})==>(::Number)",
    '(u::User)==>(::Any)\n[User::Object | (name::Text), (tags::Array {elementType: "String"})]',
    '(u::Object {fields: [{name: "n", type: "Text"}]})==>(::Boolean)',
    "(a::AB)==>(::String)\n[AB::AnyOf | (::Text), (::Null)]",
]


@cache
def filled_texts() -> st.SearchStrategy[str]:
    """Texts that say something: not empty, and more than blanks."""
    return st.sampled_from(["Be kind.", "x", "é", "```", "a\nb", '"', "true", " 1 ", "// c"])


@cache
def models() -> st.SearchStrategy[Model]:
    """Names of models, slashes in some."""
    providers = st.sampled_from(["OpenAI", "Offline", "é", "a b"])
    return st.builds(Model, providers, st.sampled_from(["gpt-5.6-luna", "qwen/qwen3", "/", "x "]))


def tool_specs(
    some_names: st.SearchStrategy[str] | None = None,
    signatures: st.SearchStrategy[str] | None = None,
) -> st.SearchStrategy[Pattern]:
    """Valid tool specifications.

    Args:
        some_names: what they may be called; a few names by default, so that they collide.
        signatures: the texts of their signatures; a few of each kind by default. With
            `signature_texts` they are of any type.
    """

    def tool(name: str, description: str, signature: str, label: str, more: bool) -> Pattern:
        properties = {"description": description, **({"version": 2} if more else {})}
        return Pattern(Subject(name, {label}, properties), loads(signature))

    return st.builds(
        tool,
        st.sampled_from(TOOL_NAMES) if some_names is None else some_names,
        filled_texts(),
        st.sampled_from(SIGNATURES) if signatures is None else signatures,
        st.sampled_from(["ToolSpecification", "Tool"]),
        st.booleans(),
    )


def agents(
    name: str | None = None, depth: int = 1, tools: st.SearchStrategy[Pattern] | None = None
) -> st.SearchStrategy[Pattern]:
    """Valid agents: tools of different names, and at times an agent among them.

    Args:
        name: what it is called; one of a few names by default.
        depth: how deep agents may be inside each other; 0 for tools alone.
        tools: its tools; `tool_specs` by default.
    """

    def agent(
        name: str, properties: dict[str, Any], model: Model, elements: list[Pattern]
    ) -> Pattern:
        subject = Subject(name, {"Agent"}, {**properties, "model": str(model)})
        return Pattern(subject, elements)

    properties = st.fixed_dictionaries(
        {"instruction": filled_texts()},
        optional={"description": filled_texts(), "temperature": st.just(0.5)},
    )
    elements = st.lists(
        tool_specs() if tools is None else tools,
        max_size=3,
        unique_by=lambda each: each.value.identity,
    )
    if depth:
        inner = agents("inner", depth - 1, tools).map(lambda each: [each])
        parts = st.tuples(elements, st.just([]) | st.just([]) | inner).map(
            lambda two: [*two[0], *two[1]]
        )
        elements = parts.flatmap(st.permutations).map(list)
    named = st.just(name) if name else st.sampled_from(["greeter", "a", "é b"])
    return st.builds(agent, named, properties, models(), elements)


@cache
def programs() -> st.SearchStrategy[tuple[Pattern, ...]]:
    """Valid documents: agents of different names, in a group at times, and plain data."""
    two = st.tuples(agents("first"), agents("second"))
    grouped = two.map(lambda both: (both[0], Pattern(Subject("team"), both[1:])))
    data = st.just((Pattern(Subject("note", (), {"by": "someone"})),)) | st.just(())
    return st.tuples(data, two | grouped).map(lambda parts: (*parts[0], *parts[1]))


# --- signatures
@cache
def signature_texts() -> st.SearchStrategy[str]:
    """Signatures of tools as `tool_spec_type_signature` shows them; no `fields` are written."""
    plain = [text for text in SIGNATURES if "fields" not in text]
    tools = (Pattern(Subject("", {"ToolSpecification"}), loads(text)) for text in plain)
    return st.sampled_from([signature_text(tool) for tool in tools])


# --- JSON
RESERVED_LIKE = ["default", "optional", "fields", "of", "elementType", "paramName", "keywords"]
ODD_NAMES = ["", "\0", "a\0", "// a", " //", "`", "a b", "1", "-1", "é", "String", "Type", "$ref"]


@cache
def json_texts() -> st.SearchStrategy[str]:
    """Any text that JSON can carry in UTF-8, U+0000 too."""
    # The empty one is first, and draws nothing: what draws less is smaller to Hypothesis.
    return st.just("") | texts() | st.sampled_from(ODD_NAMES) | st.just("x\0y\n")


@cache
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


@cache
def property_names() -> st.SearchStrategy[str]:
    """Names of properties: short ones often, odd ones, and keys that mean something elsewhere."""
    return st.sampled_from(["a", "b", "user", *RESERVED_LIKE, *ODD_NAMES]) | json_texts()

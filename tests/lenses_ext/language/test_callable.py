"""Agents and workflows as the functions that they are to a caller."""

from __future__ import annotations

import pytest

from gram import loads_one
from lenses_ext import FocusError, agent_type_signature, put, tool_spec_schema, view
from lenses_ext.language import tool_spec_of
from lenses_ext.signatures import result_schema, write_program

SHARED = "[a:Agent | (p::Person)==>(::Person), [t:Tool | (p::Person)==>(::Text)], [Person:Object]]"


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("[a:Agent]", "(input::String)==>(::String)"),
        ("[w:Workflow | b]", "(input::String)==>(::Any)"),
        ("[a:Agent | [:Answer:Integer]]", "(input::String)==>(::Answer), [Answer::Integer]"),
        ("[a:Agent | [:Answer | [P:Object | (n::Text)], (:Array {elementType: P})]]",
         "(input::String)==>(::Array {elementType: P}), [P::Object | (n::Text)]"),
        ("[a:Agent | (x::Text)==>(::Int), b, (a)-[:HANDOFF]->(b)]", "(x::Text)==>(::Int)"),
        ("[a:Agent | (x::P)==>(::Q), [P:Object], [Q:Array | (::P)], [R:Object]]",
         "(x::P)==>(::Q), [P::Object], [Q::Array | (::P)]"),
    ],
)  # fmt: skip
def test_what_is_called_is_a_tool_of_its_signature(text: str, spec: str) -> None:
    found = tool_spec_of(loads_one(text))

    assert write_program(found).partition(" | ")[2] == f"{spec}]"


def test_it_has_the_description_and_the_same_specification_each_time() -> None:
    agent = loads_one('[a:Agent {description: "Sums up."} | (article::Text)==>(::Int)]')

    tool = tool_spec_of(agent)

    assert tool is tool_spec_of(agent)
    assert tool is tool_spec_of(tool)
    assert tool.value.properties["description"] == "Sums up."
    assert view(tool_spec_schema, tool)["required"] == ["article"]
    assert result_schema(tool) == {"type": "integer"}
    with pytest.raises(FocusError, match="expected a tool, an agent or a workflow"):
        tool_spec_of(loads_one("[x:Person]"))


def test_a_signature_is_put_in_any_form_before_the_other_elements() -> None:
    agent = loads_one("[a:Agent | (t:Tool)]")

    changed = put(agent_type_signature, "(article: Text) --> IO Text", agent)

    assert write_program(changed) == "[a:Agent | (article::Text)==>(::Text), (t:Tool)]"
    assert view(agent_type_signature, changed) == "(article::Text)==>(::Text)"
    assert put(agent_type_signature, None, changed) == agent
    result = put(agent_type_signature, "(::String)", loads_one("[a:Agent]"))
    assert write_program(result) == "[a:Agent | ()==>(::String)]"


def test_the_types_behind_a_signature_come_and_go_with_it() -> None:
    agent = loads_one("[a:Agent | (p::Person)==>(::String), [Person:Object | (n::Text)], (t:Tool)]")

    assert view(agent_type_signature, agent) == (
        "(p::Person)==>(::String)\n[Person::Object | (n::Text)]"
    )
    assert write_program(put(agent_type_signature, "(x::Int)==>(::Int)", agent)) == (
        "[a:Agent | (x::Int)==>(::Int), (t:Tool)]"
    )
    shared = loads_one(SHARED)  # by a tool: they stay, and are names
    assert view(agent_type_signature, shared) == "(p::Person)==>(::Person)"
    assert put(agent_type_signature, None, shared).elements == shared.elements[1:]
    with pytest.raises(FocusError, match="only another name for a type"):
        put(agent_type_signature, "(p::Id)==>(::Id)\n[Id:Key]\n[Key:String]", agent)

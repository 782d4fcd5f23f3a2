"""The specification: its agent word for word, its calls, and its names on one page."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gram.diagnostics import only_errors
from interp import load, specification as spec
from lenses_ext import validate_agent_pattern
from tests.interp.model_server import ModelServer, function_call, tool_calls
from tests.paths import EXAMPLES, ROOT

GREETED = "Hello, Alice! Nice to meet you."
CALLS = {
    "tools": tool_calls(("call_1", "sayHello", {"personName": "Alice"})),
    "functions": function_call("sayHello", {"personName": "Alice"}),
}


@pytest.mark.parametrize("dialect", CALLS)
def test_the_call_of_the_specification_greets_in_both_wire_forms(
    dialect: Any, model_server: ModelServer
) -> None:
    agent = load(EXAMPLES / "specification.gram")
    library = spec.register_tool("sayHello", spec.say_hello_tool, spec.empty_tool_library)
    model_server.will_say(CALLS[dialect], "I greeted Alice.")

    response = spec.execute_agent_with_library(
        agent, "Hello!", spec.empty_context, library, dialect=dialect
    )

    assert spec.response_content(response) == "I greeted Alice."
    (used,) = spec.response_tools_used(response)
    assert (spec.invocation_tool_name(used), spec.invocation_args(used)) == (
        "sayHello",
        {"personName": "Alice"},
    )
    assert spec.invocation_result(used) == GREETED
    roles = [spec.message_role(each) for each in spec.context_messages(response.context)]
    assert roles == [
        spec.UserRole,
        spec.AssistantRole,
        spec.FunctionRole("sayHello"),
        spec.AssistantRole,
    ]
    first, second = model_server.requests
    defined = first["functions"][0] if dialect == "functions" else first["tools"][0]["function"]
    assert (first["model"], defined["name"]) == ("gpt-3.5-turbo", "sayHello")
    assert defined["parameters"] == spec.view(spec.tool_spec_schema, spec.say_hello_spec)
    told = second["messages"][-1]
    assert (told["role"], told["content"]) == (
        "function" if dialect == "functions" else "tool",
        GREETED,
    )


@pytest.mark.parametrize("said", ["Hello!", "Hi there"])
def test_offline_it_greets_too(said: str) -> None:
    library = spec.hello_world_tool_library

    response = spec.execute_agent_with_library(
        spec.hello_world_agent, said, spec.empty_context, library, model="Offline/rehearsal"
    )

    assert spec.response_content(response) == "Hello, world! Nice to meet you."


def test_its_agent_is_the_file_word_for_word() -> None:
    assert load(EXAMPLES / "specification.gram") == spec.hello_world_agent
    assert only_errors(validate_agent_pattern(spec.hello_world_agent)) == ()
    assert spec.get_tool_specs(spec.hello_world_agent) == (spec.say_hello_spec,)
    assert spec.bind_agent_tools(spec.hello_world_agent, spec.hello_world_tool_library) == (
        spec.say_hello_tool,
    )


def test_its_words_do_what_it_says() -> None:
    model = spec.create_model("gpt-3.5-turbo", spec.OpenAI)
    tool = spec.create_tool("f", "Does it.", {"type": "object"}, len)

    assert spec.parse_model(spec.model_to_string(model)) == model
    assert spec.get_agent_name(spec.set_agent_name("al", spec.hello_world_agent)) == "al"
    assert (spec.tool_name(tool), spec.tool_description(tool)) == ("f", "Does it.")
    assert (spec.tool_schema(tool), spec.tool_invoke(tool)) == ({"type": "object"}, len)
    assert spec.library_tools(spec.register_tool("f", tool, spec.empty_tool_library)) == {"f": tool}
    assert spec.lookup_tool("f", spec.hello_world_tool_library) is None
    assert spec.bind_tool(spec.create_tool_specification("f", "d", "()==>(::Text)"), [tool]) is None
    assert spec.message_content(spec.Message(spec.UserRole, "hi")) == "hi"
    with pytest.raises(spec.ToolError, match="no such name"):
        spec.invocation_result(spec.ToolInvocation("f", {}, error="no such name"))


@pytest.mark.parametrize(
    ("signature", "properties", "required"),
    [
        ("(::Text)==>(::String)", {"input": "string"}, ["input"]),
        ("(Text) --> IO Text", {"input": "string"}, ["input"]),
        ('(::Text {paramName:"name"})==>(::String)', {"name": "string"}, ["name"]),
        ("(name: Text) --> IO Text", {"name": "string"}, ["name"]),
        (
            '(::Text {paramName:"name"})==>(::Int {paramName:"age", optional:true})==>(::String)',
            {"name": "string", "age": "integer"},
            ["name"],
        ),
        (
            "(name: Text, age: Maybe Int) --> IO Text",
            {"name": "string", "age": "integer"},
            ["name"],
        ),
        (
            "(personName::Text)==>(age::Int {default:18})==>(::String)",
            {"personName": "string", "age": "integer"},
            ["personName"],
        ),
        (
            '(userParams::Object {fields:[{name:"name", type:"Text"}, {name:"age", type:"Int"}]})'
            "==>(::String)",
            {"userParams": "object"},
            ["userParams"],
        ),
        ("(params: {name: Text, age: Int}) --> IO Text", {"params": "object"}, ["params"]),
        ("()==>(::String)", {}, []),
    ],
)
def test_every_form_of_a_signature_that_it_lists_is_read(
    signature: str, properties: dict[str, str], required: list[str]
) -> None:
    schema = spec.type_signature_to_json_schema(signature)
    tool = spec.create_tool_specification("f", "Does it.", signature)

    assert {name: each["type"] for name, each in schema["properties"].items()} == properties
    assert schema["required"] == required
    assert spec.view(spec.tool_spec_schema, tool) == schema


def test_every_name_is_on_its_page() -> None:
    page = (ROOT / "docs" / "reference" / "specification.md").read_text(encoding="utf-8")

    code = " ".join(re.findall(r"`[^`\n]+`", page))

    others = {
        "annotations",
        "Any",
        "Callable",
        "Final",
        "Json",
        "TypeAlias",
        "attrgetter",
        "partial",
    }
    others |= {"load_file", "parse_program", "say_hello", "write_program"}
    names = {name for name in vars(spec) if not name.startswith("_")} - others
    assert len(names) > 80
    missing = [name for name in sorted(names) if not re.search(rf"\b{name}\b", code)]
    assert missing == []

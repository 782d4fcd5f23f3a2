"""The specification: its agent word for word, its calls, and its names on one page."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gram.diagnostics import only_errors
from interp import load, specification
from interp.specification import (
    AssistantRole,
    FunctionRole,
    ToolError,
    ToolInvocation,
    UserRole,
    bind_agent_tools,
    bind_tool,
    context_messages,
    create_model,
    create_tool,
    create_tool_specification,
    empty_context,
    empty_tool_library,
    execute_agent_with_library,
    get_agent_name,
    get_tool_specs,
    hello_world_agent,
    hello_world_tool_library,
    invocation_args,
    invocation_result,
    invocation_tool_name,
    library_tools,
    lookup_tool,
    message_content,
    message_role,
    model_to_string,
    parse_model,
    register_tool,
    response_content,
    response_tools_used,
    say_hello_spec,
    say_hello_tool,
    set_agent_name,
    tool_description,
    tool_invoke,
    tool_name,
    tool_schema,
    tool_spec_schema,
    type_signature_to_json_schema,
    view,
)
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
    library = register_tool("sayHello", say_hello_tool, empty_tool_library)
    model_server.will_say(CALLS[dialect], "I greeted Alice.")

    response = execute_agent_with_library(agent, "Hello!", empty_context, library, dialect=dialect)

    assert response_content(response) == "I greeted Alice."
    (used,) = response_tools_used(response)
    assert (invocation_tool_name(used), invocation_args(used)) == (
        "sayHello",
        {"personName": "Alice"},
    )
    assert invocation_result(used) == GREETED
    roles = [message_role(each) for each in context_messages(response.context)]
    assert roles == [UserRole, AssistantRole, FunctionRole("sayHello"), AssistantRole]
    first, second = model_server.requests
    defined = first["functions"][0] if dialect == "functions" else first["tools"][0]["function"]
    assert (first["model"], defined["name"]) == ("gpt-3.5-turbo", "sayHello")
    assert defined["parameters"] == view(tool_spec_schema, say_hello_spec)
    told = second["messages"][-1]
    assert (told["role"], told["content"]) == (
        "function" if dialect == "functions" else "tool",
        GREETED,
    )


@pytest.mark.parametrize("said", ["Hello!", "Hi there"])
def test_offline_it_greets_too(said: str) -> None:
    library = hello_world_tool_library

    response = execute_agent_with_library(
        hello_world_agent, said, empty_context, library, model="Offline/rehearsal"
    )

    assert response_content(response) == "Hello, world! Nice to meet you."


def test_its_agent_is_the_file_word_for_word() -> None:
    assert load(EXAMPLES / "specification.gram") == hello_world_agent
    assert only_errors(validate_agent_pattern(hello_world_agent)) == ()
    assert get_tool_specs(hello_world_agent) == (say_hello_spec,)
    assert bind_agent_tools(hello_world_agent, hello_world_tool_library) == (say_hello_tool,)


def test_its_words_do_what_it_says() -> None:
    model = create_model("gpt-3.5-turbo", specification.OpenAI)
    tool = create_tool("f", "Does it.", {"type": "object"}, len)

    assert parse_model(model_to_string(model)) == model
    assert get_agent_name(set_agent_name("al", hello_world_agent)) == "al"
    assert (tool_name(tool), tool_description(tool)) == ("f", "Does it.")
    assert (tool_schema(tool), tool_invoke(tool)) == ({"type": "object"}, len)
    assert library_tools(register_tool("f", tool, empty_tool_library)) == {"f": tool}
    assert lookup_tool("f", hello_world_tool_library) is None
    assert bind_tool(create_tool_specification("f", "d", "()==>(::Text)"), [tool]) is None
    assert message_content(specification.Message(UserRole, "hi")) == "hi"
    with pytest.raises(ToolError, match="no such name"):
        invocation_result(ToolInvocation("f", {}, error="no such name"))


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
    schema = type_signature_to_json_schema(signature)
    tool = create_tool_specification("f", "Does it.", signature)

    assert {name: each["type"] for name, each in schema["properties"].items()} == properties
    assert schema["required"] == required
    assert view(tool_spec_schema, tool) == schema


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
    names = {name for name in vars(specification) if not name.startswith("_")} - others
    assert len(names) > 80
    missing = [name for name in sorted(names) if not re.search(rf"\b{name}\b", code)]
    assert missing == []

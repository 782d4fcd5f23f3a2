"""Programs that mypy has to refuse: each line marked ``# E:`` with a part of what it says."""

from typing import assert_type

from gram import Pattern
from lenses_ext import (
    Model,
    agent_description,
    agent_instruction,
    agent_model,
    agent_name,
    agent_tool_specs,
    as_agent,
    collect,
    each_agent,
    each_agent_tool,
    each_instruction,
    over,
    put,
    tool_spec_name,
    tool_spec_schema,
    view,
)


def a_getter_is_set(tool: Pattern) -> None:
    tool_spec_schema.set({})(tool)  # E: has no attribute "set"
    put(tool_spec_schema, {}, tool)  # E: incompatible type "Getter[Pattern, dict[str, Any]]"
    over(tool_spec_schema, dict, tool)  # E: incompatible type "Getter[Pattern, dict[str, Any]]"


def a_traversal_is_viewed(agent: Pattern) -> None:
    view(each_agent_tool, agent)  # E: incompatible type "Traversal[Pattern, Pattern]"
    view(as_agent, agent)  # E: incompatible type "Prism[Pattern, Pattern]"
    view(each_agent_tool & tool_spec_name, agent)  # E: incompatible type "Traversal[Pattern, str]"
    each_agent_tool.get()  # E: has no attribute "get"


def the_value_is_of_another_type(agent: Pattern) -> None:
    agent_name.set(3)(agent)  # E: incompatible type "int"; expected "str"
    agent_instruction.set(None)(agent)  # E: incompatible type "None"; expected "str"
    agent_model.modify(str.upper)(agent)  # E: incompatible type
    each_instruction.set(b"x")  # E: incompatible type "bytes"; expected "str"
    length: int = view(agent_name, agent)  # E: expression has type "str", variable has type "int"
    assert length


def the_whole_is_of_another_type(agent: Pattern) -> None:
    view(agent_name, "agent")  # E: Cannot infer value of type parameter "S"
    collect(each_agent, agent)  # E: Cannot infer value of type parameter "S"


def what_is_right_is_typed(agent: Pattern, document: tuple[Pattern, ...]) -> None:
    assert_type(view(agent_name, agent), str)
    assert_type(view(agent_description, agent), str | None)
    assert_type(view(agent_model, agent), Model)
    assert_type(view(agent_tool_specs, agent), tuple[Pattern, ...])
    assert_type(collect(each_agent_tool & tool_spec_name, agent), tuple[str, ...])
    assert_type(collect(each_agent & agent_model, document), tuple[Model, ...])
    assert_type(put(agent_description, None, agent), Pattern)
    assert_type(put(each_instruction, "x", document), tuple[Pattern, ...])

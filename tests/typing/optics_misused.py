"""Right and wrong uses of lenses: a type checker refuses each line marked ``# E:``, and no other.

What follows the mark is a part of what mypy says; basedpyright has words of its own.
"""

from typing import Any, assert_type

from lenses import lens as raw

from gram import Document, Pattern
from lenses_ext import (
    Getter,
    Lens,
    Model,
    Settings,
    Traversal,
    agent_answer,
    agent_description,
    agent_instruction,
    agent_model,
    agent_name,
    agent_settings,
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
    tool_spec_type_signature,
    view,
)
from lenses_ext.optics import computed, lens_of

Patterns = tuple[Pattern, ...]


def a_getter_is_set(tool: Pattern) -> None:
    tool_spec_schema.set({})(tool)  # E: not callable
    put(tool_spec_schema, {}, tool)  # E: No overload variant of "put"
    over(tool_spec_schema, dict, tool)  # E: No overload variant of "over"


def a_traversal_is_viewed(agent: Pattern) -> None:
    view(each_agent_tool, agent)  # E: No overload variant of "view"
    view(as_agent, agent)  # E: No overload variant of "view"
    view(each_agent_tool & tool_spec_name, agent)  # E: No overload variant of "view"
    each_agent_tool.get()  # E: not callable


def the_value_is_of_another_type(agent: Pattern) -> None:
    agent_name.set(3)(agent)  # E: incompatible type "int"; expected "str"
    agent_instruction.set(None)(agent)  # E: incompatible type "None"; expected "str"
    agent_model.modify(str.upper)(agent)  # E: incompatible type
    each_instruction.set(b"x")  # E: incompatible type "bytes"; expected "str"
    put(agent_name, 3, agent)  # E: Cannot infer value
    put(agent_model, None, agent)  # E: Cannot infer value
    put(agent_tool_specs, agent, agent)  # E: Cannot infer value
    over(agent_instruction, len, agent)  # E: incompatible type
    put(agent_tool_specs[0], "t", agent)  # E: Cannot infer value
    agent_model.sett("A/b")  # E: not callable
    agent & agent_model.set(3)  # E: incompatible type "int"; expected "Model | str"
    length: int = view(agent_name, agent)  # E: expression has type "str", variable has type "int"
    assert length


def the_whole_is_of_another_type(agent: Pattern) -> None:
    view(agent_name, "agent")  # E: Cannot infer value of type parameter "S"
    collect(each_agent, "agent")  # E: Cannot infer value of type parameter "S"
    put(agent_name, "a", "agent")  # E: Cannot infer value of type parameter "S"
    "agent" & agent_name.set("a")  # E: Unsupported operand types


def the_arguments_are_swapped(agent: Pattern, document: Document) -> None:
    view(agent, agent_model)  # E: No overload variant of "view"
    put(agent, agent_model, "A/b")  # E: No overload variant of "put"
    collect(agent, each_agent_tool)  # E: No overload variant of "collect"
    over(str.upper, agent_name, agent)  # E: No overload variant of "over"


def what_is_right_is_typed(agent: Pattern, document: Patterns) -> None:
    assert_type(view(agent_name, agent), str)
    assert_type(view(agent_description, agent), str | None)
    assert_type(view(agent_model, agent), Model)
    assert_type(view(agent_settings, agent), Settings | None)
    assert_type(view(agent_answer, agent), Pattern | None)
    assert_type(view(agent_tool_specs, agent), Patterns)
    assert_type(view(tool_spec_type_signature, agent), str)
    assert_type(collect(each_agent_tool & tool_spec_name, agent), tuple[str, ...])
    assert_type(collect(each_agent & agent_model, document), tuple[Model, ...])
    assert_type(put(agent_description, None, agent), Pattern)
    assert_type(put(each_instruction, "x", document), Patterns)


def what_is_right_is_accepted(agent: Pattern, document: Patterns, file: Document) -> None:
    assert_type(put(agent_model, "A/b", agent), Pattern)
    assert_type(put(agent_model, Model("A", "b"), agent), Pattern)
    assert_type(put(each_agent & agent_model, "A/b", document), Patterns)
    assert_type(put(agent_settings, {"seed": 1}, agent), Pattern)
    assert_type(put(agent_tool_specs, [agent], agent), Pattern)
    assert_type(agent & agent_name.set("x"), Pattern)
    assert_type(agent & agent_model.set("A/b") & agent_name.set("x"), Pattern)
    assert_type(agent & agent_name.get(), str)
    assert_type(document & each_instruction.modify(str.upper), Patterns)
    assert_type(over(agent_model, lambda model: Model("C", model.name), agent), Pattern)
    assert_type(over(agent_name, str.upper, agent), Pattern)
    assert_type(put(each_agent & agent_model, "A/b", file), Document)
    assert_type(over(each_instruction, str.upper, file), Document)
    assert_type(as_agent.construct(agent), Pattern)
    assert_type(put(agent_model.provider, "B", agent), Pattern)
    assert_type(view(agent_model.provider, agent), Any)
    assert_type(view(agent_tool_specs[0], agent), Pattern)
    assert_type(put(agent_tool_specs[0].value.identity, "t", agent), Pattern)
    assert_type(collect(each_agent & agent_model.name, document), tuple[Any, ...])
    (agent_model & raw.GetAttr("name")).set("b")(agent)


def takes_any(lens: Lens[Pattern, Model], getter: Getter[Pattern, object]) -> None:
    """What looks at a Model and takes a Model."""


def first_element(pattern: Pattern) -> Pattern:
    return pattern.elements[0]


def with_first_element(pattern: Pattern, new: Pattern) -> Pattern:
    return Pattern(pattern.value, (new, *pattern.elements[1:]))


def what_is_made_is_typed() -> None:
    takes_any(agent_model, agent_name)
    takes_any(agent_name, agent_model)  # E: incompatible type
    first = lens_of("first", first_element, with_first_element)
    assert_type(first, Lens[Pattern, Pattern, Pattern])
    assert_type(computed("size", lambda p: len(p.elements)), Getter[Pattern, int])
    tools: Traversal[Pattern, str] = each_agent_tool & tool_spec_name
    assert tools

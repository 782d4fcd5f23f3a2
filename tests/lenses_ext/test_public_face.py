"""Every public function of the package refuses arguments of a wrong type, with our errors."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import pytest
from hypothesis import strategies as st

import lenses_ext
from gram import GramError, loads, loads_one, parse
from lenses_ext import laws, optics

AGENT = loads_one(
    '[a:Agent {instruction: "I", model: "A/b"} |'
    ' [t:Tool {description: "T"} | (x::Text)==>(::String)]]'
)
TOOL = AGENT.elements[0]
OTHER = loads_one('[u:Tool {description: "U"} | ()==>(::String)]')
PROGRAM = loads("[a:Agent | t] [b:Agent | (v:Tool)] [t:Tool {description: 'T'} | ()==>(::String)]")
DOCUMENT = parse('[a:Agent {instruction: "I", model: "A/b"}]')
ANSWER = loads_one("[:Answer:Object | (name::String)]")
SIGNATURE = "(x::Text)==>(::String)"
SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}
PLACE = lenses_ext.find_places(PROGRAM, "a")[0]
READ = lenses_ext.parse_type_signature(SIGNATURE)

DRAWING = lenses_ext.drawing_of(AGENT)

RIGHT: dict[str, tuple[Any, ...]] = {
    "Model": ("A", "b"),
    "Model.parse": ("A/b",),
    "Settings": ({"seed": 1},),
    "Settings.with_changes": ({"seed": 1},),
    "Place.get": (PROGRAM,),
    "Place.remove": (PROGRAM,),
    "Place.set": (PROGRAM, AGENT),
    "add_tool": (AGENT, OTHER),
    "agent_diagnostics": (AGENT, "a"),
    "answer_schema": (ANSWER,),
    "change_places": (PROGRAM, [(PLACE, lambda old: old)]),
    "collect": (lenses_ext.each_agent, PROGRAM),
    "create_agent_pattern": ("a", "d", "A/b", "i", [TOOL]),
    "create_tool_specification": ("t", "d", SIGNATURE),
    "drawing_of": (AGENT,),
    "write_program": (AGENT,),
    "factor_agent": (AGENT, ["t"], "b", "d", "i", "A/b"),
    "find_agents": (PROGRAM,),
    "find_places": (PROGRAM, "a.name"),
    "inline_agent": (lenses_ext.factor_agent(AGENT, ["t"], "b", "d", "i"), "b"),
    "inline_tool": (PROGRAM, "t"),
    "is_agent": (AGENT,),
    "is_answer": (ANSWER,),
    "is_loop": (AGENT,),
    "is_runnable": (AGENT,),
    "is_tool": (TOOL,),
    "is_workflow": (AGENT,),
    "json_schema_to_answer": (SCHEMA,),
    "json_schema_to_type_signature": (SCHEMA,),
    "new_errors": (DOCUMENT, DOCUMENT),
    "laws.check_getter": (lenses_ext.tool_spec_schema, st.just(TOOL)),
    "laws.check_lens": (lenses_ext.agent_name, st.just(AGENT), st.just("b")),
    "laws.check_prism": (lenses_ext.as_agent, st.just(AGENT), st.just(AGENT)),
    "laws.check_traversal": (lenses_ext.each_agent, st.just((AGENT,)), st.just(AGENT)),
    "optics.any_property": ("key", "inside"),
    "optics.computed": ("name", len),
    "optics.each_of": ("name", lenses_ext.agent_tool_specs),
    "optics.elements_with": ("name", lenses_ext.is_tool, "a tool"),
    "optics.identity": ("name",),
    "optics.labelled": ("name", ["Note"]),
    "optics.lens_of": ("name", len, max),
    "optics.optional": ("name", "key", optics.TEXT),
    "optics.required": ("name", "key", optics.TEXT),
    "optics.traversal_of": ("name", list, max),
    "over": (lenses_ext.agent_name, str.upper, AGENT),
    "overlay": (AGENT, AGENT),
    "parallel": ("w", AGENT),
    "parse_program": ("(a)", "file"),
    "parse_type_signature": (SIGNATURE,),
    "preview": (lenses_ext.agent_model, AGENT),
    "put": (lenses_ext.agent_name, "b", AGENT),
    "remove_places": (PROGRAM, [PLACE]),
    "remove_tool": (AGENT, "t"),
    "rename_tool": (AGENT, "t", "v"),
    "replace_tool": (AGENT, "t", OTHER),
    "resolve": (PROGRAM, "a"),
    "result_schema": (SIGNATURE,),
    "sequence": ("w", AGENT),
    "share_tool": (PROGRAM, "v"),
    "signature_text": (TOOL,),
    "to_dot": (DRAWING,),
    "to_mermaid": (DRAWING,),
    "to_svg": (DRAWING,),
    "tool_as_agent": (TOOL, "b", "A/b", "i"),
    "tool_spec_from_json": (lenses_ext.tool_spec_to_json(TOOL),),
    "tool_spec_to_json": (TOOL,),
    "type_signature_to_json_schema": (SIGNATURE,),
    "validate_agent_pattern": (AGENT,),
    "validate_program": (PROGRAM,),
    "validate_tool_spec_pattern": (TOOL,),
    "view": (lenses_ext.agent_name, AGENT),
    "workflow_of": (AGENT,),
    "write_type_signature": (READ,),
}
"""Right arguments of each public function, and of each class that people make."""

MAKERS = (
    "any_property", "computed", "each_of", "elements_with", "identity", "labelled", "lens_of",
    "optional", "required", "traversal_of",
)  # fmt: skip
"""The makers of lenses and their like."""

CHECKED_BEFORE = {"schema_validator", "validation_visits"}
"""What the interpreter calls with schemas that were checked; they say so."""

TAKES_ANYTHING = {"json_schema_diagnostics", "resolve_ref", "same_json", "to_json_value"}
"""What takes any object at all, and tells what is wrong with it."""

FUNCTIONS = {
    name: getattr(lenses_ext, name)
    for name in dir(lenses_ext)
    if isinstance(getattr(lenses_ext, name), FunctionType) and name not in CHECKED_BEFORE
} | {
    "Model": lenses_ext.Model,
    "Model.parse": lenses_ext.Model.parse,
    "Settings": lenses_ext.Settings,
    "Settings.with_changes": lenses_ext.Settings({}).with_changes,
    "Place.get": PLACE.get,
    "Place.remove": PLACE.remove,
    "Place.set": PLACE.set,
    **{f"laws.{name}": getattr(laws, name) for name in vars(laws) if name.startswith("check_")},
    **{f"optics.{name}": getattr(optics, name) for name in MAKERS},
}


def test_every_public_function_is_in_the_table() -> None:
    assert sorted(RIGHT) == sorted(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_right_arguments_are_taken(name: str) -> None:
    FUNCTIONS[name](*RIGHT[name])


@pytest.mark.parametrize("name", sorted(RIGHT.keys() - TAKES_ANYTHING))
def test_no_argument_may_be_an_object_of_no_use(name: str) -> None:
    """What is neither a value nor a pattern is refused as an argument, or found to be wrong."""
    right = RIGHT[name]
    for place in range(len(right)):
        arguments = (*right[:place], object(), *right[place + 1 :])

        with pytest.raises(GramError):
            FUNCTIONS[name](*arguments)

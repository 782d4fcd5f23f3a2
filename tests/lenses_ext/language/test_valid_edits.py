"""A valid agent stays valid when lenses put valid parts into it."""

from __future__ import annotations

from hypothesis import given, strategies as st

from gram import Pattern
from gram.diagnostics import only_errors
from lenses_ext import (
    FocusError,
    agent_description,
    agent_instruction,
    agent_model,
    agent_name,
    agent_tool_specs,
    each_agent_tool,
    put,
    tool_spec_description,
    tool_spec_type_signature,
    validate_agent_pattern,
)
from tests.lenses_ext.strategies import agents, filled_texts, models, signature_texts, tool_specs

NEW = st.sampled_from(["fresh", "look.up"])
EDITS = {
    "name": (agent_name, NEW),
    "description": (agent_description, st.none() | filled_texts()),
    "instruction": (agent_instruction, filled_texts()),
    "model": (agent_model, models()),
    "tools": (agent_tool_specs, st.tuples(tool_specs(NEW))),
    "descriptions of tools": (each_agent_tool & tool_spec_description, filled_texts()),
    "signatures of tools": (each_agent_tool & tool_spec_type_signature, signature_texts()),
}


@given(agents(), st.sampled_from(sorted(EDITS)), st.data())
def test_a_valid_agent_stays_valid_under_every_edit(
    agent: Pattern, what: str, data: st.DataObject
) -> None:
    lens, values = EDITS[what]
    try:
        edited = put(lens, data.draw(values), agent)
    except FocusError:
        return  # refused: the lens says why
    assert only_errors(validate_agent_pattern(edited)) == ()

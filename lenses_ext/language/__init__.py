"""An agent's and a tool's parts as lenses."""

from .agent import (
    AGENTS,
    agent_description,
    agent_instruction,
    agent_model,
    agent_name,
    agent_tool_specs,
)
from .answer import answer_faults, answer_with_shared_shapes
from .parameters import parameter, parameter_names, tool_parameters
from .settings import SETTINGS, setting_problems
from .tool_spec import (
    TOOL_SPECS,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    tool_spec_type_signature,
    wire_name,
)
from .traversals import each_agent
from .vocabulary import Vocabulary

__all__ = [
    "AGENTS",
    "SETTINGS",
    "TOOL_SPECS",
    "Vocabulary",
    "agent_description",
    "agent_instruction",
    "agent_model",
    "agent_name",
    "agent_tool_specs",
    "answer_faults",
    "answer_with_shared_shapes",
    "each_agent",
    "parameter",
    "parameter_names",
    "setting_problems",
    "tool_parameters",
    "tool_spec_description",
    "tool_spec_name",
    "tool_spec_schema",
    "tool_spec_type_signature",
    "wire_name",
]

"""An agent's and a tool's parts as lenses."""

from ..signatures import INPUT
from .agent import (
    AGENTS,
    SKILLS,
    WORKFLOW_PARTS,
    agent_models,
    agent_skills,
    each_agent,
    folders_of,
    is_arrows,
    is_node,
    skill,
    skill_tool as skill_tool,
    traversal_at,
    with_skills,
)
from .callable import (
    answer_diagnostics,
    answer_schema,
    tool_spec_of as tool_spec_of,
    with_types,
    written_signature as written_signature,
)
from .model import SETTINGS as SETTINGS, Model, setting_problems
from .tool_spec import (
    TOOL_SPECS,
    parameter,
    parameter_names,
    rename_parameter,
    tool_parameters,
    tool_spec_schema,
    wire_name as wire_name,
)

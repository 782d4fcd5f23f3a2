"""The agent language as typed views over gram patterns: lenses, signatures, validation.

``view``, ``put`` and ``over`` read and edit an agent through the lenses below; nothing here runs
one. Importing this loads no schema validator and no network library.
"""

from .agent import (
    agent_answer,
    agent_answer_schema,
    agent_description,
    agent_instruction,
    agent_model,
    agent_name,
    agent_settings,
    agent_tool_specs,
    as_agent,
    create_agent_pattern,
    each_agent_tool,
)
from .answer import answer_schema, answer_signature
from .compose import add_tool, overlay, remove_tool, rename_tool, replace_tool
from .document_edits import edit, edit_with
from .errors import FocusError, LawError, ManyPartsError, ReadOnlyError
from .labels import AGENT, ANSWER, TOOL, TOOLS
from .model import Model
from .optics import Getter, Lens, Prism, Traversal, collect, over, put, view
from .program import find_agents, resolve_references
from .settings import SETTINGS, Setting, SettingError, Settings
from .sharing import inline_tool, share_tool
from .signatures.errors import SignatureError
from .signatures.forms import (
    json_schema_faults,
    json_schema_to_type_signature,
    parse_type_signature,
    result_schema,
    signature_elements,
    type_signature_to_json_schema,
)
from .signatures.schema_comparison import Match, first_difference
from .signatures.values import Parameter, Shape, Type, TypeSignature
from .signatures.writer import signature_patterns, signature_text, write_type_signature
from .style import agent_style, dumps, parse
from .tool_json import tool_spec_from_json, tool_spec_to_json
from .tool_names import wire_name
from .tool_spec import (
    as_tool,
    create_tool_specification,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    tool_spec_type_signature,
)
from .traversals import each_agent, each_instruction
from .validation import validate_agent_pattern, validate_program, validate_tool_spec_pattern

__all__ = [
    "AGENT",
    "ANSWER",
    "SETTINGS",
    "TOOL",
    "TOOLS",
    "FocusError",
    "Getter",
    "LawError",
    "Lens",
    "ManyPartsError",
    "Match",
    "Model",
    "Parameter",
    "Prism",
    "ReadOnlyError",
    "Setting",
    "SettingError",
    "Settings",
    "Shape",
    "SignatureError",
    "Traversal",
    "Type",
    "TypeSignature",
    "add_tool",
    "agent_answer",
    "agent_answer_schema",
    "agent_description",
    "agent_instruction",
    "agent_model",
    "agent_name",
    "agent_settings",
    "agent_style",
    "agent_tool_specs",
    "answer_schema",
    "answer_signature",
    "as_agent",
    "as_tool",
    "collect",
    "create_agent_pattern",
    "create_tool_specification",
    "dumps",
    "each_agent",
    "each_agent_tool",
    "each_instruction",
    "edit",
    "edit_with",
    "find_agents",
    "first_difference",
    "inline_tool",
    "json_schema_faults",
    "json_schema_to_type_signature",
    "over",
    "overlay",
    "parse",
    "parse_type_signature",
    "put",
    "remove_tool",
    "rename_tool",
    "replace_tool",
    "resolve_references",
    "result_schema",
    "share_tool",
    "signature_elements",
    "signature_patterns",
    "signature_text",
    "tool_spec_description",
    "tool_spec_from_json",
    "tool_spec_name",
    "tool_spec_schema",
    "tool_spec_to_json",
    "tool_spec_type_signature",
    "type_signature_to_json_schema",
    "validate_agent_pattern",
    "validate_program",
    "validate_tool_spec_pattern",
    "view",
    "wire_name",
    "write_type_signature",
]

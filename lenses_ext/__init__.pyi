"""The names that the package offers, and where each lives."""

from .agent import (
    agent_answer as agent_answer,
    agent_answer_schema as agent_answer_schema,
    agent_description as agent_description,
    agent_instruction as agent_instruction,
    agent_model as agent_model,
    agent_name as agent_name,
    agent_settings as agent_settings,
    agent_tool_specs as agent_tool_specs,
    as_agent as as_agent,
    create_agent_pattern as create_agent_pattern,
    each_agent_tool as each_agent_tool,
)
from .answer import answer_schema as answer_schema, answer_signature as answer_signature
from .compose import (
    add_tool as add_tool,
    overlay as overlay,
    remove_tool as remove_tool,
    rename_tool as rename_tool,
    replace_tool as replace_tool,
)
from .document_edits import edit as edit, edit_with as edit_with
from .errors import (
    FocusError as FocusError,
    LawError as LawError,
    ManyPartsError as ManyPartsError,
    ReadOnlyError as ReadOnlyError,
)
from .labels import AGENT as AGENT, ANSWER as ANSWER, TOOL as TOOL, TOOLS as TOOLS
from .model import Model as Model
from .optics import (
    Getter as Getter,
    Lens as Lens,
    Prism as Prism,
    Traversal as Traversal,
    collect as collect,
    over as over,
    put as put,
    view as view,
)
from .program import find_agents as find_agents, resolve_references as resolve_references
from .settings import (
    SETTINGS as SETTINGS,
    Setting as Setting,
    SettingError as SettingError,
    Settings as Settings,
)
from .sharing import inline_tool as inline_tool, share_tool as share_tool
from .signatures.errors import SignatureError as SignatureError
from .signatures.forms import (
    json_schema_to_type_signature as json_schema_to_type_signature,
    signature_elements as signature_elements,
)
from .signatures.from_schema import json_schema_faults as json_schema_faults
from .signatures.parsing import (
    parse_type_signature as parse_type_signature,
    result_schema as result_schema,
    type_signature_to_json_schema as type_signature_to_json_schema,
)
from .signatures.schema_comparison import Match as Match, first_difference as first_difference
from .signatures.values import (
    Parameter as Parameter,
    Shape as Shape,
    Type as Type,
    TypeSignature as TypeSignature,
)
from .signatures.writer import (
    signature_patterns as signature_patterns,
    signature_text as signature_text,
    write_type_signature as write_type_signature,
)
from .style import agent_style as agent_style, dumps as dumps, parse as parse
from .tool_json import (
    tool_spec_from_json as tool_spec_from_json,
    tool_spec_to_json as tool_spec_to_json,
)
from .tool_names import wire_name as wire_name
from .tool_spec import (
    as_tool as as_tool,
    create_tool_specification as create_tool_specification,
    tool_spec_description as tool_spec_description,
    tool_spec_name as tool_spec_name,
    tool_spec_schema as tool_spec_schema,
    tool_spec_type_signature as tool_spec_type_signature,
)
from .traversals import each_agent as each_agent, each_instruction as each_instruction
from .validation import (
    validate_agent_pattern as validate_agent_pattern,
    validate_program as validate_program,
    validate_tool_spec_pattern as validate_tool_spec_pattern,
)

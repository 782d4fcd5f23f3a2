"""The names that the package offers, and where each lives."""

from .composing.flows import (
    choice as choice,
    for_each as for_each,
    loop as loop,
    parallel as parallel,
    sequence as sequence,
)
from .composing.program_changes import merge_programs as merge_programs
from .composing.sharing import (
    Shared as Shared,
    bundle as bundle,
    share_definition as share_definition,
    share_tool as share_tool,
)
from .drawings.drawing import (
    drawing_of as drawing_of,
    to_dot as to_dot,
    to_mermaid as to_mermaid,
)
from .drawings.svg import to_svg as to_svg
from .errors import (
    FocusError as FocusError,
    LawError as LawError,
    ProgramError as ProgramError,
    ReadOnlyError as ReadOnlyError,
)
from .labels import (
    is_agent as is_agent,
    is_answer as is_answer,
    is_loop as is_loop,
    is_runnable as is_runnable,
    is_tool as is_tool,
    is_workflow as is_workflow,
)
from .language.agent import (
    agent_answer as agent_answer,
    agent_answer_schema as agent_answer_schema,
    agent_description as agent_description,
    agent_instruction as agent_instruction,
    agent_model as agent_model,
    agent_models as agent_models,
    agent_name as agent_name,
    agent_settings as agent_settings,
    agent_skills as agent_skills,
    agent_tool_specs as agent_tool_specs,
    as_agent as as_agent,
    as_workflow as as_workflow,
    create_agent_pattern as create_agent_pattern,
    each_agent as each_agent,
    each_agent_tool as each_agent_tool,
    each_instruction as each_instruction,
    loop_max as loop_max,
    loop_until as loop_until,
    workflow_arrows as workflow_arrows,
    workflow_description as workflow_description,
    workflow_name as workflow_name,
    workflow_nodes as workflow_nodes,
)
from .language.callable import (
    agent_type_signature as agent_type_signature,
    answer_schema as answer_schema,
    json_schema_to_answer as json_schema_to_answer,
)
from .language.model import Model as Model, SettingError as SettingError, Settings as Settings
from .language.tool_spec import (
    as_tool as as_tool,
    create_tool_specification as create_tool_specification,
    tool_spec_description as tool_spec_description,
    tool_spec_from_json as tool_spec_from_json,
    tool_spec_name as tool_spec_name,
    tool_spec_once as tool_spec_once,
    tool_spec_reads as tool_spec_reads,
    tool_spec_returns as tool_spec_returns,
    tool_spec_schema as tool_spec_schema,
    tool_spec_sends as tool_spec_sends,
    tool_spec_to_json as tool_spec_to_json,
    tool_spec_type_signature as tool_spec_type_signature,
)
from .names.projects import Project as Project, load_project as load_project
from .names.references import (
    ProgramLike as ProgramLike,
    find_agents as find_agents,
    resolve as resolve,
)
from .optics.typed import (
    Getter as Getter,
    Lens as Lens,
    Prism as Prism,
    Settable as Settable,
    Traversal as Traversal,
)
from .optics.using import (
    collect as collect,
    over as over,
    preview as preview,
    put as put,
    view as view,
)
from .places.finding import (
    Match as Match,
    each_match as each_match,
    find_places as find_places,
    query as query,
    rewrite as rewrite,
)
from .places.place import (
    PathError as PathError,
    Place as Place,
    change_places as change_places,
    remove_places as remove_places,
)
from .places.renaming import rename as rename
from .rules.validation import (
    agent_diagnostics as agent_diagnostics,
    new_errors as new_errors,
    validate_agent_pattern as validate_agent_pattern,
    validate_program as validate_program,
    validate_tool_spec_pattern as validate_tool_spec_pattern,
)
from .schemas.checks import SchemaError as SchemaError
from .signatures.faults import SignatureError as SignatureError
from .signatures.from_schema import json_schema_to_type_signature as json_schema_to_type_signature
from .signatures.parsing import (
    parse_type_signature as parse_type_signature,
    result_schema as result_schema,
    type_signature_to_json_schema as type_signature_to_json_schema,
)
from .signatures.values import TypeSignature as TypeSignature
from .signatures.writer import (
    parse_program as parse_program,
    signature_text as signature_text,
    write_program as write_program,
    write_type_signature as write_type_signature,
)
from .workflows import Workflow as Workflow, workflow_of as workflow_of

"""The names that the package offers, and where each lives."""

from .composing.composition import (
    add_tool as add_tool,
    overlay as overlay,
    remove_tool as remove_tool,
    rename_tool as rename_tool,
    replace_tool as replace_tool,
)
from .composing.flow_composition import (
    factor_agent as factor_agent,
    inline_agent as inline_agent,
    parallel as parallel,
    sequence as sequence,
    tool_as_agent as tool_as_agent,
)
from .composing.sharing import inline_tool as inline_tool, share_tool as share_tool
from .drawings.dot import to_dot as to_dot
from .drawings.drawing import Drawing as Drawing, Edge as Edge, Node as Node
from .drawings.from_program import drawing_of as drawing_of
from .drawings.mermaid import to_mermaid as to_mermaid
from .drawings.svg import to_svg as to_svg
from .errors import (
    FocusError as FocusError,
    LawError as LawError,
    ManyPartsError as ManyPartsError,
    MissingPartError as MissingPartError,
    PartError as PartError,
    ProgramError as ProgramError,
    ReadOnlyError as ReadOnlyError,
)
from .labels import (
    AGENT as AGENT,
    ANSWER as ANSWER,
    DEFINITIONS as DEFINITIONS,
    LOOP as LOOP,
    TOOL as TOOL,
    TOOLS as TOOLS,
    WORKFLOW as WORKFLOW,
    WORKFLOWS as WORKFLOWS,
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
    agent_tool_specs as agent_tool_specs,
    as_agent as as_agent,
    create_agent_pattern as create_agent_pattern,
    each_agent_tool as each_agent_tool,
)
from .language.answer import (
    answer_schema as answer_schema,
    answer_signature as answer_signature,
    json_schema_to_answer as json_schema_to_answer,
)
from .language.callable import (
    agent_type_signature as agent_type_signature,
    tool_spec_of as tool_spec_of,
    written_signature as written_signature,
)
from .language.model import Model as Model
from .language.settings import (
    SETTINGS as SETTINGS,
    SettingError as SettingError,
    Settings as Settings,
)
from .language.tool_json import (
    tool_spec_from_json as tool_spec_from_json,
    tool_spec_to_json as tool_spec_to_json,
)
from .language.tool_spec import (
    as_tool as as_tool,
    create_tool_specification as create_tool_specification,
    tool_spec_description as tool_spec_description,
    tool_spec_name as tool_spec_name,
    tool_spec_schema as tool_spec_schema,
    tool_spec_type_signature as tool_spec_type_signature,
    wire_name as wire_name,
)
from .language.traversals import each_agent as each_agent, each_instruction as each_instruction
from .language.workflow import (
    as_workflow as as_workflow,
    loop_max as loop_max,
    loop_until as loop_until,
    workflow_arrows as workflow_arrows,
    workflow_description as workflow_description,
    workflow_name as workflow_name,
    workflow_nodes as workflow_nodes,
)
from .names.references import (
    ProgramLike as ProgramLike,
    definitions_of as definitions_of,
    find_agents as find_agents,
    find_runnables as find_runnables,
    program_patterns as program_patterns,
    resolve as resolve,
    shared_tools as shared_tools,
)
from .names.scopes import program_scopes as program_scopes
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
    completions as completions,
    find_places as find_places,
    new_property as new_property,
)
from .places.paths import (
    ANY as ANY,
    PathError as PathError,
    read_path as read_path,
    write_path as write_path,
)
from .places.place import (
    Kind as Kind,
    Place as Place,
    change_places as change_places,
    remove_places as remove_places,
)
from .rules.flow_checks import PROGRAM_CHECKS as PROGRAM_CHECKS
from .rules.validation import (
    agent_diagnostics as agent_diagnostics,
    new_errors as new_errors,
    program_checks as program_checks,
    validate_agent_pattern as validate_agent_pattern,
    validate_program as validate_program,
    validate_tool_spec_pattern as validate_tool_spec_pattern,
)
from .rules.words import WORDS as WORDS
from .schemas.canonical_form import Match as Match, canonical as canonical
from .schemas.checks import (
    SchemaError as SchemaError,
    is_plainly_valid as is_plainly_valid,
    schema_validator as schema_validator,
)
from .schemas.comparison import Difference as Difference, differences as differences
from .schemas.json_values import (
    MAX_JSON_LEVELS as MAX_JSON_LEVELS,
    NotJson as NotJson,
    check_json as check_json,
    dump_json as dump_json,
    same_json as same_json,
    to_json_value as to_json_value,
)
from .schemas.schema_parts import resolve_ref as resolve_ref
from .schemas.visits import validation_visits as validation_visits
from .signatures.faults import SignatureError as SignatureError
from .signatures.from_schema import (
    json_schema_diagnostics as json_schema_diagnostics,
    json_schema_to_type_signature as json_schema_to_type_signature,
)
from .signatures.parsing import (
    parse_type_signature as parse_type_signature,
    result_schema as result_schema,
    signature_diagnostics as signature_diagnostics,
    signature_elements as signature_elements,
    type_signature_to_json_schema as type_signature_to_json_schema,
)
from .signatures.values import (
    Parameter as Parameter,
    Shape as Shape,
    Type as Type,
    TypeSignature as TypeSignature,
)
from .signatures.writer import (
    dumps as dumps,
    parse as parse,
    signature_text as signature_text,
    write_type_signature as write_type_signature,
)
from .weak_cache import memo as memo
from .workflows.arrows import (
    ARROW_LABELS as ARROW_LABELS,
    EACH as EACH,
    HANDOFF as HANDOFF,
    OTHERWISE as OTHERWISE,
    WHEN as WHEN,
    FlowArrow as FlowArrow,
    arrows_in as arrows_in,
    handoffs as handoffs,
)
from .workflows.reading import (
    FlowNode as FlowNode,
    Join as Join,
    Loop as Loop,
    Workflow as Workflow,
    workflow_of as workflow_of,
)

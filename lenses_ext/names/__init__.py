"""What a name means in a program: scopes, references, and what can be wrong with them."""

from .imports import (
    IMPORTS as IMPORTS,
    SKILL_FILE as SKILL_FILE,
    UnreadSkill as UnreadSkill,
    having_skills as having_skills,
    imports_of as imports_of,
    skill_in as skill_in,
)
from .name_rules import (
    DEFINED_TWICE,
    IMPORT_CHECKS,
    REFERENCE_CHECKS,
    TYPE_CHECKS,
    Use as Use,
    uses as uses,
)
from .projects import (
    Project,
    expect_documents as expect_documents,
    load_project,
    load_together as load_together,
    project_root as project_root,
)
from .references import (
    D,
    ProgramLike,
    choose,
    definitions_of as definitions_of,
    diagnose as diagnose,
    document_of_program,
    find_runnables as find_runnables,
    program_of,
    program_patterns as program_patterns,
    reached,
    resolve,
    shared_tools as shared_tools,
    tool_with_types,
    with_patterns,
)
from .scopes import FILE, Definition, Program, is_defined_there, program_scopes as program_scopes

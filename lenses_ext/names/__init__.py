"""What a name means in a program: scopes, references, and what can be wrong with them."""

from .name_rules import DEFINED_TWICE, REFERENCE_CHECKS, TYPE_CHECKS
from .references import (
    ProgramLike,
    choose,
    document_of_program,
    program_patterns,
    reached,
    tool_with_types,
)
from .scopes import Definition, Program, is_defined_there, program_scopes

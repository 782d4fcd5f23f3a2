"""Whole programs: references and scopes, composition, validation."""

from .references import ProgramLike, program_patterns, tool_with_types
from .scopes import Program

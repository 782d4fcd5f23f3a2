"""What can be wrong in a program: tables of rules, types along arrows, validation."""

from .flow_types import Flow as Flow, Types as Types
from .lint import LINT_CHECKS, NAMESAKES, Level, level_check, level_problems, with_levels
from .validation import PROGRAM_CHECKS as PROGRAM_CHECKS, new_errors as new_errors

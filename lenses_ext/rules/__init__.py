"""What can be wrong in a program: tables of rules, types along arrows, validation."""

from .flows import Flow as Flow, Types as Types
from .lint import (
    LINT_CHECKS as LINT_CHECKS,
    NAMESAKES as NAMESAKES,
    Level as Level,
    level_check as level_check,
    level_problems as level_problems,
    with_levels as with_levels,
)
from .validation import PROGRAM_CHECKS as PROGRAM_CHECKS, new_errors as new_errors

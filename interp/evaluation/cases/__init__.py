"""Cases: what is said to an agent and what is expected of its run, from files."""

from .case import ANY_ANSWER, Case, ExpectedCall
from .judging import (
    Check,
    Checks,
    Failure,
    failures_of as failures_of,
    judge,
    require_checks,
    require_tools,
    takes_case as takes_case,
)
from .reading import case_faults, read_cases
from .renaming import rename_in_cases

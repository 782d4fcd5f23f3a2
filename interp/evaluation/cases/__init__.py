"""Cases: what is said to an agent and what is expected of its run, from files."""

from .case import ANY_ANSWER, READERS as READERS, Case, ExpectedCall
from .judging import (
    Check,
    Checks,
    Failure,
    RubricJudge,
    Seen as Seen,
    answer_of as answer_of,
    failures_of as failures_of,
    judge,
    require_checks,
    require_tools,
    takes_case as takes_case,
)
from .reading import case_faults, read_cases, rename_in_cases

"""Cases: what is said to an agent and what is expected of its run, from files."""

from .case import ANY_ANSWER, READERS as READERS, Case, ExpectedCall
from .findings import (
    Check,
    Checks,
    Seen as Seen,
    answer_of as answer_of,
    require_checks,
    takes_case as takes_case,
)
from .judging import Failure, RubricJudge, failures_of as failures_of, judge, require_tools
from .reading import case_faults, read_cases, rename_in_cases

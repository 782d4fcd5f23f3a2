"""Cases: what is said to an agent and what is expected of its run, from files."""

from .case import Case
from .checks import (
    Check,
    Checks,
    answer_of as answer_of,
    require_checks,
    takes_case as takes_case,
)
from .expectations import ANY_ANSWER, READERS as READERS, ExpectedCall
from .findings import Seen as Seen
from .judging import Failure, RubricJudge, failures_of as failures_of, judge, require_tools
from .reading import case_faults, read_cases, rename_in_cases

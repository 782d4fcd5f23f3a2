"""Cases: what is said to an agent and what is expected of its run, from files."""

from .case import ANY_ANSWER, Case, ExpectedCall
from .judging import Check, Checks, Failure, RubricJudge, judge, require_checks, require_tools
from .reading import case_faults, read_cases, rename_in_cases

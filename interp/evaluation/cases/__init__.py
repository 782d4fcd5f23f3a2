"""Cases: what is said to an agent and what is expected of its run, from files."""

from .case import Case, ExpectedCall
from .judging import (
    Check,
    Checks,
    Failure,
    judge,
    require_checks,
    require_tools,
)
from .reading import read_cases

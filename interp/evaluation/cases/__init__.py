"""Cases: what is said to an agent and what is expected of its run, from files."""

from .case import Case as Case, ExpectedCall as ExpectedCall
from .judging import (
    Check as Check,
    Checks as Checks,
    Failure as Failure,
    judge as judge,
    require_checks as require_checks,
    require_tools as require_tools,
)
from .reading import read_cases as read_cases

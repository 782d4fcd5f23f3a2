"""What the command line says of an error, and the exit code it ends with."""

from __future__ import annotations

from typing import TypeAlias, Union

from gram import GramError

from ..errors import ApprovalNeeded, ConfigurationError, LimitError, ModelError, ValidationError
from ..redaction import redact

NO, USAGE, INVALID, UNAVAILABLE, LIMIT, WAITING, INTERRUPTED = 1, 2, 3, 4, 5, 6, 130
"""The answer is no; the command is used wrongly; the input is not gram or the program is invalid;
configuration or model; a limit; waiting for approval; interrupted."""

Failure: TypeAlias = Union[GramError, OSError]
"""The errors that are a user's to mend; any other is a fault of ours and shows its traceback."""


def exit_code_of(failure: Failure) -> int:
    """The exit code for an error."""
    if isinstance(failure, OSError):
        return USAGE
    if isinstance(failure, ValidationError):
        return INVALID if failure.faults else USAGE
    if isinstance(failure, ConfigurationError | ModelError):
        return UNAVAILABLE
    if isinstance(failure, ApprovalNeeded):
        return WAITING
    return LIMIT if isinstance(failure, LimitError) else INVALID


def shown(failure: Failure) -> str:
    """The message for an error: what is wrong, where, and what to do; no keys."""
    if isinstance(failure, OSError):
        reason = failure.strerror or str(failure)
        place = f"{failure.filename}: " if failure.filename else ""
        return redact(f"gram: {place}{reason}")
    return redact(str(failure))

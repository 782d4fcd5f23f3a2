"""The messages and exit codes of errors at the command line."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Final, TypeAlias, Union

import click

from gram import GramError
from lenses_ext import FocusError, ReadOnlyError

from .. import errors
from ..errors import AgentError

NO, USAGE, INVALID, UNAVAILABLE, LIMIT, WAITING = range(1, 7)
"""The exit codes: the answer is no; wrong usage; the input is not gram or the program is invalid;
an error of the configuration or model; a limit; waiting for approval."""

Failure: TypeAlias = Union[GramError, OSError, click.ClickException]
"""The errors that a user can fix; any other error is a bug of ours and shows its traceback."""


class Refused(GramError):  # noqa: N818  # the answer is no, which is no error
    """The answer of a command is no: nothing is at the path, or an edit is refused."""


_CODES: Final[Mapping[type[Exception], int]] = {
    Refused: NO,
    OSError: USAGE,
    errors.StoreError: USAGE,
    errors.ConfigurationError: UNAVAILABLE,
    errors.ModelError: UNAVAILABLE,
    errors.WorkflowError: UNAVAILABLE,
    errors.ApprovalNeeded: WAITING,
    errors.LimitError: LIMIT,
}


def exit_code_of(failure: Failure) -> int:
    """The exit code for an error."""
    if isinstance(failure, click.ClickException):
        return failure.exit_code
    if type(failure) is AgentError and isinstance(failure.__cause__, OSError):
        return USAGE  # the run could not be recorded
    if isinstance(failure, errors.ValidationError):
        return INVALID if failure.faults else USAGE
    if isinstance(failure, errors.ToolError) and failure.state is not None:
        return UNAVAILABLE  # --on-tool-error
    return next((code for kind, code in _CODES.items() if isinstance(failure, kind)), INVALID)


def shown(failure: Failure) -> str:
    """The message of an error, with the name of the file for an OSError."""
    if isinstance(failure, click.ClickException):
        message = io.StringIO()
        failure.show(message)
        is_number = isinstance(failure, click.NoSuchOption) and failure.option_name[1:].isdigit()
        hint = "\nhint: write -- before a value that begins with -" if is_number else ""
        return message.getvalue().rstrip("\n") + hint
    if isinstance(failure, OSError):
        reason = failure.strerror or str(failure)
        place = f"{failure.filename}: " if failure.filename else ""
        hint = "; name a file" if isinstance(failure, IsADirectoryError) else ""
        return f"gram: {place}{reason}{hint}"
    if isinstance(failure, FocusError | ReadOnlyError):
        return failure.in_words
    return str(failure)

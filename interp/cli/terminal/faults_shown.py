"""Shows faults as text, with the lines that they are about."""

from __future__ import annotations

from gram import Diagnostic, GramDecodeError, Source
from gram.checks import syntax_fault

from ...errors import ValidationError
from ..failures import Failure, shown
from .output import Styled, tell


def faults_of(failure: Failure) -> tuple[Diagnostic, ...]:
    """The faults that an error is about; empty if it is about something else."""
    if isinstance(failure, GramDecodeError) and failure.doc:
        return (syntax_fault(failure),)
    return failure.faults if isinstance(failure, ValidationError) else ()


def tell_failure(failure: Failure) -> None:
    """Tell the user of an error, on standard error: its faults with their lines, or its message."""
    faults = faults_of(failure)
    for each in faults:
        tell(as_text(each))
    if not faults:
        tell(shown(failure))


def as_text(fault: Diagnostic) -> Styled:
    """A fault with its place, severity and code, the line it is about, and its hint."""
    place = f"{fault.place}: " if fault.place else ""
    parts = [
        (place, "place"),
        (f"{fault.severity}[{fault.code}]", fault.severity),
        (f" {fault.message}", ""),
    ]
    if excerpt := _excerpt(fault):
        line, carets = excerpt.rsplit("\n", 1)
        parts += [(f"\n{line}\n", ""), (carets, "caret")]
    if fault.hint:
        parts += [("\n  hint: ", "hint"), (fault.hint, "")]
    return parts


def _excerpt(fault: Diagnostic) -> str:
    """The line of a fault, with a mark below it."""
    if not (fault.source and fault.span):
        return ""
    line = fault.source.line_at(fault.span.start)
    start = fault.source.position(fault.span.start)[1] - 1
    end = min(len(line), start + fault.span.end - fault.span.start)
    return Source(line).excerpt(start, end)

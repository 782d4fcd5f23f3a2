"""What a check finds: a fault with its code, severity, message and place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias, Union

from attrs import evolve, field, frozen

from .errors import expect, expect_all
from .reading import construct_of, spans_of
from .source import Source, Span
from .trees import Pattern, origin

Severity: TypeAlias = Literal["error", "warning", "info"]
"""How bad a fault is: an error keeps a program from being used."""
PartPath: TypeAlias = tuple[Union[int, str], ...]
"""The way from a pattern to a part of it: places of elements, and names of properties."""


class Edit(NamedTuple):
    """A part of a text and what to write in its place."""

    span: Span
    text: str = ""


@frozen
class Fault:
    """One thing that a check found in a pattern or a text.

    Attributes:
        code: the name of the rule, such as ``duplicate-key``.
        severity: ``error``, ``warning`` or ``info``.
        message: what is wrong.
        path: element indices from the checked pattern, then the name of the part.
        span: the offsets in the text it was read from, or None when it was made.
        hint: how to mend it, or None.
        source: the text that ``span`` counts in.
        fix: edits of that text that mend it and keep its trees; empty when there is no such fix.
    """

    code: str
    severity: Severity
    message: str
    path: PartPath = ()
    span: Span | None = None
    hint: str | None = None
    source: Source | None = field(default=None, eq=False, repr=False)
    fix: tuple[Edit, ...] = ()

    @property
    def filename(self) -> str | None:
        """The file the fault is in, or None."""
        return self.source.filename if self.source else None

    @property
    def lineno(self) -> int | None:
        """The line the fault begins on, from 1, or None when the pattern was made."""
        return self.source.position(self.span.start)[0] if self.source and self.span else None

    @property
    def colno(self) -> int | None:
        """The column the fault begins in, from 1, or None when the pattern was made."""
        return self.source.position(self.span.start)[1] if self.source and self.span else None

    @property
    def excerpt(self) -> str:
        """The line it begins on with carets below it; empty when the pattern was made."""
        return self.source.excerpt(*self.span) if self.source and self.span else ""

    def below(self, *path: int | str) -> Fault:
        """The same fault seen from a pattern further up, ``path`` leading to the one checked."""
        return evolve(self, path=(*path, *self.path))

    @property
    def place(self) -> str:
        """``file:line:col``; when the pattern was made, the path to it."""
        if self.source and self.span:
            return self.source.place(self.span.start)
        return ".".join(map(str, self.path))

    def with_hint(self) -> str:
        """The fault on a line, below it the line it is about, and its hint where it has one."""
        hint = f"  hint: {self.hint}" if self.hint else ""
        return "\n".join(filter(None, [str(self), self.excerpt, hint]))

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        return f"{place}{self.severity}[{self.code}] {self.message}"


def fault(
    code: str,
    message: str,
    pattern: Pattern,
    part: str | None = None,
    *,
    severity: Severity = "error",
    hint: str | None = None,
) -> Fault:
    """A fault of a pattern, placed where the pattern was read from.

    Args:
        code: the name of the rule.
        message: what is wrong.
        pattern: the pattern at fault.
        part: ``identity``, ``labels`` or the key of the property at fault, when it is one part.
        severity: how much it matters.
        hint: how to mend it.
    """
    expect(code, str, "code", by="fault")
    expect(message, str, "message", by="fault")
    expect(pattern, Pattern, "pattern", by="fault")
    expect(part, (str, type(None)), "part", by="fault")
    path: PartPath = () if part is None else (part,)
    place, construct = origin(pattern), construct_of(pattern)
    if place is None or construct is None:
        return Fault(code, severity, message, path, hint=hint)
    span = spans_of(construct).part_or_subject(part)
    return Fault(code, severity, message, path, span, hint, place.source)


def only_errors(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """The faults that make a program invalid: those of severity ``error``."""
    return tuple(
        each
        for each in expect_all(faults, Fault, "faults", by="only_errors")
        if each.severity == "error"
    )

"""Collects what is wrong with one signature, each fault with the place it was read from."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from attrs import evolve

from gram import Diagnostic, Pattern, Severity, origin

from .parts import Element, Parts
from .values import Type
from .vocabulary import RESERVED

Role: TypeAlias = Literal["parameter", "field", "part", "return", "type"]


class Owner(NamedTuple):
    """What a message is about.

    Attributes:
        role: what it is.
        words: what it is called, quotes included, such as ``"age"`` or ``the return type``.
        element: where it was read.
        assumed: the name of a parameter that is written without one.
    """

    role: Role
    words: str
    element: Element
    assumed: str = ""

    @property
    def is_named(self) -> bool:
        """Whether it is called by its name."""
        return self.words.startswith('"')

    @property
    def may_be_absent(self) -> bool:
        """Whether it is a value that a caller might leave out."""
        return self.role in ("parameter", "field")

    def __str__(self) -> str:
        return f"{self.role} {self.words}" if self.is_named else self.words


def owner_of(role: Role, element: Element, words: str) -> Owner:
    """The owner at a place: called by its name where it has one."""
    subject = element.pattern.value
    written = subject.properties.get("paramName")
    name = subject.identity or (written if isinstance(written, str) else "")
    if name in RESERVED and not subject.labels:
        name = ""  # a type in the place of the name
    return Owner(role, f'"{name}"' if name or written == "" else words, element)


class Written(NamedTuple):
    """A type as it was read, with its owner, for the checks that follow.

    ``optional`` says whether the value may be left out.
    """

    owner: Owner
    type: Type
    optional: bool = False


class Faults:
    """The faults of one signature.

    Args:
        parts: its parts, with the faults of their spelling.

    Attributes:
        found: the faults so far.
    """

    def __init__(self, parts: Parts) -> None:
        self.found = list(parts.faults)
        self._spans = parts.spans
        self._source = parts.source

    @property
    def errors(self) -> list[Diagnostic]:
        """The faults that make the signature invalid."""
        return [each for each in self.found if each.severity == "error"]

    def tell(
        self,
        code: str,
        message: str,
        element: Element,
        part: str | None = None,
        *,
        severity: Severity = "error",
        hint: str | None = None,
    ) -> None:
        """Note a fault of an element, or of one part of it."""
        found = Diagnostic.of(code, message, element.pattern, part, severity=severity, hint=hint)
        spans = self._spans.get(id(element.pattern))
        if spans is not None:
            span = spans.get(part, spans[None])
            found = evolve(found, span=span, source=self._source)
        self.found.append(found.below(*element.path))

    def warn(
        self, code: str, message: str, owner: Owner, part: str, hint: str | None = None
    ) -> None:
        """Note something that is likely a slip, and valid all the same."""
        self.tell(code, message, owner.element, part, severity="warning", hint=hint)

    def place(self, pattern: Pattern) -> str | None:
        """The line and column of a pattern, or None when it was not read from a text."""
        spans = self._spans.get(id(pattern))
        if spans is not None and self._source is not None:
            return self._source.line_and_column(spans[None].start)
        read = origin(pattern)
        return f"{read.lineno}:{read.colno}" if read else None

    def sorted(self) -> tuple[Diagnostic, ...]:
        """The faults in the order of the text."""
        return tuple(sorted(self.found, key=lambda each: each.span or (0, 0)))

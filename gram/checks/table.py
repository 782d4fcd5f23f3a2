"""The checks: a table with one row for each rule of the notation, and ``check``, which runs them.

A language on top of the notation adds rows of its own: ``check(document, checks=(*CHECKS, …))``;
it changes the severity of a row with ``attrs.evolve``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from attrs import frozen

from ..document import Document
from ..errors import GramDecodeError
from ..faults import Fault, Severity
from ..pattern import Pattern, patterns_of
from ..source import Source, Span
from .identities import (
    dangling_reference,
    duplicate_definition,
    inconsistent_definition,
    label_sets_differ,
    self_reference,
)
from .reading import Finding, Reading, Scopes, one_scope
from .spelling import (
    duplicate_annotation_key,
    duplicate_key,
    label_case,
    not_portable,
    unknown_kind,
)

LooksAt: TypeAlias = Literal["text", "trees"]


@frozen
class Check:
    """A rule: its code and severity, and the function that finds where it is broken.

    Attributes:
        code: the name of the rule, words joined by ``-``.
        severity: how much it matters.
        looks_at: ``text`` when it needs the syntax, so a document; else ``trees``.
        find: yields what is wrong; its docstring says what the rule is about.
    """

    code: str
    severity: Severity
    looks_at: LooksAt
    find: Callable[[Reading], Iterator[Finding]]

    @property
    def summary(self) -> str:
        """What the rule is about, in one sentence."""
        return (self.find.__doc__ or "").strip().split("\n")[0]


CHECKS: tuple[Check, ...] = (
    Check("duplicate-key", "error", "text", duplicate_key),
    Check("duplicate-annotation-key", "error", "text", duplicate_annotation_key),
    Check("duplicate-definition", "error", "trees", duplicate_definition),
    Check("inconsistent-definition", "error", "trees", inconsistent_definition),
    Check("self-reference", "error", "trees", self_reference),
    Check("dangling-reference", "warning", "text", dangling_reference),
    Check("unknown-kind", "warning", "trees", unknown_kind),
    Check("label-case", "warning", "text", label_case),
    Check("label-sets-differ", "warning", "trees", label_sets_differ),
    Check("not-portable", "info", "text", not_portable),
)


def check(
    document: Document | Pattern | Iterable[Pattern],
    *,
    checks: Sequence[Check] = CHECKS,
    scopes: Scopes = one_scope,
    kinds: Collection[str] = (),
) -> tuple[Fault, ...]:
    """What is wrong with a document, in the order of its text.

    Trees without a text are checked as far as trees can tell; their faults have paths, no spans.

    Args:
        document: a document, a pattern or patterns.
        checks: the rules.
        scopes: which scope a pattern opens for the names below it.
        kinds: the header kinds that are known; without any, every kind is.

    >>> from gram import parse
    >>> for fault in check(parse("[team | alice, bbo] (alice:Person) (bob:Person)", "team.gram")):
    ...     print(fault, "-", fault.hint)
    team.gram:1:16: dangling-reference nothing here is named `bbo` - did you mean bob?
    """
    if isinstance(document, Document):
        reading = Reading(document.patterns, document, scopes, kinds)
    else:
        reading = Reading(patterns_of(document), None, scopes, kinds)
    found = [
        _fault(reading, row, finding)
        for row in checks
        if row.looks_at == "trees" or reading.document is not None
        for finding in row.find(reading)
    ]
    return tuple(sorted(found, key=_place_in_text))


def syntax_fault(error: GramDecodeError) -> Fault:
    """The fault of a text that is not gram, so that it can be listed as others are."""
    end = min(error.pos + 1, len(error.doc))
    source = Source(error.doc, error.filename)
    return Fault("syntax", "error", error.msg, (), Span(error.pos, end), error.hint, source)


def _fault(reading: Reading, row: Check, finding: Finding) -> Fault:
    return Fault(
        row.code,
        row.severity,
        finding.message,
        finding.path if finding.part is None else (*finding.path, finding.part),
        finding.span or reading.place(finding.path, finding.part),
        finding.hint,
        reading.document.source if reading.document else None,
        finding.fix,
    )


def _place_in_text(fault: Fault) -> tuple[Span, list[int]]:
    return fault.span or Span(0, 0), [step for step in fault.path if isinstance(step, int)]

"""The checks: a table with one row for each rule of the notation, ``check``, and its fixes.

A language on top of the notation adds its rows: ``check(document, checks=(*CHECKS, …))``. To change
the severity of a row it uses ``attrs.evolve``. Where a row of the language says more about a fault
than a row of the notation, it supersedes that row, so that the fault is reported once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from attrs import evolve, frozen

from ..diagnostics import Diagnostic, Edit, Severity, with_edits
from ..documents import Document
from ..errors import expect, expect_all
from ..source import GramDecodeError, Source, Span
from ..trees import Pattern, Scopes, TreePath, one_scope, patterns_of
from . import rules
from .rules import Reading


@frozen
class Check:
    """A rule: its code and severity, and the function that finds where it is broken.

    Attributes:
        code: the name of the rule, words joined by ``-``.
        severity: how much it matters.
        find: yields what is wrong; its docstring says what the rule is about. A diagnostic that
            has a code already is reported as it is, with a path from the checked trees.
        supersedes: the codes of other rules. Where this rule reports a fault of a pattern, those
            report none of it.
    """

    code: str
    severity: Severity
    find: Callable[[Reading], Iterator[Diagnostic]]
    supersedes: Collection[str] = ()

    @property
    def summary(self) -> str:
        """What the rule is about, in one sentence."""
        return (self.find.__doc__ or "").strip().split("\n")[0]


CHECKS: tuple[Check, ...] = (
    Check("duplicate-key", "error", rules.duplicate_key),
    Check("duplicate-annotation-key", "error", rules.duplicate_annotation_key),
    Check("duplicate-definition", "error", rules.duplicate_definition),
    Check("inconsistent-definition", "error", rules.inconsistent_definition),
    Check("self-reference", "error", rules.self_reference),
    Check("dangling-reference", "warning", rules.dangling_reference),
    Check("unknown-kind", "warning", rules.unknown_kind),
    Check("label-case", "warning", rules.label_case),
    Check("label-sets-differ", "warning", rules.label_sets_differ),
    Check("not-portable", "info", rules.not_portable),
)
"""The checks of the notation, in their order."""


def check(
    document: Document | Pattern | Iterable[Pattern],
    *,
    checks: Sequence[Check] = CHECKS,
    scopes: Scopes = one_scope,
    kinds: Collection[str] = (),
    within: Collection[TreePath] | None = None,
) -> tuple[Diagnostic, ...]:
    """What is wrong with a document, in the order of its text, or of its texts.

    Patterns that are given without a document are placed where they were read. Faults of patterns
    that were made have paths and no spans.

    Args:
        document: a document, a pattern or patterns.
        checks: the rules.
        scopes: which scope a pattern opens for the names below it.
        kinds: the header kinds that are known; without any, every kind is.
        within: the paths to the patterns to judge; without them, all are judged.

    >>> from gram import parse
    >>> for fault in check(parse("[team | alice, bbo] (alice:Person) (bob:Person)", "team.gram")):
    ...     print(fault, "-", fault.hint)
    team.gram:1:16: warning[dangling-reference] nothing here is named `bbo` - did you mean bob?
    """
    expect(scopes, Callable, "scopes", by="check")
    expect(kinds, Collection, "kinds", by="check")
    expect(within, (Collection, type(None)), "within", by="check")
    read = None
    if isinstance(document, Document):  # the patterns of an edited one were read elsewhere
        read = Document(document.source) if document.changes else document
    patterns = read.patterns if read else patterns_of(document, "document", by="check")  # type: ignore[arg-type]  # no document
    judged = None if within is None else frozenset(within)
    reading = Reading(patterns, read, scopes, kinds, judged)
    rows = expect_all(checks, Check, "checks", by="check")
    found: list[tuple[Check, Diagnostic]] = []
    superseding: dict[tuple[str, object], Check] = {}
    for row in rows:
        for each in row.find(reading):
            if not reading.judges(each.tree_path):
                continue
            fault = _of_rule(reading, row, each)
            found.append((row, fault))
            for code in row.supersedes:
                superseding[code, _pattern_at(reading, fault)] = row
    once: dict[object, Diagnostic] = {}
    for row, fault in found:
        if (
            not superseding
            or superseding.get((fault.code, _pattern_at(reading, fault)), row) is row
        ):
            place = (fault.source, fault.span) if fault.span else fault.path
            once.setdefault((fault.code, fault.message, place), fault)
    order = {source: number for number, source in enumerate(reading.sources)} if once else {}

    def place_in_text(fault: Diagnostic) -> tuple[int, Span, TreePath]:
        file = order.get(fault.source, 0) if fault.source else 0
        return file, fault.span or Span(0, 0), fault.tree_path

    return tuple(sorted(once.values(), key=place_in_text))


def syntax_fault(error: GramDecodeError) -> Diagnostic:
    """The fault of a text that is not gram, so that it can be listed as others are.

    A comma before a closing bracket has a fix.
    """
    text, at = error.doc, error.pos
    source = Source(text, error.filename)
    span = Span(at, min(at + 1, len(text)))
    fix = (Edit(error.unwanted),) if error.unwanted else ()
    return Diagnostic("syntax", "error", error.msg, (), span, error.hint, source, fix)


def _of_rule(reading: Reading, row: Check, found: Diagnostic) -> Diagnostic:
    """A finding of a rule with its place, and the code and severity of the rule by default."""
    if found.code and found.span is not None:
        return found
    steps = found.tree_path
    keys = [str(step) for step in found.path[len(steps) :]]
    if found.code or found.span is not None:  # the place of the pattern's part does not matter
        keys = []
    place = reading.place(steps, keys[0] if keys else None, tuple(keys[1:]))
    source, span = place or (found.source, None)
    code, severity = (found.code, found.severity) if found.code else (row.code, row.severity)
    return evolve(found, code=code, severity=severity, span=found.span or span, source=source)


def _pattern_at(reading: Reading, fault: Diagnostic) -> object:
    """Which pattern a fault is about: its place in the text, else its path."""
    path = fault.tree_path
    return reading.place(path) or path


def apply_fixes(document: Document | str, faults: Iterable[Diagnostic]) -> str:
    """The text of a document after the fixes of these faults.

    Those of the checks of the notation keep its trees.

    Faults without a fix are left. Where two fixes overlap, the one that begins first is applied:
    check the result again to find the other.

    Args:
        document: the document; a text that is not gram, for the faults of `syntax_fault`.
        faults: what was found in it; faults of other texts are left.

    >>> from gram import check, parse
    >>> document = parse("(a {k: 1, j: 2, k: 3})")
    >>> apply_fixes(document, check(document))
    '(a {j: 2, k: 3})'
    """
    expect(document, (Document, str), "document", by="apply_fixes")
    text = document if isinstance(document, str) else document.text

    def is_about_it(fault: Diagnostic) -> bool:
        if isinstance(document, Document):
            return fault.source is document.source
        return fault.source is not None and fault.source.text == text

    fixes = [
        fault.fix
        for fault in expect_all(faults, Diagnostic, "faults", by="apply_fixes")
        if fault.fix and is_about_it(fault)
    ]
    taken: list[Edit] = []
    end = 0
    for fix in sorted(fixes, key=lambda fix: (fix[0].span.start, -fix[-1].span.end)):
        if fix[0].span.start >= end:
            taken.extend(fix)
            end = fix[-1].span.end
    return with_edits(text, taken)

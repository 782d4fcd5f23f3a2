"""Checks of the text: what is lost once it is read into trees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..diagnostics import Diagnostic, Edit
from ..reading import Construct, lexer, syntax
from ..source import Span
from ..trees import is_edge, is_header
from ..words import did_you_mean
from .names import Occurrence, Reading

_PASCAL = re.compile(r"[A-Z][A-Za-z0-9]*(\.[A-Z][A-Za-z0-9]*)*", re.ASCII)
_UPPER_SNAKE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", re.ASCII)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+", re.ASCII)
_FRACTION_WITH_UNIT = re.compile(r"[0-9]\.[0-9]+[A-Za-z]", re.ASCII)


def duplicate_key(reading: Reading) -> Iterator[Diagnostic]:
    """A key given twice in a record or map: only its last value counts."""
    for each, construct in reading.written(lambda each: each.repeats_keys):
        for record in _records(construct):
            yield from _given_again(each, record.entries, "the key `{}`")


def duplicate_annotation_key(reading: Reading) -> Iterator[Diagnostic]:
    """A key annotated twice: only its last value counts."""
    for each, construct in reading.written(lambda each: each.repeats_keys):
        if isinstance(construct, syntax.Annotated):
            yield from _given_again(each, construct.annotations, "the annotation `@{}`")


def _given_again(
    each: Occurrence, entries: Sequence[syntax.Entry], called: str
) -> Iterator[Diagnostic]:
    """The entries whose key comes again later; the fix removes an entry without comments."""
    last = {entry.key.text: entry for entry in entries}
    for entry, after in pairwise(entries):
        key = entry.key
        if last[key.text] is entry:
            continue
        assert each.source is not None
        where = each.source.line_and_column(last[key.text].key.start)
        message = f"{called.format(key.text)} is given again at {where}, which counts"
        is_plain = not lexer.comments(each.extent[0], entry.start, after.start)
        fix = (Edit(Span(entry.start, after.start)),) if is_plain else ()
        yield Diagnostic.found(
            message, each.path, key.text, span=key.span, hint="remove it", fix=fix
        )


def label_case(reading: Reading) -> Iterator[Diagnostic]:
    """Labels after ``:`` that are not PascalCase or, on an arrow, UPPER_SNAKE."""
    for each, construct in reading.written(_may_have_another_case):
        on_arrow = isinstance(construct, syntax.Path)
        wanted, case = (_UPPER_SNAKE, "UPPER_SNAKE") if on_arrow else (_PASCAL, "PascalCase")
        for label in construct.subject.labels:
            name = label.name.text
            if each.extent[0].startswith("::", label.start) or wanted.fullmatch(name):
                continue
            if is_edge(each.pattern) and _UPPER_SNAKE.fullmatch(name):
                continue  # a relationship in brackets
            better = _in_case(name, on_arrow=on_arrow)
            yield Diagnostic.found(
                f"the label `{name}` is not {case}",
                each.path,
                "labels",
                span=label.name.span,
                hint=f"write `{better}`" if better else None,
            )


def not_portable(reading: Reading) -> Iterator[Diagnostic]:
    """Values that tree-sitter-gram 0.3.11 does not read."""
    for each, construct in reading.written(_may_have_extensions):
        for entry in construct.entries:
            for span, what in _extensions(each.extent[0], entry.value):
                message = f"{what} is not portable to tree-sitter-gram"
                yield Diagnostic.found(message, each.path, entry.key.text, span=span)


def unknown_kind(reading: Reading) -> Iterator[Diagnostic]:
    """A header of an unknown kind. Nothing is found when the caller names no kinds."""
    if not reading.kinds or not reading.patterns:
        return
    document, first = reading.document, reading.patterns[0]
    has_header = document.header is not None if document else is_header(first)
    kind = first.value.properties.get("kind")
    if has_header and kind is not None and str(kind) not in reading.kinds:
        hint = did_you_mean(str(kind), reading.kinds)
        yield Diagnostic.found(f"the kind `{kind}` is not known", (0,), "kind", hint=hint)


def _may_have_another_case(each: Occurrence) -> bool:
    """Whether the tree has a label of another case; after a double colon it is allowed."""
    wanted = _UPPER_SNAKE if is_edge(each.pattern) else _PASCAL
    return not all(map(wanted.fullmatch, each.pattern.value.labels))


def _may_have_extensions(each: Occurrence) -> bool:
    """Whether there is an array or a map, or something looks like a fraction with a unit."""
    subject = each.pattern.value
    if not subject.properties:
        return False
    is_odd = subject.levels > 0 or each.repeats_keys
    return is_odd or _FRACTION_WITH_UNIT.search(*each.extent) is not None


def _in_case(name: str, *, on_arrow: bool) -> str | None:
    """The label in the wanted case, or None when it has no letters to start with."""
    words = _WORD.findall(name)
    cased = "_".join(map(str.upper, words)) if on_arrow else "".join(map(str.capitalize, words))
    return cased if (_UPPER_SNAKE if on_arrow else _PASCAL).fullmatch(cased) else None


def _records(construct: Construct) -> Iterator[syntax.Record | syntax.Map]:
    """A construct's record and every map in its values."""
    if record := construct.subject.record:
        yield record
    pending = [entry.value for entry in construct.entries]
    while pending:
        value = pending.pop()
        if isinstance(value, syntax.Map):
            yield value
            pending.extend(entry.value for entry in value.entries)
        elif isinstance(value, syntax.Array):
            pending.extend(value.items)


def _extensions(text: str, value: syntax.AnyValue) -> Iterator[tuple[Span, str]]:
    """The parts of a value that only this grammar reads, each with what it is."""
    pending: list[tuple[syntax.AnyValue, bool]] = [(value, False)]
    while pending:
        here, nested = pending.pop()
        span = here.span
        match here:
            case syntax.Array() if nested:
                yield span, "an array inside a value"
            case syntax.Map() if nested:
                yield span, "a map inside a value"
            case syntax.Array(items=()):
                yield span, "an empty array"
            case syntax.Array(items=items):
                pending.extend((item, True) for item in items)
            case syntax.Map(entries=entries):
                pending.extend((entry.value, True) for entry in entries)
            case syntax.Value(style="MEASUREMENT" | "range"):
                if _FRACTION_WITH_UNIT.search(text, span.start, span.end):
                    yield span, "a fraction with a unit"

"""Checks of the text: what is lost once it is read into trees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from ..reading import Construct, syntax
from ..source import Span
from ..suggestions import did_you_mean
from ..trees import is_edge, is_header
from .faults import Edit
from .fixes import removal, removal_of_entry
from .reading import Finding, Occurrence, Reading

_PASCAL = re.compile(r"[A-Z][A-Za-z0-9]*(\.[A-Z][A-Za-z0-9]*)*", re.ASCII)
_UPPER_SNAKE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", re.ASCII)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+", re.ASCII)
_FRACTION_WITH_UNIT = re.compile(r"[0-9]\.[0-9]+[A-Za-z]", re.ASCII)


def duplicate_key(reading: Reading) -> Iterator[Finding]:
    """A key given twice in a record or map: only its last value counts."""
    for each, construct in reading.written:
        for entries in _entry_lists(construct):
            for entry, last in _dead(entries):
                fix = removal_of_entry(each.text, entry.span)
                message = _comes_again(each, f"the key `{entry.key.text}`", last)
                yield _to_remove(message, each, entry.key, fix)


def duplicate_annotation_key(reading: Reading) -> Iterator[Finding]:
    """A key annotated twice: only its last value counts."""
    for each, construct in reading.written:
        if isinstance(construct, syntax.Annotated):
            for annotation, last in _dead(construct.annotations):
                fix = removal(each.text, annotation.span)
                message = _comes_again(each, f"the annotation `@{annotation.key.text}`", last)
                yield _to_remove(message, each, annotation.key, fix)


def _to_remove(message: str, each: Occurrence, key: syntax.Name, fix: tuple[Edit, ...]) -> Finding:
    return Finding(message, each.path, key.text, key.span, hint="remove it", fix=fix)


def label_case(reading: Reading) -> Iterator[Finding]:
    """Labels after ``:`` that are not PascalCase or, on an arrow, UPPER_SNAKE."""
    for each, construct in reading.written:
        on_arrow = isinstance(construct, syntax.Path)
        wanted, case = (_UPPER_SNAKE, "UPPER_SNAKE") if on_arrow else (_PASCAL, "PascalCase")
        for label in construct.subject.labels:
            name = label.name.text
            if each.text.startswith("::", label.start) or wanted.fullmatch(name):
                continue
            if is_edge(each.pattern) and _UPPER_SNAKE.fullmatch(name):
                continue  # a relationship in brackets
            better = _in_case(name, on_arrow=on_arrow)
            yield Finding(
                f"the label `{name}` is not {case}",
                each.path,
                "labels",
                label.name.span,
                hint=f"write `{better}`" if better else None,
            )


def not_portable(reading: Reading) -> Iterator[Finding]:
    """Values that tree-sitter-gram 0.3.11 does not read."""
    for each, construct in reading.written:
        for entry in construct.entries:
            for span, what in _extensions(each.text, entry.value):
                message = f"{what} is not portable to tree-sitter-gram"
                yield Finding(message, each.path, entry.key.text, span)


def unknown_kind(reading: Reading) -> Iterator[Finding]:
    """A header of a kind that the caller does not know; never when the caller names no kinds."""
    if not reading.kinds or not reading.patterns:
        return
    document, first = reading.document, reading.patterns[0]
    has_header = document.header is not None if document else is_header(first)
    kind = first.value.properties.get("kind")
    if has_header and kind is not None and str(kind) not in reading.kinds:
        hint = did_you_mean(str(kind), reading.kinds)
        yield Finding(f"the kind `{kind}` is not known", (0,), "kind", hint=hint)


def _in_case(name: str, *, on_arrow: bool) -> str | None:
    """The label in the wanted case, or None when it has no letters to start with."""
    words = _WORD.findall(name)
    cased = "_".join(map(str.upper, words)) if on_arrow else "".join(map(str.capitalize, words))
    return cased if (_UPPER_SNAKE if on_arrow else _PASCAL).fullmatch(cased) else None


def _entry_lists(construct: Construct) -> Iterator[Sequence[syntax.Entry]]:
    """The entries of a construct's record and of every map in its values."""
    if record := construct.subject.record:
        yield record.entries
    pending = [entry.value for entry in construct.entries]
    while pending:
        value = pending.pop()
        if isinstance(value, syntax.Map):
            yield value.entries
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


# --- keys given twice

_Keyed = TypeVar("_Keyed", syntax.Entry, syntax.Annotation)


def _dead(entries: Sequence[_Keyed]) -> Iterator[tuple[_Keyed, _Keyed]]:
    """Each entry whose key comes again, with the entry that counts."""
    last = {entry.key.text: entry for entry in entries}
    for entry in entries:
        if last[entry.key.text] is not entry:
            yield entry, last[entry.key.text]


def _comes_again(each: Occurrence, what: str, last: syntax.Entry | syntax.Annotation) -> str:
    assert each.source is not None
    return f"{what} is given again at {each.source.line_and_column(last.key.start)}, which counts"

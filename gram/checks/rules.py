"""The checks of the notation: of names, and of the text where trees say less than it does.

A pattern with labels, properties or elements defines its name; a bare name only refers to it.
Within a scope a name has one definition.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

from attrs import define, field

from .. import trees
from ..diagnostics import Diagnostic, Edit
from ..documents import Document
from ..reading import Construct, construct_of, lexer, spans_in_text, syntax
from ..source import Source, Span
from ..trees import Pattern, TreePath, is_edge, is_header, is_reference
from ..words import did_you_mean

T = TypeVar("T")


class Occurrence(trees.Scoped):
    """A pattern in its place, with its text."""

    @property
    def source(self) -> Source | None:
        """The text it was read from, or None."""
        place = trees.read_from(self.pattern)
        return place[0] if place else None

    @property
    def extent(self) -> tuple[str, int, int]:
        """The text it was read from, and its start and end there; an empty text if it was made."""
        source, start, end = trees.read_from(self.pattern) or (None, 0, 0)
        return source.text if source else "", start, end

    @cached_property
    def construct(self) -> Construct | None:
        """Its construct, or None when it was not read from a text."""
        return construct_of(self.pattern)

    @property
    def is_bare(self) -> bool:
        """Whether it is written as a bare name."""
        text, start, _ = self.extent
        return text[start : start + 1] not in ("", "(", "[", "{", "@")

    @property
    def repeats_keys(self) -> bool:
        """Whether a key comes twice in its text or in that of its elements."""
        _, start, end = self.extent
        repeats = self.source.repeats if self.source else []
        return bisect_left(repeats, start) < bisect_left(repeats, end)


@define(eq=False, slots=False)
class Reading:
    """The trees to check, with the document they were read from when there is one.

    Their syntax is found in the texts that they were read from.

    Args:
        patterns: the trees.
        document: the document that says them.
        scopes: which scope the names below a pattern belong to.
        kinds: the header kinds that are known; without any, every kind is.
        within: the paths to the patterns to judge; None for all. The others are only looked at
            for what they define.
    """

    patterns: tuple[Pattern, ...]
    document: Document | None = None
    scopes: trees.Scopes = trees.one_scope
    kinds: Collection[str] = ()
    within: Collection[TreePath] | None = None
    _made: dict[Callable[[Reading], Any], Any] = field(factory=dict, init=False, repr=False)

    @cached_property
    def occurrences(self) -> tuple[Occurrence, ...]:
        """Every pattern, in the order of the trees."""
        return tuple(trees.scoped(self.patterns, self.scopes, Occurrence))

    def written(
        self, may_matter: Callable[[Occurrence], bool]
    ) -> Iterator[tuple[Occurrence, Construct]]:
        """Judged patterns for which ``may_matter`` is true, with their constructs.

        Constructs are read for these alone. A node shared by two hops comes once.
        """
        seen: set[tuple[Source | None, Span]] = set()
        for each in self.occurrences:
            if may_matter(each) and self.judges(each.path) and each.construct is not None:
                place = each.source, each.construct.span
                if place not in seen:
                    seen.add(place)
                    yield each, each.construct

    @cached_property
    def _by_path(self) -> dict[TreePath, Occurrence]:
        return {each.path: each for each in self.occurrences}

    def once(self, make: Callable[[Reading], T]) -> T:
        """The result of a function of this reading, computed once for all the checks."""
        if make not in self._made:
            self._made[make] = make(self)
        made: T = self._made[make]
        return made

    def judges(self, path: TreePath) -> bool:
        """Whether the pattern at a path is to be judged."""
        within = self.within
        if within is None or path[:1] in within:
            return True
        return any(path[:length] in within for length in range(2, len(path) + 1))

    def scopes_from(self, scope: TreePath) -> Iterator[TreePath]:
        """A scope and those around it, from the inside out."""
        return trees.scopes_from(scope, self._by_path)

    def place(
        self, path: TreePath, part: str | None = None, keys: tuple[str, ...] = ()
    ) -> tuple[Source, Span] | None:
        """The text and the span of a pattern or of a part of it; None when it was not read."""
        here = self._by_path.get(path)
        spans = None if here is None else spans_in_text(here.pattern)
        if here is None or here.source is None or spans is None:
            return None
        source = here.source
        if part is not None and keys:
            return source, spans.value(part, *keys)
        return source, spans.part_or_subject(part)

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """The texts that the patterns were read from, in the order of the trees."""
        return tuple(dict.fromkeys(each.source for each in self.occurrences if each.source))

    def cited(self, path: TreePath) -> str:
        """The place of a pattern, for a message: line and column, or its path.

        Where the patterns were read from several files, the place names its file.
        """
        place = self.place(path, "identity")
        if place is None:
            return ".".join(map(str, path))
        source, span = place
        several = len(self.sources) > 1
        return source.place(span.start) if several else source.line_and_column(span.start)


_MOST_HINTS = 50  # looking for similar names costs more than all the checks together


def duplicate_definition(reading: Reading) -> Iterator[Diagnostic]:
    """A name defined twice in a scope, with other labels, properties or elements."""
    for first, again in _second_definitions(reading):
        different = _differences(first, again)
        if different and not _is_inconsistent(first, again):
            where = reading.cited(first.path)
            message = f"`{again.name}` is defined at {where} with other {' and '.join(different)}"
            yield Diagnostic.found(message, again.path, "identity")


def inconsistent_definition(reading: Reading) -> Iterator[Diagnostic]:
    """A relationship's name used again for other ends, or for a bracket of another kind."""
    for first, again in _second_definitions(reading):
        if _is_inconsistent(first, again):
            where = reading.cited(first.path)
            message = f"`{again.name}` is {_shape(first)} at {where}, but {_shape(again)} here"
            yield Diagnostic.found(message, again.path, "identity")


def self_reference(reading: Reading) -> Iterator[Diagnostic]:
    """A pattern that is its own element."""
    for each in reading.occurrences:
        for index, element in enumerate(each.pattern.elements):
            if element.value.identity == each.name and is_reference(element):
                message = f"`{each.name}` is an element of itself"
                yield Diagnostic.found(message, (*each.path, index), "identity")


def dangling_reference(reading: Reading) -> Iterator[Diagnostic]:
    """A bare name among elements, where no pattern in scope has this name."""
    names: dict[TreePath, set[str]] = defaultdict(set)
    for each in reading.occurrences:
        if each.name and not each.is_bare:
            names[each.scope].add(each.name)
    hints = 0
    for each in reading.occurrences:
        if not each.is_bare:
            continue
        visible = [names[scope] for scope in reading.scopes_from(each.scope)]
        if any(each.name in known for known in visible):
            continue
        hint = did_you_mean(each.name, set().union(*visible)) if hints < _MOST_HINTS else None
        hints += 1
        yield Diagnostic.found(
            f"nothing here is named `{each.name}`", each.path, "identity", hint=hint
        )


def label_sets_differ(reading: Reading) -> Iterator[Diagnostic]:
    """A name with other labels in another scope; within a scope that is a duplicate definition."""
    first: dict[str, Occurrence] = {}
    for each in reading.occurrences:
        labels = each.pattern.value.labels
        if not each.name or not labels or each.is_private:
            continue
        known = first.setdefault(each.name, each)
        if known.scope != each.scope and known.pattern.value.labels != labels:
            other = _labels(known.pattern.value.labels)
            where = reading.cited(known.path)
            message = f"`{each.name}` is labelled {_labels(labels)} here and {other} at {where}"
            yield Diagnostic.found(message, each.path, "labels")


def members(elements: Iterable[Pattern]) -> list[object]:
    """What definitions are compared by: the name of each element, or an unnamed element itself."""
    return [element.value.identity or element for element in elements]


def _second_definitions(reading: Reading) -> Iterator[tuple[Occurrence, Occurrence]]:
    """Each further definition of a name, with the first one in its scope."""
    first: dict[tuple[TreePath, str], Occurrence] = {}
    for each in reading.occurrences:
        subject = each.pattern.value
        if subject.identity and (subject.labels or subject.properties or each.pattern.elements):
            known = first.setdefault((each.scope, each.name), each)
            if known is not each:
                yield known, each


def _differences(first: Occurrence, again: Occurrence) -> list[str]:
    one, other = first.pattern.value, again.pattern.value
    different = ["labels"] if one.labels != other.labels else []
    # a subject's equality is exact where that of a PMap is not: 1 and 1.0 differ
    if one != other and (one.labels == other.labels or one.properties != other.properties):
        different.append("properties")
    if members(first.pattern.elements) != members(again.pattern.elements):
        different.append("elements")
    return different


def _is_inconsistent(first: Occurrence, again: Occurrence) -> bool:
    """Whether one is a relationship, and the other has elements that are not its ends."""
    if not (is_edge(first.pattern) or is_edge(again.pattern)):
        return False
    both_have_elements = bool(first.pattern.elements and again.pattern.elements)
    return both_have_elements and members(first.pattern.elements) != members(again.pattern.elements)


def _shape(each: Occurrence) -> str:
    elements = each.pattern.elements
    if not is_edge(each.pattern):
        return f"a bracket of {len(elements)}"
    left, right = (element.value.identity for element in elements)
    return f"a relationship from `{left}` to `{right}`"


def _labels(labels: frozenset[str]) -> str:
    return "".join(f":{label}" for label in sorted(labels))


_PASCAL = re.compile(r"[A-Z][A-Za-z0-9]*(\.[A-Z][A-Za-z0-9]*)*", re.ASCII)
_UPPER_SNAKE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", re.ASCII)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+", re.ASCII)
_FRACTION_WITH_UNIT = re.compile(r"[0-9]\.[0-9]+[A-Za-z]", re.ASCII)


def duplicate_key(reading: Reading) -> Iterator[Diagnostic]:
    """A key given twice in a record or map: only its last value counts."""
    for each, construct in reading.written(lambda each: each.repeats_keys):
        annotated = construct.entries if isinstance(construct, syntax.Annotated) else ()
        for record in _records([construct.subject, *annotated]):
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


def _records(parts: Iterable[syntax.Extent]) -> Iterator[syntax.Record | syntax.Map]:
    """The records and maps among parts of a construct and in them."""
    for part in parts:
        if isinstance(part, syntax.Record | syntax.Map):
            yield part
        yield from _records(part.children)


def _extensions(
    text: str, value: syntax.AnyValue, *, nested: bool = False
) -> Iterator[tuple[Span, str]]:
    """The parts of a value that only this grammar reads, each with what it is."""
    match value:
        case syntax.Array() if nested:
            yield value.span, "an array inside a value"
        case syntax.Map() if nested:
            yield value.span, "a map inside a value"
        case syntax.Array(items=()):
            yield value.span, "an empty array"
        case syntax.Array(items=items):
            for item in items:
                yield from _extensions(text, item, nested=True)
        case syntax.Map(entries=entries):
            for entry in entries:
                yield from _extensions(text, entry.value, nested=True)
        case syntax.Value(style="MEASUREMENT" | "range"):
            if _FRACTION_WITH_UNIT.search(text, *value.span):
                yield value.span, "a fraction with a unit"

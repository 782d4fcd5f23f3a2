"""A text as merging sees it: parts in lists with their comments, and lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple, TypeAlias

from attrs import define, frozen

from ..documents import Document
from ..editing import ElementList, ListElement, end_of_head, list_of
from ..reading import lexer, syntax
from ..source import Span
from ..trees import exact

Key: TypeAlias = tuple[int, Hashable]
"""What a part is called in its list; parts are in the order of the numbers."""


@define(eq=False)
class Group(syntax.Extent):
    """Constructs side by side that the grammar has no construct for.

    Attributes:
        kind: ``document``, ``labels`` or ``elements``.
        parts: the constructs.
    """

    kind: str
    parts: tuple[syntax.Extent, ...]


class Slot(NamedTuple):
    """A part with the blanks and comments around it: before it, before its comma, after it."""

    part: Part
    before: str
    before_comma: str
    after: str


class Inside:
    """What is in a part, in the order of the text.

    Attributes:
        opener, closer: what is written before and after all the rest.
        head, tail: the blanks and comments beside them.
        slots: the parts.
        keys: the key of each part; None for one that has to be matched.
        commas: whether commas separate the parts.
        arrows: of a path, the arrow after each node but the last.
    """

    def __init__(
        self,
        whole: syntax.Extent,
        places: ElementList,
        parts: Sequence[syntax.Extent],
        keys: Sequence[Key | None],
        arrows: Sequence[Part] = (),
    ) -> None:
        text, self.commas = places.text, places.commas
        self.opener, self.head = text[whole.start : places.head.start], text[slice(*places.head)]
        self.tail, self.closer = text[slice(*places.tail)], text[places.tail.end : whole.end]
        self.keys, self.arrows = keys, arrows
        self.slots = [
            Slot(Part(text, part), *(text[slice(*each)] for each in (at[0], at[2], at[4])))
            for part, at in zip(parts, places.elements, strict=True)
        ]


@frozen(eq=False)
class Part:
    """A construct, or a group of them, in a text.

    Attributes:
        text: the whole text.
        extent: the construct.
    """

    text: str
    extent: syntax.Extent

    @property
    def spelled(self) -> str:
        """Its text."""
        return self.text[slice(*self.extent.span)]

    @property
    def kind(self) -> str:
        """Which construct it is; only parts of one kind are merged part by part."""
        return getattr(self.extent, "kind", "") or type(self.extent).__name__

    @cached_property
    def inside(self) -> Inside | None:
        """The parts in it, or None when it is not merged part by part."""
        return _inside(self.text, self.extent)

    @cached_property
    def says(self) -> object:
        """What it means, whatever its layout."""
        match self.extent:
            case syntax.Construct(pattern=pattern):
                return pattern
            case syntax.Value(value=value):
                return exact(value)
            case syntax.Entry(key=key, value=value):
                return key.text, Part(self.text, value).says
            case syntax.Label(name=syntax.Name(text=text)) | syntax.Name(text=text):
                return text
            case syntax.SubjectPart(subject=subject):
                return subject
            case syntax.Arrow(subject=subject, tail_end=tail, head_start=head) as arrow:
                return self.text[arrow.start : tail], subject.subject, self.text[head : arrow.end]
            case Group() | syntax.Record() if self.inside:
                return tuple([slot.part.says for slot in self.inside.slots])
        return "".join(self.spelled.split())

    def is_as(self, other: Part) -> bool:
        """Whether another part means the same and has the same comments."""
        if self.spelled == other.spelled:
            return True
        return self.says == other.says and self._comments == other._comments

    @property
    def _comments(self) -> list[str]:
        return [self.text[slice(*each)] for each in lexer.comments(self.text, *self.extent.span)]


def document_part(document: Document) -> Part:
    """All of a document."""
    text = document.text
    return Part(text, Group(0, len(text), "document", document.items))


def _inside(text: str, whole: syntax.Extent) -> Inside | None:
    start, end, head, commas = whole.start, whole.end, None, False
    keys: Sequence[Key | None] = ()
    parts: Sequence[syntax.Extent] = ()
    match whole:
        case Group(kind="document", parts=parts):
            start = lexer.text_start(text)
            head = end_of_head(text, start, parts[0].start if parts else end)
            keys = [_FIRST if isinstance(each, syntax.Header) else None for each in parts]
        case Group(kind="labels", parts=parts):
            keys = _named(each.name for each in parts if isinstance(each, syntax.Label))
        case Group(parts=parts):
            start, keys, commas = start + 1, [None] * len(parts), True
        case syntax.Record(entries=entries) | syntax.Map(entries=entries):
            start, parts, end, commas = start + 1, entries, end - 1, True
            keys = _named(each.key for each in entries)
        case syntax.Array(items=parts):
            start, keys, end, commas = start + 1, [None] * len(parts), end - 1, True
        case syntax.Header(subject=syntax.SubjectPart(record=syntax.Record() as record)):
            return _inside(text, record)
        case syntax.Bracket(subject=subject, bar=bar, elements=elements):
            below = () if bar is None else (Group(bar, end - 1, "elements", elements),)
            start, parts, end = start + 1, (*_subject_parts(subject), *below), end - 1
        case syntax.Node(subject=subject):
            start, parts, end = start + 1, _subject_parts(subject), end - 1
        case syntax.SubjectPart():
            parts = _subject_parts(whole)
        case syntax.Arrow(subject=subject, bracketed=True):
            start, parts, end = subject.start, (subject,), subject.end
        case syntax.Entry(value=value):
            start, parts, end = value.start, (value,), value.end
        case syntax.Annotated(identified=identified, annotations=annotations, body=body):
            first = (identified,) if identified else ()
            parts = (*first, *annotations, body)
            keys = [*[_FIRST] * len(first), *_named((each.key for each in annotations), 1), (2, "")]
        case syntax.Path():
            return _path(text, whole)
        case _:
            return None
    keys = keys or [(_RANKS.get(Part(text, part).kind, 0), "") for part in parts]
    places = list_of(text, start, parts, end, commas=commas, head=head)
    return Inside(whole, places, parts, keys)


_FIRST: Key = (0, "")
_RANKS = {"Name": 0, "labels": 1, "Record": 2, "elements": 3}


def _subject_parts(subject: syntax.SubjectPart) -> tuple[syntax.Extent, ...]:
    labels = subject.labels
    group = (Group(labels[0].start, labels[-1].end, "labels", labels),) if labels else ()
    return tuple(part for part in (subject.identity, *group, subject.record) if part)


def _path(text: str, path: syntax.Path) -> Inside:
    """A path as a list of its nodes, with the arrows where other lists have commas."""
    elements: list[ListElement] = []
    at, nothing = path.start, Span(path.end, path.end)
    for node, arrow in zip(path.nodes, (*path.arrows, None), strict=True):
        to_arrow = Span(node.end, lexer.trivia_end(text, node.end)) if arrow else nothing
        elements.append(ListElement(Span(at, node.start), node.span, to_arrow, False, nothing))
        at = arrow.end if arrow else path.end
    start = Span(path.start, path.start)
    places = ElementList(text, start, tuple(elements), nothing, commas=False)
    arrows = [Part(text, each) for each in path.arrows]
    return Inside(path, places, path.nodes, [None] * len(path.nodes), arrows)


def _named(names: Iterable[syntax.Name], rank: int = 0) -> list[Key | None]:
    """Keys from names; a name that comes again gets another key."""
    found: list[Key | None] = []
    counts: Counter[str] = Counter()
    for name in names:
        counts[name.text] += 1
        found.append((rank, (name.text, counts[name.text])))
    return found


_Lines: TypeAlias = tuple[str, ...]


def merge_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> _Lines | None:
    """Lines with the changes of both sides; None when these touch each other.

    >>> merge_lines("abc", "xbc", "abcd")
    ('x', 'b', 'c', 'd')
    """
    merged: _Lines = ()
    at = -1  # where the last change ends
    for start, end, lines in sorted({*_changes(base, ours), *_changes(base, theirs)}):
        if start <= at:
            return None
        merged += (*base[max(at, 0) : start], *lines)
        at = end
    return (*merged, *base[max(at, 0) :])


def _changes(base: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, _Lines]]:
    """The place of each change in the lines of the base, and what comes there."""
    changes = SequenceMatcher(None, base, new, autojunk=False).get_opcodes()
    return [
        (start, end, tuple(new[first:last]))
        for kind, start, end, first, last in changes
        if kind != "equal"
    ]

"""A text as merging sees it: parts in lists, each with the blanks and comments around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from attrs import define, frozen

from ..documents import Document
from ..editing import ElementList, ListElement, end_of_head, list_of
from ..reading import comments, syntax, text_start, trivia_end
from ..source import Span
from ..trees import exact

Key: TypeAlias = tuple[int, Hashable]
"""What a part is called in its list; parts are in the order of the numbers."""


@define(eq=False)
class Group(syntax.Extent):
    """Constructs beside each other that are no construct of the grammar by themselves.

    Attributes:
        kind: ``document`` or ``elements``.
        parts: the constructs.
    """

    kind: str
    parts: tuple[syntax.Extent, ...]


@define(eq=False)
class Labels(syntax.Extent):
    """The labels of a subject, beside each other."""

    labels: tuple[syntax.Label, ...]


class Inside(NamedTuple):
    """What is in a part.

    Attributes:
        list: the places of the parts, with the blanks and comments around each.
        parts: the parts.
        keys: the key of each part; None for one that has to be matched.
        arrows: of a path, the arrow after each node but the last.
    """

    list: ElementList
    parts: Sequence[Part]
    keys: Sequence[Key | None]
    arrows: Sequence[Part] = ()


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
        """What is written there."""
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
    def opener(self) -> str:
        """What is written before the parts in it."""
        assert self.inside is not None
        return self.text[self.extent.start : self.inside.list.head.start]

    @cached_property
    def closer(self) -> str:
        """What is written after the parts in it."""
        assert self.inside is not None
        return self.text[self.inside.list.tail.end : self.extent.end]

    @cached_property
    def says(self) -> object:
        """What it means, whatever its layout."""
        match self.extent:
            case syntax.Construct(pattern=pattern):
                return pattern
            case syntax.Value(value=value) if value is not None:
                return exact(value)
            case syntax.Entry(key=key, value=value):
                return key.text, Part(self.text, value).says
            case syntax.Label(name=name):
                return name.text
            case syntax.Name(text=text):
                return text
            case syntax.SubjectPart(subject=subject):
                return subject
            case syntax.Arrow(subject=subject, tail_end=tail, head_start=head) as arrow:
                return self.text[arrow.start : tail], subject.subject, self.text[head : arrow.end]
            case Group() | Labels() | syntax.Record() if self.inside:
                return tuple([part.says for part in self.inside.parts])
        return "".join(self.spelled.split())

    def is_as(self, other: Part) -> bool:
        """Whether another part differs from it in its layout at most."""
        if self.spelled == other.spelled:
            return True
        return self.says == other.says and self._comments == other._comments

    @property
    def _comments(self) -> list[str]:
        return [self.text[slice(*each)] for each in comments(self.text, *self.extent.span)]


def document_part(document: Document) -> Part:
    """All of a document."""
    text = document.text
    return Part(text, Group(0, len(text), "document", document.items))


def _inside(text: str, whole: syntax.Extent) -> Inside | None:
    start, end = whole.start, whole.end
    parts: Sequence[syntax.Extent]
    match whole:
        case Group(kind="document", parts=parts):
            start = text_start(text)
            head = end_of_head(text, start, parts[0].start if parts else end)
            places = list_of(text, start, parts, end, commas=False, head=head)
            return _read(places, parts, [_FIRST if _is_header(each) else None for each in parts])
        case Labels(labels=labels):
            keys = _named(each.name for each in labels)
            return _read(list_of(text, start, labels, end, commas=False), labels, keys)
        case Group(parts=parts):
            return _read(list_of(text, start + 1, parts, end), parts)
        case syntax.Record(entries=entries) | syntax.Map(entries=entries):
            keys = _named(each.key for each in entries)
            return _read(list_of(text, start + 1, entries, end - 1), entries, keys)
        case syntax.Array(items=parts, value=value) if value is not None:
            return _read(list_of(text, start + 1, parts, end - 1), parts)
        case syntax.Header(record=record):
            return _inside(text, record)
        case syntax.Bracket(subject=subject, bar=bar, elements=elements):
            below = () if bar is None else (Group(bar, end - 1, "elements", elements),)
            return _in_order(text, start + 1, (*_subject_parts(subject), *below), end - 1)
        case syntax.Node(subject=subject):
            return _in_order(text, start + 1, _subject_parts(subject), end - 1)
        case syntax.SubjectPart():
            return _in_order(text, start, _subject_parts(whole), end)
        case syntax.Arrow(subject=subject, bracketed=True):
            return _in_order(text, subject.start, (subject,), subject.end)
        case syntax.Entry(value=value):
            return _in_order(text, value.start, (value,), value.end)
        case syntax.Annotated(identified=identified, annotations=annotations, body=body):
            first = (identified,) if identified else ()
            parts = (*first, *annotations, body)
            keys = [*[_FIRST] * len(first), *_named((each.key for each in annotations), 1), (2, "")]
            return _read(list_of(text, start, parts, end, commas=False), parts, keys)
        case syntax.Path():
            return _path(text, whole)
    return None


_FIRST: Key = (0, "")
_RANKS = {"Name": 0, "Labels": 1, "Record": 2, "elements": 3}


def _is_header(item: syntax.Extent) -> bool:
    return isinstance(item, syntax.Header)


def _subject_parts(subject: syntax.SubjectPart) -> tuple[syntax.Extent, ...]:
    labels = subject.labels
    group = (Labels(labels[0].start, labels[-1].end, labels),) if labels else ()
    return tuple(part for part in (subject.identity, *group, subject.record) if part)


def _in_order(text: str, start: int, parts: Sequence[syntax.Extent], end: int) -> Inside:
    """The parts of a construct, each of another kind."""
    kinds = [Part(text, part).kind for part in parts]
    keys = [(_RANKS.get(kind, 0), "") for kind in kinds]
    return _read(list_of(text, start, parts, end, commas=False), parts, keys)


def _path(text: str, path: syntax.Path) -> Inside:
    """A path as a list of its nodes; each arrow has the place of a comma."""
    elements: list[ListElement] = []
    at, nothing = path.start, Span(path.end, path.end)
    for node, arrow in zip(path.nodes, (*path.arrows, None), strict=True):
        to_arrow = Span(node.end, trivia_end(text, node.end)) if arrow else nothing
        before = Span(at, node.start)
        elements.append(ListElement(before, node.span, to_arrow, bool(arrow), nothing))
        at = arrow.end if arrow else path.end
    places = ElementList(text, Span(path.start, path.start), tuple(elements), nothing)
    return _read(places, path.nodes)._replace(arrows=[Part(text, each) for each in path.arrows])


def _named(names: Iterable[syntax.Name], rank: int = 0) -> list[Key | None]:
    """Keys that are names; of one given again, the second is another key."""
    found: list[Key | None] = []
    counts: Counter[str] = Counter()
    for name in names:
        counts[name.text] += 1
        found.append((rank, (name.text, counts[name.text])))
    return found


def _read(
    places: ElementList, parts: Sequence[syntax.Extent], keys: Sequence[Key | None] = ()
) -> Inside:
    return Inside(places, [Part(places.text, part) for part in parts], keys or [None] * len(parts))

"""A document: a source text together with the patterns it says and the place of each part."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

from .parser import parse_items
from .pattern import Pattern
from .serializer import Style
from .source import Source, Span
from .spans import Construct, Spans, elements_of, span_of, spans_of
from .syntax import Header, Item

_documents: weakref.WeakKeyDictionary[Source, weakref.ref[Document]]


class Document:
    """A text with its patterns.

    Attributes:
        source: the text and the name it was read under.
        items: the syntax of each top-level pattern.
        patterns: the top-level patterns, a header first, as `gram.loads` gives them.
        style: how new patterns are written into it, or None for the plain way.
    """

    __slots__ = ("__weakref__", "items", "patterns", "source", "style")

    def __init__(self, source: Source, *, style: Style | None = None) -> None:
        self.source = source
        self.style = style
        self.items: tuple[Item, ...] = parse_items(source)
        self.patterns: tuple[Pattern, ...] = tuple(item.pattern for item in self.items)
        _documents[source] = weakref.ref(self)

    @property
    def text(self) -> str:
        """The text, byte order mark and line breaks included."""
        return self.source.text

    @property
    def filename(self) -> str | None:
        """The name the text was read under, or None."""
        return self.source.filename

    @property
    def header(self) -> Pattern | None:
        """The pattern of the record at the top, or None."""
        if self.items and isinstance(self.items[0], Header):
            return self.patterns[0]
        return None

    def spans(self, path: Sequence[int]) -> Spans:
        """The places of the parts of the pattern at ``path``: top-level index, element, ….

        Raises:
            LookupError: no pattern stands there.
        """
        if not path:
            raise LookupError("a path begins with the index of a top-level pattern")
        construct: Construct = self.items[path[0]]
        for index in path[1:]:
            construct = elements_of(construct)[index]
        return spans_of(construct)

    def path_at(self, span: Span) -> tuple[int, ...]:
        """The path of the pattern that stands at ``span``; of a shared node, the first.

        Raises:
            LookupError: no pattern stands there.
        """
        pending: list[tuple[tuple[int, ...], Construct]] = [
            ((index,), item) for index, item in enumerate(self.items)
        ]
        while pending:
            path, construct = pending.pop()
            if span_of(construct) == span:
                return path
            if construct.start <= span.start and span.end <= construct.end:
                below = list(enumerate(elements_of(construct)))
                pending.extend(((*path, index), element) for index, element in reversed(below))
        raise LookupError(f"no pattern stands at {span}")

    def __repr__(self) -> str:
        name = f"{self.filename!r}, " if self.filename is not None else ""
        return f"<Document {name}{len(self.patterns)} patterns>"


_documents = weakref.WeakKeyDictionary()


def document_of(source: Source) -> Document:
    """The document read from a source; read again when nobody holds it any more."""
    held = _documents.get(source)
    return (held and held()) or Document(source)


def parse(text: str, filename: str | None = None, *, style: Style | None = None) -> Document:
    """Read a text with the places of all its parts.

    Args:
        text: gram notation.
        filename: the name that errors and faults cite.
        style: how new patterns are written into the document, see `gram.dumps`.

    Raises:
        GramDecodeError: the text is not gram.

    >>> document = parse("(a:Person {age: 30})")
    >>> document.spans((0,)).values["age"]
    Span(start=16, end=18)
    """
    return Document(Source(text, filename), style=style)

"""A document: a source text together with the patterns it says and the place of each part."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .lossless.pieces import Piece, text_of
from .parser import parse_items
from .pattern import Pattern, all_patterns
from .serializer import Style
from .source import Source, Span
from .spans import Construct, Spans, elements_of, span_of, spans_of
from .syntax import Header, Item
from .trivia import text_start, trivia_end

if TYPE_CHECKING:
    from .lossless.changes import Change

_documents: weakref.WeakKeyDictionary[Source, weakref.ref[Document]]


class Document:
    """A text with its patterns.

    A document that was read keeps its source. One that `replace` made keeps the document it was
    made from and what its text is made of, and puts the text together when it is asked for.

    Attributes:
        filename: the name the text was read under, or None.
        patterns: the top-level patterns, a header first, as `gram.loads` gives them.
        style: how new patterns are written into it, or None for the plain way.
        rescued: the indices of patterns that `replace` had to write canonically, because their
            rewritten text did not read back as them: always ``()``, or `replace` has a fault.
    """

    __slots__ = (
        "__weakref__",
        "_items",
        "_paths",
        "_pieces",
        "_read",
        "_source",
        "filename",
        "patterns",
        "rescued",
        "style",
    )

    def __init__(self, source: Source, *, style: Style | None = None) -> None:
        self._items: tuple[Item, ...] | None = parse_items(source)
        self._source: Source | None = source
        self._paths: dict[Span, tuple[int, ...]] | None = None
        self._read: Document = self
        self._pieces: tuple[Piece, ...] = ()
        self.filename = source.filename
        self.patterns: tuple[Pattern, ...] = tuple(item.pattern for item in self._items)
        self.rescued: tuple[int, ...] = ()
        self.style = style
        _documents[source] = weakref.ref(self)

    @property
    def text(self) -> str:
        """The text, byte order mark and line breaks included."""
        return self.source.text

    @property
    def source(self) -> Source:
        """The text and the name it was read under."""
        if self._source is None:
            text = text_of(self._pieces, self._read.text)
            self._source = Source(text, self.filename)
            _documents[self._source] = weakref.ref(self)
        return self._source

    @property
    def items(self) -> tuple[Item, ...]:
        """The syntax of each top-level pattern, with offsets of `text`."""
        if self._items is None:
            self._items = parse_items(self.source)
        return self._items

    @property
    def header(self) -> Pattern | None:
        """The pattern of the record at the top, or None."""
        if self.patterns and self._begins_with_header():
            return self.patterns[0]
        return None

    @property
    def changes(self) -> tuple[Change, ...]:
        """Where the text differs from the one that was read, in order; see `replace`."""
        from .lossless.changes import changes_of

        return () if self._read is self else changes_of(self._pieces, self._read.text)

    def replace(self, patterns: Iterable[Pattern]) -> Document:
        """The document that says other patterns, changing no more of the text than they ask for.

        The new text is always made from the text that was read, however often patterns were
        replaced since: it depends on that text and on ``patterns`` alone. So replacing with
        what the document says gives the document itself, and replacing with what was read gives
        back its bytes. Comments, blanks, quotes, number bases, arrows and the order of keys stay
        wherever their pattern does; what is new is written in the document's style.

        Args:
            patterns: what the new document says, a header record first.

        Raises:
            GramEncodeError: ``patterns`` is no iterable of patterns.

        >>> from gram import Pattern, Subject, parse
        >>> document = parse("(a {n: 0x0F}) // first\\n(b)")
        >>> document.replace([Pattern(Subject("a", (), {"n": 16})), *document.patterns[1:]]).text
        '(a {n: 0x10}) // first\\n(b)'
        """
        wanted = all_patterns(patterns)
        if wanted == self.patterns:
            return self
        if wanted == self._read.patterns:
            return self._read
        from .lossless.replacement import replace  # ten modules that only an edit needs

        replacement = replace(self._read.text, self._read.items, wanted, self.style)
        edited = Document.__new__(Document)
        edited._items = edited._source = edited._paths = None
        edited._read, edited._pieces = self._read, replacement.pieces
        edited.filename, edited.patterns, edited.style = self.filename, wanted, self.style
        edited.rescued = replacement.rescued
        return edited

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
        if self._paths is None:
            self._paths = _paths_of(self.items)
        try:
            return self._paths[span]
        except KeyError:
            raise LookupError(f"no pattern stands at {span}") from None

    def _begins_with_header(self) -> bool:
        if self._items is not None:
            return isinstance(self._items[0], Header)
        for piece in self._pieces:
            begin = piece if isinstance(piece, str) else self._read.text[slice(*piece)]
            at = trivia_end(begin, text_start(begin))
            if at < len(begin):
                return begin[at] == "{"
        return False

    def __repr__(self) -> str:
        name = f"{self.filename!r}, " if self.filename is not None else ""
        return f"<Document {name}{len(self.patterns)} patterns>"


_documents = weakref.WeakKeyDictionary()


def _paths_of(items: Iterable[Item]) -> dict[Span, tuple[int, ...]]:
    """The path of the pattern at each span; a node shared by two hops has that of the first."""
    paths: dict[Span, tuple[int, ...]] = {}
    pending: list[tuple[tuple[int, ...], Construct]] = [
        ((i,), item) for i, item in enumerate(items)
    ]
    pending.reverse()
    while pending:
        path, construct = pending.pop()
        paths.setdefault(span_of(construct), path)
        below = list(enumerate(elements_of(construct)))
        pending.extend(((*path, index), element) for index, element in reversed(below))
    return paths


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

"""A document: a source text together with the patterns it says and the place of each part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from .. import reading
from ..errors import NoPatternError, expect, expect_all
from ..reading import lexer
from ..showing import Shown
from ..source import Source
from ..trees import Pattern
from ..words import counted
from ..writing import Style

if TYPE_CHECKING:
    from ..editing import Change, ChangedPattern, Replacement


class Document(Shown):
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

    def __init__(self, source: Source, *, style: Style | None = None) -> None:
        expect(source, Source, "source", by="Document")
        self.source = source
        self._read: Document = self
        self._replacement: Replacement | None = None
        self.filename = source.filename
        self.patterns: tuple[Pattern, ...] = reading.parse_trees(source)
        self.rescued: tuple[int, ...] = ()
        self.style = style

    @property
    def text(self) -> str:
        """The text, byte order mark and line breaks included."""
        return self.source.text

    @cached_property
    def source(self) -> Source:
        """The text and the name it was read under."""
        assert self._replacement is not None, "one that was read has its source"
        return Source(self._replacement.text, self.filename)

    @cached_property
    def items(self) -> tuple[reading.Item, ...]:
        """The construct of each top-level pattern, with offsets of `text`."""
        return reading.parse_items(self.source)

    @property
    def header(self) -> Pattern | None:
        """The pattern of the record at the top, or None."""
        first = lexer.trivia_end(self.text, lexer.text_start(self.text))
        return self.patterns[0] if self.text.startswith("{", first) else None

    @property
    def changes(self) -> tuple[Change, ...]:
        """Where the text differs from the one that was read, in order; see `replace`."""
        return self._replacement.changes if self._replacement else ()

    def changed_since(self, before: Document | None = None) -> tuple[ChangedPattern, ...]:
        """The patterns that edits have changed themselves or put in, in the order of the text.

        Args:
            before: the document that was edited; by default the one that was read.

        >>> from gram import Pattern, Subject, loads, parse
        >>> document = parse("[a | (b), (c)]")
        >>> (a,) = document.patterns
        >>> edited = document.replace([Pattern(a.value, (*a.elements, *loads("(d)")))])
        >>> [(each.path, each.old is None) for each in edited.changed_since(document)]
        [((0,), False), ((0, 2), True)]
        """
        expect(before, (Document, type(None)), "before", by="changed_since")
        from ..editing import changed_patterns  # only an edit needs it

        return tuple(changed_patterns((before or self._read).patterns, self.patterns))

    def replace(self, patterns: Iterable[Pattern]) -> Document:
        """The document with other patterns, in which no more of the text changes than has to.

        The new text is always made from the text that was read, however often patterns were
        replaced since: it depends on that text and on ``patterns`` alone. So replacing with
        what the document says gives the document itself, and replacing with what was read gives
        back its bytes. Comments, blanks, quotes, number bases, arrows and the order of keys stay
        with their pattern; what is new is written in the document's style.

        Args:
            patterns: what the new document says, a header record first.

        >>> from gram import Pattern, Subject, parse
        >>> document = parse("(a {n: 0x0F}) // first\\n(b)")
        >>> document.replace([Pattern(Subject("a", (), {"n": 16})), *document.patterns[1:]]).text
        '(a {n: 0x10}) // first\\n(b)'
        """
        wanted = expect_all(patterns, Pattern, "patterns", by="replace")
        if wanted == self.patterns:
            return self
        if wanted == self._read.patterns:
            return self._read
        from ..editing import adopt, replace  # ten modules that only an edit needs

        wanted = adopt(self.patterns, wanted, self._read.source)
        replacement = replace(self._read.source, self._read.patterns, wanted, self.style)
        edited = Document.__new__(Document)
        edited._read, edited._replacement = self._read, replacement
        edited.filename, edited.patterns, edited.style = self.filename, wanted, self.style
        edited.rescued = replacement.rescued
        return edited

    def spans(self, path: Sequence[int]) -> reading.Spans:
        """The places of the parts of the pattern at ``path``: top-level index, element, ….

        Raises:
            NoPatternError: no pattern is at the path.
        """
        expect(path, Sequence, "path", by="spans")
        if not path:
            raise NoPatternError("a path begins with the index of a top-level pattern")
        below: Sequence[reading.Construct] = self.items
        for index in path:
            expect(index, int, "each step of path", by="spans")
            if not 0 <= index < len(below):
                raise NoPatternError(f"no pattern is at the path {tuple(path)}")
            construct = below[index]
            below = construct.elements
        return reading.Spans.of(construct)

    def __repr__(self) -> str:
        name = f"{self.filename!r}, " if self.filename is not None else ""
        return f"<Document {name}{counted(len(self.patterns), 'pattern')}>"


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
    expect(text, str, "text", by="parse")
    expect(filename, (str, type(None)), "filename", by="parse")
    expect(style, (Callable, type(None)), "style", by="parse")
    return Document(Source(text, filename), style=style)

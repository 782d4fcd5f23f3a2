"""The files that an editor has open: their texts as they are typed, and what was read of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from lsprotocol.types import Position, PositionEncodingKind, Range

import gram
from gram import Diagnostic, Document, Pattern, Source, Span, TreePath
from gram.editing import common_ends
from gram.reading import spans_in_text, tokens
from gram.trees import WHOLE, read_from
from lenses_ext import Project, load_project, parse_program
from lenses_ext.names import Program, Use, program_of, uses

LINE_ENDS = re.compile(r"\r\n|\n|\r")

_UNITS: dict[str, Callable[[str], int]] = {
    PositionEncodingKind.Utf8: lambda text: len(text.encode("utf-8", "surrogatepass")),
    PositionEncodingKind.Utf16: lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    PositionEncodingKind.Utf32: len,
}


class Positions:
    """Turns offsets of a text into an editor's positions, and back."""

    def __init__(self, text: str, encoding: str = PositionEncodingKind.Utf16) -> None:
        self.text = text
        self._units = len if text.isascii() else _UNITS[encoding]
        self._starts = [0, *(found.end() for found in LINE_ENDS.finditer(text))]

    def position(self, offset: int) -> Position:
        """The position of an offset."""
        line = bisect_right(self._starts, offset) - 1
        return Position(line, self._units(self.text[self._starts[line] : offset]))

    def range(self, span: Span) -> Range:
        """The range of a span."""
        return Range(self.position(span.start), self.position(span.end))

    def offset(self, position: Position) -> int:
        """The offset of a position; of one behind the end of its line, that end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[position.line]
        ends = (*self._starts[position.line + 1 :][:1], len(self.text))
        line = self.text[start : ends[0]].rstrip("\r\n")
        at = min(position.character, len(line))
        while self._units(line[:at]) > position.character:
            at -= 1
        return start + at

    def span(self, range_: Range) -> Span:
        """The span of a range."""
        return Span(self.offset(range_.start), self.offset(range_.end))


class OpenFile:
    """A text that is being edited.

    Args:
        path: where it is saved; None for one that has no file yet.
        last: what it meant when all of it could be read last; None where that never was.
    """

    def __init__(
        self, text: str, path: Path | None, encoding: str, last: Meaning | None = None
    ) -> None:
        self.text, self.path, self.last = text, path, last
        self.faults: tuple[Diagnostic, ...] = ()
        self.places = Positions(text, encoding)

    @cached_property
    def document(self) -> Document:
        """What can be read of it, with blanks instead of patterns that have a syntax error."""
        name = str(self.path) if self.path else None
        for text in filter(None, (self.text, self._without_changes())):
            with suppress(gram.GramDecodeError):
                return parse_program(text, name)
        return parse_program(gram.readable(self.text), name)

    def _without_changes(self) -> str | None:
        """The text with blanks instead of the patterns that changed since all could be read.

        Looking for what can be read takes several times as long.
        """
        if self.last is None:
            return None
        lines = self.text.splitlines(keepends=True)
        same, rest = common_ends(self.last.file.text.splitlines(keepends=True), lines)
        starts = [at for at, line in enumerate(lines) if line[0] in "([@{"]
        below = len(lines) - rest
        first = max((at for at in starts if at <= same and at < below), default=0)
        last = min((at for at in starts if at >= below), default=len(lines))
        blank = (re.sub(r"\S", " ", line) for line in lines[first:last])
        return "".join([*lines[:first], *blank, *lines[last:]])

    @property
    def is_whole(self) -> bool:
        """Whether all of it can be read."""
        return self.document.text == self.text


class Meaning:
    """What a file and the files that it imports mean, as they are in the editor."""

    def __init__(self, file: OpenFile, others: Mapping[Path, OpenFile]) -> None:
        self.file = file
        self.program = Project.of(file.document)
        if file.path is not None:
            known = {path: each.document for path, each in others.items()}
            # an import that cannot be read is a fault of its own
            with suppress(gram.GramError, OSError):
                self.program = load_project(file.path, {**known, file.path: file.document})

    @cached_property
    def names(self) -> Program:
        """The definitions, by the scope that they are seen in."""
        return program_of(self.program, by="lsp")

    @cached_property
    def uses(self) -> tuple[tuple[Pattern, Use], ...]:
        """Every name that means a definition, with the pattern that has it."""
        patterns = self.names.patterns
        return tuple((gram.pattern_at(patterns, use.path), use) for use in uses(self.names))

    def place(self, pattern: Pattern, part: str) -> tuple[Source, Span] | None:
        """Where a part of a pattern is written."""
        read, spans = read_from(pattern), spans_in_text(pattern)
        return (read[0], spans.part_or_subject(part)) if read and spans else None

    def is_here(self, pattern: Pattern) -> bool:
        """Whether a pattern is written in the file itself."""
        read = read_from(pattern)
        return read is not None and read[0] is self.file.document.source

    def use_at(self, offset: int) -> tuple[Span, Use] | None:
        """The name at an offset of the file, and what it means."""
        for pattern, use in self.uses:
            if not self.is_here(pattern) or not _holds(pattern, offset):
                continue  # its place is not looked up, which takes a while
            place = self.place(pattern, use.part)
            if place is not None and place[1].start <= offset <= place[1].end:
                return place[1], use
        return None

    @property
    def both(self) -> Iterator[Meaning]:
        """What the file means, after what it meant before, where not all of it can be read."""
        if self.file.last is not None and not self.file.is_whole:
            yield self.file.last
        yield self

    def seen_at(self, offset: int) -> dict[str, Pattern]:
        """The agents, workflows and tools that are seen from an offset, by name."""
        paths = (path for path, _ in self.around(offset) if path in self.names.runnables)
        scope = max(paths, key=len, default=WHOLE)
        names = dict.fromkeys(self.names.names_seen(scope))
        return {name: self.names.meant(name, scope)[0].pattern for name in names}

    def around(self, offset: int) -> Iterator[tuple[TreePath, Pattern]]:
        """The patterns of the file around an offset, the outermost first, with their paths."""
        path, below = WHOLE, self.file.document.patterns
        while True:
            around = ((at, each) for at, each in enumerate(below) if _holds(each, offset))
            if (inner := next(around, None)) is None:
                return
            path, below = (*path, inner[0]), inner[1].elements
            yield path, inner[1]


def _holds(pattern: Pattern, offset: int) -> bool:
    place = read_from(pattern)
    return place is not None and place[1] <= offset <= place[2]


def levels_at(text: str, offset: int) -> list[list[str]]:
    """What is written before an offset on each level: outside, then in each bracket that is open.

    A level begins with its bracket, the one outside with "". Brackets inside are in it by their
    first mark, and the word that is being typed is in none.

    >>> levels_at("[a:Agent {n: (x)} | {mo", 23)
    [['', '['], ['[', 'a', ':', 'Agent', '{', '|', '{'], ['{']]
    """
    levels: list[list[str]] = [[""]]
    for token in tokens(text, 0, offset):
        spelling = text[token.start : token.end]
        if not spelling:
            break
        if spelling in ")]}":
            levels = levels[:-1] or [[""]]
        elif token.end < offset or spelling[0] in "([{|,:":
            levels[-1].append(spelling)
            if spelling in "([{":
                levels.append([spelling])
    return levels

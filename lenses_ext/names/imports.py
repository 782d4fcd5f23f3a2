"""Imports: the files that a file names in its header, whose definitions it sees.

``{imports: ["tools/search.gram", "../shared/desk.gram"]}`` names files by their paths from the file
itself. What these define at their top is seen in it, and not what they import themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pyrsistent import PVector

from gram import Diagnostic, Pattern, Span, TreePath, origin
from gram.reading import spans_in_text
from gram.trees import is_header

IMPORTS: Final = "imports"
"""The key of the header under which a file names those that it imports."""


class Import(NamedTuple):
    """An import of a file.

    Attributes:
        name: what the list of imports says; None where that is not a text.
        span: where it says so; None where the file was made.
        scope: the scope of the imported file, see `Files`; None where it was not read.
        fault: why it was not read.
    """

    name: str | None
    span: Span | None = None
    scope: TreePath | None = None
    fault: Diagnostic | None = None

    def refused(self, header: Pattern, code: str, message: str, hint: str | None = None) -> Import:
        """The import with what is wrong with it, placed in the header of its file."""
        read = origin(header)
        source = read.source if read else None
        fault = Diagnostic(code, "error", message, (IMPORTS,), self.span, hint, source)
        return self._replace(fault=fault)


def imports_of(patterns: Sequence[Pattern]) -> Iterator[Import]:
    """The imports that the header of a file lists; what is no list is one without a name."""
    if not patterns or not is_header(patterns[0]) or IMPORTS not in patterns[0].value.properties:
        return
    written = patterns[0].value.properties[IMPORTS]
    spans = spans_in_text(patterns[0])
    if not isinstance(written, PVector):
        yield Import(None, spans.value(IMPORTS) if spans else None)
        return
    for number, item in enumerate(written):
        name = str(item) if isinstance(item, str) and item else None
        yield Import(name, spans.value(IMPORTS, number) if spans else None)


def unread_imports(patterns: Sequence[Pattern]) -> Iterator[Import]:
    """The imports of a text by itself, for which no file is opened."""
    for each in imports_of(patterns):
        code, message, hint = NO_TEXT
        if each.name is not None:
            code, message = "open-import", f'"{each.name}" is imported, and a text opens no files'
            hint = "give the path of the file: load(path), load_project(path), gram COMMAND FILE"
        yield each.refused(patterns[0], code, message, hint)


NO_TEXT: Final = (
    "import-value",
    "imports are a list of paths of files",
    'write imports: ["tools/search.gram"]',
)
"""What is wrong with an import that names no file: the code, the message, a hint."""

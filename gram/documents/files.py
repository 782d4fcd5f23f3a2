"""Reading, writing and watching whole files."""

from __future__ import annotations

import codecs
import errno
import os
from collections.abc import Iterable
from io import IOBase
from pathlib import Path
from typing import IO, Any, TypeAlias, Union

from ..errors import GramDecodeError, expect
from ..trees import Pattern
from ..writing import Style, dumps
from .document import Document, parse
from .saving import resolved, write_atomically

PathOrFile: TypeAlias = Union[str, "os.PathLike[str]", IO[str], IO[bytes]]
"""A path, or a file that is open."""


def loads(text: str) -> tuple[Pattern, ...]:
    """The top-level patterns of a text, a header record first.

    Raises:
        GramDecodeError: the text is not gram.

    >>> [pattern.value.identity for pattern in loads("(a) [b | (c)]")]
    ['a', 'b']
    """
    expect(text, str, "text", by="loads")
    return parse(text).patterns


def loads_one(text: str) -> Pattern:
    """The one pattern of a text: the one beside a header, or a header that is alone.

    Raises:
        GramDecodeError: the text is not gram, or has no pattern or several.
    """
    expect(text, str, "text", by="loads_one")
    document = parse(text)
    rest = document.patterns[1:] if document.header is not None else document.patterns
    if len(rest) > 1 or not document.patterns:
        found = f"expected one pattern, found {len(rest) or 'none'}"
        at = document.items[-len(rest) + 1].start if rest else 0
        raise GramDecodeError(found, text, at)
    return (rest or document.patterns)[0]


def load_file(file: PathOrFile) -> tuple[Pattern, ...]:
    """The top-level patterns of a file, given as a path or an open file (text or binary).

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: it is not UTF-8, or not gram; the error names the file.
    """
    _expect_file(file, "read", by="load_file")
    return parse_file(file).patterns


def parse_file(file: PathOrFile, *, style: Style | None = None) -> Document:
    """The document in a file, given as a path or an open file (text or binary).

    Line breaks and a byte order mark are kept as they are.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: it is not UTF-8, or not gram; the error names the file.
    """
    _expect_file(file, "read", by="parse_file")
    if isinstance(file, str | os.PathLike):
        filename: str | None = os.fspath(file)
        content: str | bytes = resolved(Path(file)).read_bytes()
    else:
        name = getattr(file, "name", None)
        filename = name if isinstance(name, str) else None
        try:
            content = file.read()
        except UnicodeDecodeError as error:
            content = bytes(error.object)
    text = content if isinstance(content, str) else decode(content, filename)
    return parse(text, filename, style=style)


_MARKS = {  # the longer first, for one begins as the other does
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""How texts in other encodings begin."""


def decode(content: bytes, filename: str | None = None) -> str:
    """UTF-8 bytes as text.

    Raises:
        GramDecodeError: the bytes are not UTF-8; the error points at the first that is not.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        readable = content[: error.start].decode()
        other = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
        byte = f"byte {content[error.start]:#04x} is not UTF-8"
        raise GramDecodeError(
            f"the file is {other}, not UTF-8" if other else byte,
            readable or content.decode(other or "UTF-8", "replace"),
            len(readable),
            filename=filename,
            hint="save the file as UTF-8",
        ) from None


def dump_file(
    pattern: Pattern | Iterable[Pattern], file: PathOrFile, *, style: Style | None = None
) -> None:
    """Write patterns to a file as canonical text that ends with a line break.

    A path is written atomically: the old content stays until the new is complete.

    Raises:
        OSError: the file cannot be written.
    """
    _expect_file(file, "write", by="dump_file")
    text = dumps(pattern, style=style)
    text += "\n" if text else ""
    if isinstance(file, str | os.PathLike):
        write_atomically(Path(file), text)
    else:
        sink: Any = file
        try:
            sink.write(text)
        except TypeError:  # a binary file
            sink.write(text.encode())


def _expect_file(file: object, method: str, *, by: str) -> None:
    """Refuse what is neither a path nor an open file that has a method."""
    if not callable(getattr(file, method, None)):
        expect(file, (str, os.PathLike, IOBase), "file", by=by)


class WatchedFiles:
    """Some files, and how they were when they were looked at last.

    Args:
        files: the files.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._seen = {path: _stamp(path) for path in files}

    def have_changed(self) -> bool:
        """Whether one has changed since the last look."""
        before, self._seen = self._seen, {path: _stamp(path) for path in self._seen}
        return before != self._seen

    def expect_regular(self) -> None:
        """Refuse a folder or a pipe in the place of a file: reading a pipe may wait for ever.

        Raises:
            OSError: one of them is not a regular file.
        """
        for path in self._seen:
            if path.exists() and not path.is_file():
                raise OSError(errno.EINVAL, "not a regular file", str(path))

    def are(self, files: Iterable[Path]) -> None:
        """Watch other files from now on; those that were watched before stay as they were seen."""
        before = self._seen
        self._seen = {path: before[path] if path in before else _stamp(path) for path in files}


def _stamp(path: Path) -> tuple[int, int] | None:
    """When a file was changed, and how long it is; None if it does not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size

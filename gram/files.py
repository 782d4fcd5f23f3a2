"""Reading and writing whole texts and files: ``loads``, ``load``, ``dump``."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, TypeAlias, Union

from .document import Document, parse
from .errors import GramDecodeError
from .pattern import Pattern
from .serializer import Style, dumps

PathOrFile: TypeAlias = Union[str, "os.PathLike[str]", IO[str], IO[bytes]]


def loads(text: str) -> tuple[Pattern, ...]:
    """The top-level patterns of a text, a header record first.

    Raises:
        GramDecodeError: the text is not gram.

    >>> [pattern.value.identity for pattern in loads("(a) [b | (c)]")]
    ['a', 'b']
    """
    return parse(text).patterns


def loads_one(text: str) -> Pattern:
    """The one pattern of a text: the one beside a header, or a header that stands alone.

    Raises:
        GramDecodeError: the text is not gram, or has no pattern or several.
    """
    return _the_one(parse(text))


def load(file: PathOrFile) -> tuple[Pattern, ...]:
    """The top-level patterns of a file, given as a path or an open file (text or binary).

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: it is not UTF-8, or not gram; the error names the file.
    """
    return parse_file(file).patterns


def parse_file(file: PathOrFile, *, style: Style | None = None) -> Document:
    """The document in a file, given as a path or an open file (text or binary).

    Line breaks and a byte order mark are kept as they are.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: it is not UTF-8, or not gram; the error names the file.
    """
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


def decode(content: bytes, filename: str | None = None) -> str:
    """UTF-8 bytes as text.

    Raises:
        GramDecodeError: the bytes are not UTF-8; the error points at the first that is not.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        readable = content[: error.start].decode()
        raise GramDecodeError(
            f"byte {content[error.start]:#04x} is not UTF-8",
            readable,
            len(readable),
            filename=filename,
            hint="save the file as UTF-8",
        ) from None


def dump(
    pattern: Pattern | Iterable[Pattern], file: PathOrFile, *, style: Style | None = None
) -> None:
    """Write patterns to a file as canonical text that ends with a line break.

    A path is written atomically: the old content stays until the new is complete.

    Raises:
        OSError: the file cannot be written.
    """
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


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's content in one step; its mode is kept, a symbolic link is followed.

    Raises:
        OSError: the file cannot be written; the old content is whole.
    """
    import tempfile  # it takes as long to import as a short program takes to read

    target = resolved(path)
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(_mode(target))
        Path(temporary).replace(target)
    finally:
        Path(temporary).unlink(missing_ok=True)  # it has moved, unless something failed


def resolved(path: Path) -> Path:
    """Where a path leads, symbolic links followed.

    Raises:
        OSError: it is no path, or leads in a circle.
    """
    try:
        return path.resolve()
    except (ValueError, RuntimeError) as error:  # a NUL in it; links that lead to each other
        raise OSError(errno.EINVAL, str(error), str(path)) from None


def _mode(target: Path) -> int:
    """The mode of an existing file, or what a new file gets under the process's umask."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _the_one(document: Document) -> Pattern:
    header = document.header
    rest = document.patterns[1:] if header is not None else document.patterns
    if len(rest) > 1:
        raise GramDecodeError(
            f"expected one pattern, found {len(rest)}",
            document.text,
            document.items[-len(rest) + 1].start,
            filename=document.filename,
        )
    if not rest and header is None:
        raise GramDecodeError(
            "expected one pattern, found none", document.text, 0, filename=document.filename
        )
    return rest[0] if rest else document.patterns[0]

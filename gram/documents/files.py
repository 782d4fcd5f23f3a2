"""Reads, watches and saves whole files: a save is whole or not at all, by one writer at a time.

A new text is written beside the file and takes its place in one step, so a crash leaves the old
content or the new one. Writers of the same file take turns through a lock beside it: an empty file
that is removed when it is let go. After a kill, an empty lock or an unfinished text may be left;
neither is in the way, and the next writer removes them.
"""

from __future__ import annotations

import codecs
import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from io import IOBase
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, Union

from ..errors import expect
from ..source import GramDecodeError
from ..trees import Pattern
from ..writing import Style, dumps
from .document import Document, parse

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


# --- saving

_LONGEST_NAME = 240  # bytes of a file name that leave room for the suffixes below


class HeldFile:
    """A file that nobody else of ours writes meanwhile; `holding` makes one.

    Attributes:
        path: the file as it was named.
    """

    def __init__(self, path: Path, target: Path, *, private: bool) -> None:
        self.path, self._target, self._private = path, target, private
        self._known: bytes | None = None
        self._has_read = False

    def read(self) -> bytes | None:
        """The content; None when there is no file yet.

        Raises:
            OSError: it cannot be read.
        """
        self._known, self._has_read = _content(self._target), True
        return self._known

    def write(self, text: str) -> None:
        """Replace the content in one step.

        Mode, owner, extended attributes (access control lists among them) and symbolic links are
        kept.

        Raises:
            OSError: the file cannot be written, or another program has changed it since it was
                read; the old content is whole.
        """
        _check_may_be_replaced(self.path)
        if self._has_read and _content(self._target) != self._known:
            raise _changed(self.path)
        content = text.encode()
        with self._replacement() as stream:
            stream.write(content)
        self._known, self._has_read = content, True

    def check_writable(self) -> None:
        """Make sure that the file can be replaced, by doing all of it but the last step.

        Raises:
            OSError: it cannot.
        """
        with self._replacement(only_tried=True):
            pass

    @contextmanager
    def _replacement(self, *, only_tried: bool = False) -> Iterator[BinaryIO]:
        """A new file, which takes the place of the old one when all went well."""
        temporary = _beside(self._target, "tmp")
        is_there = self._target.exists()  # then its mode is kept, which may be as strict as this
        mode = 0o600 if self._private or is_there else 0o666
        try:
            temporary.unlink(missing_ok=True)  # left by a writer that was killed
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "wb") as stream:
                if is_there:
                    _keep_attributes(self._target, descriptor)
                yield stream
                stream.flush()
                os.fsync(descriptor)
            if not only_tried:
                temporary.replace(self._target)
        except OSError as error:
            raise _about(self.path, error) from None
        finally:
            with suppress(OSError):  # it has moved, unless something failed
                temporary.unlink(missing_ok=True)


@contextmanager
def holding(path: Path, *, wait: bool = True, private: bool = False) -> Iterator[HeldFile]:
    """Hold a file, so that two commands that read, change and write it take turns.

    Args:
        path: the file; it need not exist, its folder does.
        wait: wait for another holder; otherwise it is an error.
        private: whether a new file is for its owner alone (mode 0600).

    Raises:
        OSError: the file or its folder cannot be written, or somebody else holds it.
    """
    _check_may_be_replaced(path)
    target = resolved(path)
    with _locked(path, _beside(target, "lock"), wait=wait):
        yield HeldFile(path, target, private=private)


def write_atomically(path: Path, text: str, *, private: bool = False) -> None:
    """Replace a file's content in one step, whatever it is; see `HeldFile.write`.

    Raises:
        OSError: the file cannot be written; the old content is whole.
    """
    expect(path, Path, "path", by="write_atomically")
    expect(text, str, "text", by="write_atomically")
    with holding(path, private=private) as file:
        file.write(text)


def write_together(
    texts: Mapping[Path, str],
    before: Mapping[Path, str],
    hold: Callable[[Path], AbstractContextManager[HeldFile]] = holding,
) -> None:
    """Replace the contents of several files: of all, or of none.

    Every new text is on the disk before the first file is replaced. Where a later one cannot be
    replaced after all, those before it get their old texts back.

    Args:
        texts: the new texts.
        before: the texts that the files are known to have; a file that is not there is new.
        hold: holds a file, see `holding`.

    Raises:
        OSError: a file cannot be written, or has another text than it is known to have.
    """
    with ExitStack() as holder:
        held = {path: holder.enter_context(hold(path)) for path in sorted(texts)}
        for path, file in held.items():
            old = before.get(path)
            if file.read() != (None if old is None else old.encode()):
                raise _changed(path)
        try:
            with ExitStack() as replacements:
                for path, file in held.items():
                    stream = replacements.enter_context(file._replacement())
                    stream.write(texts[path].encode())
                    stream.flush()
                    os.fsync(stream.fileno())
        except BaseException:  # an interrupt too: what was written is put back, then it is raised
            for path, file in held.items():
                if path not in before:
                    path.unlink(missing_ok=True)
                elif file.read() != before[path].encode():
                    file.write(before[path])
            raise


def resolved(path: Path) -> Path:
    """The file that a path leads to, symbolic links followed; it need not exist.

    Raises:
        OSError: the text is not a path, or the links lead in a circle.
    """
    try:
        with suppress(FileNotFoundError):
            path.stat()  # finds circles of links, which `resolve` overlooks from Python 3.13 on
        return path.resolve()
    except (ValueError, RuntimeError) as error:  # a NUL in it; a circle of links before 3.13
        raise OSError(errno.EINVAL, str(error), str(path)) from None


def _check_may_be_replaced(path: Path) -> None:
    """Make sure that a file may be replaced.

    Raises:
        OSError: it is not a regular file, has several hard links, or may not be written.
    """
    target = resolved(path)
    if not target.exists():
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "No such directory", str(path.parent))
        return
    if not target.is_file():
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    if target.stat().st_nlink > 1:
        reason = "has several hard links, of which only one would change; not written"
        raise OSError(errno.EMLINK, reason, str(path))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))


def _changed(path: Path) -> OSError:
    reason = "changed by another program since it was read; not overwritten"
    return OSError(errno.ESTALE, reason, str(path))


def _content(target: Path) -> bytes | None:
    try:
        return target.read_bytes()
    except FileNotFoundError:
        return None


def _about(path: Path, error: OSError) -> OSError:
    """An error that names the file itself, not the hidden one beside it."""
    if error.filename == str(path):
        return error
    return OSError(error.errno, error.strerror or str(error), str(path))


def _keep_attributes(target: Path, descriptor: int) -> None:
    """Give a new file the owner, group, mode and extended attributes of the one it replaces."""
    old, new = target.stat(), os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError:
            reason = "belongs to another user or group, which could not be kept; not written"
            raise PermissionError(errno.EPERM, reason) from None
    os.fchmod(descriptor, old.st_mode & 0o7777)
    if sys.platform == "linux":
        with suppress(OSError):  # the file system has none
            for name in os.listxattr(target):
                with suppress(OSError):  # only the system itself may set it, or it has set it
                    os.setxattr(descriptor, name, os.getxattr(target, name))


def _beside(target: Path, suffix: str) -> Path:
    """The hidden file beside a file; its name is cut where it would be too long."""
    name = target.name.encode()[:_LONGEST_NAME].decode(errors="ignore")
    return target.with_name(f".{name}.{suffix}")


@contextmanager
def _locked(path: Path, lock: Path, *, wait: bool) -> Iterator[None]:
    """Hold the lock file, and remove it at the end."""
    try:
        import fcntl
    except (
        ImportError
    ):  # not on Unix: writers are not kept apart, but each still writes in one step
        yield
        return
    while True:
        with ExitStack() as unless_held:
            try:
                descriptor = _open_lock(lock)
            except OSError as error:
                reason = f"cannot be locked in its folder: {error.strerror}"
                raise OSError(error.errno, reason, str(path)) from None
            unless_held.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                reason = "in use by another gram process"
                raise BlockingIOError(errno.EWOULDBLOCK, reason, str(path)) from None
            # The holder before us may have removed the file that we waited for.
            if _is_at(descriptor, lock):
                unless_held.pop_all()
                break
    try:
        yield
    finally:
        with suppress(PermissionError):  # another user's, in a folder like /tmp
            lock.unlink(missing_ok=True)
        os.close(descriptor)


def _open_lock(lock: Path) -> int:
    """Open the lock file; one that another user's killed process has left can be used too.

    It is not opened through a link, nor waited for as a pipe: in a shared folder, somebody else
    may have made it.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    while True:
        with suppress(FileNotFoundError):
            return os.open(lock, flags)
        with suppress(FileExistsError):
            descriptor = os.open(lock, flags | os.O_CREAT | os.O_EXCL, 0o644)
            os.fchmod(descriptor, 0o644)  # whatever the umask: others may have to take it over
            return descriptor


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False

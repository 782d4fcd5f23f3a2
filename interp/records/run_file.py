"""Run files: a run as gram, one entry to a line, written while it happens.

.. code-block:: text

    [:Run {file: "a.gram", format: 2, program: "…", …} | [:RunState …], [:Library …]]
    (:Begun {at: [0], time: "2026-11-22T15:10:34.120+00:00"})
    [:ModelReplied {at: [0], seconds: 0.8, verify: "9f3c…"} | [:Assistant | (:ToolCall {…})]]
    (:Begun {at: [0, 0], time: "2026-11-22T15:10:34.930+00:00"})
    (:ToolReturned {at: [0, 0], result: json`…`, seconds: 0.01, verify: "b24d…"})

The first entry holds the State that the run began with, the text of the program and the tools of
the library; each other entry is an event or a note (see `run_notes`). Folded over that State, the
events give every State of the run; ``verify`` shows whether they were changed (see `seals`). An
entry is whole when its line end is there: the rest of a line that a killed process left is not
read, and is cut off when the file is written again. A writer locks the file, so that two processes
never record the same run.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from time import sleep
from typing import Final, TypeAlias, Union

from gram import Source, decode, expect, resolved

from ..errors import ValidationError
from ..machine import At, State
from ..tools import Tool
from .entry_writer import EntryWriter
from .recorded_run import RUN, RecordedRun
from .run_notes import Note
from .run_reading import read_run
from .seals import Folded

PathLike: TypeAlias = Union[str, "os.PathLike[str]"]

_PATIENCE = 0.5  # seconds in which another process may let go of the file, such as one that looks
_LOOKS = 10


_HEAD: Final = f"[:{RUN} {{".encode()
"""What the first entry begins with."""

_NOTHING: Final = "  hint: `gram run --record` takes the file as a new one"


class RunFile:
    """A file that a run is recorded in: a new one, or by `RunFile.of` one that was read.

    What cannot be written is kept, and written first when there is space again.

    Args:
        path: the file.
        session: the name of the session's file beside it, if the run is a turn of a session.

    Attributes:
        path: the file.
        has_begun: whether it has its first entry.
        unanswered: the positions of what had begun when it was read, and had no answer.
        once: the names of the tools that were marked ``once`` when the run began.
    """

    def __init__(self, path: PathLike, *, session: str | None = None) -> None:
        expect(path, (str, os.PathLike), "record", by="RunFile")
        self.path = Path(path)
        resolved(self.path)  # refuses what is no path
        self.has_begun = False
        self.unanswered: frozenset[At] = frozenset()
        self.once: frozenset[str] = frozenset()
        self._session = session
        self._size = 0
        self._descriptor: int | None = None
        self._entries = EntryWriter()
        self._unwritten = b""
        self._writing = Lock()

    def begin(self, state: State, tools: Iterable[Tool]) -> None:
        """Make the file (mode 0600), with its first entry.

        A file that a process left when it was killed before that entry is taken as a new one.

        Raises:
            OSError: the file exists, or cannot be written.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            os.close(os.open(self.path, flags, 0o600))
        except FileExistsError:
            if not has_nothing_begun(self.path):
                reason = "exists already; a run is recorded in a new file"
                raise FileExistsError(errno.EEXIST, reason, str(self.path)) from None
        with self.held():
            try:
                self._write(self._entries.head(state, tools, self._session).line)
            except OSError:  # nothing is recorded yet, and the name is free again
                self.path.unlink(missing_ok=True)
                raise
        self.has_begun = True

    @property
    def name(self) -> str:
        """How messages name it: its path."""
        return str(self.path)

    @classmethod
    def of(cls, path: PathLike) -> tuple[RunFile, RecordedRun]:
        """Read a run file, to go on with it.

        Raises:
            OSError: the file cannot be read.
            GramDecodeError: the file is not gram.
            ValidationError: the file is not the record of a run; the fault has its place.
            ReplayError: an event does not fit the run.
        """
        file = cls(path)
        content = _whole_entries(file.path)
        found = read_run(Source(decode(content, str(path)), str(path)))
        file.has_begun, file._size = True, len(content)
        file.unanswered, file.once = found.unanswered, found.once
        file._entries = EntryWriter(found.seal)
        return file, found

    @contextmanager
    def held(self, standing: Callable[[], State] | None = None) -> Iterator[None]:
        """Lock the file to write to it, and cut off what a killed writer left unfinished.

        Args:
            standing: not needed: the entries of the file say what its status is.

        Raises:
            OSError: the file cannot be written, another process records in it, or has done so.
        """
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            _lock(descriptor, self.path)
            if not os.fstat(descriptor).st_nlink:
                reason = "removed by another process since it was opened; nothing recorded"
                raise OSError(errno.ESTALE, reason, str(self.path))
            self._cut_off(descriptor)
            self._descriptor = descriptor
            yield
        finally:
            with self._writing:
                self._descriptor = None
                os.close(descriptor)

    def append(self, folded: Folded, seconds: float | None = None) -> None:
        """Write an event, see `RunLog.append`.

        Raises:
            OSError: the file cannot be written.
        """
        self._write(self._entries.event(folded, seconds))

    def note(self, note: Note, *, may_be_lost: bool = False) -> None:
        """Write a note; nothing is written of what was given up, once the file is let go.

        Args:
            note: the note.
            may_be_lost: not needed: nothing that is written to a file waits for the disk.

        Raises:
            OSError: the file cannot be written.
        """
        if self._descriptor is not None:
            self._write(self._entries.note(note))

    def _write(self, entry: str) -> None:
        line = entry.encode() + b"\n"
        with self._writing:
            self._unwritten += line
            if self._descriptor is None:
                return
            size, written = len(self._unwritten), 0
            try:
                while written < size:
                    written += os.write(self._descriptor, self._unwritten[written:])
            except OSError as error:
                with suppress(OSError):  # part of a line may have been written
                    os.ftruncate(self._descriptor, self._size)
                error.filename = error.filename or str(self.path)
                raise
            self._unwritten = b""
            self._size += size

    def _cut_off(self, descriptor: int) -> None:
        """Cut off an unfinished entry; anything else that came since is another's."""
        size = os.fstat(descriptor).st_size
        if size == self._size:
            return
        with self.path.open("rb") as file:
            file.seek(self._size)
            added = file.read()
        if size < self._size or b"\n" in added:
            reason = "changed by another process since it was read; nothing recorded"
            raise OSError(errno.ESTALE, reason, str(self.path))
        os.ftruncate(descriptor, self._size)


def load_run(path: PathLike) -> RecordedRun:
    """Read a run file, up to its last whole entry.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
        ValidationError: the file is not the record of a run; the fault has its place.
        ReplayError: an event does not fit the run.
    """
    return read_run(source_of_run(path))


def source_of_run(path: PathLike) -> Source:
    """The text of a run file, up to its last whole entry.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not UTF-8.
        ValidationError: it has no whole entry.
    """
    expect(path, (str, os.PathLike), "path", by="load_run")
    resolved(Path(path))  # refuses what is no path
    return Source(decode(_whole_entries(Path(path)), str(path)), str(path))


def _whole_entries(path: Path) -> bytes:
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if not whole and _is_torn_head(content):
        place = "the file ends in its first entry" if content else "no run is recorded in it"
        raise ValidationError(f"{path}: {place}: nothing of a run had begun\n{_NOTHING}")
    return content[:whole] if whole else content


def has_nothing_begun(path: Path) -> bool:
    """Whether a file is what is left of a process that was killed before the first entry.

    Raises:
        OSError: the file cannot be read.
    """
    if not S_ISREG(path.lstat().st_mode):
        return False
    with path.open("rb") as file:
        line = file.readline()
    return not line.endswith(b"\n") and _is_torn_head(line)


def _is_torn_head(content: bytes) -> bool:
    return content.startswith(_HEAD) or _HEAD.startswith(content)


def _lock(descriptor: int, path: Path) -> None:
    with suppress(ImportError):  # not on Unix, where writers are not kept apart
        import fcntl

        for look in range(_LOOKS):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sleep(_PATIENCE / _LOOKS if look < _LOOKS - 1 else 0)
            else:
                return
        reason = "another process records a run in it"
        raise BlockingIOError(errno.EWOULDBLOCK, reason, str(path))


def is_recorded(path: PathLike) -> bool:
    """Whether a process is recording a run in a file now.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        import fcntl
    except ImportError:  # not on Unix, where nobody can tell
        return False
    with Path(path).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False

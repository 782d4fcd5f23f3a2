"""Run files: a run as gram, one entry to a line, written while it happens.

.. code-block:: text

    [:Run {agent: "counter", file: "a.gram", format: 1, input: "go", …} | [:Library …]]
    (:Begun {at: [0], time: "2026-11-22T15:10:34.120+00:00"})
    [:ModelReplied {at: [0], request: "9f3c…", seconds: 0.8} | [:Assistant | (:ToolCall {…})]]
    (:Begun {at: [0, 0], time: "2026-11-22T15:10:34.930+00:00"})
    (:ToolReturned {at: [0, 0], result: json`…`, seconds: 0.01})

The first entry says how the run began (see `run_text`); each other entry is an event or a note
(see `patterns`). Folded from that beginning, the events give every State of the run. An entry is
whole when its line end is there: the rest of a line that a killed process left is not read, and is
cut off when the file is written again. A writer locks the file.

An interrupt may come between any two steps of Python here. So an entry is written by one call, and
what is known of a file is read from it whenever it is taken up.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from itertools import takewhile
from pathlib import Path
from time import sleep
from typing import BinaryIO, ClassVar, Final, NamedTuple
from weakref import WeakValueDictionary

from gram import GramError
from gram.documents import decode, resolved
from gram.errors import expect
from gram.words import counted

try:
    import fcntl
except ImportError:  # not on Unix, where writers are not kept apart
    fcntl = None  # type: ignore[assignment]  # asked for below

from ...errors import ProtocolError, ValidationError
from ...execution import Folded, Note, now
from ...machine import Event, State, Status
from ...tools import Tool
from .patterns import PathLike, note_line
from .recorded_run import RecordedRun, Replayer
from .run_text import RecordedTurns, Turn, event_line, read_run, read_turns, run_text, tool_pattern

_PATIENCE = 0.2  # seconds in which another process may let go of the file, such as one that looks
_LOOKS = 10

_START: Final = b"[:Run "
_WHOLE_RUN: Final = re.compile(rb"^[\[(]:Run .*\n", re.MULTILINE)


class _Content(NamedTuple):
    """What is in a file: its whole entries, how the run began and its events."""

    text: str
    first: State
    events: tuple[Event, ...]


class RunFile:
    """A file that a run is recorded in: a new one, or by `RunFile.of` one that was read.

    A file may have the turns of one conversation, one after another.

    Attributes:
        name: how messages name it: its path.
        has_begun: whether it was begun.
        turn: the run, as the next turn goes on from it; None until it is recorded.
    """

    blocks: ClassVar[bool] = False

    def __init__(self, path: PathLike) -> None:
        expect(path, (str, os.PathLike), "record", by="RunFile")
        self.path = Path(path)
        self.name = str(self.path)
        resolved(self.path)  # refuses what is no path
        self.has_begun = False
        self.turn: Turn | None = None
        self._tools: tuple[Tool, ...] = ()
        self._start = 0
        self._after: Turn | None = None
        self._file: FileIO | None = None
        self._read: _Content | None = None
        self._may_lack_events = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self, state: State, tools: Iterable[Tool]) -> None:
        """Make the file (mode 0600), or take one in which nothing had begun; see `RunLog.begin`."""
        self._tools = tuple(tools)
        is_new = not self._start and _made(self.path)
        self.has_begun = True
        try:
            with self.held(lambda: state):
                pass
        except OSError:  # nothing is recorded yet, and the name is free again
            self.has_begun = False
            if is_new and _has_not_begun(self.path.read_bytes()):
                self.path.unlink()
            raise

    @classmethod
    def of(cls, path: PathLike, run: str = "") -> tuple[RunFile, RecordedRun]:
        """Read a run file, to go on with one of its turns, see `turn_named`."""
        text = text_of_file(path)
        runs = read_turns(text, str(path)).runs
        found = turn_named(runs, run, str(path))
        if found is not runs[-1] and found.state.status is not Status.DONE:
            raise ValidationError(f"{path}: the conversation has gone on since this turn: {run}")
        file = cls(path)
        file.has_begun = True
        file.turn = Turn(found.state, found.library)
        file._start = len(text[: found.start].encode())
        file._read = _Content(text[found.start :], found.first, found.events)
        return file, found

    @classmethod
    def at_the_end(cls, path: PathLike, after: Turn | None, begun: int) -> RunFile:
        """A file in which some turns have begun, to record the next one in it."""
        file = cls(path)
        content = file.path.read_bytes()
        if len(_WHOLE_RUN.findall(content)) != begun:
            reason = "another process has gone on with the conversation"
            raise OSError(errno.ESTALE, reason, file.name)
        file._start, file._after = content.rfind(b"\n") + 1, after
        return file

    @contextmanager
    def held(self, standing: Callable[[], State] | None = None) -> Iterator[tuple[Event, ...]]:
        """Lock the file to write to it, and bring it to where the run is; see `RunLog.held`.

        What a killed writer left unfinished is cut off.
        """
        self._let_go()  # where an interrupt came before that was done
        try:
            with open(self.path, "r+b", buffering=0, opener=_at_its_end) as file:
                self._file = file
                _lock(file, self.path)
                self._loop = None
                with suppress(RuntimeError):  # no loop runs here
                    self._loop = asyncio.get_running_loop()
                _holders[_identity(file)] = self
                if not os.fstat(file.fileno()).st_nlink:
                    reason = "removed by another process since it was opened; nothing recorded"
                    raise OSError(errno.ESTALE, reason, str(self.path))
                yield self._brought_to(standing()) if standing else ()
        finally:
            self._let_go()  # where an interrupt comes at the end of the block
            if standing is not None:
                state = standing()
                library = (tool_pattern(each, state.run.once) for each in self._tools)
                self.turn = Turn(state, self.turn.library if self.turn else tuple(library))

    def _let_go(self) -> None:
        if self._file is not None:
            self._file.close()

    def leave(self) -> bool:
        """Let the file go if an interrupt has left it behind: its event loop runs no more."""
        is_open = self._file is not None and not self._file.closed
        if not is_open or self._loop is None or self._loop.is_running():
            return False
        self._let_go()
        return True

    def append(self, folded: Folded) -> None:
        """Write an event, see `RunLog.append`, after those that could not be written before."""
        if self._may_lack_events:
            self._brought_to(folded.state)
            return
        self._may_lack_events = True
        self._write(f"{event_line(folded)}\n")
        self._may_lack_events = False

    def note(self, note: Note) -> None:
        """Write a note; once the file is let go, nothing more is written."""
        if self._file is not None and not self._file.closed:
            self._write(f"{note_line(note)}\n")

    def _brought_to(self, state: State) -> tuple[Event, ...]:
        """Write what the file has not of a State; gives the events that the State has not.

        What has happened at once may stand in another order in the file.
        """
        content = self._content()
        if content is None:
            text = run_text(state, self._tools, now(), self._after)
            self._write(text)
            self._read = _Content(text, state.beginning, tuple(state.events))
            self._may_lack_events = False
            return ()
        missing, missed = differences(tuple(state.events), content.events)
        try:
            if content.first.run_id != state.run_id:
                raise ProtocolError("another run is recorded in it")
            replayer = Replayer(content.first)
            for event in content.events if missing else ():
                replayer.take(event)
            steps = [replayer.take(event) for event in missing]
        except GramError as error:
            reason = f"another process has gone on with it; nothing recorded: {error}"
            raise OSError(errno.ESTALE, reason, str(self.path)) from None
        for step in steps:
            self._write(f"{event_line(step)}\n")
        self._may_lack_events = False
        return missed

    def _content(self) -> _Content | None:
        """What is in the file, if there is something; what was read before is not read again."""
        assert self._file is not None, "it is held"
        _cut_off(self._file)
        self._file.seek(self._start)
        text = decode(self._file.readall() or b"", str(self.path))
        if not text:
            return None
        read = self._read
        if read is None or text != read.text:
            found = read_run(self.path.read_text("utf-8"), str(self.path))
            read = self._read = _Content(text, found.first, found.events)
        return read

    def _write(self, text: str) -> None:
        file = self._file
        if file is None or file.closed:
            raise OSError(errno.EBADF, "the file was let go", self.name)
        _append(file, self.path, text)


def _append(file: FileIO, path: Path, text: str) -> None:
    """Add whole lines to a file, or none of them."""
    content, written = text.encode(), 0
    try:
        _cut_off(file)
        while written < len(content):
            written += file.write(content[written:])
    except OSError as error:
        with suppress(OSError):  # part of a line may have been written
            _cut_off(file)
        error.filename = error.filename or str(path)
        raise


def differences(
    had: tuple[Event, ...], recorded: tuple[Event, ...]
) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    """The events of a run that are not recorded, and the recorded ones that it has not had."""
    pairs = zip(had, recorded, strict=False)
    both = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    missing, missed = list[Event](), list(recorded[both:])
    for event in had[both:]:
        if event in missed:
            missed.remove(event)
        else:
            missing.append(event)
    return tuple(missing), tuple(missed)


def add_to_file(path: Path, line: str) -> None:
    """Add an entry to a run file that nobody writes to."""
    with open(path, "r+b", buffering=0, opener=_at_its_end) as file:
        _lock(file, path)
        _append(file, path, f"{line}\n")


def _made(path: Path) -> bool:
    """Make a new file; False if there is one in which nothing had begun."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if has_nothing_begun(path):
            return False
        reason = "exists already; a run is recorded in a new file"
        raise FileExistsError(errno.EEXIST, reason, str(path)) from None
    return True


def _has_not_begun(content: bytes) -> bool:
    """Whether a file ends in the first entry of a run, or before it."""
    return b"\n" not in content and (content.startswith(_START) or _START.startswith(content))


def has_nothing_begun(path: Path) -> bool:
    """Whether a file has no whole entry, because its process was killed before."""
    is_file = path.is_file() and not path.is_symlink()
    return is_file and _has_not_begun(path.read_bytes())


def _at_its_end(path: str, flags: int) -> int:
    """Open a file so that all that is written is added to it."""
    return os.open(path, flags | os.O_APPEND)


def _cut_off(file: FileIO) -> None:
    """Cut off an entry that is not whole."""
    if not file.seek(0, os.SEEK_END):
        return
    file.seek(-1, os.SEEK_END)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    content = file.readall() or b""
    file.truncate(content.rfind(b"\n") + 1)


def turn_named(runs: Sequence[RecordedRun], run: str, name: str) -> RecordedRun:
    """A turn of a file by its number, counted from 1, or by its id; the last one for ""."""
    if not run:
        return runs[-1]
    for number, each in enumerate(runs, 1):
        if run in (str(number), each.first.run_id):
            return each
    turns = counted(len(runs), "turn")
    raise ValidationError(f"{name}: there is no turn {run}\n  hint: the file has {turns}")


def load_turns(path: PathLike, *, may_be_empty: bool = False) -> RecordedTurns:
    """Read a run file, up to its last whole entry; see `read_turns`."""
    return read_turns(text_of_file(path), str(path), may_be_empty=may_be_empty)


def text_of_file(path: PathLike) -> str:
    """The whole entries of a run file."""
    resolved(Path(path))  # refuses what is no path
    content = Path(path).read_bytes()
    if _has_not_begun(content):
        message = "nothing of a run had begun: it has no whole first entry"
        hint = "`gram run --record` takes the file as a new one"
        raise ValidationError(f"{path}: {message}\n  hint: {hint}")
    whole = content.rfind(b"\n") + 1
    return decode(content[:whole] if whole else content, str(path))


_holders: WeakValueDictionary[tuple[int, int], RunFile] = WeakValueDictionary()
"""What this process records in files, by their identity."""


def _identity(file: FileIO) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino


def _lock(file: FileIO, path: Path) -> None:
    for _ in range(_LOOKS):
        if _is_locked(file, "LOCK_EX"):
            return
        sleep(_PATIENCE / _LOOKS)
    holder = _holders.get(_identity(file))
    if holder is not None and holder.leave():
        return _lock(file, path)
    raise BlockingIOError(errno.EWOULDBLOCK, "another process records a run in it", str(path))


def _is_locked(file: BinaryIO | FileIO, kind: str) -> bool:
    """Lock a file, and say whether that could be done."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, getattr(fcntl, kind) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_recorded(path: PathLike) -> bool:
    """Whether a process is recording a run in a file now, as far as that can be told."""
    with Path(path).open("rb") as file:
        return not _is_locked(file, "LOCK_SH")

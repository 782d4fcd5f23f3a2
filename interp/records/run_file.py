"""Run files: a run as gram, one entry to a line, written while it happens.

.. code-block:: text

    [:Run {file: "a.gram", format: 1, program: "…", version: "0.1.0"} | [:RunState …], [:Library …]]
    [:ModelReplied {at: [0], seconds: 0.8} | [:Assistant | (:ToolCall {…})]]
    (:ToolReturned {at: [0, 0], result: json`…`, seconds: 0.01})

The first entry holds the State that the run began with, the text of the program and the tools of
the library; each other entry is an event. Folded over that State, they give every State of the
run. An entry is whole when its line end is there: the rest of a line that a killed process left is
not read, and is cut off when the file is written again. A writer locks the file, so that two
processes never record the same run. Keys are redacted (see `interp.redaction`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias, Union

from attrs import frozen

from gram import (
    ONE_LINE,
    GramError,
    Pattern,
    Source,
    Spelling,
    Subject,
    TaggedString,
    decode,
    dumps,
    expect,
    fault,
    origin,
    parse,
    write_pattern,
)

from ..errors import ProtocolError, ReplayError, ValidationError
from ..json_text import write_json
from ..machine import Effect, Event, State, pending, step
from ..redaction import redactor
from ..tools import Tool
from .event_pattern import event_from_pattern, event_to_pattern
from .pattern_parts import Reader, without_empty, write_text
from .state_pattern import state_from_pattern, state_to_pattern

PathLike: TypeAlias = Union[str, "os.PathLike[str]"]

RUN = "Run"
FORMAT = 1
"""The version of the form of the entries; a file of another one is refused."""


@frozen
class Step:
    """One step of a recorded run.

    Attributes:
        before: the State that the event was folded into.
        effect: the effect that the event answers; None for `Resumed` and `TimeUp`.
        event: the event.
        state: the State that it led to.
        seconds: how long the effect took, or None.
    """

    before: State
    effect: Effect | None
    event: Event
    state: State
    seconds: float | None


@frozen
class RecordedRun:
    """A run that was recorded.

    Attributes:
        first: the State that it began with.
        steps: its steps, in order.
        program: the text of the program's file, or of the agent alone where it had none.
        filename: the name of that file, or None.
        library: what the tools were, as patterns with their descriptions and schemas.
    """

    first: State
    steps: tuple[Step, ...]
    program: str
    filename: str | None
    library: tuple[Pattern, ...]

    @property
    def state(self) -> State:
        """Where the run stands."""
        return self.steps[-1].state if self.steps else self.first

    @property
    def events(self) -> tuple[Event, ...]:
        """The events, in order."""
        return tuple(each.event for each in self.steps)


class RunFile:
    """A file that a run is recorded in; `create` and `RunFile.of` make one.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self._size = size
        self._descriptor: int | None = None
        self._redacted = redactor()

    @classmethod
    def create(cls, path: PathLike, state: State, tools: Iterable[Tool]) -> RunFile:
        """Begin a run file (mode 0600).

        Raises:
            OSError: the file exists, or cannot be written.
        """
        expect(path, (str, os.PathLike), "record", by="RunFile.create")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            os.close(os.open(path, flags, 0o600))
        except FileExistsError:
            reason = "exists already; a run is recorded in a new file"
            raise FileExistsError(errno.EEXIST, reason, str(path)) from None
        made = cls(Path(path), 0)
        with made.held():
            made._write(_head(state, tools))
        return made

    @classmethod
    def of(cls, path: PathLike) -> tuple[RunFile, RecordedRun]:
        """Read a run file, to go on with it.

        Raises:
            OSError: the file cannot be read.
            GramDecodeError: the file is not gram.
            ValidationError: the file is not the record of a run; the fault has its place.
            ReplayError: an event does not fit the run.
        """
        content = Path(path).read_bytes()
        whole = content.rfind(b"\n") + 1
        made = cls(Path(path), whole)
        return made, _read(Source(decode(content[:whole], str(path)), str(path)))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the file to write to it, and cut off what a killed writer left unfinished.

        Raises:
            OSError: the file cannot be written, another process records in it, or has done so.
        """
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            _lock(descriptor, self.path)
            self._cut_off(descriptor)
            self._descriptor, self._redacted = descriptor, redactor()
            yield
        finally:
            self._descriptor = None
            os.close(descriptor)

    def append(self, event: Event, seconds: float | None = None) -> None:
        """Write an event; the file has to be held.

        Raises:
            OSError: the file cannot be written.
        """
        self._write(event_to_pattern(event, seconds))

    def _write(self, entry: Pattern) -> None:
        assert self._descriptor is not None, "a run file is written to while it is held"
        line = self._redacted(write_pattern(entry, style=_one_line)).encode() + b"\n"
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        self._size += len(line)

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
    expect(path, (str, os.PathLike), "path", by="load_run")
    return RunFile.of(path)[1]


# --- writing


def _one_line(_: tuple[Pattern, ...]) -> Spelling:
    return ONE_LINE


def _head(state: State, tools: Iterable[Tool]) -> Pattern:
    from importlib.metadata import version  # imported late: it takes longer than the rest

    read = origin(state.agent)
    properties = without_empty(
        {
            "format": FORMAT,
            "version": version("gram-agents"),
            "file": write_text(read.filename or "") if read else None,
            "program": write_text(read.source.text if read else dumps(state.agent)),
        }
    )
    library = Pattern(Subject("", {"Library"}), map(_tool_to_pattern, tools))
    return Pattern(Subject("", {RUN}, properties), [state_to_pattern(state), library])


def _tool_to_pattern(tool: Tool) -> Pattern:
    properties = {
        "description": write_text(tool.description),
        "schema": TaggedString("json", write_json(tool.schema)),
    }
    return Pattern(Subject(tool.name, {"Implementation"}, properties))


def _lock(descriptor: int, path: Path) -> None:
    with suppress(ImportError):  # not on Unix, where writers are not kept apart
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            reason = "another process records a run in it"
            raise BlockingIOError(errno.EWOULDBLOCK, reason, str(path)) from None


# --- reading


def _read(source: Source) -> RecordedRun:
    patterns = parse(source.text, source.filename).patterns
    if not patterns:
        raise ValidationError(f"{source.filename}: no run is recorded in it")
    head, *entries = patterns
    if RUN not in head.value.labels:
        message, hint = "this is not the record of a run", "`gram run --record FILE` writes one"
        raise ValidationError.of([fault("no-run", message, head, "labels", hint=hint)])
    read = Reader(head, RUN, ["format", "version", "file", "program"])
    if read.number("format") != FORMAT:
        found = read.number("format")
        hint = "it was written by another version of this package"
        read.refuse("other-format", f"format {found} is not {FORMAT}", "format", hint)
    if len(head.elements) != 2:
        read.refuse("no-run", "a Run must have two elements, its RunState and its Library")
    first = state_from_pattern(head.elements[0])
    return RecordedRun(
        first,
        tuple(_steps(first, entries)),
        read.text("program", ""),
        read.text("file") if read.has("file") else None,
        head.elements[1].elements,
    )


def _steps(state: State, entries: Iterable[Pattern]) -> Iterator[Step]:
    waiting: dict[object, Effect] = {each.at: each for each in pending(state)}
    for entry in entries:
        event, seconds = event_from_pattern(entry)
        try:
            after, new = step(state, event)
        except (ProtocolError, GramError) as error:
            found = fault("misfit", f"the run does not come to this: {error}", entry)
            raise ReplayError(found.with_hint()) from None
        yield Step(state, waiting.pop(event.at, None), event, after, seconds)
        waiting |= {each.at: each for each in new}
        state = after

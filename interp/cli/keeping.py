"""Where a conversation at the command line is kept, and how to go on with it."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import ClassVar, TypeVar

import click
from attrs import define

from ..errors import RunTakenError, StoreError
from ..execution import Folded, Note, RunLog
from ..history import stores
from ..history.records import has_nothing_begun
from ..history.stores import Address, KeptConversation, RunStore, open_store
from ..machine import Event, State, Status, empty_context
from ..tools import Tool
from .inputs.options import RunningOptions, TalkOptions
from .inputs.project import record_of_project
from .inputs.record_option import LARGEST, OLDEST, named_record, own_store
from .terminal.output import forbid, tell

T = TypeVar("T")


@define
class Kept:
    """What a conversation is kept in.

    Attributes:
        address: where it is.
        conversation: the conversation.
        is_habit: whether nobody has named the address.
    """

    address: Address
    conversation: KeptConversation
    is_habit: bool

    def log(self) -> RunLog | None:
        """What the next turn is recorded in; None where a habit cannot be kept."""
        if not self.is_habit:
            return self.conversation.log()
        try:
            return HabitLog(self.conversation.log())
        except RunTakenError:
            raise
        except (StoreError, OSError) as error:
            _warn(error)
            return None

    def named(self, run: str) -> str:
        """How commands name one of its runs."""
        if self.is_habit:
            return run
        return str(Address(str(self.address), run if self.address.is_store else ""))


def kept_in(
    options: TalkOptions, program: str | None, agent: str, *, is_anew: bool = False
) -> Kept | None:
    """Where a conversation is kept, as the options of a command say; None if nowhere.

    Args:
        options: the options.
        program: the name of the program's file, or None.
        agent: the name of the agent, of which a new conversation has its name.
        is_anew: whether another conversation begins, whatever -c says.

    Raises:
        click.UsageError: the options exclude each other.
        OSError, GramError: the address cannot be used.
    """
    is_last = options.goes_on and not is_anew
    goes_on = is_last or options.conversation is not None
    is_typed = all(each is not None and each.isatty() for each in (sys.stdin, sys.stdout))
    record = options.record or named_record()
    is_off = record is None and not goes_on and (not is_typed or record_of_project() is False)
    if options.no_record or is_off:
        return None
    is_habit = record is None
    try:
        address = Address.of(record or str(own_store()))
        if not address.is_store:
            return Kept(address, _of_file(address, options), is_habit)
        if is_habit:
            tidy(own_store())
        new = f"{agent}-{os.urandom(4).hex()}"
        name = options.conversation or (True if is_last else new)
        return Kept(address, stores.open_conversation(address.place, name, program), is_habit)
    except (StoreError, OSError) as error:
        if not is_habit or goes_on:
            raise
        _warn(error)
        return None


def anew(kept: Kept, options: TalkOptions, program: str | None, agent: str) -> Kept | None:
    """Where a conversation goes on that begins anew; one with a name loses its messages."""
    if options.conversation is not None or not kept.address.is_store:
        kept.conversation.cut(empty_context)
        return kept
    return kept_in(options, program, agent, is_anew=True)


def _warn(error: Exception) -> None:
    why = str(error)
    if isinstance(error, OSError) and error.filename and error.strerror:
        why = f"{error.filename}: {error.strerror}"
    tell([("warning", "warning"), (f": nothing more is kept of this conversation: {why}", "")])


def _of_file(address: Address, options: TalkOptions) -> KeptConversation:
    path = Path(address.place)
    if options.conversation is not None:
        raise click.UsageError(f"--conversation is for stores, and {address} is a file: write -c")
    forbid(address.run, f"{address} is one turn: write {path}, which is gone on with by -c")
    if not options.goes_on and os.path.lexists(path) and not has_nothing_begun(path):
        reason = "exists already; a run is recorded in a new file\n  hint: -c goes on with it"
        raise FileExistsError(errno.EEXIST, reason, str(path))
    return stores.open_conversation(path, True, None)


def tidy(path: Path) -> None:
    """Remove what is old, or too much, from what is kept by habit."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open_store(path) as store:
        before = datetime.now(UTC) - OLDEST
        store.prune(before, status=(*stores.ENDED, "stopped", "waiting", "limited"))
        store.prune_conversations(before)
        if _used(store) > LARGEST:
            for old in reversed([*store.conversations()]):
                with suppress(RunTakenError):
                    old.remove(datetime.now(UTC))
                if _used(store) <= LARGEST:
                    return


def _used(store: RunStore) -> int:
    """The bytes of a store in a file."""
    told = ("page_count", "freelist_count", "page_size")
    pages, free, size = (store.ready().execute(f"PRAGMA {each}")[0][0] for each in told)
    return int((pages - free) * size)


class HabitLog:
    """A log that nobody asked for: where it cannot be written, that is told, and the run goes on.

    Args:
        log: the log.
    """

    blocks: ClassVar[bool] = True

    def __init__(self, log: RunLog) -> None:
        self._log: RunLog | None = log
        self.has_begun = False
        self.name = log.name

    def begin(self, state: State, tools: Iterable[Tool]) -> None:
        """Make it, see `RunLog.begin`."""
        self.has_begun = True
        self._tried(lambda log: log.begin(state, tools))

    @contextmanager
    def held(self, standing: Callable[[], State] | None = None) -> Iterator[tuple[Event, ...]]:
        """Keep others from writing to it, see `RunLog.held`."""
        log = self._log
        holding = log.held(standing) if log else None
        missed = self._tried(lambda _: holding.__enter__() if holding else ()) or ()
        try:
            yield missed
        finally:
            if holding and self._log:
                self._tried(lambda _: holding.__exit__(None, None, None))

    def append(self, folded: Folded, seconds: float | None = None) -> None:
        """Write an event, see `RunLog.append`."""
        self._tried(lambda log: log.append(folded, seconds))

    def note(self, note: Note) -> None:
        """Write a note, see `RunLog.note`."""
        self._tried(lambda log: log.note(note))

    def _tried(self, write: Callable[[RunLog], T]) -> T | None:
        if self._log is None:
            return None
        try:
            return write(self._log)
        except RunTakenError:
            raise
        except (StoreError, OSError) as error:
            self._log = None
            _warn(error)
            return None


def how_to_resume(run: str, state: State, options: RunningOptions) -> str:
    """What to tell of a run that is kept, and did not end well.

    Args:
        run: how commands name it.
        state: the last State of the run.
        options: how it was run; what it does not keep of them is written again to go on.
    """
    if state.status in (Status.FAILED, Status.UNUSABLE):
        return f"the run is kept: gram trace {quote(run)} shows it"
    told = f"the run is kept: gram resume {quote(run)}{options.words_to_resume} goes on"
    if state.status is Status.LIMITED:
        told += ", with a higher --limit"
    return f"{told}; --approve all or --approve none answers what it asks" if state.asks else told

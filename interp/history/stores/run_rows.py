"""The rows of runs and of their entries, and whose they are.

A run that is a turn of a conversation has its first entry without the messages before it: those are
kept in the conversation.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args
from weakref import WeakValueDictionary

from attrs import field, frozen

from gram.errors import expect, expect_all
from gram.words import counted, did_you_mean

from ...errors import StoreError, ValidationError
from ...json_text import Json
from ...machine import ConversationContext, Usage, empty_context
from ...shown import shortened
from ..records import RecordedRun, head_of, messages_of, read_run
from .database import Database, in_pages

_living: WeakValueDictionary[str, object] = WeakValueDictionary()
"""What holds the leases of this process, by their owners."""


def new_owner(holder: object) -> str:
    """A name for the owner of a lease, from which others on this machine tell if it lives.

    Args:
        holder: what holds the lease in this process: the owner lives as long as that.
    """
    owner = f"{this_process()}/{os.urandom(4).hex()}"
    _living[owner] = holder
    return owner


def this_process() -> str:
    """How the leases of this process begin.

    A process is told by its id and the time it was started at, in its own space of ids.
    """
    return "/".join([_machine(), str(os.getpid()), _started(os.getpid())])


def process_of(owner: str) -> str:
    """How messages name the process of an owner."""
    machine, pid, *_ = [*owner.split("/"), ""]
    return f"process {pid} of {machine.partition(':')[0]}"


def is_dead(named: str) -> bool:
    """Whether an owner is known to be dead: its process is no more, or has let go of its lease."""
    if named.startswith(f"{this_process()}/"):
        return named not in _living
    machine, pid, started, *_ = [*named.split("/"), "", ""]
    if machine != _machine() or not pid.isdecimal() or not started:
        return False  # elsewhere; only its lease tells
    return _started(int(pid)) != started


def _machine() -> str:
    """This machine, since its start, and the space of process ids that this process sees."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{socket.gethostname()}:{boot}:{Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # not on Linux
        return f"{socket.gethostname()}:?"


def _started(pid: int) -> str:
    """When a process was started, as the system counts; ``""`` if there is no such process."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("ascii", errors="replace")
    except OSError:
        return ""
    after_name = told.rpartition(")")[2].split()
    return "" if after_name[0] in "ZX" else after_name[19]


RunStatus: TypeAlias = Literal[
    "queued", "running", "stopped", "waiting", "limited", "failed", "done", "cancelled"
]
"""The status of a run: submitted and not begun; claimed by somebody; claimed by nobody, so that it
can be resumed; waiting for approval; at a limit; failed or done or cancelled, for good."""

ENDED: Final = ("failed", "done", "cancelled")
"""The statuses of runs that nothing goes on with."""

_COLUMNS: Final = (
    "created, id, {standing}, agent, model, filename, program, parent, tenant, conversation, "
    "priority, trace, changed, input_tokens, output_tokens, reason, "
    "(SELECT max(seq) + 1 FROM gram_entries WHERE run = id), owner"
)
_LEFT: Final = "left"
"""What a row has as its status where its owner was not heard of any more."""
_MOST_SHOWN: Final = 100  # characters of a reason in a repr


def expect_name(name: object, what: str) -> None:
    """Refuse a name that not every database can keep.

    Args:
        name: the name, or None.
        what: what it names.

    Raises:
        ArgumentError: it is no text.
        ValidationError: it is empty, longer than 200 characters, or has characters that cannot be
            kept.
    """
    expect(name, (str, type(None)), what, by="a store")
    if name is not None and not _NAME.fullmatch(str(name)):
        raise ValidationError(
            f"a {what} of a store has 1 to 200 characters, none of them a NUL or a lone surrogate; "
            f"found {str(name)[:50]!r}"
        )


_NAME: Final = re.compile("[^\0\ud800-\udfff]{1,200}", re.DOTALL)


def expect_status(status: Sequence[RunStatus], *, by: str) -> None:
    """Refuse what is no sequence of statuses.

    Raises:
        ArgumentError: ``status`` is not a sequence of texts.
        ValidationError: there is no such status.
    """
    for each in expect_all(status, str, "status", by=by):
        if each not in get_args(RunStatus):
            hint = did_you_mean(each, get_args(RunStatus))
            raise ValidationError(
                f"{by}: there is no status {each!r}; "
                f"{hint or 'there are ' + ', '.join(get_args(RunStatus))}"
            )


def _is_name(_: object, attribute: Any, value: object) -> None:
    expect_name(value, attribute.name)


@frozen
class RunFacts:
    """What is known of a run when it is made.

    Attributes:
        agent: the name of the agent or workflow.
        model: the model, or ``""`` where several are asked.
        filename: the name of the program's file, or ``""``.
        program: the hash of the text of the program.
        parent: the id of the run that it was forked of, or None.
        tenant: whom it is done for, or None.
        conversation: the conversation that it is a turn of, or None.
        priority: runs with a higher one are taken first.
        trace: the trace that it was submitted in, as ``traceparent`` of W3C, or None.
    """

    agent: str
    model: str = ""
    filename: str = ""
    program: str = ""
    parent: str | None = None
    tenant: str | None = field(default=None, validator=_is_name)
    conversation: str | None = field(default=None, validator=_is_name)
    priority: int = 0
    trace: str | None = None


@frozen(repr=False)
class RunRow:
    """A run as a list shows it.

    Attributes:
        id: its id.
        status: its status, see `RunStatus`.
        facts: what was known when it was made.
        created: when it was made.
        changed: when it was last claimed or let go.
        usage: the tokens that it had used when it was last let go.
        reason: what it was stopped by, or None.
        entries: how many entries it has.
        left_by: the owner that has died with it, if one has and nobody has gone on since.
    """

    id: str
    status: RunStatus
    facts: RunFacts
    created: datetime
    changed: datetime
    usage: Usage = field(factory=lambda: Usage(0, 0))
    reason: str | None = None
    entries: int = 0
    left_by: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The run as a JSON object, or a row of a table."""
        facts = self.facts
        return {
            "id": self.id,
            "status": self.status,
            "agent": facts.agent,
            "model": facts.model,
            "file": facts.filename,
            "program_sha256": facts.program,
            "parent": facts.parent,
            "tenant": facts.tenant,
            "conversation": facts.conversation,
            "priority": facts.priority,
            "created": self.created.isoformat(),
            "changed": self.changed.isoformat(),
            "usage": {**self.usage.to_json()},
            "reason": self.reason,
            "entry_count": self.entries,
        }

    def __repr__(self) -> str:
        said = [f"{self.status}, {self.facts.agent}, {self.created:%Y-%m-%d %H:%M:%S %Z}"]
        if self.usage.total_tokens is not None:
            said.append(counted(self.usage.total_tokens, "token"))
        if self.reason:
            said.append(shortened(self.reason.splitlines()[0], _MOST_SHOWN))
        return f"<RunRow {self.id}: {', '.join(said)}>"


def name_of(database: Database, run: str) -> str:
    """How messages name a run."""
    return f"run {run} of {database.name}"


def no_run(database: Database, run: str) -> StoreError:
    """The message about a run that is not in a store."""
    return StoreError(
        f"{database.name}: there is no run {run}\n"
        f"  hint: `gram runs list --record {database.name}` shows those that there are"
    )


def has_status(status: Sequence[RunStatus], clock: str) -> tuple[str, list[object]]:
    """SQL for the runs that have one of some statuses, and its values.

    A run whose owner is not heard of any more has stopped.

    Args:
        status: the statuses.
        clock: SQL for the time.
    """
    plain = [each for each in status if each != "running"]
    parts = [f"status IN ({', '.join('?' * len(plain))})"] if plain else []
    if "running" in status:
        parts.append(f"(status = 'running' AND leased_until >= {clock})")
    if "stopped" in status:
        parts.append(f"(status = 'running' AND leased_until < {clock})")
    return f"({' OR '.join(parts) or 'FALSE'})", [*plain]


def found_rows(
    database: Database, where: str, values: Sequence[object], limit: int | None
) -> Iterator[RunRow]:
    """The runs for which a condition holds, the newest first.

    Raises:
        StoreError: the store cannot be read.
    """
    standing = (
        f"CASE WHEN status = 'running' AND leased_until < {database.clock} "
        f"THEN '{_LEFT}' ELSE status END"
    )
    select = f"SELECT {_COLUMNS.format(standing=standing)} FROM gram_runs WHERE {where}"
    return map(_row, in_pages(database, select, values, ("created", "id"), limit))


def _row(row: tuple[Any, ...]) -> RunRow:
    created, run, status, *facts = row[:12]
    changed, input_tokens, output_tokens, reason, entries, owner = row[12:]
    left_by = (
        owner
        if status == _LEFT or (status == "running" and owner is not None and is_dead(owner))
        else None
    )
    if left_by is not None:
        status, reason = "stopped", f"left by a dead process: {process_of(left_by)}"
    return RunRow(
        run,
        status,
        RunFacts(*facts),
        datetime.fromtimestamp(created, UTC),
        datetime.fromtimestamp(changed, UTC),
        Usage(input_tokens, output_tokens),
        reason,
        entries,
        left_by,
    )


def entries_of(database: Database, run: str) -> list[str]:
    """The entries of a run, as they are kept.

    Raises:
        StoreError: there is no such run, or the store cannot be read.
    """
    found = database.execute("SELECT text, seq FROM gram_entries WHERE run = ? ORDER BY seq", run)
    if not found:
        raise no_run(database, run)
    for place, (_, seq) in enumerate(found):
        if seq != place:
            raise StoreError(
                f"{name_of(database, run)}: its entry {place} is missing: was it removed?"
            )
    return [text for text, _ in found]


def recorded_run(database: Database, run: str) -> RecordedRun:
    """What is recorded of a run, see `RunStore.recorded`."""
    before = empty_context
    for conversation, size in _turns(database, run):
        before = messages_between(database, conversation, 0, size)
        if len(before) < size:
            raise StoreError(
                f"the conversation {conversation} was removed, which the run is a turn of"
            )
    lines = (f"{each}\n" for each in entries_of(database, run))
    return read_run("".join(lines), name_of(database, run), before)


def whole_entries(database: Database, run: str) -> list[str]:
    """The entries of a run; the first one has the messages before it."""
    head, *others = entries_of(database, run)
    if _turns(database, run):
        kept = recorded_run(database, run)
        head = head_of(kept.first, kept.library, kept.started)
    return [head, *others]


def _turns(database: Database, run: str) -> list[tuple[str, int]]:
    """The conversation of a run and how many messages that had before it, if it had any."""
    found: list[tuple[str, int]] = database.execute(
        "SELECT conversation, messages FROM gram_runs WHERE id = ? AND messages > 0", run
    )
    return found


def messages_between(
    database: Database, conversation: str, begin: int, end: int
) -> ConversationContext:
    """The messages of a conversation from one on to before another."""
    found = database.execute(
        "SELECT text FROM gram_messages WHERE conversation = ? AND seq >= ? AND seq < ? "
        "ORDER BY seq",
        conversation,
        begin,
        end,
    )
    return messages_of(text for (text,) in found)

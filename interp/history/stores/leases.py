"""Claims: who may write to a run of a store, and for how long.

A claim has a fence, a number that every entry carries. Whoever claims the run next has a higher
one, and nothing with a lower one is written any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import define

from ...errors import RunTakenError, StoreError
from ...machine import Message, Usage
from .conversations import add_turn, gone_on
from .database import Database, Rows
from .owners import is_dead, new_owner
from .run_rows import ENDED, RunStatus, name_of, no_run

LEASE: Final = 10.0
"""The seconds after which a run whose owner is not heard of may be claimed by others."""

_AT_ONCE: Final = 10
"""How many claims one statement renews."""


@define(eq=False)
class Lease:
    """The right to write to a run.

    Attributes:
        run: the id of the run.
        fence: the number that its entries carry.
        size: how many entries the run has.
        is_lost: whether somebody else has claimed the run since; it is seen with some delay.
        unsure: its last entries, as far as a crash of the database's server may lose them.
    """

    run: str
    fence: int
    size: int
    is_lost: bool = False
    unsure: tuple[str, ...] = ()


def claim(database: Database, run: str, size: int | None) -> Lease:
    """Claim a run that nobody has, see `RunStore.claim`."""
    name = new_owner()
    is_left = f"(owner IS NULL OR owner = ? OR leased_until < {database.clock})"
    if claimed := _claimed_in_turn(database, run, size, name, is_left, name):
        return claimed
    found = database.execute("SELECT status, owner FROM gram_runs WHERE id = ?", run)
    if not found:
        raise no_run(database, run)
    status, holder = found[0]
    if status == "cancelled":
        raise taken(database, run)
    if holder is None or is_dead(holder):
        is_left = "(owner IS NULL OR owner IN (?, ?))"
        if claimed := _claimed_in_turn(database, run, size, name, is_left, name, holder):
            return claimed
    raise RunTakenError(
        f"{name_of(database, run)}: another process goes on with it\n"
        f"  hint: it can be taken over {LEASE:.0f} seconds after that one was last heard of"
    )


def take_over(database: Database, run: str) -> Lease:
    """Claim a run even if somebody else has it, see `RunStore.take_over`."""
    has_not_ended = f"status NOT IN ({', '.join('?' * len(ENDED))})"
    claimed = database.together(lambda: _claimed(database, run, new_owner(), has_not_ended, *ENDED))
    if claimed is None:
        found = database.execute("SELECT status FROM gram_runs WHERE id = ?", run)
        if not found:
            raise no_run(database, run)
        raise StoreError(f"{name_of(database, run)} is {found[0][0]}: it has ended")
    return claimed


def renew(database: Database, leases: Sequence[Lease]) -> None:
    """Renew claims; those whose runs somebody else has, or nobody any more, are marked as lost."""
    for first in range(0, len(leases), _AT_ONCE):
        some = leases[first : first + _AT_ONCE]
        renewed = database.execute(
            f"UPDATE gram_runs SET leased_until = {database.clock} + ? "
            f"WHERE owner IS NOT NULL AND ({' OR '.join(['(id = ? AND fence = ?)'] * len(some))}) "
            "RETURNING id, fence",
            LEASE,
            *(value for claim in some for value in (claim.run, claim.fence)),
        )
        for claim in some:
            claim.is_lost = (claim.run, claim.fence) not in renewed


def let_go(
    database: Database,
    claim: Lease,
    status: RunStatus,
    usage: Usage,
    reason: str | None = None,
    context: Sequence[Message] = (),
) -> None:
    """Give a claim up, see `RunStore.let_go`."""

    def work() -> Rows:
        left = database.execute(
            f"UPDATE gram_runs SET owner = NULL, leased_until = 0, changed = {database.clock}, "
            "status = ?, input_tokens = COALESCE(?, input_tokens), "
            "output_tokens = COALESCE(?, output_tokens), reason = ? "
            "WHERE id = ? AND fence = ? RETURNING conversation, messages",
            status,
            usage.input_tokens,
            usage.output_tokens,
            reason,
            claim.run,
            claim.fence,
        )
        if left and status == "done" and left[0][1] is not None:
            conversation, before = left[0]
            add_turn(database, conversation, claim.run, before, context[before:])
        return left

    if not database.together(work):
        raise taken(database, claim.run)


def taken(database: Database, run: str) -> RunTakenError:
    """What is told of a run that its owner may write to no more."""
    found = database.execute("SELECT status FROM gram_runs WHERE id = ?", run)
    name = name_of(database, run)
    if not found:
        return RunTakenError(f"{name} was removed")
    if found[0][0] == "cancelled":
        return RunTakenError(f"{name} was cancelled")
    return RunTakenError(f"{name} was taken over by another process")


def _claimed_in_turn(
    database: Database, run: str, size: int | None, owner: str, condition: str, *values: object
) -> Lease | None:
    """Claim a run that nobody has gone on with since it was read, where it is its turn.

    It is not if another turn of its conversation is under way, or went before it.

    Raises:
        RunTakenError: somebody has gone on with it, or it is not its turn.
    """
    condition = f"status <> 'cancelled' AND {condition}"

    def work() -> Lease | None:
        turns = database.execute(
            "SELECT conversation, messages FROM gram_runs "
            "WHERE id = ? AND messages IS NOT NULL AND status <> 'done'",
            run,
        )
        for conversation, before in turns:
            _expect_turn(database, run, conversation, before)
        found = _claimed(database, run, owner, condition, *values)
        if found and size not in (None, found.size):
            raise RunTakenError(
                f"{name_of(database, run)}: another process has gone on with it since it was read\n"
                "  hint: resume it again, from what is recorded now"
            )
        return found

    return database.together(work)


def _expect_turn(database: Database, run: str, conversation: str, before: int) -> None:
    ((size,),) = database.execute(
        "INSERT INTO gram_conversations (name, size, run) VALUES (?, 0, '') "
        "ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING size",
        conversation,
    )
    if size != before:
        raise RunTakenError(f"{name_of(database, run)}: {gone_on(conversation)}")
    others = database.execute(
        "SELECT id FROM gram_runs WHERE conversation = ? AND id <> ? "
        f"AND status = 'running' AND leased_until >= {database.clock}",
        conversation,
        run,
    )
    if others:
        raise RunTakenError(
            f"{name_of(database, run)}: another turn of the conversation {conversation} is under "
            f"way: run {others[0][0]}"
        )


def _claimed(
    database: Database, run: str, owner: str, condition: str, *values: object
) -> Lease | None:
    claimed = database.execute(
        "UPDATE gram_runs SET fence = fence + 1, owner = ?, status = 'running', reason = NULL, "
        f"leased_until = {database.clock} + ?, changed = {database.clock} "
        f"WHERE id = ? AND {condition} RETURNING fence",
        owner,
        LEASE,
        run,
        *values,
    )
    if not claimed:
        return None
    ((size,),) = database.execute("SELECT max(seq) + 1 FROM gram_entries WHERE run = ?", run)
    return Lease(run, claimed[0][0], size or 0)

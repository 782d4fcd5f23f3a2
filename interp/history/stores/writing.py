"""Writing runs to a store: their first entries, and those that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ...errors import RunExistsError
from ...machine import Usage
from .conversations import Turn, expect_messages
from .database import Database, Rows
from .heads import cut
from .leases import Lease, taken
from .owners import new_owner
from .run_rows import RunFacts, RunStatus

_TEXTS_ARE_USED_FOR: Final = 3600.0  # seconds after which a text is marked as used again


def create(
    database: Database,
    run: str,
    head: str,
    facts: RunFacts,
    shared: Sequence[str],
    turn: Turn | None,
    status: RunStatus,
    entries: Sequence[str],
    usage: Usage,
    reason: str | None,
) -> None:
    """Make a run with its first entry, see `RunStore.create`."""
    own, texts = cut(head, shared, turn.named if turn else {})
    maker = new_owner()

    def make() -> Rows:
        execute = database.execute
        if turn:
            expect_messages(database, turn.conversation, turn.before)
        made = execute(
            "INSERT INTO gram_runs (id, status, agent, model, filename, program, parent, "
            "tenant, conversation, messages, priority, owner, created, changed, fence, "
            "leased_until, input_tokens, output_tokens, reason) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            f"{database.clock}, {database.clock}, 0, 0, ?, ?, ?) "
            "ON CONFLICT (id) DO NOTHING RETURNING id",
            run,
            status,
            facts.agent,
            facts.model,
            facts.filename,
            facts.program,
            facts.parent,
            facts.tenant,
            facts.conversation,
            turn.before if turn else None,
            facts.priority,
            maker,
            usage.input_tokens,
            usage.output_tokens,
            reason,
        )
        if made:
            _keep_texts(database, run, texts)
        for place, entry in enumerate([own, *entries] if made else ()):
            execute(
                "INSERT INTO gram_entries (run, seq, fence, text) VALUES (?, ?, 0, ?)",
                run,
                place,
                entry,
            )
        return made or execute(  # made before, where its success could not be told
            "SELECT id FROM gram_runs WHERE id = ? AND owner = ?", run, maker
        )

    if not database.together(make):
        raise RunExistsError(f"{database.name}: it has a run {run} already")


def begin_anew(
    database: Database, run: str, head: str, shared: Iterable[str], turn: Turn | None
) -> bool:
    """Replace the first entry of a run that nobody has begun, see `RunStore.begin_anew`."""
    own, texts = cut(head, shared, turn.named if turn else {})

    def replace() -> Rows:
        replaced = database.execute(
            "UPDATE gram_entries SET text = ? WHERE run = ? AND seq = 0 AND fence = 0 "
            "AND EXISTS (SELECT 1 FROM gram_runs "
            f"WHERE id = ? AND leased_until < {database.clock}) "
            "AND NOT EXISTS (SELECT 1 FROM gram_entries WHERE run = ? AND seq > 0) "
            "RETURNING seq",
            own,
            *[run] * 3,
        )
        if replaced:
            _keep_texts(database, run, texts)
        if replaced and turn:
            database.execute("UPDATE gram_runs SET messages = ? WHERE id = ?", turn.before, run)
        return replaced

    return bool(database.together(replace))


def append(
    database: Database, claim: Lease, entries: Sequence[str], may_be_lost: bool = False
) -> None:
    """Write entries, all or none, see `RunStore.append`.

    An entry is written only behind the one before it. Where a crash of the server has lost that
    one, what it may have lost is written again, so that no run has a gap.
    """
    is_written = _is_appended(database, claim, claim.size, entries, may_be_lost)
    if not is_written and claim.unsure:
        place = claim.size - len(claim.unsure)
        is_written = _is_appended(database, claim, place, [*claim.unsure, *entries])
        may_be_lost = False
    if not is_written:
        claim.is_lost = True
        raise taken(database, claim.run)
    claim.size += len(entries)
    claim.unsure = (*claim.unsure, *entries) if may_be_lost else ()


def _is_appended(
    database: Database,
    claim: Lease,
    first: int,
    entries: Sequence[str],
    may_be_lost: bool = False,
) -> bool:
    """Write entries from a place on, all or none; False if the claim or an entry before is lost."""
    insert = (
        "INSERT INTO gram_entries (run, seq, fence, text) "
        f"SELECT id, ?, fence, ? FROM gram_runs{database.unwaited if may_be_lost else ''} "
        "WHERE id = ? AND fence = ? "
        f"AND EXISTS (SELECT 1 FROM gram_entries WHERE run = ? AND seq = ?){database.row_lock} "
        "ON CONFLICT (run, seq) DO NOTHING RETURNING seq"
    )

    def is_written(place: int, entry: str) -> bool:
        written = database.execute(
            insert, place, entry, claim.run, claim.fence, claim.run, place - 1
        ) or database.execute(
            # written before, where its success could not be told
            "SELECT seq FROM gram_entries WHERE run = ? AND seq = ? AND fence = ? AND text = ?",
            claim.run,
            place,
            claim.fence,
            entry,
        )
        return bool(written)

    if len(entries) == 1:
        return is_written(first, entries[0])
    return database.together(
        lambda: all(is_written(place, entry) for place, entry in enumerate(entries, first))
    )


def _keep_texts(database: Database, run: str, texts: Mapping[str, str]) -> None:
    """Keep the texts that the first entry of a run shares with others."""
    for sha256, text in sorted(texts.items()):  # in one order, so that nobody waits in a circle
        database.execute(
            f"INSERT INTO gram_texts (sha256, text, used) VALUES (?, ?, {database.clock}) "
            "ON CONFLICT (sha256) DO UPDATE SET used = excluded.used "
            "WHERE gram_texts.used < excluded.used - ?",
            sha256,
            text,
            _TEXTS_ARE_USED_FOR,
        )
        database.execute(
            "INSERT INTO gram_uses (run, sha256) VALUES (?, ?) ON CONFLICT DO NOTHING", run, sha256
        )

"""Writing runs to a store: their first entries, and those that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ..errors import RunExistsError
from ..messages import Usage
from .claims import Claim, taken
from .conversations import Turn
from .database import Database, Execute, Rows
from .heads import cut
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
) -> None:
    """Make a run with its first entry, see `RunStore.create`."""
    own, texts = cut(head, shared, turn.named if turn else {})
    maker = new_owner()

    def make(execute: Execute) -> Rows:
        _keep_texts(execute, database, texts)
        made = execute(
            "INSERT INTO gram_runs (id, status, agent, model, filename, program, parent, "
            "tenant, conversation, messages, priority, owner, created, changed, fence, "
            "leased_until, input_tokens, output_tokens) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            f"{database.clock}, {database.clock}, 0, 0, ?, ?) "
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
        )
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

    def replace(execute: Execute) -> Rows:
        _keep_texts(execute, database, texts)
        replaced = execute(
            "UPDATE gram_entries SET text = ? WHERE run = ? AND seq = 0 AND fence = 0 "
            "AND EXISTS (SELECT 1 FROM gram_runs "
            f"WHERE id = ? AND leased_until < {database.clock}) "
            "AND NOT EXISTS (SELECT 1 FROM gram_entries WHERE run = ? AND seq > 0) "
            "RETURNING seq",
            own,
            *[run] * 3,
        )
        if replaced and turn:
            execute("UPDATE gram_runs SET messages = ? WHERE id = ?", turn.before, run)
        return replaced

    return bool(database.together(replace))


def append(database: Database, claim: Claim, entries: Sequence[str]) -> None:
    """Write entries, all or none, see `RunStore.append`."""
    if len(entries) == 1:
        is_written = _is_appended(database.execute, database, claim, claim.size, entries[0])
    else:
        is_written = database.together(
            lambda execute: all(
                _is_appended(execute, database, claim, claim.size + index, entry)
                for index, entry in enumerate(entries)
            )
        )
    if not is_written:
        claim.is_lost = True
        raise taken(database, claim.run)
    claim.size += len(entries)


def _is_appended(
    execute: Execute, database: Database, claim: Claim, place: int, entry: str
) -> bool:
    written = execute(
        "INSERT INTO gram_entries (run, seq, fence, text) "
        "SELECT id, ?, fence, ? FROM gram_runs WHERE id = ? AND fence = ?"
        f"{database.row_lock} ON CONFLICT (run, seq) DO NOTHING RETURNING seq",
        place,
        entry,
        claim.run,
        claim.fence,
    ) or execute(  # written before, where its success could not be told
        "SELECT seq FROM gram_entries WHERE run = ? AND seq = ? AND fence = ?",
        claim.run,
        place,
        claim.fence,
    )
    return bool(written)


def _keep_texts(execute: Execute, database: Database, texts: Mapping[str, str]) -> None:
    for sha256, text in sorted(texts.items()):  # in one order, so that nobody waits in a circle
        execute(
            f"INSERT INTO gram_texts (sha256, text, used) VALUES (?, ?, {database.clock}) "
            "ON CONFLICT (sha256) DO UPDATE SET used = excluded.used "
            "WHERE gram_texts.used < excluded.used - ?",
            sha256,
            text,
            _TEXTS_ARE_USED_FOR,
        )

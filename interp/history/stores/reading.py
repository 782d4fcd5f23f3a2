"""Reading the entries of a run of a store."""

from __future__ import annotations

from ...errors import StoreError
from .conversations import named_text
from .database import Database
from .heads import joined
from .run_rows import name_of, no_run


def entries_of(database: Database, run: str) -> list[str]:
    """The entries of a run, see `RunStore.entries`."""
    found = database.execute(
        "SELECT text, seq, conversation FROM gram_entries JOIN gram_runs ON id = run "
        "WHERE run = ? ORDER BY seq",
        run,
    )
    if not found:
        raise no_run(database, run)
    for place, (_, seq, _) in enumerate(found):
        if seq != place:
            raise StoreError(
                f"{name_of(database, run)}: its entry {place} is missing: was it removed?"
            )
    (own, _, conversation), *others = found
    head = joined(own, lambda name: _text(database, conversation, name))
    return [head, *(text for text, _, _ in others)]


def _text(database: Database, conversation: str | None, name: str) -> str:
    """The text that a first entry has only the name of."""
    said = named_text(database, conversation, name)
    if said is not None:
        return said
    found = database.execute("SELECT text FROM gram_texts WHERE sha256 = ?", name)
    if not found:
        raise StoreError(f"{database.name}: a text that a run has is missing: {name}")
    return str(found[0][0])

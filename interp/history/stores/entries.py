"""The entries of runs in a store, and what is kept once for many runs.

The text of a program, its agent and its tools are kept by their hash, the messages before a turn
of a conversation in that conversation. What is left of a first entry is a JSON list: in turn a
text, and the name of what follows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from ...errors import StoreError
from .database import Database

_SHORTEST: Final = 200
"""A shorter text costs less than its hash and its row."""

_TEXTS_ARE_USED_FOR: Final = 3600.0
"""Seconds after which a text is marked as used again."""

_TEXTS_ARE_KEPT_FOR: Final = 86400.0
"""Seconds after its last use in which no text is removed: a run may be about to use it."""

MANY: Final = 500
"""How many runs are removed in one go, so that others do not wait for long."""


def cut(
    line: str, shared: Iterable[str], named: Mapping[str, str] = {}
) -> tuple[str, dict[str, str]]:
    """Cut a first entry.

    Args:
        line: the entry.
        shared: parts of it that other runs have, too.
        named: parts of it that are kept elsewhere, by their names.

    Returns:
        What is kept of the run alone, and the shared parts by their hashes.

    >>> own, texts = cut("a" + "b" * 200 + "c", ["b" * 200])
    >>> joined(own, texts.__getitem__) == "a" + "b" * 200 + "c"
    True
    """
    texts = {sha256(each.encode()).hexdigest(): each for each in shared if len(each) >= _SHORTEST}
    parts = [line]
    names = {text: name for name, text in {**texts, **named}.items() if text}
    for text in sorted(names, key=len, reverse=True):
        parts = [
            piece
            for index, part in enumerate(parts)
            for piece in ([part] if index % 2 else _around(part, text, names[text]))
        ]
    used = set(parts[1::2])
    kept = {name: text for name, text in texts.items() if name in used}
    return json.dumps(parts, ensure_ascii=False), kept


def joined(own: str, text_of: Callable[[str], str]) -> str:
    """A first entry as it was before it was cut.

    Args:
        own: what was kept of it.
        text_of: gives the text of a hash or name.

    Raises:
        StoreError: what was kept is no such list.
    """
    try:
        parts = json.loads(own)
        return "".join(text_of(part) if index % 2 else part for index, part in enumerate(parts))
    except (ValueError, TypeError):
        raise StoreError("the first entry of the run cannot be read: it was changed") from None


def with_texts(own: str, text_of: Callable[[str], str | None]) -> str:
    """A cut first entry with some of its names replaced by their texts.

    Args:
        own: what was kept of it.
        text_of: gives the text of a name; None for one that stays.
    """
    parts = json.loads(own)
    for index in reversed(range(1, len(parts), 2)):
        if (text := text_of(parts[index])) is not None:
            parts[index - 1 : index + 2] = ["".join([parts[index - 1], text, parts[index + 1]])]
    return json.dumps(parts, ensure_ascii=False)


def _around(part: str, text: str, name: str) -> list[str]:
    """A part cut at the first place where a text is in it, and the name of that text."""
    before, found, after = part.partition(text)
    return [before, name, after] if found else [part]


def keep_texts(database: Database, run: str, texts: Mapping[str, str]) -> None:
    """Keep the texts that the first entry of a run shares with others, by their hashes."""
    for name, text in sorted(texts.items()):  # in one order, so that nobody waits in a circle
        database.execute(
            f"INSERT INTO gram_texts (sha256, text, used) VALUES (?, ?, {database.clock}) "
            "ON CONFLICT (sha256) DO UPDATE SET used = excluded.used "
            "WHERE gram_texts.used < excluded.used - ?",
            name,
            text,
            _TEXTS_ARE_USED_FOR,
        )
        database.execute(
            "INSERT INTO gram_uses (run, sha256) VALUES (?, ?) ON CONFLICT DO NOTHING", run, name
        )


def shared_text(database: Database, name: str) -> str:
    """The text of a hash.

    Raises:
        StoreError: it was removed, or the store cannot be read.
    """
    found = database.execute("SELECT text FROM gram_texts WHERE sha256 = ?", name)
    if not found:
        raise StoreError(f"{database.name}: a text that a run has is missing: {name}")
    return str(found[0][0])


def remove_entries(database: Database, runs: Sequence[str]) -> None:
    """Remove the entries of runs that were removed."""
    for first in range(0, len(runs), MANY):
        some = runs[first : first + MANY]
        marks = ", ".join("?" * len(some))
        for table in ("gram_entries", "gram_uses"):
            database.execute(f"DELETE FROM {table} WHERE run IN ({marks})", *some)


def remove_unused_texts(database: Database) -> None:
    """Remove the texts that no run uses, and that have not been used for a while."""
    database.execute(
        f"DELETE FROM gram_texts WHERE used < {database.clock} - ? AND NOT EXISTS "
        "(SELECT 1 FROM gram_uses WHERE gram_uses.sha256 = gram_texts.sha256)",
        _TEXTS_ARE_KEPT_FOR,
    )

"""The first entries of runs, without what is kept once for many runs.

The text of a program, its agent and its tools are kept by their hash, the messages before a turn
of a conversation in that conversation. What is left of a first entry is a JSON list: in turn a
text, and the name of what follows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Final

from ...errors import StoreError

_SHORTEST: Final = 200
"""A shorter text costs less than its hash and its row."""


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


def _around(part: str, text: str, name: str) -> list[str]:
    """A part cut at the first place where a text is in it, and the name of that text."""
    before, found, after = part.partition(text)
    return [before, name, after] if found else [part]

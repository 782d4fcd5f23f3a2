"""The first entries of runs, without what the runs of one program have in common.

The text of a program, its agent and its tools are kept once, by their hash. What is left of a first
entry is a JSON list, of texts and of hashes in turn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Final

_SHORTEST: Final = 200
"""A shorter text costs less than its hash and its row."""


def cut(line: str, shared: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Cut a first entry.

    Args:
        line: the entry.
        shared: parts of it that other runs have, too.

    Returns:
        What is kept of the run alone, and the other texts by their hashes.

    >>> own, texts = cut("a" + "b" * 200 + "c", ["b" * 200])
    >>> joined(own, texts.__getitem__) == "a" + "b" * 200 + "c"
    True
    """
    parts = [line]
    for text in sorted({each for each in shared if len(each) >= _SHORTEST}, key=len, reverse=True):
        parts = [
            piece
            for index, part in enumerate(parts)
            for piece in ([part] if index % 2 else _around(part, text))
        ]
    texts = {sha256(each.encode()).hexdigest(): each for each in parts[1::2]}
    hashes = {text: name for name, text in texts.items()}
    own = [hashes[part] if index % 2 else part for index, part in enumerate(parts)]
    return json.dumps(own, ensure_ascii=False), texts


def joined(own: str, text_of: Callable[[str], str]) -> str:
    """A first entry as it was before it was cut.

    Args:
        own: what was kept of it.
        text_of: gives the text of a hash.
    """
    return "".join(
        text_of(part) if index % 2 else part for index, part in enumerate(json.loads(own))
    )


def hashes_in(own: str) -> list[str]:
    """The hashes of the texts that were cut out of a first entry."""
    found: list[str] = json.loads(own)[1::2]
    return found


def _around(part: str, text: str) -> list[str]:
    """A part cut at the first place where a text stands in it."""
    before, found, after = part.partition(text)
    return [before, text, after] if found else [part]

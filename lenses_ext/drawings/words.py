"""The words in drawings."""

from __future__ import annotations

_MOST_CHARACTERS = 60


def shortened(line: str, most: int = _MOST_CHARACTERS) -> str:
    """A text as one line that is not too long."""
    line = " ".join(line.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def count_words(count: int | None, failed: int = 0) -> str:
    """How often a run came to a node, in words; "" where no run is shown or it never did.

    >>> count_words(3, 1), count_words(0), count_words(None)
    ('3 times, 1 failed', '', '')
    """
    if not count:
        return ""
    times = "once" if count == 1 else f"{count} times"
    return f"{times}, {failed} failed" if failed else times

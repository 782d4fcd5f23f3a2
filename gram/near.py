"""What may have been meant by a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint with the known names that are nearest to ``name``, or None when none is near.

    >>> did_you_mean("instrution", ["model", "instruction"])
    'did you mean instruction?'
    """
    from difflib import get_close_matches  # only what is wrong needs it

    near = get_close_matches(name, filter(None, known), n=3)
    return f"did you mean {' or '.join(near)}?" if near else None

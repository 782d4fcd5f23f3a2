"""Prints unified diffs, for the commands that change files."""

from __future__ import annotations

import re

from .output import show

_STYLES = {"---": "place", "+++": "place", "@@": "hunk", "-": "removed", "+": "added"}


def show_diff(before: str, after: str, name: str) -> None:
    """Print the unified diff between two texts of a file."""
    from difflib import unified_diff  # imported late: most commands show no difference

    for line in unified_diff(_lines(before), _lines(after), name, f"{name} (new)"):
        style = next((style for mark, style in _STYLES.items() if line.startswith(mark)), "")
        show([(line, style)], nl=False)
        if not line.endswith("\n"):
            show("\n\\ No newline at end of file")


def _lines(text: str) -> list[str]:
    r"""Split a text into lines at ``\n`` only, as other diff programs do."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)

"""How commands show what they would change: as a unified diff."""

from __future__ import annotations

import re
from difflib import unified_diff

import click


def show_diff(before: str, after: str, name: str) -> None:
    """Print the unified diff between two texts of a file."""
    lines = unified_diff(
        _lines(before),
        _lines(after),
        f"{name}",
        f"{name} (new)",
    )
    for line in lines:
        click.echo(line, nl=False)
        if not line.endswith("\n"):
            click.echo("\n\\ No newline at end of file")


def _lines(text: str) -> list[str]:
    r"""The lines of a text: ``\n`` alone ends one, as for other programs that show diffs."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)

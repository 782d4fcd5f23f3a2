"""How commands show what they would change: as a unified diff."""

from __future__ import annotations

from difflib import unified_diff

import click


def show_diff(before: str, after: str, name: str) -> None:
    """Print the unified diff between two texts of a file."""
    lines = unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"{name}",
        f"{name} (new)",
    )
    for line in lines:
        click.echo(line, nl=False)
        if not line.endswith("\n"):
            click.echo("\n\\ No newline at end of file")

"""What the shell completes: files, and the paths in them."""

from __future__ import annotations

from collections.abc import Callable
from glob import escape, glob
from typing import Any

import click
from click.shell_completion import CompletionItem

from gram import GramError

from .program_files import find_files, is_input


def path_argument(words: str) -> Callable[[Any], Any]:
    """The arguments of a command that takes files and a path, which come first or last.

    Args:
        words: the names of the words beside the files, such as ``PATH VALUE``.
    """
    return click.argument(
        "arguments",
        nargs=-1,
        required=True,
        metavar=f"FILE... {words}",
        shell_complete=_complete_path,
    )


def complete_files(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Files; in a message, those after its ``@``."""
    if begun.startswith("@"):
        return [CompletionItem(f"@{each}") for each in _glob(begun[1:])]
    return [CompletionItem(begun, type="file")]


def _glob(begun: str) -> list[str]:
    return sorted(glob(f"{escape(begun)}*"))  # noqa: PTH207  # it may begin with anything


def _complete_path(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Files, and after a file the paths in it that begin with the typed text."""
    typed: tuple[str, ...] = context.params.get("arguments") or ()
    paths = _paths_in(typed[0], begun) if typed and is_input(typed[0]) else []
    return [CompletionItem(path) for path in paths] or [CompletionItem(begun, type="file")]


def _paths_in(file: str, begun: str) -> list[str]:
    """The paths in the first of these files that begin with a text; none if it cannot be read."""
    from lenses_ext import completions

    from .inputs import read_document

    try:
        return completions(read_document(find_files(file)[0]).patterns, begun)
    except (GramError, OSError):
        return []

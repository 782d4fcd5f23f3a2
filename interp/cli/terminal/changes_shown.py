"""Shows what changed between programs: as a diff, as text, as Markdown for a review, as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from attrs import frozen

from gram import origin
from gram.words import counted
from lenses_ext.composing import ProgramChange, level_of

from ...shown import visible_text
from .output import note, show

_MARKS = {
    "breaking for callers": "error",
    "breaking for functions": "warning",
    "changing behaviour": "info",
}
"""What a change means, with the style of it."""
Where: TypeAlias = Literal["both", "old", "new"]
"""On which sides a file is."""
_HOW = {"both": "", "old": " (removed)", "new": " (new)"}


@frozen
class FileChanges:
    """What changed in a file.

    Attributes:
        name: the name of the file.
        is_in: whether it is on both sides, or on one alone.
        found: what changed.
        error: why that cannot be said, or None.
    """

    name: str
    is_in: Where
    found: tuple[ProgramChange, ...]
    error: str | None = None


def show_changes(files: Sequence[FileChanges], everything: bool, markdown: bool) -> None:
    """Print what changed, and at the end what it means for those who use the programs.

    Args:
        files: the changes of each file.
        everything: whether changes of order and spelling are printed too.
        markdown: print Markdown, in which what people wrote is code, so that it means nothing.
    """
    for file in files:
        changes = _told(file, everything)
        if (changes and len(files) > 1) or (markdown and (changes or file.error)):
            heading = visible_text(file.name) + _HOW[file.is_in]
            show(f"### {_code(heading)}\n" if markdown else [(heading, "place")])
        for change in changes:
            text, marks = visible_text(str(change)), _marks(change)
            if markdown:
                show(f"- {_code(text)}{' '.join(['', *(f'**{mark}**' for mark in marks)])}")
            else:
                show([(text, ""), *((f" [{mark}]", _MARKS[mark]) for mark in marks)])
        if markdown and file.error:
            show(f"- **not compared**: {_code(visible_text(file.error))}")
        if markdown and (changes or file.error):
            show("")
    every = [change for file in files for change in file.found]
    if (level := level_of(every)) is None:
        if every and not everything:
            note("only order and spelling differ: --all shows how")
        return
    changes = [each for each in every if not each.said.is_detail]
    counts = Counter(mark for each in changes for mark in _marks(each))
    sums = "".join(f", {counts[mark]} {mark}" for mark in _MARKS if counts[mark])
    summary = f"{counted(len(changes), 'change')}{sums}"
    show(f"**{level}**: {summary}" if markdown else [(level, "place"), (f": {summary}", "")])


def json_of(files: Sequence[FileChanges], everything: bool) -> dict[str, Any]:
    """What changed, as JSON."""
    return {
        "level": level_of(change for file in files for change in file.found),
        "files": [
            {
                "file": file.name,
                "in": file.is_in,
                "level": level_of(file.found),
                "changes": [_json_of(each) for each in _told(file, everything)],
                **({"error": file.error} if file.error else {}),
            }
            for file in files
            if file.found or file.error
        ],
    }


def _json_of(change: ProgramChange) -> dict[str, Any]:
    said, place = change.said, origin(change.pattern)
    return {
        "what": list(change.what),
        "change": said.text,
        "level": None if said.is_detail else said.level,
        "breaks_callers": said.level == "major",
        "breaks_functions": said.unbinds,
        "changes_behaviour": said.behaves,
        "place": str(place) if place else None,
    }


def _told(file: FileChanges, everything: bool) -> list[ProgramChange]:
    return [each for each in file.found if everything or not each.said.is_detail]


def _marks(change: ProgramChange) -> list[str]:
    said = change.said
    flags = said.level == "major", said.unbinds, said.behaves
    return [mark for mark, flag in zip(_MARKS, flags, strict=True) if flag]


def _code(text: str) -> str:
    """A text as code, whatever is in it: Markdown means nothing there, and nobody is called."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence} {text} {fence}"


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

"""The patterns of runs, and their canonical text on one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gram import Pattern, Subject, write_pattern
from gram.writing import ONE_LINE, Spelling


def node(
    label: str, properties: Mapping[str, Any] = {}, elements: Iterable[Pattern] = ()
) -> Pattern:
    """A pattern with a label, and without an identity."""
    return Pattern(Subject("", {label}, properties), elements)


def pattern_line(pattern: Pattern) -> str:
    """The canonical text of a pattern on one line."""
    return write_pattern(pattern, style=_on_one_line)


def _on_one_line(_: tuple[Pattern, ...]) -> Spelling:
    return ONE_LINE

"""How patterns with a label are shown in notebooks: what the language of the label says."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .errors import expect
from .trees import Pattern


class Presentation(NamedTuple):
    """How a pattern is shown.

    Attributes:
        text: writes it as gram.
        diagram: draws it, as the text of a Mermaid diagram.
        picture: draws it, as SVG that stands in HTML; None if there is no picture.
    """

    text: Callable[[Pattern], str]
    diagram: Callable[[Pattern], str]
    picture: Callable[[Pattern], str] | None = None


_by_label: dict[str, Presentation] = {}


def present(label: str, presentation: Presentation) -> None:
    """Say how patterns with a label are shown.

    Raises:
        ArgumentError: an argument is of the wrong type.
    """
    expect(label, str, "label", by="present")
    expect(presentation, Presentation, "presentation", by="present")
    _by_label[label] = presentation


def presentation_of(pattern: Pattern) -> Presentation | None:
    """How a pattern is shown, by its labels; None if no language says it."""
    expect(pattern, Pattern, "pattern", by="presentation_of")
    return next((_by_label[label] for label in sorted(pattern.value.labels & set(_by_label))), None)

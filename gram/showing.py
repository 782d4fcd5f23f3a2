"""How things are shown: tables that are asked by what does not know how to write or draw itself.

Trees know nothing of writing, and a language nothing of its drawings. The front of a package fills
the tables with functions that import what they need when they are first called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Way: TypeAlias = Literal["subject", "pattern", "notebook", "rich"]
"""A subject and a pattern as they show themselves, and what notebooks and ``rich`` are given."""

WAYS: Final[dict[Way, Callable[[Any], Any]]] = {}
"""The functions that show something, by the way in which they do."""


class Shown:
    """What notebooks and ``rich`` show in a form of its own."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        form: dict[str, str] = WAYS["notebook"](self)
        return form

    def __rich__(self) -> object:
        return WAYS["rich"](self)


class Presentation(NamedTuple):
    """How a pattern is shown.

    Attributes:
        text: writes it as gram.
        diagram: draws it, as the text of a Mermaid diagram.
        picture: draws it, as SVG that stands in HTML; None if there is no picture.
    """

    text: Callable[[Any], str]
    diagram: Callable[[Any], str]
    picture: Callable[[Any], str] | None = None


PRESENTATIONS: Final[dict[str, Presentation]] = {}
"""How patterns are shown, by their labels."""


def present(label: str, presentation: Presentation) -> None:
    """Say how patterns with a label are shown.

    Raises:
        ArgumentError: an argument is of the wrong type.
    """
    PRESENTATIONS[label] = presentation

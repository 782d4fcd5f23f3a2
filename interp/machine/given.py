"""What a run is begun with: a text, a text with files, or arguments by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Union

from gram.plurals import counted

from ..errors import ValidationError
from ..files import File

Given: TypeAlias = Union[str, Mapping[str, Any], Sequence[Union[str, File]]]
"""What an agent or workflow is called with: a text for its only parameter, a list of one text and
files for an agent that reads them, or the arguments."""


def parts_of(given: Given) -> tuple[str | Mapping[str, Any], tuple[File, ...]]:
    """The text or the arguments, and the files that are attached to it.

    Raises:
        ValidationError: a list has something else than texts and files, or not one text.
    """
    if isinstance(given, str | Mapping):
        return given, ()
    for index, each in enumerate(given):
        if not isinstance(each, str | File):
            raise ValidationError(
                f"a message is a text and files, found {type(each).__name__} at index {index}\n"
                '  hint: ["What is this?", File("chart.png")]'
            )
    texts = [each for each in given if isinstance(each, str)]
    if len(texts) != 1:
        hint = "say in one text what the files are for"
        raise ValidationError(
            f"a message has one text, found {counted(len(texts), 'text')}: {hint}"
        )
    return texts[0], tuple(each for each in given if isinstance(each, File))

"""How values are shown: short reprs, and text with nothing hidden in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias
from unicodedata import category

_BLANK_LETTERS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00013441\U00013442\U0001d159\U000e0100-\U000e01ef\U00016fe4]"
)
"""Characters that Unicode calls printable although they are invisible: grapheme joiners, fillers,
variation selectors and blank letters."""

_MOST_MARKS: Final = 3
"""How many accents may follow a letter; a pile of them covers the lines above and below."""

_RUN_OF_SPACES: Final = re.compile("  +")


def visible_text(text: str) -> str:
    """The text with what hides or is hidden as escapes, and with a mark for each space of a run.

    >>> print(visible_text("pay\\u200bBob\\nnow,   please"))
    pay\\u200bBob\\nnow,␣␣␣please
    """
    shown, marks = "", 0
    for char in text:
        marks = marks + 1 if category(char) in ("Mn", "Me") else 0
        is_seen = char.isprintable() and marks <= _MOST_MARKS
        shown += char if is_seen else _escape(char)
    shown = _BLANK_LETTERS.sub(lambda match: _escape(match[0]), shown)
    return _RUN_OF_SPACES.sub(lambda match: "␣" * len(match[0]), shown)


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode()


Shown: TypeAlias = Literal["comparison", "conversation", "run"]

NOTEBOOK: Final[dict[Shown, Callable[[Any], dict[str, str]]]] = {}
"""What notebooks show of conversations, runs and comparisons; the package's front fills it."""


def short_repr(value: object) -> str:
    """The repr of a part for the repr of the whole, cut where it is long.

    >>> len(short_repr("x" * 1000))
    101
    """
    return shortened(repr(value), 100)


def shortened(text: str, most: int) -> str:
    """A text that is cut to a number of characters.

    >>> shortened("abc", 3), shortened("abcd", 3)
    ('abc', 'abc…')
    """
    return text if len(text) <= most else f"{text[:most]}…"

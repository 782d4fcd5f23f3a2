"""What servers say is untrusted: invisible characters are shown, and long texts are cut."""

from __future__ import annotations

from typing import Final

from gram import display
from gram.plurals import counted

from ...secrets import without_keys

MOST_SAID: Final = 2_000
"""How many characters of a message of a server are shown."""

LONGEST_MESSAGE: Final = 16 * 1024 * 1024
"""How many bytes of an answer over HTTP are read."""

TOO_LONG: Final = f"the answer has more than {LONGEST_MESSAGE:,} bytes"


def visible(text: str) -> str:
    """The text with its harmful characters, and half ones, as escapes.

    >>> visible("a\\x1b[2Jb\\r\\nc")
    'a\\\\x1b[2Jb\\nc'
    """
    plain = text.replace("\r\n", "\n").encode(errors="backslashreplace").decode()
    return display.visible(plain)


def said(text: str, most: int = MOST_SAID) -> str:
    """What a server says, as a message shows it: visible, cut, and without keys."""
    return cut(visible(without_keys(text)[: 2 * most]).strip(), most, len(text))


def cut(text: str, most: int, length: int | None = None) -> str:
    """The beginning of a text, and how much of it is left out.

    >>> cut("abcdef", 4)
    'abcd [… 2 more characters]'
    """
    left_out = max(len(text), length or 0) - most
    return f"{text[:most]} [… {counted(left_out, 'more character')}]" if left_out > 0 else text

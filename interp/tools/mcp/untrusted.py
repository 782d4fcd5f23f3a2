"""What servers say is untrusted: invisible characters are shown, and long texts are cut."""

from __future__ import annotations

import re
from typing import Final

from gram.plurals import counted

from ...secrets import without_keys
from ...visible_text import has_invisible

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""Control characters, what changes the direction of a text, surrogates, and tags."""

MOST_SAID: Final = 2_000
"""How many characters of a message of a server are shown."""


def visible(text: str) -> str:
    """The text with its invisible characters written as escapes.

    >>> visible("a\\x1b[2Jb\\nc")
    'a\\\\u{1b}[2Jb\\nc'
    """
    return _INVISIBLE.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", text.replace("\r\n", "\n"))


def visible_name(name: str) -> str:
    """A name with all that is invisible in it as escapes, also what texts may have.

    >>> visible_name("pay\u200b")
    'pay\\\\u{200b}'
    """
    return "".join(f"\\u{{{ord(char):x}}}" if has_invisible(char) else char for char in name)


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

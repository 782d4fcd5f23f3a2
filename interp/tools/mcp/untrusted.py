"""What servers say is untrusted: invisible characters are shown, and long texts are cut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from unicodedata import category, normalize

from gram import display
from gram.words import counted

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


def fault_in(error: Any, *path: str) -> str:
    """What pydantic found wrong: the part, and the reason.

    Args:
        error: its ``ValidationError``.
        path: what the part is in.
    """
    first = error.errors(include_url=False)[0]
    return said(f"{'.'.join([*path, *map(str, first['loc'])]) or 'it'}: {first['msg']}")


def cut(text: str, most: int, length: int | None = None) -> str:
    """The beginning of a text, and how much of it is left out.

    >>> cut("abcdef", 4)
    'abcd [… 2 more characters]'
    """
    left_out = max(len(text), length or 0) - most
    return f"{text[:most]} [… {counted(left_out, 'more character')}]" if left_out > 0 else text


_LOOKS_LIKE: Final = str.maketrans(
    "авгеікмнорстухѕјԁԛԝһӏьёїґҽпүѵѡαβγεζηικλμνορστυχωϲϳցհյոսօզքլաթ"
    "ɑɡɩıſʟɴʀꜱᴀᴄᴇᴋᴍᴏᴘᴛᴜᴠᴡᴢɾƒǀΑΒΕΖΗΙΚΜΝΟΡΤΥΧᎠᎬᎻᎫᏦᏞᎷᏢᏚᎢᏙᎳᏃ",
    "abreikmhopctyxsjdqwhlbeirenyvwabyezniklmvopctuxwcjghjnuoqplwp"
    "agiislnrsacekmoptuvwzrflabezhikmnoptyxdehjklmpstvwz",
)
"""Letters of other alphabets, from Cyrillic to Cherokee, and the letters that they pass for."""

_ALIKE: Final = str.maketrans("01|i", "olll")

_BETWEEN: Final = ("Pc", "Pd", "Zs")
"""Dashes, underscores and blanks."""


def look_alikes(names: Iterable[str]) -> list[tuple[str, str]]:
    """The names that look like one before them, each with that one.

    Case, width, accents, dashes and blanks, and letters of other alphabets make no difference.

    >>> look_alikes(["pay", "Pay", "раy", "ｐａｙ", "buy"])
    [('Pay', 'pay'), ('раy', 'pay'), ('ｐａｙ', 'pay')]
    """
    first: dict[str, str] = {}
    found = []
    for name in names:
        other = first.setdefault(_looks(name), name)
        if other != name:
            found.append((name, other))
    return found


def _looks(name: str) -> str:
    """What names that look alike have in common."""
    plain = normalize("NFKD", normalize("NFKC", name).translate(_LOOKS_LIKE).casefold())
    letters = "".join(
        "_" if category(char) in _BETWEEN else char for char in plain if category(char) != "Mn"
    )
    alike = letters.translate(_LOOKS_LIKE).translate(_ALIKE)
    return alike.replace("rn", "m").replace("vv", "w").replace("cl", "d")

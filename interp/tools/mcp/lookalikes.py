"""Names that look like one another, so that people take one tool for another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from unicodedata import category, normalize

_LOOKS_LIKE: Final = str.maketrans(
    {
        **dict(zip("авгеікмнорстухѕјԁԛԝһӏьёїґ", "abreikmhopctyxsjdqwhlbeir", strict=True)),
        **dict(zip("αβγεζηικλμνορστυχωϲϳ", "abyezniklmvopctuxwcj", strict=True)),
        **dict(zip("ցհյոսօզքլ", "ghjnuoqpl", strict=True)),
        **dict(zip("ɑɡɩıſʟɴʀꜱᴀᴄᴇᴋᴍᴏᴘᴛᴜᴠᴡᴢ", "agiislnrsacekmoptuvwz", strict=True)),
    }
)
"""Letters of other alphabets and small capitals, and the letters that they pass for."""

_ALIKE: Final = str.maketrans("01|i", "olll")


def look_alikes(names: Iterable[str]) -> list[tuple[str, str]]:
    """The names that look like one before them, each with that one.

    Case, width, accents, and letters of other alphabets make no difference.

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
    plain = normalize("NFKD", normalize("NFKC", name).casefold())
    letters = "".join(
        "-" if category(char) == "Pd" else char for char in plain if category(char) != "Mn"
    )
    return letters.translate(_LOOKS_LIKE).translate(_ALIKE).replace("rn", "m").replace("vv", "w")

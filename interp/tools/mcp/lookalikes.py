"""Names that look like one another, so that people take one tool for another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from unicodedata import category, normalize

_LOOKS_LIKE: Final = str.maketrans(
    {
        **dict(
            zip("авгеікмнорстухѕјԁԛԝһӏьёїґҽпүѵѡ", "abreikmhopctyxsjdqwhlbeirenyvw", strict=True)
        ),
        **dict(zip("αβγεζηικλμνορστυχωϲϳ", "abyezniklmvopctuxwcj", strict=True)),
        **dict(zip("ցհյոսօզքլաթ", "ghjnuoqplwp", strict=True)),
        **dict(zip("ɑɡɩıſʟɴʀꜱᴀᴄᴇᴋᴍᴏᴘᴛᴜᴠᴡᴢɾƒǀ", "agiislnrsacekmoptuvwzrfl", strict=True)),
        **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "abezhikmnoptyx", strict=True)),
        **dict(zip("ᎠᎬᎻᎫᏦᏞᎷᏢᏚᎢᏙᎳᏃ", "dehjklmpstvwz", strict=True)),
    }
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

"""One change of a program, and how its words are written."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from attrs import field, frozen

from gram import Pattern, freeze, write_value
from gram.display import element
from gram.editing import common_ends

from ..schemas import dump_json

Level: TypeAlias = Literal["major", "minor", "patch"]
"""What a change asks of those who use a program, as in semantic versions."""

_SHORT = 40
_LONG = 100
_AROUND = 3


class Said(NamedTuple):
    """What changed in something, and what that means.

    Attributes:
        text: what changed.
        level: ``major`` when it breaks callers, ``minor`` when it adds something, else ``patch``.
        unbinds: whether functions that implement the tool no longer bind.
        behaves: whether agents behave in another way, though their interface is the same.
        is_detail: whether it changes no meaning: order, and another way to write the same.
    """

    text: str
    level: Level = "patch"
    unbinds: bool = False
    behaves: bool = False
    is_detail: bool = False


@frozen
class ProgramChange:
    """One change of a program, in the words of the language.

    Attributes:
        what: what changed, from the outside in, such as ``("agent `desk`", "tool `search`")``.
        said: what changed in it, and what that means.
        pattern: the pattern in the new program, or of the old one when it is gone.
    """

    what: tuple[str, ...]
    said: Said
    pattern: Pattern = field(eq=False, repr=False)

    def __str__(self) -> str:
        is_of_whole = self.said.text.startswith(("is ", "renamed ", "uses "))
        return ": ".join(self.what) + (" " if is_of_whole else ": ") + self.said.text


class ProgramChanges(tuple[ProgramChange, ...]):
    """The changes of a program, in the order of its text."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        rows = [[str(each.said.level), str(each)] for each in self] or [["nothing has changed"]]
        cells = ([element("td", cell, style="text-align:left") for cell in row] for row in rows)
        lines = "\n".join(map(" ".join, rows))
        return {
            "text/plain": lines,
            "text/html": element("table", (element("tr", each) for each in cells)),
        }


def became(old: object, new: object) -> str:
    """Two values as text, each cut to what differs; None is a value that is not there.

    >>> became(10, 20), became("a", None)
    ('10 → 20', '"a" → none')
    >>> became("Always be kind to everybody who asks you.", "Always be kind to everybody who asks.")
    '"… to everybody who asks you." → "… to everybody who asks."'
    """
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > _SHORT:
        old, new = where_they_differ(old, new)
    return f"{shown(old)} → {shown(new)}"


def where_they_differ(old: str, new: str) -> tuple[str, str]:
    """Two texts, each cut to the words that differ and a few around them."""
    words = old.split(), new.split()
    if words[0] == words[1]:
        return old, new
    first, last = common_ends(*words)
    before, after = max(first - _AROUND, 0), max(last - _AROUND, 0)
    one, other = (
        " ".join([*["…"] * (before > 0), *each[before : len(each) - after], *["…"] * (after > 0)])
        for each in words
    )
    return one, other


def shown(value: object) -> str:
    """A value as text, cut to fit on a line; None is a value that is not there."""
    if isinstance(value, dict | list):  # JSON
        text = dump_json(value, compact=True)
    else:
        text = "none" if value is None else write_value(freeze(value), fences=False)
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"

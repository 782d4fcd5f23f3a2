"""Paths into a document in the words of the lenses, for the command line.

    hello_world_agent.model
    hello_world_agent.tools.sayHello.description
    *.tools.*.parameters.personName.default

The first word is the name of an agent, or of another pattern at the top; ``*`` is any. A word with
other characters than a symbol's, or with a dot, stands in backticks. Where they lead is told by
`lenses_ext.places`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gram import GramError
from gram.serializer import write_name
from gram.strings import quote, unescape

ANY = "*"

_WORD = re.compile(r"(?:`((?:[^`\\]|\\.)+)`|([^.`]+))(?:\.|\Z)")


class PathError(GramError, LookupError):
    """A path that is none, or that leads to nothing in a document.

    Attributes:
        path: the path as it was given.
    """

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


def read_path(text: str) -> tuple[str, ...]:
    """The words of a path.

    Raises:
        PathError: it is none.

    >>> read_path("a.tools.`math.add`.description")
    ('a', 'tools', 'math.add', 'description')
    """
    words: list[str] = []
    at = 0
    while at < len(text) or not words:
        found = _WORD.match(text, at)
        if found is None:
            raise PathError(f"{text!r} is not a path: expected a name at character {at + 1}", text)
        words.append(unescape(found[1]) if found[1] else found[2])
        at = found.end()
    if text.endswith("."):
        raise PathError(f"{text!r} is not a path: it ends with a dot", text)
    return tuple(words)


def write_path(words: Iterable[str]) -> str:
    """The path of some words."""
    return ".".join(word if word == ANY else _quoted(word) for word in words)


def _quoted(word: str) -> str:
    """A word of a path: bare unless it has a dot or is no symbol."""
    return quote(word, "`") if "." in word else write_name(word)

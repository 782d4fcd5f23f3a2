"""Cuts a text into tokens with one regular expression made of the grammar's terminals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

from ..errors import expect
from ..grammar import grammar
from ..source import BOM
from ..trees import Pattern, read_from
from .syntax import Token

END = "$END"
"""The token after the last."""

ERROR = "$ERROR"
"""One character that begins no token."""

ELEMENT = "element"
"""The rule of an element that is known already, which comes in place of its tokens."""

Known: TypeAlias = Mapping[int, Pattern]
"""Elements of brackets that are known already, by the offset at which their text begins."""

NOTHING: Final[Known] = {}

KEPT = 64
"""Spellings longer than this are seldom met twice."""


@cache
def next_token() -> re.Pattern[str]:
    """Ignored text, then one token. Every position matches: the last way out is one character.

    The loop over what is ignored is possessive, so a comment is never taken back to be read as
    something else. Which terminal matched is left to `terminal_of`: a group for each would
    keep the engine from skipping an alternative by its first character.
    """
    return between_and()


def between_and(*before: str) -> re.Pattern[str]:
    """Ignored text, then in group 1 what one of some expressions matches, or a token."""
    ignored = "|".join(grammar().terminals[name] for name in grammar().ignored)
    tokens = "|".join((*before, *_token_terminals().values()))
    return re.compile(rf"(?>{ignored})*+({tokens}|\Z|[\s\S])", re.ASCII)


@cache
def _named_token() -> re.Pattern[str]:
    """The same alternatives, each in a group with its terminal's name."""
    groups = "|".join(f"(?P<{name}>{regexp})" for name, regexp in _token_terminals().items())
    return re.compile(groups, re.ASCII)


@cache
def _token_terminals() -> dict[str, str]:
    terminals, ignored = grammar().terminals, grammar().ignored
    return {name: regexp for name, regexp in terminals.items() if name not in ignored}


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of ``text[start:end]``, `END` last.

    Characters that begin none come as `ERROR` tokens.
    """
    expect(text, str, "text", by="tokens")
    expect(start, int, "start", by="tokens")
    expect(end, (int, type(None)), "end", by="tokens")
    return (Token(match.start(1), match.end(1), name) for name, match in matches(text, start, end))


def matches(
    text: str, start: int, end: int | None, known: Known = NOTHING
) -> Iterator[tuple[str, Any]]:
    """The same as pairs: the name of a terminal, and the match whose group 1 is the token.

    An element that is known comes as it is, under the name `ELEMENT`, and its text is passed over.
    """
    stop = len(text) if end is None else end
    names = {literal: name for name, literal in grammar().literals.items()}
    at = first_offset(text, start)
    while True:
        for match in next_token().finditer(text, at, stop):
            spelling = match[1]
            if known and (element := known.get(match.start(1))) is not None:
                yield ELEMENT, element
                at = match.start(1) + length_of(element)
                break
            name = names.get(spelling)
            if name is None:
                if not spelling:
                    yield END, match
                    return
                name = terminal_of(text, match, stop)
                if len(spelling) <= KEPT:
                    names[spelling] = name
            yield name, match


def length_of(element: Pattern) -> int:
    """How long the text is that a pattern was read from."""
    place = read_from(element)
    assert place is not None, "what is known was read"
    return place[2] - place[1]


def terminal_of(text: str, match: re.Match[str], stop: int) -> str:
    """The terminal of the token that a match begins with, or `ERROR`."""
    named = _named_token().match(text, match.start(1), stop)
    return ERROR if named is None else named.lastgroup or ERROR


def first_offset(text: str, start: int) -> int:
    """Where reading begins: a byte order mark is skipped."""
    return 1 if start == 0 and text.startswith(BOM) else start

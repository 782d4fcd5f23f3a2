"""Cuts a text into tokens with one regular expression made of the grammar's terminals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ..grammar import grammar
from ..source import BOM
from .syntax import Token

END = "$END"
"""The token after the last."""

ERROR = "$ERROR"
"""One character that begins no token."""

KEPT = 64
"""Spellings longer than this are seldom met twice."""


@cache
def _next_token() -> re.Pattern[str]:
    """Ignored text, then in group 1 a token. Every position matches, if only one character.

    The loop over what is ignored is possessive, so a comment is never taken back to be read as
    something else. Which terminal matched is left to `_terminal_of`: a group for each would
    keep the engine from skipping an alternative by its first character.
    """
    ignored = "|".join(grammar().terminals[name] for name in grammar().ignored)
    tokens = "|".join(_token_terminals().values())
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
    return (Token(match.start(1), match.end(1), name) for name, match in matches(text, start, end))


def matches(text: str, start: int, end: int | None) -> Iterator[tuple[str, re.Match[str]]]:
    """The same as pairs: the name of a terminal, and the match whose group 1 is the token."""
    stop = len(text) if end is None else end
    names = {literal: name for name, literal in grammar().literals.items()}
    at = 1 if start == 0 and text.startswith(BOM) else start
    for match in _next_token().finditer(text, at, stop):
        spelling = match[1]
        name = names.get(spelling)
        if name is None:
            if not spelling:
                yield END, match
                return
            name = _terminal_of(text, match, stop)
            if len(spelling) <= KEPT:
                names[spelling] = name
        yield name, match


def _terminal_of(text: str, match: re.Match[str], stop: int) -> str:
    """The terminal of the token that a match begins with, or `ERROR`."""
    named = _named_token().match(text, match.start(1), stop)
    return ERROR if named is None else named.lastgroup or ERROR

"""Every syntax error of a text: after a broken pattern, reading goes on with the next one.

That is at the next bracket or annotation that begins a line: patterns at the top level are
independent of each other. The rest of a broken pattern can be there too; a comma, bar or closing
bracket that belongs to it is not reported as another error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from ..errors import GramDecodeError, expect
from ..source import Source
from .lexer import ERROR, tokens
from .parser import parse_trees
from .syntax import Token

_OPENERS = ("(", "[", "@", "@@")
_REMAINS = (",", "|", ")", "]", "}")


def syntax_errors(text: str, filename: str | None = None) -> tuple[GramDecodeError, ...]:
    """Every syntax error that can be told apart from its neighbours, in the order of the text.

    The first is the one that `gram.loads` raises; there is none when the text is gram.

    Args:
        text: gram notation, or what should be.
        filename: the name that the errors cite.

    >>> [error.lineno for error in syntax_errors("(a\\n(b)\\n(c {k = 1})\\n(d)")]
    [2, 3]
    """
    expect(text, str, "text", by="syntax_errors")
    expect(filename, (str, type(None)), "filename", by="syntax_errors")
    errors: list[GramDecodeError] = []
    unclosed = 0  # brackets of broken patterns whose ends may still come
    for broken in _broken_parts(Source(text, filename)):
        at = broken.error.pos
        if unclosed and not broken.opened and text.startswith(_REMAINS, at):
            unclosed -= text[at] in ")]}"
        else:
            errors.append(broken.error)
            unclosed += broken.opened
    return tuple(errors)


def readable(text: str) -> str:
    """A text with blanks where it cannot be read, so that it is gram; places stay the same.

    A top-level pattern with an error is left out whole, up to the next bracket that begins a line.
    So whoever looks at a text that is being written sees what is above and below the error.

    >>> readable("(a)\\n[b {k: }\\n(c)")
    '(a)\\n        \\n(c)'
    """
    expect(text, str, "text", by="readable")
    pieces: list[str] = []
    at = 0
    for broken in _broken_parts(Source(text)):
        pieces += text[at : broken.start], re.sub(r"\S", " ", text[broken.start : broken.end])
        at = broken.end
    return "".join([*pieces, text[at:]])


class _Broken(NamedTuple):
    """A part of a text that cannot be read.

    Attributes:
        start, end: where it is.
        error: the first error in it.
        opened: how many brackets are open at the error.
    """

    start: int
    end: int
    error: GramDecodeError
    opened: int


def _broken_parts(source: Source) -> Iterator[_Broken]:
    text, start = source.text, 0
    while error := _error_in(source, start):
        pattern, opened, at = start, 0, start  # where the pattern with the error begins
        for token in takewhile(lambda each: each.type != ERROR, tokens(text, start)):
            if token.start >= error.pos:
                break
            if not opened and _begins_pattern(text, token):
                pattern = token.start
            opened += text[token.start] in "([{"
            opened -= text[token.start] in ")]}" and opened > 0
            at = token.end
        if pattern > start and _error_in(source, start, pattern):
            pattern = start  # annotations are above it
        ahead = _whole_tokens(text, at)
        after = (each.start for each in ahead if each.start > start and _begins_pattern(text, each))
        end = next(after, len(text))
        yield _Broken(pattern, end, error, opened)
        start = end


def _error_in(source: Source, start: int, end: int | None = None) -> GramDecodeError | None:
    """The first error in a part of a text."""
    try:
        parse_trees(source, start, end)
    except GramDecodeError as error:
        return error
    return None


def _begins_pattern(text: str, token: Token) -> bool:
    """Whether a token opens a pattern at the beginning of a line."""
    begins_line = token.start == 0 or text[token.start - 1] == "\n"
    return begins_line and text.startswith(_OPENERS, token.start)


def _whole_tokens(text: str, at: int) -> Iterator[Token]:
    """The tokens from ``at`` on, the rest of a line left out where a string is not closed.

    They end at a fence that is not closed: what follows may be its text.
    """
    while at < len(text):
        for token in tokens(text, at):
            if token.type != ERROR:
                yield token
            elif text.startswith("```", token.start):
                return
            elif text[token.start] in "\"'`":
                line_end = text.find("\n", token.start)
                at = len(text) if line_end < 0 else line_end
                break
        else:
            return

"""Cuts a text into tokens with the grammar's terminals; trivia are what stands between two.

``grammar.lark`` defines both: every ignored terminal but ``BLANKS`` is a kind of comment. What is
asked of trivia takes offsets where trivia begins, or a piece of trivia, never an offset inside a
token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ..grammar import grammar
from ..source import BOM, Span
from .syntax import Token

END = "$END"
"""The token after the last."""

ERROR = "ERROR"
"""One character that begins no token."""


@cache
def _next_token() -> re.Pattern[str]:
    """Ignored text, then a token in the group of its terminal, or the end. It matches everywhere.

    The loop over what is ignored is possessive, so a comment is never taken back to be read as
    something else.
    """
    terminals, ignored = grammar().terminals, grammar().ignored
    kinds = {name: regexp for name, regexp in terminals.items() if name not in ignored}
    groups = "|".join(f"(?P<{name}>{regexp})" for name, regexp in kinds.items())
    between = "|".join(terminals[name] for name in ignored)
    return re.compile(rf"(?>{between})*+(?:{groups}|(?P<{ERROR}>[\s\S])|\Z)", re.ASCII)


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of ``text[start:end]``, `END` last.

    Characters that begin none come as `ERROR` tokens.
    """
    at = 1 if start == 0 and text.startswith(BOM) else start
    for match in _next_token().finditer(text, at, len(text) if end is None else end):
        if match.lastgroup is None:
            yield Token(match.end(), match.end(), END)
            return
        yield Token(*match.span(match.lastgroup), match.lastgroup)


_LINE_BREAK = re.compile(r"\r?\n")
_TRAILING_BLANKS = re.compile(r"\s+\Z", re.ASCII)


class Comment(NamedTuple):
    """One comment of a piece of trivia, without blanks at its end.

    Attributes:
        text: what it says, with the marks that begin and end it.
        own_line: whether it begins on another line than the token before it.
        after_blank: whether there is an empty line above it.
    """

    text: str
    own_line: bool
    after_blank: bool


class Trivia(NamedTuple):
    """What is kept of a piece of trivia when its text is laid out anew.

    Attributes:
        comments: in the order of the text.
        ends_blank: whether there is an empty line directly above the token that follows.
    """

    comments: tuple[Comment, ...]
    ends_blank: bool


def read_trivia(trivia: str) -> Trivia:
    """The comments of a piece of trivia, and where it has empty lines.

    >>> [comment.text for comment in read_trivia(" // of the line\\n\\n  // above\\n").comments]
    ['// of the line', '// above']
    """
    comments: list[Comment] = []
    end = 0
    for span in comments_in(trivia):
        breaks = trivia.count("\n", end, span.start)
        own_line = bool(comments) or breaks > 0
        # The line break at the end of the comment before is counted with those that follow it.
        text = _TRAILING_BLANKS.sub("", trivia[slice(*span)])
        comments.append(Comment(text, own_line, breaks > 1))
        end = span.end
    return Trivia(tuple(comments), trivia.count("\n", end) > 1)


@cache
def _blanks() -> re.Pattern[str]:
    return re.compile(grammar().terminals["BLANKS"], re.ASCII)


@cache
def _comment() -> re.Pattern[str]:
    terminals = grammar().terminals
    kinds = (terminals[name] for name in grammar().ignored if name != "BLANKS")
    return re.compile("|".join(kinds), re.ASCII)


def comments_in(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The comments of the trivia that begins at ``start``, up to ``end`` or the next token.

    The line break after a comment does not belong to it.
    """
    stop = len(text) if end is None else end
    while True:
        if blanks := _blanks().match(text, start, stop):
            start = blanks.end()
        found = _comment().match(text, start, stop)
        if found is None:
            return
        at, start = found.span()
        carriage_return = text.startswith("\n", start) and text[start - 1] == "\r"
        yield Span(at, start - carriage_return)


def text_start(text: str) -> int:
    """The offset after the byte order mark, or 0 when there is none."""
    return len(BOM) if text.startswith(BOM) else 0


def trivia_end(text: str, start: int) -> int:
    """The offset of the first token at or after ``start``."""
    for comment in comments_in(text, start):
        start = comment.end
    blanks = _blanks().match(text, start)
    return blanks.end() if blanks else start


def same_line_comment(text: str, start: int, end: int) -> int:
    """The end of the last comment that begins on the line of ``start``, or ``start`` itself."""
    after = start
    for comment in comments_in(text, start, end):
        if "\n" in text[after : comment.start]:
            break
        after = comment.end
    return after


def has_comment(trivia: str) -> bool:
    """Whether there is a comment among the blanks."""
    return next(comments_in(trivia), None) is not None


def leaves_comment_open(trivia: str) -> bool:
    """Whether the trivia ends inside a comment, so that a line break must follow it."""
    for comment in comments_in(trivia):
        if comment.end == len(trivia):
            longer = _comment().match(trivia + "x", comment.start)
            return longer is not None and longer.end() > len(trivia)
    return False


def without_block_above(lead: str) -> str:
    """The trivia before an element without the block of comments directly above it.

    What is left is the comments that an empty line separates from the element; ``""`` when there
    are none. The line break before the element is left out too.
    """
    found = list(comments_in(lead))
    below = len(lead)  # where the part that stays ends
    while found and lead.count("\n", found[-1].end, below) == 1:
        before = lead.rfind("\n", found[-2].end if len(found) > 1 else 0, found[-1].start)
        if before < 0:
            break  # it is on the line of the token before
        found.pop()
        below = before + 1
    if not found:
        return ""
    rest = lead[:below]
    if below == len(lead):
        rest = rest.removesuffix(last_line(lead))
    return rest[:-2] if rest.endswith("\r\n") else rest.removesuffix("\n")


def last_line(trivia: str) -> str:
    """The last line break of the trivia with the indentation after it, or ``""``."""
    end = 0
    for comment in comments_in(trivia):
        end = comment.end
    breaks = list(_LINE_BREAK.finditer(trivia, end))
    return trivia[breaks[-1].start() :] if breaks else ""


def line_break(text: str) -> str:
    """How the lines of a text end: as its first line does, ``\\n`` when it has only one."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def comments(text: str, start: int, end: int) -> list[Span]:
    """The comments between the tokens of ``text[start:end]``."""
    if not _comment().search(text, start, end):
        return []
    found: list[Span] = []
    after = start
    for token in tokens(text, start, end):
        found.extend(comments_in(text, after, token.start))
        after = token.end
    return found

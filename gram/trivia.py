"""What stands between tokens: blanks and comments.

A comment runs to the end of its line, so ``//`` means one only in trivia, never inside a string.
These functions are given offsets where trivia begins, and never look into tokens.
"""

from __future__ import annotations

import re

from .lexer import tokens
from .source import BOM, Span

_TRIVIA = re.compile(r"(?:[ \t\r\n\f\v]+|//[^\n]*)*+")
_SAME_LINE = re.compile(r"[ \t\r\f\v]*//[^\n]*?(?=\r?\n|\Z)")
_BLOCK_ABOVE = re.compile(r"(?<=\n)(?:[ \t\r\f\v]*//[^\n]*\n)+[ \t\r\f\v]*\Z")
_LAST_LINE = re.compile(r"\r?\n[ \t\r\f\v]*\Z")
_LEFT_OPEN = re.compile(r"//[^\n]*\Z")
_LINE_BREAK = re.compile(r"\r?\n")


def text_start(text: str) -> int:
    """Where a text begins after its byte order mark, if it has one."""
    return len(BOM) if text.startswith(BOM) else 0


def trivia_end(text: str, start: int) -> int:
    """The offset of the first token at or after ``start``."""
    found = _TRIVIA.match(text, start)
    return found.end() if found else start


def same_line_comment(text: str, start: int, end: int) -> int:
    """Where the comment ends that follows ``start`` on its line; ``start`` when there is none.

    The line break is no part of the comment.
    """
    found = _SAME_LINE.match(text, start, end)
    return found.end() if found else start


def has_comment(trivia: str) -> bool:
    """Whether there is a comment among the blanks."""
    return "//" in trivia


def leaves_comment_open(trivia: str) -> bool:
    """Whether the trivia ends inside a comment, so that a line break must follow."""
    return _LEFT_OPEN.search(trivia) is not None


def without_block_above(lead: str) -> str:
    """The trivia before an element without the block of comments directly above it.

    What is left is the comments that a blank line cuts off from the element; ``""`` when there
    are none. The line break before the element is left out too.
    """
    block = _BLOCK_ABOVE.search(lead)
    rest = lead[: block.start()] if block else lead
    if not has_comment(rest):
        return ""
    if not block:
        rest = _LAST_LINE.sub("", rest)
    return rest[:-2] if rest.endswith("\r\n") else rest.removesuffix("\n")


def last_line(trivia: str) -> str:
    """The last line break of the trivia with the indentation after it; ``""`` without a break."""
    found = _LAST_LINE.search(trivia)
    return found[0] if found else ""


def line_break(text: str) -> str:
    """How the lines of a text end: as its first line does, ``\\n`` when it has only one."""
    found = _LINE_BREAK.search(text)
    return found[0] if found else "\n"


def comments(text: str, start: int, end: int) -> list[Span]:
    """The comments in ``text[start:end]``, which begins and ends with a token."""
    if "//" not in text[start:end]:
        return []
    found: list[Span] = []
    after = start
    for token in tokens(text[start:end]):
        while (at := text.find("//", after, start + token.start)) >= 0:
            found.append(Span(at, same_line_comment(text, at, start + token.start)))
            after = found[-1].end
        after = start + token.end
    return found

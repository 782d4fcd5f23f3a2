"""What a layout keeps of the gap between two tokens: its comments, and where lines were empty."""

from __future__ import annotations

import re

from attrs import frozen

BLANKS = " \t\r\f\v"
"""The blanks that may end a line."""

_COMMENT_OR_BREAK = re.compile(r"//[^\n]*|\n")


@frozen
class Comment:
    """One comment, ``//`` included, blanks at its end left off.

    Attributes:
        text: what it says.
        own_line: whether a line break stands between it and the token before.
        after_blank: whether an empty line stands above it.
    """

    text: str
    own_line: bool
    after_blank: bool


@frozen
class Trivia:
    """The comments of a gap between two tokens.

    Attributes:
        comments: in the order of the text.
        ends_blank: whether an empty line stands directly above the token that follows.
    """

    comments: tuple[Comment, ...]
    ends_blank: bool


def read_trivia(gap: str) -> Trivia:
    """What a gap between two tokens holds.

    >>> [comment.text for comment in read_trivia(" // of the line\\n\\n  // above\\n").comments]
    ['// of the line', '// above']
    """
    comments: list[Comment] = []
    breaks = 0
    for match in _COMMENT_OR_BREAK.finditer(gap):
        if match[0] == "\n":
            breaks += 1
            continue
        own_line = bool(comments) or breaks > 0
        # The break that ends a comment is counted with those that follow it.
        comments.append(Comment(match[0].rstrip(BLANKS), own_line, breaks > 1))
        breaks = 0
    return Trivia(tuple(comments), breaks > 1)

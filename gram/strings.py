"""The two spellings of a string: between quotes with escapes, and between fences without."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPES = {"\\": "\\\\"} | {char: f"\\{letter}" for letter, char in _ESCAPED.items()}
_FENCE_OPENER = re.compile(r"```[ \t\r\f\v]*([^\s]*)[ \t\r\f\v]*\n")
_COMMENT_LIKE = re.compile(r"[ \v]*//")
_LONG = 120


def unescape(body: str) -> str:
    """The text between quotes with its escapes read; an escaped delimiter stands for itself."""
    if "\\" not in body:
        return body
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), body)


def fence_content(body: str) -> str:
    """What a fenced string says: its body without the line that holds the closing fence."""
    if not body.strip(" \t"):
        return ""
    head, newline, indentation = body.rpartition("\n")
    return head if newline and not indentation.strip(" \t") else body


def fence_parts(spelling: str) -> tuple[str, str]:
    """The tag (``""`` for none) and the content of a fenced string."""
    opener = _FENCE_OPENER.match(spelling)
    assert opener is not None
    return opener[1], fence_content(spelling[opener.end() : -3])


def quote(text: str, delimiter: str = '"') -> str:
    """``text`` on one line between delimiters, escaped as the notation asks.

    A text that begins with ``//`` gets its first slash escaped: tree-sitter-gram would take the
    rest of the line for a comment.
    """
    escapes = {**_ESCAPES, delimiter: f"\\{delimiter}"}
    body = "".join(escapes.get(char, char) for char in text)
    if _COMMENT_LIKE.match(body):
        body = body.replace("/", "\\/", 1)
    return delimiter + body + delimiter


def write_fence(text: str, tag: str = "") -> str:
    """``text`` between fences on lines of their own."""
    return f"```{tag}\n{text}\n```"


def needs_fence(text: str) -> bool:
    """Whether a string is written between fences: it is long, and reads back from there."""
    if "\n" not in text and len(text) <= _LONG:
        return False
    return "```" not in text and fence_content(f"{text}\n") == text

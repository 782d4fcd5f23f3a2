"""What a value of one token says: one function for each of its terminals."""

from __future__ import annotations

import re
from collections.abc import Callable
from json.encoder import encode_basestring

from ..errors import GramEncodeError
from ..trees import Measurement, Symbol, TaggedString, Value, values

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPES = [("\\", "\\\\"), *((char, f"\\{letter}") for letter, char in _ESCAPED.items())]
_COMMENT_LIKE = re.compile(r"[ \v]*//")
_MAY_BEGIN_A_COMMENT = (" ", "\v", "/")
_LONG = 120

QUOTES = {"DOUBLE": '"', "SINGLE": "'", "BACKTICK": "`"}
"""The quote of each terminal of strings on one line."""


def unescape(body: str) -> str:
    """The text between quotes with its escapes read; an escaped delimiter is the delimiter."""
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
    opener, _, body = spelling.partition("\n")
    return opener[3:].strip(), fence_content(body[:-3])


def refence(spelling: str, content: str) -> str:
    """A fenced string with other content: its opening line and its end stay."""
    opener, *_, last = spelling.split("\n")
    end = "```" if last[:-3].strip(" \t") else last
    return f"{opener}\n{content}\n{end}"


def quote(text: str, delimiter: str = '"') -> str:
    """``text`` on one line between delimiters, escaped as the notation asks.

    A text that begins with ``//`` gets its first slash escaped: tree-sitter-gram would take the
    rest of the line for a comment.
    """
    if delimiter == '"' and text[:1] not in _MAY_BEGIN_A_COMMENT:
        quoted = encode_basestring(text)  # the same escapes, in one pass
        if "\\u" not in quoted:  # but for other control characters, which are no escapes here
            return quoted
    body = text
    for char, escape in _ESCAPES:  # `replace` is much faster here than a look at every character
        body = body.replace(char, escape)
    body = body.replace(delimiter, f"\\{delimiter}")
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


def read_number(spelling: str, base: int = 10) -> values.Number:
    """An integer or a decimal."""
    try:
        is_decimal = base == 10 and "." in spelling
        return values.check_number(float(spelling) if is_decimal else int(spelling, base))
    except (ValueError, GramEncodeError):  # ValueError: Python's own limit on digits
        raise GramEncodeError("this number is too large") from None


def read_measurement(spelling: str) -> Measurement:
    """A number with its unit."""
    from string import ascii_letters  # imported late: most programs have no measurement

    digits = spelling.rstrip(ascii_letters)
    return Measurement(read_number(digits), spelling[len(digits) :])


def read_string(spelling: str) -> str:
    """A string between quotes on one line."""
    return values.check_text(unescape(spelling[1:-1]))


SCALARS: dict[str, Callable[[str], Value]] = {
    "INTEGER": read_number,
    "DECIMAL": read_number,
    "HEXADECIMAL": lambda spelling: read_number(spelling, 16),
    "OCTAL": lambda spelling: read_number(spelling, 8),
    "MEASUREMENT": read_measurement,
    "TRUE": lambda _: True,
    "FALSE": lambda _: False,
    "SYMBOL": Symbol,
    "TAGGED_FENCE": lambda spelling: TaggedString(*fence_parts(spelling)),
    "FENCE": lambda spelling: values.check_text(fence_parts(spelling)[1]),
    **dict.fromkeys(QUOTES, read_string),
}
"""What reads a terminal that is a value by itself."""


def read_name(spelling: str) -> str:
    """What a bare or quoted name says."""
    return read_string(spelling) if spelling[0] in '`"' else spelling

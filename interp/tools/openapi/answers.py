"""Answers of servers: what they say as JSON or text."""

from __future__ import annotations

import codecs
import re
from typing import Final

from gram.display import visible

from ...json_text import Json, read_json

_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_UTF_8: Final = "utf-8-sig"  # a byte order mark is no part of the text
_TEXTS: Final = ("json", "xml", "yaml", "javascript", "csv", "x-www-form-urlencoded", "graphql")


def text_of(body: bytes, content_type: str) -> str:
    """The text of an answer; of one that has none, its type and size in brackets."""
    kind, encoding = _kind_and_encoding(content_type)
    try:
        text = body.decode(encoding)
        is_text = "\0" not in text
    except ValueError:
        text, is_text = body.decode(encoding, "replace"), False
    if is_text or kind.startswith("text/") or any(each in kind for each in _TEXTS):
        return text
    return f"[{visible(kind) or 'no type'}: {len(body):,} bytes that are no text]"


def value_of(body: bytes, content_type: str) -> Json:
    """The value of an answer: JSON, text, or None for nothing.

    Raises:
        ValueError: it should be JSON, and is not.
    """
    text = text_of(body, content_type)
    if not text:
        return None
    subtype = _kind_and_encoding(content_type)[0].rpartition("/")[2]
    if subtype not in ("json", "x-json") and not subtype.endswith("+json"):
        return text
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the answer is not JSON: {error}") from None


def _kind_and_encoding(content_type: str) -> tuple[str, str]:
    """The media type of an answer, and the encoding of its text."""
    named = _CHARSET.search(content_type)
    kind = content_type.partition(";")[0].strip().lower()
    try:
        found = codecs.lookup(named[1] if named else "utf-8")
    except (LookupError, ValueError):
        return kind, _UTF_8
    is_text = getattr(found, "_is_text_encoding", True) and found.name != "utf-8"
    return kind, found.name if is_text else _UTF_8

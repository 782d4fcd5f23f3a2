"""Answers of servers: their bytes up to a limit, unpacked, and what they say as JSON or text."""

from __future__ import annotations

import codecs
import re
import zlib
from typing import Any, Final

from gram.display import visible

from ...json_text import Json, read_json

ENCODINGS: Final = "gzip, deflate"
"""The compressions that requests ask for, and those that are read."""

_PACKED: Final = {"gzip": 31, "x-gzip": 31, "deflate": 47}  # zlib's numbers for the headers
_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_UTF_8: Final = "utf-8-sig"  # a byte order mark is no part of the text
_PLAIN: Final = {"", "identity"}
_TEXTS: Final = ("json", "xml", "yaml", "javascript", "csv", "x-www-form-urlencoded", "graphql")


class Body:
    """The bytes of an answer as they come, unpacked; no more are kept than a limit, and one.

    Args:
        encoding: the header Content-Encoding.
        max_bytes: the limit, for what is unpacked too.

    Raises:
        ValueError: the compression is not one that is read.
    """

    def __init__(self, encoding: str, max_bytes: int) -> None:
        packed = encoding.strip().lower()
        if packed not in _PLAIN and packed not in _PACKED:
            raise ValueError(
                f"the answer is compressed as {visible(packed[:40])}, which is not read"
            )
        self.content = bytearray()
        self._packed = packed if packed in _PACKED else ""
        self._most = max_bytes + 1
        self._unpack: Any = None

    @property
    def is_too_long(self) -> bool:
        """Whether there is more than the limit."""
        return len(self.content) >= self._most

    def take(self, piece: bytes) -> bool:
        """Take what comes; returns whether more is wanted.

        Raises:
            ValueError: it cannot be unpacked.
        """
        if not self._packed:
            self.content += piece[: self._most - len(self.content)]
        while self._packed and piece and not self.is_too_long:
            piece = self._unpacked(piece)
        return not self.is_too_long

    def end(self) -> None:
        """Say that nothing more comes.

        Raises:
            ValueError: an end is missing.
        """
        if self._unpack is not None and not self._unpack.eof and not self.is_too_long:
            raise ValueError(f"the answer is not whole, as {self._packed}")

    def _unpacked(self, piece: bytes) -> bytes:
        """Unpack some bytes, up to the limit; returns what is left of them."""
        if self._unpack is not None and self._unpack.eof:
            if not piece.strip(b"\0"):
                return b""  # padding
            self._unpack = None
        if self._unpack is None:
            is_bare = self._packed == "deflate" and piece[0] & 0x0F != 8  # without zlib's header
            self._unpack = zlib.decompressobj(-15 if is_bare else _PACKED[self._packed])
        try:
            self.content += self._unpack.decompress(piece, self._most - len(self.content))
        except zlib.error:
            raise ValueError(f"the answer cannot be unpacked as {self._packed}") from None
        left: bytes = self._unpack.unused_data or self._unpack.unconsumed_tail
        return left


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

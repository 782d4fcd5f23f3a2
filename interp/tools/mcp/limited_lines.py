"""A text encoding for the lines of a server: UTF-8, but for lines longer than a limit.

The SDK reads a line whole, however long it is, and lets the caller choose the encoding of what it
reads. This one keeps no more than the limit. A line that is longer becomes the answer that the
call failed, so that nobody waits for it.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Final

from gram.plurals import counted

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

LINES: Final = "gram_mcp_lines"
"""The name of the encoding."""

LONGEST_MESSAGE: Final = 16 * 1024 * 1024
"""How many bytes a message of a server may have; of what is longer, no more is kept."""

TOO_LONG: Final = f"the answer has more than {LONGEST_MESSAGE:,} bytes"

_PARSE_ERROR: Final = -32700
_ENDS: Final = 1_000  # bytes of a line that is too long, at either end, that are kept
_ID_FIRST: Final = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)')
_ID_LAST: Final = re.compile(rb'"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


class _LineDecoder(codecs.IncrementalDecoder):
    """Gives a line once it is whole, with its line break."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._line = bytearray()
        self._length = 0
        self._end = b""

    def decode(self, data: ReadableBuffer, final: bool = False) -> str:
        """The lines that end in these bytes, and at the end what is left."""
        *ended, rest = bytes(data).split(b"\n")
        lines = []
        for each in ended:
            self._take(each)
            lines.append(f"{self._taken()}\n")
        self._take(rest)
        return "".join([*lines, self._taken() if final else ""])

    def reset(self) -> None:
        """Forget what was read of a line."""
        self._line, self._length, self._end = bytearray(), 0, b""

    def _take(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length <= LONGEST_MESSAGE:
            self._line += piece
        else:
            del self._line[_ENDS:]
            self._end = (self._end + piece)[-_ENDS:]

    def _taken(self) -> str:
        line, length, end = bytes(self._line), self._length, self._end
        self.reset()
        if length <= LONGEST_MESSAGE:
            return line.decode("utf-8", self.errors)
        asked = _ID_FIRST.match(line) or _ID_LAST.search(end)
        if asked is None:
            return f"[a line of {counted(length, 'byte')}]"
        error = f'{{"code": {_PARSE_ERROR}, "message": "{TOO_LONG}"}}'
        return f'{{"jsonrpc": "2.0", "id": {asked[1].decode()}, "error": {error}}}'


def _find(name: str) -> codecs.CodecInfo | None:
    if name != LINES:
        return None
    utf8 = codecs.lookup("utf-8")
    return codecs.CodecInfo(
        name=LINES, encode=utf8.encode, decode=utf8.decode, incrementaldecoder=_LineDecoder
    )


codecs.register(_find)

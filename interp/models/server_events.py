"""Reads server-sent events: the JSON of each, from bytes as they come.

By the rules of the HTML standard (section 9.2, Server-sent events), and for servers that break
some of them. Nothing here does I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from ..errors import ModelError
from ..json_text import Json, parse_json
from .failures import failed, too_large
from .providers import MAX_REPLY_BYTES

END: Final = object()
"""The event ``[DONE]``: the reply is complete."""

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


class EventReader:
    """Reads server-sent events from bytes, wherever these are cut; each has so many at most."""

    def __init__(self, max_bytes: int = MAX_REPLY_BYTES) -> None:
        self._max_bytes = max_bytes
        self._held = 0  # bytes of the lines of an event that is not complete
        self._line = bytearray()
        self._after_cr = False
        self._data: list[str] = []
        self._is_error = False

    @property
    def size(self) -> int:
        """How many bytes of an event have come that is not complete."""
        return self._held + len(self._line)

    def feed(self, data: bytes) -> Iterator[Json]:
        """The events that are complete now: JSON values, or `END`."""
        if not data:
            return
        begins = 1 if self._after_cr and data.startswith(b"\n") else 0  # a line end cut in two
        self._after_cr = data.endswith(b"\r")
        *lines, rest = _LINE_END.split(data[begins:])
        for line in lines:
            self._line += line
            whole, self._line = bytes(self._line), bytearray()
            yield from self._take(whole.decode("utf-8", "replace").removeprefix("\ufeff"))
        self._line += rest
        if self.size > self._max_bytes:
            raise too_large("the server", self._max_bytes)

    def rest(self) -> Iterator[Json]:
        """The events in a last line without a line end, once no more bytes come."""
        yield from self.feed(b"\n\n")

    def _take(self, line: str) -> Iterator[Json]:
        if not line:
            yield from self._event()
            self._is_error = False
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line.startswith("{"):  # an error outside of any event
            field, value = "data", line
        if field == "event":
            self._is_error = value == "error"
        elif field == "error":
            raise failed(json_or_problem(value, self._max_bytes)[0])
        elif field == "data" and value.strip() == "[DONE]":
            yield from self._event()
            yield END
        elif field == "data" and value.strip():
            self._data.append(value)
            self._held += len(value)
            if len(self._data) == 1:  # most events are one line; some servers omit the blank after
                yield from self._event(or_wait=True)

    def _event(self, *, or_wait: bool = False) -> Iterator[Json]:
        """The event that the lines so far make up; ``or_wait`` leaves it where it is not JSON."""
        if not self._data:
            return
        text = "\n".join(self._data)
        found, problem = json_or_problem(text, self._max_bytes)
        if problem and or_wait:
            return
        self._data, self._held = [], 0
        if problem and not self._is_error:
            raise ModelError(f"the stream has an event that is not JSON: {problem}")
        says_so = isinstance(found, Mapping) and found.get("error")
        yield {"error": found} if self._is_error and not says_so else found


def json_or_problem(text: str, max_bytes: int, where: str = "the server") -> tuple[Json, str]:
    """The value of a JSON text and ``""``, or the text itself and why it is not JSON.

    One with far more values than a reply has is a ModelError: each takes more memory than a word.
    """
    if text.count(",") + text.count("[") + text.count("{") > max(max_bytes // 20, 50):
        raise too_large(where, max_bytes)
    try:
        return parse_json(text), ""
    except ValueError as error:
        return text, str(error)

"""An HTTP client that reads no answer longer than a limit.

This loads the network library: import it only when a server is about to be reached.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from math import inf

import httpx2

from ...models import Pace
from .untrusted import LONGEST_MESSAGE, TOO_LONG


def limited_client(headers: Mapping[str, str], seconds: float) -> httpx2.AsyncClient:
    """A client whose answers are refused once they are too long, while they are read.

    Streams of events may be of any length: who reads them limits each event.

    Args:
        headers: what every request carries.
        seconds: how long connecting and sending may take; an answer may take longer.
    """
    return httpx2.AsyncClient(
        headers={**headers, "Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(seconds, read=None),
        event_hooks={"response": [_limit]},
    )


async def _limit(response: httpx2.Response) -> None:
    kind = response.headers.get("content-type", "").lower()
    most, why = (inf, "") if kind.startswith("text/event-stream") else (LONGEST_MESSAGE, TOO_LONG)
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        most, why = 0, "the answer is compressed, unasked"
    response.stream = _Limited(response.stream, most, why)


class _Limited(httpx2.AsyncByteStream):
    """The bytes of an answer, up to a limit."""

    def __init__(self, stream: object, most: float, why: str) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)
        self._stream = stream
        self._left = most
        self._why = why

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pace = Pace()
        async for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise httpx2.StreamError(self._why)
            yield piece
            await pace.keep()

    async def aclose(self) -> None:
        await self._stream.aclose()

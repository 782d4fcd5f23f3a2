"""The body of a response, up to a limit. This loads the network library: import it late."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from typing import Any, Final

import httpx2

_PIECE: Final = 8_192
"""Who unpacks the bytes counts what comes of so many of them, at most a thousand times as much."""


class LimitedBody(httpx2.AsyncByteStream):
    """The bytes of a response as they come, of which some are needed.

    With more than ``most``, what ``error`` makes is raised.
    """

    def __init__(
        self, stream: Any, most: float, error: Callable[[], Exception], needed: int = sys.maxsize
    ) -> None:
        self._stream, self._most, self._error, self._needed = stream, most, error, needed

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        coming, size, left = aiter(self._stream), 0, self._needed
        try:
            async for piece in coming:
                size += len(piece)
                if size > self._most:
                    raise self._error()
                for at in range(0, len(piece), _PIECE):
                    part = piece[at : at + min(_PIECE, left)]
                    yield part
                    left -= len(part)
                    if left <= 0:
                        return
                await asyncio.sleep(0)  # with many small pieces, other tasks would never run
        finally:
            if isinstance(coming, AsyncGenerator):
                await coming.aclose()

    async def aclose(self) -> None:
        """Close the connection, or keep it for the next request if all was read."""
        await self._stream.aclose()

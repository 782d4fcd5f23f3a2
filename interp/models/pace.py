"""Reading what a server sends without holding up what else runs in the event loop."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

_SLICE: Final = 0.01  # seconds


class Pace:
    """Lets other tasks run while one reads much.

    Reading does not wait as long as there is something to read. A server that sends many small
    pieces would hold up the whole event loop.
    """

    def __init__(self) -> None:
        self._since = monotonic()

    async def keep(self) -> None:
        """Let other tasks run if that was long ago; call it after each piece."""
        if monotonic() - self._since > _SLICE:
            await asyncio.sleep(0)
            self._since = monotonic()

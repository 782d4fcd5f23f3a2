"""Takes changed programs for new runs, while the runs that are under way end with theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from gram import GramError
from gram.documents import WatchedFiles

from ..concurrency import call_in_thread
from .exchanges import LOGGER
from .served import Served
from .serving import Serving

_PAUSE: Final = 0.5  # seconds between two looks at the files

Read = Callable[[], tuple[Mapping[str, Served], Iterable[Path]]]
"""Reads the programs; gives their agents, and the files that these were read from."""


def reloading(read: Read, files: Iterable[Path]) -> Callable[[Serving], Awaitable[None]]:
    """What looks for changes beside a server.

    Args:
        read: reads the programs again.
        files: the files that they were read from.
    """
    watched = WatchedFiles(files)

    async def look(serving: Serving) -> None:
        while True:
            await asyncio.sleep(_PAUSE)
            if not watched.have_changed():
                continue
            try:
                watched.expect_regular()
                agents, found = await call_in_thread(read)
            except (GramError, OSError) as error:
                told = "the changed program is not taken: %s"
                LOGGER.warning(told, _said(error), extra={"event": "reload_refused"})
                continue
            serving.agents = agents
            watched.are(found)
            LOGGER.info("serves %s", ", ".join(agents), extra={"event": "reloaded"})

    return look


def _said(error: GramError | OSError) -> str:
    """An error in words; of a file, with its name."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)

"""Takes changed programs for new runs, while the runs that are under way end with theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from gram import GramError

from ..concurrency import call_in_thread
from .app import Serving
from .exchanges import LOGGER, Served

_PAUSE: Final = 0.5  # seconds between two looks at the files

Read = Callable[[], tuple[Mapping[str, Served], Iterable[Path]]]
"""Reads the programs; gives their agents, and the files that these were read from."""


def reloading(read: Read, files: Iterable[Path]) -> Callable[[Serving], Awaitable[None]]:
    """What looks for changes beside a server.

    Args:
        read: reads the programs again.
        files: the files that they were read from.
    """
    first = frozenset(files)
    as_read = _stamps(first)

    async def look(serving: Serving) -> None:
        watched, seen = first, as_read
        while True:
            await asyncio.sleep(_PAUSE)
            if (now := _stamps(watched)) == seen:
                continue
            seen = now
            try:
                agents, found = await call_in_thread(read)
            except (GramError, OSError) as error:
                told = "the changed program is not taken: %s"
                LOGGER.warning(told, error, extra={"event": "reload_refused"})
                continue
            serving.agents, watched = agents, frozenset(found)
            seen = {**_stamps(watched), **{each: now[each] for each in watched & now.keys()}}
            LOGGER.info("serves %s", ", ".join(agents), extra={"event": "reloaded"})

    return look


def _stamps(files: Iterable[Path]) -> dict[Path, tuple[int, int] | None]:
    """When each file was changed, and how long it is."""
    return {path: _stamp(path) for path in files}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size

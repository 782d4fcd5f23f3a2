"""Runs coroutines for synchronous code, on an event loop in a separate thread."""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from .threads import when_abandoned

if TYPE_CHECKING:
    import asyncio

_PATIENCE = 0.2  # seconds for what is cancelled at the end
_NOTICE = 0.02  # seconds in which a loop answers that is not blocked


class LoopThread:
    """An event loop for many coroutines, in a daemon thread that the first of them starts.

    It works if another loop is already running, as in a notebook. Connections and the like stay
    usable between calls because all calls share the loop. If a coroutine blocks the loop, the loop
    is abandoned and replaced by a new one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._answered: threading.Event | None = None  # set by a loop that was asked to cancel

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end, in the context of the caller, and return its result.

        If this runs in a thread whose work is abandoned, the coroutine is cancelled.
        """
        import asyncio  # imported late: it takes longer than a short program

        async def outcome() -> tuple[Any, BaseException | None]:
            try:
                return await coroutine, None
            except BaseException as error:  # noqa: BLE001  # raised again in the caller's thread
                return None, error

        with self._lock:
            loop = self._answering_loop()
        future = asyncio.run_coroutine_threadsafe(outcome(), loop)

        def cancel() -> None:
            if future.cancel():
                self._answered = threading.Event()
                loop.call_soon_threadsafe(self._answered.set)

        when_abandoned(cancel)
        try:
            result, error = future.result()
        finally:
            cancel()  # after Ctrl-C; a future that is done takes no notice
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """Cancel the coroutines that still run, and end the thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None

    def _answering_loop(self) -> asyncio.AbstractEventLoop:
        import asyncio

        if self._loop is not None:
            if self._answered is None or self._answered.wait(_NOTICE):
                self._answered = None
                return self._loop
            self.close()
            self._answered = None
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=_serve, args=(self._loop,), daemon=True).start()
        return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped; then cancel its tasks and close it."""
    import asyncio

    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks, timeout=_PATIENCE))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)
        loop.close()

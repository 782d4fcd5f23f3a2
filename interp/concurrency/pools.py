"""Coroutines on many items, several at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def work_on(items: Iterable[T], work: Callable[[T], Awaitable[None]], jobs: int) -> None:
    """Await ``work`` for each item, in their order, as many at once as there are jobs.

    An error of one, or Ctrl-C, stops those that go on, and is raised.
    """
    complete(_work_on(deque(items), work, jobs))


async def _work_on(items: deque[T], work: Callable[[T], Awaitable[None]], jobs: int) -> None:
    async def worker() -> None:
        while items:
            await work(items.popleft())

    workers = [asyncio.ensure_future(worker()) for _ in range(min(jobs, len(items)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for each in workers:
            each.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def complete(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where a loop is running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    going: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

    async def main() -> T:
        going.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await coroutine

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(asyncio.run, main())
        try:
            return future.result()
        except BaseException:  # the runs are cancelled, then it is raised again
            for loop, task in going:
                if task and not loop.is_closed():
                    loop.call_soon_threadsafe(task.cancel)
            raise

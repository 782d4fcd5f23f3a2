"""Coroutines on many items, several at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from .loops import waited_for

T = TypeVar("T")


def work_on(items: Iterable[T], work: Callable[[T], Awaitable[None]], jobs: int) -> None:
    """Await ``work`` for each item, in their order, as many at once as there are jobs.

    An error of one, or Ctrl-C, stops those that go on, and is raised.
    """
    waited_for(lambda: _work_on(deque(items), work, jobs))


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

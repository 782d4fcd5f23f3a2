"""Waiting for coroutines in synchronous code."""

from __future__ import annotations

import os
from collections.abc import Coroutine
from typing import Any, TypeVar

from ..concurrency import LoopThread

T = TypeVar("T")

_loop = LoopThread()


def waited_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, which runs on the event loop that the process keeps."""
    found: T = _loop.run(coroutine)
    return found


def _after_fork() -> None:
    """Begin anew in a child process, which has none of its parent's threads."""
    global _loop
    _loop = LoopThread()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

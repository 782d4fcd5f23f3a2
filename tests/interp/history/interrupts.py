"""Interrupts, as Ctrl-C makes them, at any line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any


@contextmanager
def interrupted_at(
    count: int, is_meant: Callable[[CodeType], bool]
) -> Iterator[Callable[[], bool]]:
    """Raise KeyboardInterrupt at a line of some code, counted from 1; gives whether it came."""
    passed = 0

    def tracing(frame: FrameType, what: str, _: Any) -> Any:
        nonlocal passed
        if not is_meant(frame.f_code):
            return None
        if what == "line":
            passed += 1
            if passed == count:
                raise KeyboardInterrupt
        return tracing

    before = sys.gettrace()
    sys.settrace(tracing)
    try:
        yield lambda: passed >= count
    finally:
        sys.settrace(before)

"""Work counted instead of timed: a growth that is seen on any machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


def calls_of(work: Callable[[], object]) -> int:
    """How many calls of Python and C functions some work makes in this thread."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def assert_linear(work: Callable[[T], object], make: Callable[[int], T], size: int = 12) -> None:
    """Raise unless four times the size takes about four times the calls of some work.

    The bound is near four, so that a small size shows what grows faster. Work that is done once
    is done before.
    """
    work(make(size // 2))

    few, many = (calls_of(partial(work, make(each))) for each in (size, 4 * size))

    assert many < 4.6 * few + 500, (few, many)

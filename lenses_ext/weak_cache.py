"""Remembers what was computed from an immutable object, for as long as that object lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def memo(compute: Callable[[T], R]) -> Callable[[T], R]:
    """A function that keeps its results by the identity of what they were computed from, weakly.

    Identity rather than equality: equal patterns read from two files have two places.
    """
    # A closure, since an object with ``__call__`` takes twice as long: a step asks many times.
    results: dict[int, tuple[weakref.ref[T], R]] = {}

    @wraps(compute)
    def remembered(subject: T) -> R:
        key = id(subject)
        try:
            ref, result = results[key]
            if ref() is subject:
                return result
        except KeyError:
            pass
        result = compute(subject)
        results[key] = weakref.ref(subject, lambda ref: forget(key, ref)), result
        return result

    def forget(key: int, ref: weakref.ref[T]) -> None:
        known = results.get(key)
        if known is not None and known[0] is ref:
            del results[key]

    return remembered

"""Remembers what was computed from an immutable object, for as long as that object lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Memo(Generic[T, R]):
    """Results by the identity of what they were computed from, held weakly.

    Identity rather than equality: equal patterns read from two files have two places.
    """

    def __init__(self, compute: Callable[[T], R]) -> None:
        self._compute = compute
        self._results: dict[int, tuple[weakref.ref[T], R]] = {}

    def __call__(self, subject: T) -> R:
        """The result for ``subject``, computed when it is first asked for."""
        key = id(subject)
        try:
            ref, result = self._results[key]
            if ref() is subject:
                return result
        except KeyError:
            pass
        result = self._compute(subject)
        self._results[key] = weakref.ref(subject, lambda ref: self._forget(key, ref)), result
        return result

    def _forget(self, key: int, ref: weakref.ref[T]) -> None:
        known = self._results.get(key)
        if known is not None and known[0] is ref:
            del self._results[key]

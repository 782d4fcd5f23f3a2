"""What a process that was forked must not take over from its parent."""

from __future__ import annotations

import os
from typing import Any
from weakref import WeakSet

_known: WeakSet[Any] = WeakSet()


def anew_after_fork(found: Any) -> None:
    """Have the ``after_fork`` of something called in each process that is forked from now on.

    It forgets what belongs to the parent: its locks, its claims, its connection.
    """
    _known.add(found)


def _after_fork() -> None:
    for each in list(_known):
        each.after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_after_fork)

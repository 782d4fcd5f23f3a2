"""What a process that was forked must not take over from its parent."""

from __future__ import annotations

import os
from typing import Any, Protocol
from weakref import WeakSet


class Forked(Protocol):
    """Something that begins anew in a process that was forked."""

    def after_fork(self) -> None:
        """Forget what belongs to the parent: its locks, its claims, its connection."""


_known: WeakSet[Any] = WeakSet()


def anew_after_fork(found: Forked) -> None:
    """Have something begin anew in each process that is forked from now on."""
    _known.add(found)


def _after_fork() -> None:
    for each in list(_known):
        each.after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_after_fork)

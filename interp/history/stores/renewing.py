"""Renewing the claims that a process has, for as long as it lives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock, Thread
from time import sleep
from typing import Final

from ...errors import StoreError
from .forks import anew_after_fork
from .leases import Lease

RENEWAL: Final = 3.0
"""The seconds between two signs of life of an owner."""


class Keeper:
    """Renews the claims of one process, in a thread of its own while there are any.

    Args:
        renew: renews claims, or marks them as lost.
    """

    def __init__(self, renew: Callable[[Sequence[Lease]], None]) -> None:
        self._renew = renew
        self.after_fork()
        anew_after_fork(self)

    def after_fork(self) -> None:
        """Begin without claims; those of a parent are the parent's to renew."""
        self._claims: set[Lease] = set()
        self._changing = Lock()
        self._thread: Thread | None = None

    def keep(self, claim: Lease) -> None:
        """Renew a claim from now on."""
        with self._changing:
            self._claims.add(claim)
            if self._thread is None:
                self._thread = Thread(target=self._go_on, name="gram-claims", daemon=True)
                self._thread.start()

    def let_go(self, claim: Lease) -> None:
        """Renew a claim no more."""
        with self._changing:
            self._claims.discard(claim)  # the thread stays for the next, until it finds none

    def _go_on(self) -> None:
        while True:
            sleep(RENEWAL)
            with self._changing:
                if not self._claims:
                    self._thread = None
                    return
                leases = tuple(self._claims)
            with suppress(StoreError):  # the next entry or renewal may reach the store again
                self._renew(leases)

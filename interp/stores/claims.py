"""Claims: who may write to a run of a store, and for how long.

A claim has a fence, a number that every entry carries. Whoever claims the run next has a higher
one, and nothing with a lower one is written any more.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from typing import Final

from attrs import define

from ..errors import StoreError
from .forks import anew_after_fork

LEASE: Final = 15.0
"""The seconds after which a run whose owner is not heard of may be claimed by others."""

RENEWAL: Final = 5.0
"""The seconds between two signs of life of an owner."""


@define(eq=False)
class Claim:
    """The right to write to a run.

    Attributes:
        run: the id of the run.
        fence: the number that its entries carry.
        size: how many entries the run has.
        is_lost: whether somebody else has claimed the run since; it is seen with some delay.
    """

    run: str
    fence: int
    size: int
    is_lost: bool = False


class Keeper:
    """Renews the claims of one process, in a thread of its own while there are any.

    Args:
        renew: renews a claim, or marks it as lost.
    """

    def __init__(self, renew: Callable[[Claim], None]) -> None:
        self._renew = renew
        self.after_fork()
        anew_after_fork(self)

    def after_fork(self) -> None:
        """Begin without claims; those of a parent are the parent's to renew."""
        self._claims: set[Claim] = set()
        self._changing = Lock()
        self._thread: Thread | None = None

    def keep(self, claim: Claim) -> None:
        """Renew a claim from now on."""
        with self._changing:
            self._claims.add(claim)
            if self._thread is None:
                self._thread = Thread(target=self._go_on, name="gram-claims", daemon=True)
                self._thread.start()

    def let_go(self, claim: Claim) -> None:
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
                claims = tuple(self._claims)
            for claim in claims:
                with suppress(StoreError):  # the next entry or renewal may reach the store again
                    self._renew(claim)


def new_owner() -> str:
    """A name for a claim of this process, from which others on this machine tell if it lives.

    A process is told by its id and the time it was started at, in its own space of ids.
    """
    return "/".join([_machine(), str(os.getpid()), _started(os.getpid()), os.urandom(4).hex()])


def is_dead(named: str) -> bool:
    """Whether an owner is known to be dead: a process of this machine that is no more."""
    machine, pid, started, *_ = [*named.split("/"), "", ""]
    if machine != _machine() or not pid.isdecimal() or not started:
        return False  # elsewhere; only its lease tells
    return _started(int(pid)) != started


def _machine() -> str:
    """This machine, since its start, and the space of process ids that this process sees."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{socket.gethostname()}:{boot}:{Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # not on Linux
        return f"{socket.gethostname()}:?"


def _started(pid: int) -> str:
    """When a process was started, as the system counts; ``""`` if there is no such process."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("ascii", errors="replace")
    except OSError:
        return ""
    after_name = told.rpartition(")")[2].split()
    return "" if after_name[0] in "ZX" else after_name[19]

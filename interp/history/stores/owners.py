"""Owners of leases: processes, from whose names others on their machine tell if they live."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from weakref import WeakValueDictionary

_living: WeakValueDictionary[str, object] = WeakValueDictionary()
"""What holds the leases of this process, by their owners."""


def new_owner(holder: object) -> str:
    """A name for the owner of a lease, from which others on this machine tell if it lives.

    Args:
        holder: what holds the lease in this process: the owner lives as long as that.
    """
    owner = f"{this_process()}/{os.urandom(4).hex()}"
    _living[owner] = holder
    return owner


def this_process() -> str:
    """How the leases of this process begin.

    A process is told by its id and the time it was started at, in its own space of ids.
    """
    return "/".join([_machine(), str(os.getpid()), _started(os.getpid())])


def process_of(owner: str) -> str:
    """How messages name the process of an owner."""
    machine, pid, *_ = [*owner.split("/"), ""]
    return f"process {pid} of {machine.partition(':')[0]}"


def is_dead(named: str) -> bool:
    """Whether an owner is known to be dead: its process is no more, or has let go of its lease."""
    if named.startswith(f"{this_process()}/"):
        return named not in _living
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

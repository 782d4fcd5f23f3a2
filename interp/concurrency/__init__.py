"""Waiting for what may not end: clocks, worker threads, and the event loops of the process."""

from .clocks import GRACE, Clock, TookTooLongError, look_at_error, stopped, to_its_end, within
from .loops import (
    Caller,
    OneThread,
    SelfCancelledError,
    in_loop_of_user,
    in_waiting_thread,
    is_in_own_loop,
    read_by_waiting,
    waited_for,
)
from .pools import work_on
from .threads import FromOutside, call_in_thread, iterate_in_thread

__all__ = [
    "GRACE",
    "Caller",
    "Clock",
    "FromOutside",
    "OneThread",
    "SelfCancelledError",
    "TookTooLongError",
    "call_in_thread",
    "in_loop_of_user",
    "in_waiting_thread",
    "is_in_own_loop",
    "iterate_in_thread",
    "look_at_error",
    "read_by_waiting",
    "stopped",
    "to_its_end",
    "waited_for",
    "within",
    "work_on",
]

"""Waiting for what may not end: clocks, threads, and event loops in threads."""

from .clocks import GRACE, Clock, TookTooLongError, least, look_at_error, stopped, within
from .event_loop import LoopThread
from .pools import work_on
from .threads import call_in_thread, in_thread, is_awaited, iterate_in_thread, read_from_thread

__all__ = [
    "GRACE",
    "Clock",
    "LoopThread",
    "TookTooLongError",
    "call_in_thread",
    "in_thread",
    "is_awaited",
    "iterate_in_thread",
    "least",
    "look_at_error",
    "read_from_thread",
    "stopped",
    "within",
    "work_on",
]

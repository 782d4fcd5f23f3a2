"""Waiting for what may not end: clocks, worker threads, and the event loops of the process."""

from .clocks import GRACE, Clock, TookTooLongError, setting, stopped, to_its_end, within
from .loops import (
    OneThread,
    SelfCancelledError,
    in_loop_of_user,
    in_waiting_thread,
    is_in_own_loop,
    read_by_waiting,
    waited_for,
    work_on,
)
from .threads import FromOutside, call_in_thread, iterate_in_thread

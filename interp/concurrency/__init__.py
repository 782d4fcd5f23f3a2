"""Waiting for what may not end: clocks, worker threads, and the event loops of the process."""

from .clocks import (
    GRACE as GRACE,
    Clock as Clock,
    TookTooLongError as TookTooLongError,
    look_at_error as look_at_error,
    stopped as stopped,
    to_its_end as to_its_end,
    within as within,
)
from .loops import (
    Caller as Caller,
    OneThread as OneThread,
    SelfCancelledError as SelfCancelledError,
    in_loop_of_user as in_loop_of_user,
    in_waiting_thread as in_waiting_thread,
    is_in_own_loop as is_in_own_loop,
    read_by_waiting as read_by_waiting,
    waited_for as waited_for,
)
from .pools import work_on as work_on
from .threads import (
    FromOutside as FromOutside,
    call_in_thread as call_in_thread,
    iterate_in_thread as iterate_in_thread,
)

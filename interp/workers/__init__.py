"""Workers: they take runs that were submitted to a store, on any number of machines."""

from .cancelling import cancel_run
from .deciding import Decision, Result, decide_run
from .forking import fork_run
from .kept_limits import LimitNow, limit_name, set_shared_limits, shared_limits
from .notifying import tell_workers
from .queue import RunQueue, why_queued
from .schedules import Schedule, read_schedules
from .shared_limits import SharedLimit
from .submission import KeptOptions, postgres_of, submit
from .telling import put_again
from .transfers import export_run, imported
from .worker import Worker

__all__ = [
    "Decision",
    "KeptOptions",
    "LimitNow",
    "Result",
    "RunQueue",
    "Schedule",
    "SharedLimit",
    "Worker",
    "cancel_run",
    "decide_run",
    "export_run",
    "fork_run",
    "imported",
    "limit_name",
    "postgres_of",
    "put_again",
    "read_schedules",
    "set_shared_limits",
    "shared_limits",
    "submit",
    "tell_workers",
    "why_queued",
]

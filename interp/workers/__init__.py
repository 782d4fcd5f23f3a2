"""Workers: they take runs that were submitted to a store, on any number of machines."""

from .kept_limits import LimitNow, limit_name, set_shared_limits, shared_limits
from .queue import RunQueue, why_queued
from .schedules import Schedule, read_schedules
from .shared_limits import SharedLimit
from .submission import KeptOptions, postgres_of, submit
from .telling import put_again
from .worker import Worker

__all__ = [
    "KeptOptions",
    "LimitNow",
    "RunQueue",
    "Schedule",
    "SharedLimit",
    "Worker",
    "limit_name",
    "postgres_of",
    "put_again",
    "read_schedules",
    "set_shared_limits",
    "shared_limits",
    "submit",
    "why_queued",
]

"""Workers: they take runs that were submitted to a store, on any number of machines."""

from .queue import RunQueue, why_queued
from .schedules import Schedule, read_schedules
from .shared_limits import SharedLimit
from .submission import KeptOptions, postgres_of, submit
from .worker import Worker

__all__ = [
    "KeptOptions",
    "RunQueue",
    "Schedule",
    "SharedLimit",
    "Worker",
    "postgres_of",
    "read_schedules",
    "submit",
    "why_queued",
]

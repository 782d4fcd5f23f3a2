"""Workers: they take runs that were submitted to a store, on any number of machines."""

from .cancelling import cancel_run
from .deciding import Decision, Result, decide_run
from .forking import fork_run
from .limits import LimitNow, SharedLimit, limit_name, set_shared_limits, shared_limits
from .queue import RunQueue, tell_workers
from .registry import Registry, why_queued
from .resuming import resume_run
from .schedules import Schedule, read_schedules
from .submission import KeptOptions, postgres_of, submit
from .transfers import export_run, imported
from .worker import Worker

__all__ = [
    "Decision",
    "KeptOptions",
    "LimitNow",
    "Registry",
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
    "read_schedules",
    "resume_run",
    "set_shared_limits",
    "shared_limits",
    "submit",
    "tell_workers",
    "why_queued",
]

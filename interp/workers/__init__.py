"""Workers: they take runs that were submitted to a store, on any number of machines."""

from .forking import Requeue, fork_run as fork_run, requeue_of, requeue_run as requeue_run
from .limits import (
    LimitNow as LimitNow,
    SharedLimit as SharedLimit,
    limit_name,
    set_shared_limits as set_shared_limits,
    shared_limits as shared_limits,
)
from .looking import (
    Overview as Overview,
    WorkerNow as WorkerNow,
    overview as overview,
    why_queued,
    workers_now as workers_now,
)
from .queue import IS_OVER, RunQueue, expect_procrastinate, tell_workers
from .steering import (
    Decision,
    Result as Result,
    cancel_run as cancel_run,
    decide_run as decide_run,
    export_run as export_run,
    import_run as import_run,
    imported,
    resume_run as resume_run,
)
from .submission import (
    KeptOptions,
    Schedule as Schedule,
    read_schedules as read_schedules,
    schedule_faults,
    submit as submit,
)
from .worker import Worker as Worker, until_told

"""Stores of runs: many runs in one database, each written by one owner at a time."""

from .claims import Claim
from .opening import StoreLike, new_run, open_store, run_of
from .run_store import ENDED, RunFacts, RunRow, RunStatus, RunStore
from .stored_run import StoredRun, status_of

__all__ = [
    "ENDED",
    "Claim",
    "RunFacts",
    "RunRow",
    "RunStatus",
    "RunStore",
    "StoreLike",
    "StoredRun",
    "new_run",
    "open_store",
    "run_of",
    "status_of",
]

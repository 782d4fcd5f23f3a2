"""Stores of runs: many runs in one database, each written by one owner at a time."""

from .conversations import Conversation
from .database import make_tables
from .leases import Lease
from .opening import (
    StoreLike,
    context_of,
    new_run,
    open_store,
    opened,
    run_of,
)
from .owners import process_of, this_process
from .postgres import PostgresDatabase
from .run_rows import ENDED, RunFacts, RunRow, RunStatus
from .run_store import RunStore
from .stored_run import StoredRun, status_of

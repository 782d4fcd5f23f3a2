"""Stores of runs: many runs in one database, each written by one owner at a time."""

from .conversations import Conversation as Conversation
from .database import make_tables as make_tables
from .leases import Lease as Lease, process_of as process_of
from .opening import (
    StoreLike as StoreLike,
    context_of as context_of,
    new_run as new_run,
    open_store as open_store,
    opened as opened,
    run_of as run_of,
)
from .postgres import PostgresDatabase as PostgresDatabase
from .run_rows import ENDED as ENDED, RunFacts as RunFacts, RunRow as RunRow, RunStatus as RunStatus
from .run_store import RunStore as RunStore
from .stored_run import StoredRun as StoredRun, status_of as status_of

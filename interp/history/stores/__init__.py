"""Stores of runs: many runs in one database, each written by one owner at a time."""

from .addresses import (
    Address,
    RecordLike,
    StoreLike,
    address_of_run,
    load_run,
    load_runs,
    new_log,
    open_run,
    open_store,
    opened,
    place_of_run,
    run_named,
    store_of_a_run,
)
from .conversations import Conversation
from .database import PostgresDatabase, make_tables, statements_of, tables_of
from .kept_conversations import FileConversation, KeptConversation, open_conversation
from .leases import ENDED, Lease, RunStatus, process_of, this_process
from .run_store import RunFacts, RunRow, RunStore
from .stored_run import StoredRun, status_of

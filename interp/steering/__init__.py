"""Steering the runs of a store: answering, cancelling and forking them, and run files of them."""

from .cancelling import cancel_run
from .deciding import Decision, Result, decide_run
from .forking import fork_run
from .telling import tell_workers
from .transfers import export_run, import_run, imported

__all__ = [
    "Decision",
    "Result",
    "cancel_run",
    "decide_run",
    "export_run",
    "fork_run",
    "import_run",
    "imported",
    "tell_workers",
]

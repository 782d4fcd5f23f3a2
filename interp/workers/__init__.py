"""Workers: they take runs that were submitted to a store, on any number of machines."""

from .queue import RunQueue
from .shared_limits import SharedLimit
from .submission import KeptOptions, postgres_of, submit
from .worker import Worker

__all__ = ["KeptOptions", "RunQueue", "SharedLimit", "Worker", "postgres_of", "submit"]

"""Runs as gram, kept in files and stores; recorded runs replayed, and as timelines."""

from .records.patterns import from_pattern as from_pattern, to_pattern as to_pattern
from .records.recorded_run import RecordedRun as RecordedRun
from .replaying.entries import Entry as Entry, Timeline as Timeline
from .replaying.replay import follow as follow
from .stores.run_store import RunFacts as RunFacts, RunRow as RunRow, RunStore as RunStore

"""Runs as gram, kept in files and stores; recorded runs replayed, and as timelines."""

from .records.conversation_pattern import (
    context_from_pattern as context_from_pattern,
    context_to_pattern as context_to_pattern,
)
from .records.event_pattern import (
    event_from_pattern as event_from_pattern,
    event_to_pattern as event_to_pattern,
)
from .records.recorded_run import RecordedRun as RecordedRun
from .records.response_pattern import (
    invocation_from_pattern as invocation_from_pattern,
    invocation_to_pattern as invocation_to_pattern,
    response_from_pattern as response_from_pattern,
    response_to_pattern as response_to_pattern,
)
from .replaying.entries import Entry as Entry, Timeline as Timeline
from .replaying.following import follow as follow
from .stores.run_rows import RunFacts as RunFacts, RunRow as RunRow
from .stores.run_store import RunStore as RunStore

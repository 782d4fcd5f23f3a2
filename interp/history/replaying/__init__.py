"""Recorded runs again: as a handler that answers as they did, to watch, and as a timeline."""

from .entries import Entry, Timeline, round_name
from .replay import UntilChanged, follow, recorded
from .timeline import timeline

"""Recorded runs again: as a handler that answers as they did, to watch, and as a timeline."""

from .entries import Entry, Kind, Timeline, round_name
from .recorded_handler import UntilChanged, recorded
from .replay import Replay, follow
from .timeline import timeline

"""Recorded runs again: as a world that answers as they did, to watch, and as a timeline."""

from .recorded_world import recorded
from .replay import Replay
from .timeline import Entry, Kind, Timeline, timeline

__all__ = ["Entry", "Kind", "Replay", "Timeline", "recorded", "timeline"]

"""Recorded runs again: as a world that answers as they did, and as something to watch."""

from .recorded_world import recorded
from .replay import Replay

__all__ = ["Replay", "recorded"]

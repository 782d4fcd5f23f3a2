"""Recorded runs again: as a handler that answers as they did, to watch, and as a timeline."""

from .entries import Entry as Entry, Kind as Kind, Timeline as Timeline, round_name as round_name
from .following import follow as follow
from .recorded_handler import recorded as recorded
from .replay import Replay as Replay
from .timeline import timeline as timeline

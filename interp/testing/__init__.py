"""Runs of tests: recorded once and replayed ever after, without the network."""

from .network import Network
from .recordings import Mode, Recording, file_name
from .runs_of_test import AgentUnderTest, RunsOfTest

__all__ = [
    "AgentUnderTest",
    "Mode",
    "Network",
    "Recording",
    "RunsOfTest",
    "file_name",
]

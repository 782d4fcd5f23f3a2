"""Runs of tests: recorded once and replayed ever after, without the network."""

from .case_results import CaseResult, RunResult, junit_xml, run_case
from .recordings import (
    SUFFIX,
    Mode,
    Recording,
    file_name,
)
from .runs_of_test import AgentUnderTest, Network, RunsOfTest

"""Runs of tests: recorded once and replayed ever after, without the network."""

from .case_results import CaseResult, RunResult, run_case
from .junit import junit_xml
from .network import Network
from .recordings import (
    SUFFIX,
    Mode,
    Recording,
    file_name,
)
from .runs_of_test import AgentUnderTest, RunsOfTest

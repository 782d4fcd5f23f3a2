"""Runs of tests: recorded once and replayed ever after, without the network."""

from .case_results import CaseResult as CaseResult, run_case as run_case
from .junit import junit_xml as junit_xml
from .network import Network as Network
from .recordings import (
    SUFFIX as SUFFIX,
    Mode as Mode,
    Recording as Recording,
    file_name as file_name,
)
from .runs_of_test import AgentUnderTest as AgentUnderTest, RunsOfTest as RunsOfTest

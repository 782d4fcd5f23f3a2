"""Runs of tests: recorded once and replayed ever after, without the network."""

from .case_results import CaseResult, RunResult, junit_xml, run_case
from .runs_of_test import SUFFIX, AgentUnderTest, Mode, Network, Recording, RunsOfTest, file_name

"""Runs of tests: recorded once and replayed ever after, without the network."""

from .runs_of_test import (
    SUFFIX,
    AgentUnderTest,
    CaseResult,
    Mode,
    Network,
    Recording,
    RunResult,
    RunsOfTest,
    file_name,
    junit_xml,
    run_case,
)

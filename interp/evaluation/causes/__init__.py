"""The causes of what a run did: smaller runs that do it, too, and runs that go on otherwise."""

from .shrinking import BEFORE, CASES, MOST_RUNS, PROGRAM, RUN, Shrunk, shrink, write_folder
from .what_if import Change, Outcome, Sample, WhatIf, what_if, write_fork

"""The causes of what a run did: smaller runs that do it, too, and runs that go on otherwise."""

from .shrinking import BEFORE, CASES, MOST_RUNS, PROGRAM, RUN, Shrunk, shrink, write_folder
from .verdict import Sample, WhatIf
from .what_if import Change, Outcome, what_if, write_fork

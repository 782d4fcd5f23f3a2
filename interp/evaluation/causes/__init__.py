"""The causes of what a run did: smaller runs that do it, too, and runs that go on otherwise."""

from .folder import CASES, PROGRAM, RUN, write_folder
from .shrinking import MOST_RUNS, Shrunk, shrink
from .verdict import Sample, WhatIf
from .what_if import Change, Outcome, what_if, write_fork

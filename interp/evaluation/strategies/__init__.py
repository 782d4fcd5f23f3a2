"""Hypothesis strategies for runs of agents, for tests of your own.

They need Hypothesis, which the extra ``laws`` brings. ``docs/test/properties.md`` shows how
they are used; `check_runs` holds an invariant against many runs and keeps the smallest that
breaks it.
"""

from .runs import check_runs as check_runs, runs as runs
from .worlds import (
    arguments_of as arguments_of,
    broken_arguments_of as broken_arguments_of,
    libraries as libraries,
    models as models,
    replies_to as replies_to,
    results_of as results_of,
    values_of as values_of,
)

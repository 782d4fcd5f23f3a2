"""Hypothesis strategies for runs of agents, for tests of your own.

They need Hypothesis: ``pip install 'gram-agents[laws]'``. ``docs/properties.md`` shows how they are
used; `check_runs` holds an invariant against many runs and keeps the smallest that breaks it.
"""

from .arguments import arguments_of, broken_arguments_of, results_of
from .invariants import check_runs
from .libraries import libraries
from .models import models, replies_to
from .runs import runs
from .schema_values import values_of

__all__ = [
    "arguments_of",
    "broken_arguments_of",
    "check_runs",
    "libraries",
    "models",
    "replies_to",
    "results_of",
    "runs",
    "values_of",
]

"""Comparisons of agents: the same cases through several arms, with honest statistics."""

from .arms import Arm
from .carrying_out import ab, load_experiment
from .comparing import Comparison, Estimate
from .experiment import Experiment, before_running
from .intervals import Interval
from .judging import judged_by
from .metrics import (
    NAMES,
    Metric,
    MetricLike,
    matches_schema,
)
from .plan import Plan
from .power import cases_needed, power_of
from .trials import Score, Trial

"""Comparisons of agents: the same cases through several arms, with honest statistics."""

from .arms import Arm as Arm
from .carrying_out import ab as ab, load_experiment as load_experiment
from .comparing import Comparison as Comparison, Estimate as Estimate
from .experiment import Experiment as Experiment, before_running as before_running
from .intervals import Interval as Interval
from .judging import judged_by as judged_by
from .metrics import (
    NAMES as NAMES,
    Metric as Metric,
    MetricLike as MetricLike,
    matches_schema as matches_schema,
)
from .plan import Plan as Plan
from .power import cases_needed as cases_needed, power_of as power_of
from .trials import Score as Score, Trial as Trial

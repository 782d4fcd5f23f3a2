"""Comparisons of agents: the same cases through several arms, with honest statistics."""

from .arms import Arm
from .carrying_out import NOT_BEGUN as NOT_BEGUN, ab, load_experiment
from .chance import Interval, cases_needed, require_statistics, wilson
from .comparing import Comparison, Estimate
from .experiment import Experiment
from .experiment_file import (
    edit_at as edit_at,
    experiment_faults as experiment_faults,
    metric_of as metric_of,
    read_experiment,
)
from .forecast import Budget, Forecast, before_running, what_it_finds
from .judges import Lean as Lean, MeasuredJudge, Verdict as Verdict, judged_by, measure_judge
from .metrics import NAMES, Metric, MetricLike, Score, Trial, matches_schema
from .plan import Plan
from .slices import (
    compared_by,
    compared_by_text,
    pass_rate,
    pass_rate_text,
    percent,
    require_column,
    slices,
)

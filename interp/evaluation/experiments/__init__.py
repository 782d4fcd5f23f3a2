"""Comparisons of agents: the same cases through several arms, with honest statistics."""

from .arms import Arm, fresh_library
from .carrying_out import NOT_BEGUN as NOT_BEGUN, Budget, ab, load_experiment
from .chance import Interval, cases_needed, require_statistics, wilson
from .comparing import Comparison, Estimate, pass_rate, require_column, slices
from .experiment import Experiment
from .experiment_file import experiment_faults, metric_of, read_experiment
from .judges import Lean as Lean, MeasuredJudge, Verdict as Verdict, judged_by, measure_judge
from .metrics import NAMES, Metric, MetricLike, Score, Trial, matches_schema
from .plan import Plan, before_running
from .report import compared_by_text, pass_rate_text, percent

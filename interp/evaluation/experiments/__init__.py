"""Comparisons of agents: the same cases through several arms, with honest statistics."""

from .arms import Arm
from .budget import Budget
from .carrying_out import NOT_BEGUN as NOT_BEGUN, ab, load_experiment
from .comparing import Comparison, Estimate
from .experiment import Experiment
from .experiment_file import (
    experiment_faults as experiment_faults,
    metric_of as metric_of,
    read_experiment,
)
from .forecast import Forecast, before_running, what_it_finds
from .intervals import Interval, require_statistics, wilson
from .judging import judged_by
from .measured_judges import Lean as Lean, MeasuredJudge, Verdict as Verdict, measure_judge
from .metrics import (
    NAMES,
    Metric,
    MetricLike,
    matches_schema,
)
from .pair_tests import ALPHA
from .plan import Plan
from .power import cases_needed, power_of
from .slice_text import compared_by_text, pass_rate_text, percent
from .slices import compared_by, pass_rate, require_column, slices
from .trials import Score, Trial
from .two_samples import detectable, fisher, newcombe, power_of_fisher
from .written_experiment import edit_at as edit_at

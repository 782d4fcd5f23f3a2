"""What a program is worth: cases, tests, comparisons, searches for better ones, causes of runs."""

from . import testing as testing
from .cases.case import ANY_ANSWER as ANY_ANSWER, ExpectedCall as ExpectedCall
from .cases.judging import Failure as Failure, RubricJudge as RubricJudge, judge as judge
from .cases.reading import read_cases as read_cases
from .experiments.arms import Arm as Arm
from .experiments.carrying_out import Budget as Budget, load_experiment as load_experiment
from .experiments.chance import cases_needed as cases_needed
from .experiments.comparing import Comparison as Comparison, Estimate as Estimate
from .experiments.experiment import Experiment as Experiment
from .experiments.experiment_file import read_experiment as read_experiment
from .experiments.judges import (
    MeasuredJudge as MeasuredJudge,
    judged_by as judged_by,
    measure_judge as measure_judge,
)
from .experiments.metrics import Metric as Metric, Trial as Trial, matches_schema as matches_schema
from .improving.changes import FailingRun as FailingRun, Question as Question
from .improving.one_search import improve as improve
from .improving.searching import Improvement as Improvement
from .testing import AgentUnderTest as AgentUnderTest, RunsOfTest as RunsOfTest

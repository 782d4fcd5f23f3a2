"""Trials, one run of one case through one arm each, and what is measured of them.

A metric is a function of a trial that gives a number, or yes or no. The checks of `gram test` are
metrics, too: a trial has ``content``, ``value``, ``tools_used`` and ``usage`` as a response has.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from operator import attrgetter
from tokenize import TokenError
from typing import Any, TypeAlias, Union

from attrs import asdict, evolve, field, frozen

from gram import ArgumentError
from gram.errors import expect
from gram.words import did_you_mean

from ...errors import ValidationError, said_by
from ...execution import Spending
from ...history.stores import Address
from ...json_text import Json, write_json
from ...machine import AgentResponse, ConversationContext, State, ToolInvocation, Usage
from ...machine.contracts import require_schema
from ...models import require_prices
from ...shown import short_repr
from ...tools import is_from_outside
from ..cases import Case, Checks, Failure, RubricJudge
from ..cases.judging import Seen, failures_of, takes_case
from .comparing import Better


def texts(given: Iterable[str]) -> tuple[str, ...]:
    """Texts as attributes have them, of what JSON or gram says."""
    return tuple(given)


def _usage(given: Any) -> Any:
    return Usage(**given) if isinstance(given, Mapping) else given


@frozen
class Score:
    """What a metric says of a trial.

    Attributes:
        value: a number, or yes or no; None if there is none.
        problem: why there is none or the answer is no, or None.
        usage: the tokens that the judge took who says so, or None without one.
        cost: what they cost in US dollars, or None.
    """

    value: float | bool | None
    problem: str | None = None
    usage: Usage | None = field(default=None, converter=_usage)
    cost: float | None = None


@frozen(kw_only=True)
class Trial:
    """One run of one case through one arm.

    Attributes:
        arm: the name of the arm.
        case: the case.
        repeat: which run of the case it is, from 0.
        failure: why the run failed, or None.
        content: the answer; empty if the run failed.
        calls: how many tools were called.
        rounds: how often the model was asked.
        usage: the tokens; unknown if a reply did not say.
        cost: what they cost in US dollars, or None if that is unknown.
        seconds: how long the run took.
        models: the models that answered, as their providers name them.
        fingerprint: the same for runs that said and did the same.
        run: the address of the run that is recorded, or None.
        scores: what each metric says of it.
        response: the response, or None if the run failed or was read from a folder.
        state: where the run ended, or None if it was read from a folder.
    """

    arm: str
    case: Case
    repeat: int
    failure: str | None = None
    content: str = ""
    calls: int = 0
    rounds: int = 0
    usage: Usage = field(default=Usage(0, 0), converter=_usage)
    cost: float | None = None
    seconds: float = 0.0
    models: tuple[str, ...] = field(default=(), converter=texts)
    fingerprint: str = ""
    run: Address | None = None
    scores: Mapping[str, Score] = field(factory=dict)
    response: AgentResponse | None = field(default=None, eq=False, repr=False)
    state: State | None = field(default=None, eq=False, repr=False)

    def __repr__(self) -> str:
        failed, said = self.failure is not None, short_repr(self.failure or self.content)
        number = f" ({self.repeat + 1})" if self.repeat else ""
        told = f"{'failed: ' if failed else ''}{said}"
        return f"<Trial of {self.arm}, {self.case.name}{number}: {told}>"

    @property
    def tools_used(self) -> tuple[ToolInvocation, ...]:
        """The tool calls of a run that did not fail, as `AgentResponse` has them."""
        return self.response.tools_used if self.response else ()

    @property
    def value(self) -> Json:
        """The answer as a JSON value, as `AgentResponse` has it."""
        return self.response.value if self.response else None

    def to_json(self) -> dict[str, Json]:
        """The trial as JSON, with the id of its run; the folder of an experiment keeps it so."""
        untold = ("response", "state")
        told = asdict(self, recurse=False, filter=lambda each, _: each.name not in untold)
        return told | {
            "case": self.case.name,
            "usage": asdict(self.usage),
            "run": self.run and self.run.run,
            "scores": {name: asdict(score) for name, score in self.scores.items()},
        }

    @property
    def key(self) -> tuple[str, int, str]:
        """Which trial of the plan it is."""
        return self.case.name, self.repeat, self.arm


def fingerprint(context: ConversationContext) -> str:
    """A short text that is the same for conversations that say and do the same."""
    said: list[Json] = []
    for each in context:
        calls = [[call.name, call.arguments] for call in each.tool_calls]
        said.append([each.role.name, each.content, each.refused, calls])
    return short_hash(write_json(said) if said else "")


Measure: TypeAlias = Callable[..., Any]
"""A function ``measure(trial)`` or ``measure(trial, case)``, plain or a coroutine function."""


@frozen
class Metric:
    """Something that is measured of each run.

    What ``measure`` returns: True or False make a rate, numbers a mean. A text says why the answer
    is no, and so does an AssertionError. None, NaN and other exceptions are no score. A run that
    failed succeeds in nothing, and a run without a score counts as the worst.

    Attributes:
        name: its name, which no other metric of the experiment has.
        measure: the function, see `Measure`.
        better: whether ``higher`` or ``lower`` scores are better.
        worst: the score of a run without one; by default False where the others are yes or no,
            and else the worst that any run has.
        of_failed: whether runs that failed are measured, too, as their cost is.
        judge: the model of the judge that says it, or "".
        details: a text that says what else the scores depend on; the plan has its hash.
    """

    name: str
    measure: Measure
    better: Better = "higher"
    worst: float | bool | None = None
    of_failed: bool = False
    judge: str = ""
    details: str = field(default="", repr=False)

    def __attrs_post_init__(self) -> None:
        expect(self.name, str, "name", by="Metric")
        if not self.name.strip():
            raise ArgumentError("Metric: the name is empty")
        if not callable(self.measure):
            raise ArgumentError(f"Metric {self.name}: measure must be a function")
        if self.better not in ("higher", "lower"):
            raise ArgumentError(f'Metric: better must be "higher" or "lower", got {self.better!r}')

    async def score(self, trial: Trial) -> Score:
        """What the metric says of a trial."""
        if trial.failure is not None and not self.of_failed:
            return Score(self.worst, "the run failed")
        try:
            takes_both = takes_case(self.measure)
            found = self.measure(trial, trial.case) if takes_both else self.measure(trial)
            if inspect.isawaitable(found):
                found = await found
            return _score(found)
        except AssertionError as error:
            return Score(False, str(error) or "an assertion failed")
        except BaseException as error:  # user code may raise anything
            if is_from_outside(error):
                raise
            return Score(None, said_by(error))

    @property
    def code(self) -> str:
        """A text that changes when the Python code or the details of the metric do."""
        parts = [code_of(self.measure), self.details]
        return short_hash("\0".join(parts)) if any(parts) else ""


MetricLike: TypeAlias = Union[str, Metric, Measure]
"""The name of a metric that is built in, a `Metric`, or a function that is one under its name."""


_LARGEST = 1e100
"""A score that is larger has no mean and no deviation that could be computed."""


def _score(found: Any) -> Score:
    if isinstance(found, Score):
        checked = found if found.value is None else _score(found.value)
        return evolve(found, value=checked.value, problem=found.problem or checked.problem)
    if isinstance(found, str):
        return Score(False, found or "the answer is empty")
    if found is None:
        return Score(None, "the metric returned None")
    try:
        number = float(found)
        if isinstance(found, bool) or getattr(getattr(found, "dtype", None), "kind", "") == "b":
            return Score(bool(found))  # numpy's, too
    except (OverflowError, TypeError, ValueError):
        kind = type(found).__name__
        return Score(None, f"the metric returned {kind}, no number that can be kept")
    is_usable = abs(number) <= _LARGEST  # NaN is not
    return Score(number) if is_usable else Score(None, f"the metric returned {number}")


def code_of(function: object) -> str:
    """A text that changes when the code of a user's function does; empty if it cannot be known."""
    if getattr(function, "__module__", None) in _OURS:
        return ""
    try:
        unwrapped = inspect.unwrap(function)  # type: ignore[arg-type]  # else a TypeError
        source = inspect.getsource(unwrapped)
    except (TypeError, OSError, ValueError, SyntaxError, TokenError):  # its file may have changed
        return ""
    return short_hash(source)


def short_hash(text: str) -> str:
    """A short hash of a text."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


_OURS = {__name__, f"{__package__}.judges"}


# --- the metrics that are built in


def passed(checks: Checks, judge: RubricJudge | None = None) -> Metric:
    """Whether a run is what its case expects."""

    async def measure(trial: Trial) -> Score:
        assert trial.response
        seen = Seen(trial.case, trial.response, checks, trial.seconds, trial.cost)
        if judge is None or not trial.case.rubrics:
            return _of(failures_of(seen))
        spending = Spending()
        asked = judge.watched_by(spending.count)
        seen = evolve(seen, verdicts=await asked.verdicts(trial.case, trial.response))
        return evolve(_of(failures_of(seen)), usage=spending.usage, cost=spending.cost())

    parts = [f"{name} {code_of(check)}" for name, check in sorted(checks.items())]
    details = "\0".join([*parts, *([judge.text] if judge else [])])
    return Metric("passed", measure, worst=False, details=details)


def _of(failures: Sequence[Failure]) -> Score:
    return Score(not failures, "; ".join(map(str, failures)) or None)


def _expecting(name: str, of: Callable[[Case], Mapping[str, Any]], details: str = "") -> Metric:
    """Whether a run is what a case expects that expects this alone."""

    def measure(trial: Trial) -> Score:
        assert trial.response
        alone = Case(name=trial.case.name, input=trial.case.input, **of(trial.case))
        return _of(failures_of(Seen(alone, trial.response)))

    return Metric(name, measure, worst=False, details=details)


def matches_schema(schema: Mapping[str, Json], name: str = "schema") -> Metric:
    """Whether the answer is JSON that a schema accepts.

    Args:
        schema: the JSON Schema.
        name: the name of the metric.

    Raises:
        ValidationError: it is not a JSON Schema.
        ArgumentError: it refuses no answer, or its patterns are not searched in linear time.
    """
    expect(schema, Mapping, "schema", by="matches_schema")
    text = require_schema(schema)
    Case(name=name, input="", schema=schema)  # what no case may expect is refused before any run
    return _expecting(name, lambda _: {"schema": schema}, text)


_UNKNOWN = Score(None, "the cost is unknown: the server that answered has no known price")
_MEASURED: Mapping[str, Measure] = {
    "calls": attrgetter("calls"),
    "rounds": attrgetter("rounds"),
    "tokens": attrgetter("usage.total_tokens"),
    "input_tokens": attrgetter("usage.input_tokens"),
    "output_tokens": attrgetter("usage.output_tokens"),
    "cost": lambda trial: _UNKNOWN if trial.cost is None else trial.cost,
    "seconds": attrgetter("seconds"),
}
MEASURES: Mapping[str, Metric] = {
    name: Metric(name, measure, "lower", of_failed=True) for name, measure in _MEASURED.items()
}
"""What every run has been measured by: a run that failed was paid for, too."""


def score_of(trial: Trial, metric: str) -> Score:
    """What a metric says of a trial; what every run is measured by need not be in the plan."""
    if metric in trial.scores:
        return trial.scores[metric]
    return _score(MEASURES[metric].measure(trial))


NAMES = ("passed", "exact", "schema", *MEASURES)
"""The names of the metrics that are built in."""


def read_metrics(
    given: Iterable[MetricLike],
    cases: Sequence[Case],
    checks: Checks,
    declared: Callable[[], Mapping[str, Json]],
    judge: RubricJudge | None = None,
) -> tuple[Metric, ...]:
    """Make metrics of names, metrics and functions; ``declared`` gives the schema of the answer.

    Raises:
        ArgumentError: something is no metric, or two have the same name.
        ValidationError: a name is unknown, or a metric cannot measure these cases.
        ConfigurationError: a metric needs an extra that is not installed.
    """

    def metric(one: MetricLike) -> Metric:
        if isinstance(one, Metric):
            return one
        if callable(one):
            return Metric(getattr(one, "__name__", type(one).__name__), one)
        if not isinstance(one, str):
            kind = type(one).__name__
            raise ArgumentError(f"ab: a metric is a name, a Metric or a function, got {kind}")
        if one == "passed":
            return passed(checks, judge)
        if one == "exact":
            if without := [each.name for each in cases if not each.has_expected]:
                raise ValidationError(
                    f'the metric exact needs expected in every case; case "{without[0]}" has none'
                )
            return _expecting("exact", lambda case: {"expected": case.expected})
        if one == "schema":
            return matches_schema(declared())
        if one == "cost":
            require_prices("the metric cost")
        expect_known(one, NAMES, f'there is no metric "{one}"')
        return MEASURES[one]

    if isinstance(given, str | Metric) or callable(given):
        given = [given]
    expect(given, Iterable, "metrics", by="ab")
    found = tuple(map(metric, given))
    if not found:
        raise ArgumentError("ab: there are no metrics")
    for name, count in Counter(each.name for each in found).items():
        if count > 1:
            raise ArgumentError(f"ab: two metrics are named {name}")
    return found


def expect_known(name: str, names: Sequence[str], told: str) -> None:
    """Refuse a name that is not among those that are known, in words."""
    if name not in names:
        hint = did_you_mean(name, names) or f"there are {', '.join(names)}"
        raise ValidationError(f"{told}; {hint}")

"""Judges that are agents: how they score answers, and how they do beside people.

People's labels are taken for the truth. All figures hold for answers like the labelled ones: a
judge that is right about short answers may be wrong about long ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import sqrt
from statistics import median
from typing import Final, Unpack, cast

from attrs import asdict, evolve, frozen

from gram import ArgumentError, dumps
from gram.errors import expect, expect_all
from gram.words import counted, did_you_mean
from lenses_ext import ProgramLike, agent_model, view

from ...concurrency import work_on
from ...errors import AgentError, ValidationError
from ...execution import Spending, named_model
from ...history.stores import StoredRun, store_of_a_run
from ...json_text import Json, write_json
from ...running import BeginOptions, RunOptions, begin
from ...tools import LibraryLike, library_of
from ..cases import Case
from ..cases.judging import judge_of, question_of, verdict_in
from ..testing import file_name
from .chance import LEVEL, Interval, Z, holm, require_statistics, wilson
from .comparing import Better
from .metrics import Metric, Score, Trial
from .plan import described, tool_entry
from .report import aligned, p_text

_SAID: Final = {
    **dict.fromkeys(("true", "yes", "1", "good", "pass", "right", "correct"), True),
    **dict.fromkeys(("false", "no", "0", "bad", "fail", "wrong", "incorrect"), False),
}
_SEED: Final = 0  # the same figures for the same verdicts
ANSWER, LABEL = "answer", "label"


@frozen
class Verdict:
    """What a person and a judge say of one answer.

    Attributes:
        case: the case, with the columns ``answer`` and ``label``, and at times ``model`` (who
            answered) and ``position`` (where the answer was, among several that were shown).
        label: whether a person says that the answer is good.
        judged: whether the judge says so; None where it gave no verdict.
        problem: why it gave none, or None.
    """

    case: Case
    label: bool
    judged: bool | None
    problem: str | None = None

    @property
    def answer(self) -> str:
        """The answer as text."""
        return _text(self.case.columns[ANSWER])


@frozen
class Lean:
    """Whether a judge is milder with answers of one kind than with others that people label alike.

    Attributes:
        kind: which answers, in words.
        difference: how much more often it says yes to them than to others of the same label:
            the Mantel-Haenszel difference of rates.
        answers: how many answers are of the kind.
        p_value: how often chance alone gives such a difference, or a rarer one.
        p_corrected: the same, corrected for all kinds with Holm's method.
    """

    kind: str
    difference: float
    answers: int
    p_value: float
    p_corrected: float


@frozen(slots=False)
class MeasuredJudge:
    """How a judge does on answers that people labelled.

    Attributes:
        name: the judge.
        verdicts: what both say of each answer.
        model: the model of the judge, "" where that is not known.
    """

    name: str
    verdicts: tuple[Verdict, ...]
    model: str = ""

    @cached_property
    def table(self) -> tuple[int, int, int, int]:
        """How many: both yes, only people, only the judge, both no. No verdict counts as no."""
        pairs = [(each.label, bool(each.judged)) for each in self.verdicts]
        kinds = ((True, True), (True, False), (False, True), (False, False))
        return tuple(map(pairs.count, kinds))  # type: ignore[return-value]  # there are four kinds

    @cached_property
    def figures(self) -> dict[str, tuple[float, Interval] | None]:
        """The figures with Wilson's intervals, by name; None where there are no such answers.

        Agreement is how often both say the same, sensitivity how often the judge says yes to what
        people say yes to, and specificity how often it says no to what people say no to.
        """
        both, missed, granted, neither = self.table
        counts = {
            "agreement": (both + neither, len(self.verdicts)),
            "sensitivity": (both, both + missed),
            "specificity": (neither, granted + neither),
        }
        return {name: (n / of, wilson(n, of)) if of else None for name, (n, of) in counts.items()}

    @cached_property
    def leans(self) -> tuple[Lean, ...]:
        """Where the judge is milder: with long answers, those of its own model, those shown first.

        A kind is looked at where some answers are of it, and some with the same label are not.
        """
        half = median(len(each.answer) for each in self.verdicts)
        kinds = {f"longer than {half:g} characters": [len(x.answer) > half for x in self.verdicts]}
        models, places = (
            [_text(each.case.columns.get(column, "")) for each in self.verdicts]
            for column in ("model", "position")
        )
        if self.model and self.model in models:
            kinds[f"of {self.model}, its own model"] = [each == self.model for each in models]
        for place in sorted({*places} - {""})[: 1 if len({*places}) == 2 else None]:
            kinds[f"at position {place}"] = [each == place for each in places]
        found = {kind: _difference(self.verdicts, is_of) for kind, is_of in kinds.items()}
        tested = {kind: each for kind, each in found.items() if each is not None}
        corrected = holm([p for _, p in tested.values()])
        return tuple(
            Lean(kind, difference, sum(kinds[kind]), p, p_corrected)
            for (kind, (difference, p)), p_corrected in zip(tested.items(), corrected, strict=True)
        )

    def corrected(self, successes: float, trials: int) -> tuple[float, Interval] | None:
        """A rate that the judge gave, corrected for its known errors.

        Rogan and Gladen (1978), Estimating prevalence from the results of a screening test,
        American Journal of Epidemiology 107, 71-76. The interval counts that sensitivity and
        specificity are known from few answers: Lang and Reiczigel (2014), Confidence limits for
        prevalence of disease adjusted for estimated sensitivity and specificity, Preventive
        Veterinary Medicine 113, 13-22.

        Args:
            successes: to how many answers the judge said yes; not whole where repeats of a case
                were averaged.
            trials: of how many.

        Returns:
            The rate and its interval, or None where the judge tells good from bad no better than
            chance, or people labelled no answer good, or none bad.
        """
        both, missed, granted, neither = self.table
        if not (both + missed and granted + neither) or both * neither <= missed * granted:
            return None
        raw = both / (both + missed) + neither / (granted + neither) - 1
        rate = (successes / trials + neither / (granted + neither) - 1) / raw
        n, yes, no = trials + Z * Z, both + missed + 2, granted + neither + 2
        p, se, sp = (successes + Z * Z / 2) / n, (both + 1) / yes, (neither + 1) / no
        youden = se + sp - 1
        if youden <= 0:
            return None
        middle = (p + sp - 1) / youden
        of_se, of_sp = se * (1 - se) / yes, sp * (1 - sp) / no
        spread = sqrt(p * (1 - p) / n + middle**2 * of_se + (1 - middle) ** 2 * of_sp) / youden
        middle += 2 * Z * Z * (middle * of_se - (1 - middle) * of_sp)
        low, high = (min(max(middle + side * Z * spread, 0.0), 1.0) for side in (-1, 1))
        return min(max(rate, 0.0), 1.0), Interval(low, high)

    def text(self) -> str:
        """What was found, as a table, with what has to be known to read it."""
        known = {name: each for name, each in self.figures.items() if each}
        rows = [[name, f"{rate:.3g}", f"({within})"] for name, (rate, within) in known.items()]
        for each in self.leans:
            p = f"p {p_text(each.p_corrected)}"
            rows.append([f"yes to answers {each.kind}", f"{each.difference:+.3g}", p])
        title = f"{self.name}: {counted(len(self.verdicts), 'labelled answer')}"
        return "\n".join([title, aligned(rows), *(f"note: {each}" for each in self.notes())])

    def notes(self) -> Iterator[str]:
        """What has to be known to read the figures, in plain words."""
        if without := [each for each in self.verdicts if each.judged is None]:
            why = f"; the first: {without[0].problem}" if without[0].problem else ""
            yield f"{counted(len(without), 'answer')} got no verdict, which counts as no{why}"
        for each in self.leans:
            if each.p_corrected <= 1 - LEVEL:
                milder = "milder" if each.difference > 0 else "stricter"
                yield f"it is {milder} with answers {each.kind}, labelled alike"
        kinds = " ".join(each.kind for each in self.leans)
        for column, word in (("model", "own model"), ("position", "position")):
            if word not in kinds:
                yield f"no bias by {word} is measured: it takes a column {column} with both kinds"
        if len(labels := {each.label for each in self.verdicts}) == 1:
            label, other = ("good", "bad") if True in labels else ("bad", "good")
            yield f"all are labelled {label}: label {other} ones, too, or no rate can be corrected"
        elif self.corrected(1, 2) is None:
            yield "it tells good from bad no better than chance here: no rate can be corrected"

    def to_json(self) -> dict[str, Json]:
        """The figures as JSON."""
        figures: dict[str, Json] = {
            name: each and {"value": each[0], "low": each[1].low, "high": each[1].high}
            for name, each in self.figures.items()
        }
        leans: list[Json] = [asdict(each) for each in self.leans]
        about: dict[str, Json] = {"judge": self.name, "answers": len(self.verdicts)}
        return {**about, **figures, "leans": leans, "notes": [*self.notes()]}


def measure_judge(judge: Metric, labelled: Sequence[Case], *, jobs: int = 4) -> MeasuredJudge:
    """Let a judge judge answers that people labelled, and compare both.

    Args:
        judge: the judge, as `judged_by` makes it; it says yes or no.
        labelled: the answers: cases with the columns ``answer`` (what was answered) and ``label``
            (whether that is good: true or false, yes or no, 1 or 0).
        jobs: how many answers are judged at once.

    Raises:
        ValidationError: a case has no answer, or no label; or the judge gives numbers, or nothing.
        ConfigurationError: the extra ``gram-agents[ab]`` is not installed.
    """
    expect(judge, Metric, "judge", by="measure_judge")
    cases = expect_all(labelled, Case, "labelled", by="measure_judge")
    if not cases:
        raise ArgumentError("measure_judge: there are no labelled answers")
    require_statistics()
    for each in cases:
        _expect_labelled(each)
    labels = {each.name: _SAID[_label(each)] for each in cases}
    judged: dict[str, Verdict] = {}

    async def ask(case: Case) -> None:
        trial = Trial(arm=LABEL, case=case, repeat=0, content=_text(case.columns[ANSWER]))
        score = await judge.score(trial)
        value, problem = score.value, score.problem if score.value is None else None
        if value is not None and not isinstance(value, bool):
            raise ValidationError(
                f"{judge.name} gives {value}: a judge that is measured says yes or no"
            )
        judged[case.name] = Verdict(case, labels[case.name], value, problem)

    work_on(cases, ask, jobs)
    found = tuple(judged[each.name] for each in cases)
    if all(each.judged is None for each in found):
        raise ValidationError(f"{judge.name} gave no verdict at all: {found[0].problem}")
    return MeasuredJudge(judge.name, found, judge.judge)


def _expect_labelled(case: Case) -> None:
    """Refuse a case that is no labelled answer."""
    labels, columns = "true or false, yes or no", case.columns
    for column, holds in ((ANSWER, "what was answered"), (LABEL, labels)):
        message = f'there is no {column}: the column "{column}" is {holds}'
        if column not in columns:
            hint = did_you_mean(column, columns)
            raise ValidationError.of([case.fault("ill-typed", message, column, hint)])
    if _label(case) not in _SAID:
        message = f'the column "{LABEL}" is {labels}, found "{_label(case)}"'
        raise ValidationError.of([case.fault("ill-typed", message, LABEL)])


def _label(case: Case) -> str:
    return _text(case.columns[LABEL]).strip().lower()


def _text(value: Json) -> str:
    return value if isinstance(value, str) else write_json(value)


def _difference(verdicts: Sequence[Verdict], is_of: Sequence[bool]) -> tuple[float, float] | None:
    """How much more often yes is said to answers of a kind than to others of the same label.

    Mantel and Haenszel (1959), Statistical aspects of the analysis of data from retrospective
    studies of disease, Journal of the National Cancer Institute 22, 719-748; the test is exact,
    given how many of each label are of the kind and how many got a yes.

    Returns:
        The difference and its p-value, or None where no label has answers of both kinds.
    """
    import numpy as np
    from scipy import stats

    chances, seen, total, weights = np.ones(1), 0, 0.0, 0.0
    for label in (True, False):
        mine, others = (
            [bool(x.judged) for x, of in zip(verdicts, is_of, strict=True)
             if of is side and x.label is label]
            for side in (True, False)
        )  # fmt: skip
        if mine and others:
            n, yes = len(mine) + len(others), sum(mine) + sum(others)
            ways = stats.hypergeom(n, yes, len(mine)).pmf(np.arange(len(mine) + 1))
            chances, seen = np.convolve(chances, ways), seen + sum(mine)
            weight = len(mine) * len(others) / n
            total += weight * (sum(mine) / len(mine) - sum(others) / len(others))
            weights += weight
    if not weights:
        return None
    as_rare = chances <= chances[seen] * (1 + 1e-7)
    return total / weights, min(1.0, float(chances[as_rare].sum()))


def judged_by(
    program: ProgramLike,
    tools: LibraryLike = None,
    *,
    name: str = "judged",
    better: Better = "higher",
    **options: Unpack[RunOptions],
) -> Metric:
    """A metric that asks an agent about each answer.

    The judge is told the input, what the case expects and the answer, as JSON. It sees neither
    the arm, nor the order, nor another answer. Its program declares the type of its verdict: a
    boolean, a number, or a record with a field ``score`` of one of them. Each verdict is a run of
    its own, which is recorded beside the one that it judges.

    Args:
        program: the judge.
        tools: its tools.
        name: the name of the metric.
        better: whether higher or lower scores are better.
        **options: how to run it, see `RunOptions`, but for `watch`.

    Raises:
        ValidationError: the program is not valid.
        ConfigurationError: the program declares no type for its answer.

    """
    library = library_of(tools, by="judged_by")
    agent = judge_of(program)
    begin(agent, "a first answer", library, **options)  # it binds, and its model is known
    asked = named_model(options.get("model")) or view(agent_model, agent)

    async def measure(trial: Trial) -> Score:
        spending = Spending()
        chosen = cast(BeginOptions, {**options, "watch": spending.count})
        if trial.run:
            own = f"{trial.run.run}.{file_name(name)}:{os.urandom(4).hex()}"
            chosen["record"] = StoredRun(store_of_a_run(trial.run.place), own)
        run = begin(agent, question_of(trial.case, answer=trial.content), library, **chosen)
        try:
            value, reason = verdict_in((await run.afinish()).value)
            told = f"the judge's verdict is neither a boolean nor a number: {value!r}"
            is_score = isinstance(value, bool | int | float)
            score = Score(value, reason) if is_score else Score(None, told)
        except AgentError as error:
            score = Score(None, f"the judge failed: {error}")
        return evolve(score, usage=run.state.usage, cost=spending.cost(asked))

    written = [dumps(tool_entry(each)) for each in library.values()]
    chosen_before = [f"{key}={described(value)}" for key, value in sorted(options.items())]
    details = "\0".join([dumps(agent), *written, *chosen_before])
    return Metric(name, measure, better, judge=str(asked), details=details)

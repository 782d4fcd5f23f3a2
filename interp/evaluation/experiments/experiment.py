"""An experiment: its plan, its trials, and what they say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

from attrs import evolve

from gram.errors import expect, expect_all
from gram.words import counted

from ...json_text import Json
from ...machine import Usage
from . import comparing
from .chance import ALPHA, POWER, cases_needed, smallest_p
from .comparing import Comparison, Estimate, clusters_of, estimate
from .metrics import MEASURES, Trial, score_of
from .plan import Plan, PlannedMetric, before_running
from .report import fragment, json_of, text_of, write_report


class Experiment:
    """What came out: the trials, an estimate for each arm, a comparison for each two.

    Nothing is compared before all trials of the plan are done: looking earlier, and going on if one
    does not like what one sees, finds differences that are not there.

    Attributes:
        plan: the plan.
        trials: the trials that are done, in the order of the plan, whichever ended first.
        pilot: those of the pilot, which are not compared.
        folder: where they are kept, or None.
        stopped: why no more of them run, such as a budget that is used up; None if nothing did.
    """

    def __init__(
        self,
        plan: Plan,
        trials: Sequence[Trial],
        folder: Path | None = None,
        stopped: str | None = None,
    ) -> None:
        expect(plan, Plan, "plan", by="Experiment")
        by_key = {each.key: each for each in expect_all(trials, Trial, "trials", by="Experiment")}
        self.plan, self.folder, self.stopped = plan, folder, stopped
        self.trials = tuple(by_key[key] for key in plan.keys if key in by_key)
        self.pilot = tuple(by_key[key] for key in plan.pilot_keys if key in by_key)

    @property
    def is_complete(self) -> bool:
        """Whether all trials of the plan are done."""
        return len(self.trials) == len(self.plan.keys)

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        """What each arm scores, in all that is measured; empty until all trials are done."""
        found = []
        for metric, is_rate, scores in self._measured():
            how = self._how | {"is_rate": is_rate}
            least = 0.0 if metric.name in MEASURES else -inf
            found += [estimate(arm, metric.name, scores[arm], least=least, **how) for arm in scores]
        return tuple(found)

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What each metric says of each contrast of the plan; empty until all trials are done.

        Without factors, each arm is compared with the first.
        """
        found = []
        for metric, is_rate, scores in self._measured():
            how = self._how | {"is_rate": is_rate, "better": metric.better}
            for each in self.plan.contrasts if metric in self.plan.metrics else ():
                found.append(each.compared(metric.name, scores, **how))
        return comparing.corrected(found)

    def comparison(self, metric: str | None = None, arm: str | None = None) -> Comparison:
        """One comparison; by default that of the primary metric and the second arm.

        Args:
            metric: the name of the metric.
            arm: the arm or the level that is compared, or the name of the comparison.

        Raises:
            LookupError: there is none, such as before all trials are done.
        """
        metric = metric or self.plan.primary
        for each in self.comparisons:
            if each.metric == metric and arm in (None, each.arm, each.name):
                return each
        raise LookupError(f"there is no comparison of {metric} for {arm or 'another arm'}")

    def compared_by(self, column: str) -> tuple[tuple[str, Comparison], ...]:
        """What the primary metric says of the arms on the cases of each slice.

        All of them are corrected together, see `holm`; empty until all trials are done.

        Raises:
            ValidationError: no case has the column.
        """
        comparing.require_column(self.plan.cases, column)
        found = list[tuple[str, Comparison]]()
        kinds = {each.name: comparing.kinds_of(each, column) for each in self.plan.cases}
        for kind in dict.fromkeys(chain(*kinds.values())) if self.is_complete else ():
            cases = tuple(each for each in self.plan.cases if kind in kinds[each.name])
            trials = [each for each in self.trials if kind in kinds[each.case.name]]
            inside = Experiment(evolve(self.plan, cases=cases), trials).comparisons
            found += [(kind, each) for each in inside if each.metric == self.plan.primary]
        comparisons = comparing.corrected([each for _, each in found])
        return tuple((kind, each) for (kind, _), each in zip(found, comparisons, strict=True))

    @property
    def failures(self) -> tuple[Trial, ...]:
        """The trials that failed."""
        return tuple(each for each in self.trials if each.failure is not None)

    @property
    def models(self) -> dict[str, tuple[str, ...]]:
        """The models that answered, by arm, as their providers name them."""
        return {
            arm: tuple(dict.fromkeys(m for t in self.trials if t.arm == arm for m in t.models))
            for arm in self.plan.arms
        }

    @property
    def judges(self) -> dict[str, tuple[Usage, float | None]]:
        """What the judges took, by metric: their tokens, and the cost if it is known of each.

        It is no part of what the arms took.
        """
        found: dict[str, tuple[Usage, float | None]] = {}
        for trial in self.trials:
            for name, score in trial.scores.items():
                if score.usage is not None:
                    usage, cost = found.get(name, (Usage(0, 0), 0.0))
                    total = None if cost is None or score.cost is None else cost + score.cost
                    found[name] = usage + score.usage, total
        return found

    def differing(self) -> tuple[tuple[Trial, ...], ...]:
        """The trials in which the primary metric tells arms apart, a group for each repeat."""
        groups: dict[tuple[str, int], list[Trial]] = {}
        for each in self.trials if self.is_complete else ():
            groups.setdefault((each.case.name, each.repeat), []).append(each)
        said = {
            key: {(each.scores[self.plan.primary].value, each.failure is None) for each in group}
            for key, group in groups.items()
        }
        return tuple(tuple(group) for key, group in groups.items() if len(said[key]) > 1)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What has to be known to read the figures, in plain words."""
        return tuple(self._notes())

    # --- scores

    def _measured(self) -> Iterator[tuple[PlannedMetric, bool, dict[str, list[list[float]]]]]:
        """Each metric, whether it is a rate, and the scores of the arms; those without any not.

        Nothing until all trials are done.
        """
        if not self.is_complete:
            return
        tested = {each.name for each in self.plan.metrics}
        names = (name for name in ("calls", "tokens", "cost", "seconds") if name not in tested)
        described = [PlannedMetric(name, MEASURES[name].better) for name in names]
        for metric in (*self.plan.metrics, *described):
            scores = self._scores(metric.name)
            known = [
                [each for row in rows for each in row if each is not None]
                for rows in scores.values()
            ]
            is_rate = all(isinstance(each, bool) for given in known for each in given)
            if any(known) if is_rate else all(known):
                worst = 0.0 if is_rate and metric.worst is None else metric.worst
                done = comparing.filled(scores, better=metric.better, worst=worst)
                if all(done.values()):
                    yield metric, is_rate, done

    def _scores(self, metric: str) -> dict[str, list[list[float | None]]]:
        """The scores of a metric by arm: a row for each case with a trial."""
        rows: dict[str, dict[str, list[float | None]]] = {arm: {} for arm in self.plan.arms}
        for trial in self.trials:
            row = rows[trial.arm].setdefault(trial.case.name, [])
            row.append(score_of(trial, metric).value)
        return {arm: list(cases.values()) for arm, cases in rows.items()}

    @property
    def _how(self) -> dict[str, Any]:
        """The seed, and the clusters of the cases in the order of `_scores`."""
        cases = {each.case.name: each.case for each in self.trials}
        return {"seed": self.plan.seed, "clusters": clusters_of(cases.values())}

    # --- notes

    def _notes(self) -> Iterator[str]:
        plan = self.plan
        done, planned = len(self.trials), len(plan.keys)
        if not self.is_complete:
            runs = counted(planned, "run")
            yield f"{done} of {runs} are done; nothing is compared before all of them are"
        if self.stopped:
            yield self.stopped
        yield from before_running(plan)
        for judge in self.judges:
            yield (
                f"{judge} is a judge that was not measured here: gram judge compares it with "
                "people's labels, and corrects its rates for its errors"
            )
        for arm in plan.arms if self.is_complete else ("the arms together",):  # no early look
            mine = [each for each in self.trials if each.arm == arm or not self.is_complete]
            runs = counted(len(mine), "run")
            lacking = {"failed, which is no success": [each.failure for each in mine]}
            for metric in plan.metrics:
                scores = (each.scores[metric.name] for each in mine if each.failure is None)
                told = f"without a score for {metric.name}, which counts as the worst"
                lacking[told] = [
                    each.problem or "no score" if each.value is None else None for each in scores
                ]
            for told, problems in lacking.items():
                if found := [each for each in problems if each is not None]:
                    first = " ".join(found[0].split())[:120]
                    yield f"{len(found)} of {runs} of {arm} {told}; the first: {first}"
        for name, (usage, cost) in self.judges.items():
            tokens = usage.total_tokens
            took = "an unknown number of tokens" if tokens is None else counted(tokens, "token")
            spent = "" if cost is None else f" and {cost:.4g} USD"
            if tokens != 0:
                yield f"judging by {name} took {took}{spent}, which are in no arm's figures"
        for arm in plan.arms if plan.repeats > 1 and self.is_complete else ():
            mine = [each for each in self.trials if each.arm == arm]
            if len({(each.case.name, each.fingerprint) for each in mine}) == len(plan.cases):
                yield f"the runs of {arm} are deterministic: its repeats say nothing"
        tested = {each.metric for each in self.comparisons}
        for metric in plan.metrics:
            if self.is_complete and plan.contrasts and metric.name not in tested:
                yield f"an arm has no score for {metric.name} at all, so it is not compared"
        for each in self.comparisons:
            if each.metric == plan.primary:
                yield from _readings(each, plan.alpha)

    # --- showing

    def table(self) -> str:
        """The experiment as text, for a terminal."""
        return text_of(self)

    def to_json(self) -> dict[str, Json]:
        """The experiment as JSON: the plan's figures, estimates, comparisons and trials."""
        return json_of(self)

    def write_html(self, file: str | os.PathLike[str]) -> None:
        """Write the page to a file, and beside it a page for each run that differs.

        Raises:
            OSError: a file cannot be written.
        """
        expect(file, (str, os.PathLike), "file", by="write_html")
        write_report(self, Path(file))

    def __repr__(self) -> str:
        done = f"{len(self.trials)} of {counted(len(self.plan.keys), 'run')} done"
        cases = counted(len(self.plan.cases), "case")
        return f"<Experiment {' / '.join(self.plan.arms)}, {cases}, {done}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": self.table(), "text/html": fragment(self)}


def _readings(found: Comparison, alpha: float) -> Iterator[str]:
    """What else a comparison says: whether it could have found anything, and what would."""
    if len(found.factors) == 2:
        if found.is_significant:
            one, two = found.factors
            yield f"{one} and {two} interact: what one of them does depends on the other's level"
        return
    differ = found.better + found.worse
    who = " ".join((*found.factors, f"{found.arm} and {found.baseline}"))
    if differ == 0:
        yield f"{who} score the same in {found.metric} in every case"
    elif smallest_p(differ) > ALPHA >= found.smallest_p:
        yield (
            f"{who} differ in {counted(differ, 'case')}: with so few, 5 % cannot be reached, "
            "whichever way they go"
        )
    if not found.is_rate:
        return
    needed = [(each, _needed_for(found, each, alpha)) for each in (0.05, 0.1, 0.2)]
    told = [f"{cases} for {100 * each:g} points" for each, cases in needed if cases is not None]
    if told:
        yield (
            f"cases that find a difference in {found.metric} {POWER:.0%} of the time, where they "
            f"vary as between {who}: {', '.join(told)}"
        )


def _needed_for(found: Comparison, difference: float, alpha: float) -> int | None:
    """How many cases a difference needs, where cases vary as in a comparison.

    Where few cases differ, that is no proof that few would; at least one more is assumed to.
    """
    if found.test.startswith("McNemar"):
        differing = (found.better + found.worse + 1) / (found.cases + 1)
        share = min(1.0, max(differing, difference))
        return cases_needed(difference, disagreement=share, alpha=alpha)
    if not found.deviation:
        return None
    return cases_needed(difference, deviation=found.deviation, alpha=alpha)

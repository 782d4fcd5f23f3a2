"""An experiment as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from attrs import asdict

from gram.words import counted

from ...json_text import Json
from .comparing import Comparison, Estimate, clusters_of, factors_of

if TYPE_CHECKING:
    from .experiment import Experiment

_MOST_COLUMNS = 4


def text_of(experiment: Experiment) -> str:
    """The experiment as text: what was compared, the arms, the comparisons, the notes."""
    parts = [heading(experiment)]
    if experiment.is_complete:
        parts.append(aligned(arm_rows(experiment)))
        if experiment.comparisons:
            parts.append(aligned(comparison_rows(experiment)))
        parts.append(legend(experiment))
    if experiment.notes:
        parts.append("\n".join(f"note: {each}" for each in experiment.notes))
    return "\n\n".join(parts)


def heading(experiment: Experiment) -> str:
    """What was compared, in a line."""
    plan = experiment.plan
    factors = " × ".join(factors_of(plan.levels))
    crossed = f" ({factors})" if factors else ""
    times = f" × {plan.repeats} repeats" if plan.repeats > 1 else ""
    clusters = clusters_of(plan.cases)
    alike = f" in {counted(len(set(clusters)), 'cluster')}" if clusters else ""
    return (
        f"{counted(len(plan.cases), 'case')}{alike} × {counted(len(plan.arms), 'arm')}{crossed}"
        f"{times}, decided by {plan.primary} (seed {plan.seed}, plan {plan.hash[:8]})"
    )


def legend(experiment: Experiment) -> str:
    """How the figures are written, in a line."""
    said = f"* decides: {experiment.plan.primary}; in brackets: intervals of 95 %"
    tests = len(experiment.comparisons)
    return f"{said}; corrected: p, as one of {tests} tests" if tests > 1 else said


def arm_rows(experiment: Experiment) -> list[list[str]]:
    """A row for each metric: what each arm scores, with its interval. Many arms have one each."""
    plan = experiment.plan
    by_metric: dict[str, dict[str, Estimate]] = {}
    for each in experiment.estimates:
        by_metric.setdefault(each.metric, {})[each.arm] = each
    rows = [["", *plan.arms]]
    for metric, found in by_metric.items():
        cells = [estimated(found[arm]) if arm in found else "" for arm in plan.arms]
        rows.append([marked(metric, plan.primary), *cells])
    failed = [
        sum(each.arm == arm and each.failure is not None for each in experiment.trials)
        for arm in plan.arms
    ]
    rows.append(["failed runs", *map(str, failed)])
    if any(experiment.models.values()):
        rows.append(["served by", *(", ".join(experiment.models[arm]) for arm in plan.arms)])
    return [*map(list, zip(*rows, strict=True))] if len(plan.arms) > _MOST_COLUMNS else rows


def comparison_rows(experiment: Experiment) -> list[list[str]]:
    """A row for each comparison: the difference, its interval, the test, the effect."""
    rows = [["", *FIGURES, ""]]
    for each in experiment.comparisons:
        what = f"{marked(each.metric, experiment.plan.primary)}: {each.name}"
        rows.append([what, *figures(each), verdict(each)])
    return rows


FIGURES: Final = ("difference", "p", "corrected", "effect", "cases better/worse/equal")


def figures(found: Comparison) -> list[str]:
    """What is said of a comparison, in the order of `FIGURES`; "" for what there is not."""
    return [
        differing(found),
        p_text(found.p_value),
        p_text(found.p_corrected),
        "" if found.effect is None else f"{found.effect_name} {found.effect:.2f}",
        f"{found.better}/{found.worse}/{found.equal}",
    ]


def verdict(found: Comparison) -> str:
    """What a comparison comes to, in words."""
    is_pair = len(found.factors) == 2
    if not found.is_significant:
        return "no interaction shown" if is_pair else "no difference shown"
    if is_pair:
        return f"{' and '.join(found.factors)} interact"
    is_better = (found.difference > 0) == (found.direction == "higher")
    who = " ".join((*found.factors, found.arm))
    return f"{who} is {'better' if is_better else 'worse'}"


def marked(metric: str, primary: str) -> str:
    """The name of a metric, with a star if it decides."""
    return f"{metric} *" if metric == primary else metric


def estimated(found: Estimate) -> str:
    """An estimate with its interval."""
    return _within(found.value, found)


def differing(found: Comparison) -> str:
    """A difference with its interval."""
    return _within(found.difference, found, sign=True)


def _within(value: float, found: Estimate | Comparison, *, sign: bool = False) -> str:
    told = number(value, found.metric, is_rate=found.is_rate, sign=sign)
    if found.interval is None:
        return told
    ends, plus = (found.interval.low, found.interval.high), "+" if sign else ""
    low, high = (
        f"{100 * each:{plus}.1f}" if found.is_rate else _digits(each, 3, plus) for each in ends
    )
    return f"{told} [{low}, {high}]"


def number(value: float, metric: str, *, is_rate: bool, sign: bool = False) -> str:
    """A score as people read it.

    >>> number(0.625, "passed", is_rate=True), number(0.15, "passed", is_rate=True, sign=True)
    ('62.5 %', '+15.0 points')
    """
    plus = "+" if sign else ""
    if is_rate:
        return f"{100 * value:{plus}.1f} {'points' if sign else '%'}"
    unit = {"cost": " USD", "seconds": " s"}.get(metric, "")
    return f"{_digits(value, 3 if metric == 'seconds' else 4, plus)}{unit}"


def _digits(value: float, most: int, plus: str = "") -> str:
    """A number with so many digits that count, or all before its point.

    >>> _digits(1001.25, 3), _digits(0.012345, 3), _digits(2, 3, "+")
    ('1001', '0.0123', '+2')
    """
    return f"{value:{plus}.0f}" if abs(value) >= 10**most - 0.5 else f"{value:{plus}.{most}g}"


def p_text(p: float) -> str:
    """A p-value as it is written.

    >>> p_text(0.03125), p_text(0.00004)
    ('0.031', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as lines, the columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def json_of(experiment: Experiment) -> dict[str, Json]:
    """The experiment as JSON."""
    plan = experiment.plan
    return {
        "plan": {
            "hash": plan.hash,
            "arms": list(plan.arms),
            "factors": {name: list(each) for name, each in factors_of(plan.levels).items()},
            "metrics": [each.name for each in plan.metrics],
            "primary": plan.primary,
            "cases": len(plan.cases),
            "pilot": len(plan.pilot),
            "repeats": plan.repeats,
            "seed": plan.seed,
        },
        "complete": experiment.is_complete,
        "models": {arm: list(found) for arm, found in experiment.models.items()},
        "judges": {
            name: {**asdict(usage), "cost": cost}
            for name, (usage, cost) in experiment.judges.items()
        },
        "estimates": [asdict(each) for each in experiment.estimates],
        "comparisons": [
            {**asdict(each), "significant": each.is_significant} for each in experiment.comparisons
        ],
        "notes": list(experiment.notes),
        "trials": [each.to_json() for each in experiment.trials if experiment.is_complete],
    }

"""How often the runs of cases pass: of all cases, and of those of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import comb
from statistics import fmean

from attrs import evolve, frozen

from gram.words import counted, did_you_mean

from ...errors import ValidationError
from ...json_text import Json, write_json
from ..cases import Case
from .chance import ALPHA, holm, wilson
from .comparing import Comparison, Estimate, Scores, clusters_of, corrected, estimate
from .experiment import Experiment
from .report import aligned, p_text, verdict, within

_SEED = 0  # the same figures for the same results


@frozen
class Slice:
    """How often the runs of the cases of one kind pass.

    Attributes:
        column: the column of the cases.
        value: what they have in it; "" for those that have nothing.
        cases: how many cases they are.
        rate: how often their runs pass.
        p_value: how often cases that are alike differ so much from all others, by chance; None
            where cases of one cluster are in several slices, or one side has less than two.
        p_corrected: the same, corrected for all slices.
    """

    column: str
    value: str
    cases: int
    rate: Estimate
    p_value: float | None
    p_corrected: float | None = None


def pass_rate(cases: Sequence[Case], passed: Scores) -> Estimate:
    """How often runs pass, with an interval for cases like these.

    Args:
        cases: the cases.
        passed: a row for each of them, in it 1 for each run that passed, and else 0.
    """
    clusters = clusters_of(cases)
    return estimate("", "passed", passed, is_rate=True, seed=_SEED, clusters=clusters)


def slices(cases: Sequence[Case], passed: Scores, columns: Iterable[str]) -> tuple[Slice, ...]:
    """The slices by each of several columns, each compared with all other cases.

    Two slices of a column are one comparison. All are corrected together, see `holm`.
    """
    found: list[Slice] = []
    tests: list[tuple[int, ...]] = []
    for column in columns:
        kinds = [kinds_of(each, column) for each in cases]
        names = dict.fromkeys(name for each in kinds for name in each)
        first = len(found)
        for name in names:
            is_in = [name in each for each in kinds]
            mine = [number for number, inside in enumerate(is_in) if inside]
            rate = pass_rate([cases[n] for n in mine], [passed[n] for n in mine])
            found.append(Slice(column, name, len(mine), rate, _difference(cases, passed, is_in)))
        own = range(first, len(found))
        is_one = len(names) == 2 and all(len(each) == 1 for each in kinds)
        tests += [tuple(own)] if is_one else [(each,) for each in own]
    tested = [(each, p) for each in tests if (p := found[each[0]].p_value) is not None]
    for (numbers, p), p_corrected in zip(tested, holm([p for _, p in tested]), strict=True):
        for number in numbers:
            found[number] = evolve(found[number], p_value=p, p_corrected=p_corrected)
    return tuple(found)


def kinds_of(case: Case, column: str) -> tuple[str, ...]:
    """What a case has in a column: of ``tags`` each, else one text, which may be empty."""
    if column == "tags":
        return case.tags or ("",)
    value: Json = case.cluster if column == "cluster" else case.columns.get(column)
    if value is None:
        return ("",)
    return (value if isinstance(value, str) else write_json(value),)


def require_column(cases: Sequence[Case], column: str) -> None:
    """Make sure that some case has something in a column.

    Raises:
        ValidationError: none has.
    """
    if all(kinds_of(each, column) == ("",) for each in cases):
        known = dict.fromkeys(["tags", "cluster", *(key for each in cases for key in each.columns)])
        hint = did_you_mean(column, known) or f"there are {', '.join(known)}"
        raise ValidationError(f"no case has a column {column}\nhint: {hint}")


def compared_by(experiment: Experiment, column: str) -> tuple[tuple[str, Comparison], ...]:
    """What the primary metric says of the arms on the cases of each slice.

    All of them are corrected together, see `holm`; empty until all trials are done.

    Raises:
        ValidationError: no case has the column.
    """
    plan, found = experiment.plan, list[tuple[str, Comparison]]()
    require_column(plan.cases, column)
    for kind in dict.fromkeys(kind for each in plan.cases for kind in kinds_of(each, column)):
        cases = tuple(each for each in plan.cases if kind in kinds_of(each, column))
        inside = evolve(experiment.plan, cases=cases)
        trials = [each for each in experiment.trials if each.case in cases]
        for each in Experiment(inside, trials).comparisons if experiment.is_complete else ():
            if each.metric == plan.primary:
                found.append((kind, each))
    kinds, comparisons = [kind for kind, _ in found], corrected([each for _, each in found])
    return tuple(zip(kinds, comparisons, strict=True))


def _difference(cases: Sequence[Case], passed: Scores, is_in: Sequence[bool]) -> float | None:
    """The p-value of the permutation test of the cases of a slice and all others.

    The slices of cases, or of whole clusters, are exchanged: Fisher (1935), The Design of
    Experiments, section 21; all ways if they are few, else 9,999 of them.
    """
    import numpy as np
    from scipy import stats

    clusters = clusters_of(cases) or range(len(cases))
    units: dict[int, list[int]] = {}
    for number, cluster in enumerate(clusters):
        units.setdefault(cluster, []).append(number)
    sides = [{is_in[n] for n in numbers} for numbers in units.values()]
    mine, others = (
        np.array([n for n, each in enumerate(sides) if each == {side}], dtype=int)
        for side in (True, False)
    )
    if len(mine) + len(others) < len(units) or min(len(mine), len(others)) < 2:
        return None
    sums = np.array([sum(fmean(passed[n]) for n in numbers) for numbers in units.values()])
    sizes = np.array([*map(len, units.values())])

    def apart(one: np.ndarray, other: np.ndarray, axis: int) -> np.ndarray:
        rates = [sums[each].sum(axis=axis) / sizes[each].sum(axis=axis) for each in (one, other)]
        return np.asarray(rates[0] - rates[1])

    found = stats.permutation_test(
        (mine, others), apart, vectorized=True, rng=np.random.default_rng(_SEED)
    )
    return min(1.0, float(found.pvalue))


def reached(rate: float, at_least: int, runs: int) -> float:
    """How often at least so many of some runs pass, where each passes at a rate.

    >>> round(reached(0.8, 4, 5), 3)
    0.737
    """
    ways = (comb(runs, n) * rate**n * (1 - rate) ** (runs - n) for n in range(at_least, runs + 1))
    return sum(ways)


def pass_rate_text(
    cases: Sequence[Case], passed: Scores, at_least: int, columns: Sequence[str]
) -> Iterator[str]:
    """How often runs pass, and what that shows, a line or a table after another.

    Args:
        cases: the cases.
        passed: a row for each of them, in it 1 for each run that passed, and else 0.
        at_least: how many runs of a case have to pass.
        columns: the columns whose slices are told.
    """
    rate, repeats = pass_rate(cases, passed), len(passed[0])
    runs = f" × {repeats} runs" if repeats > 1 else ""
    yield f"pass rate {within(rate)}: {counted(len(cases), 'case')}{runs} ({rate.method})"
    yield "intervals are of 95 %: of the rate of all cases like these, and of each case alone"
    if repeats > 1:
        shares = {share: reached(share, at_least, repeats) for share in (0.95, 0.8, 0.5)}
        told = (f"{percent(share)} of the time: {percent(n)}" for share, n in shares.items())
        often, least = ", ".join(told), percent(wilson(repeats, repeats).low)
        yield f"tests in which a case gets at least {at_least} of {repeats}, if it passes {often}"
        yield f"{repeats} of {repeats} may be luck: the case may pass only {least} of the time"
    if not columns:
        return
    rows = [["", "cases", "pass rate", "p", "corrected", ""]]
    for each in slices(cases, passed, columns):
        tested = (each.p_value, each.p_corrected)
        differs = each.p_corrected is not None and each.p_corrected <= ALPHA
        said = "differs from the others" if differs else "no difference shown"
        p_values = ["" if p is None else p_text(p) for p in tested]
        row = [_named(each.column, each.value), str(each.cases), within(each.rate), *p_values]
        rows.append([*row, said if each.p_corrected is not None else ""])
    yield f"\n{aligned(rows)}\np: each against all other cases; corrected: for all of them (Holm)"


def compared_by_text(experiment: Experiment, columns: Sequence[str]) -> Iterator[str]:
    """What the primary metric says of the slices by each column, as a table each."""
    for column in columns:
        rows = [["", "cases", "difference", "p", "corrected", ""]]
        for kind, each in compared_by(experiment, column):
            what = f"{_named(column, kind)}: {each.name}"
            p_values = (p_text(each.p_value), p_text(each.p_corrected))
            rows.append([what, str(each.cases), within(each), *p_values, verdict(each)])
        tested = f"corrected: for all slices by {column} (Holm)"
        yield f"{experiment.plan.primary} by {column}\n{aligned(rows)}\n{tested}"


def _named(column: str, value: str) -> str:
    return f"{column}={value}" if value else f"without {column}"


def percent(share: float) -> str:
    """A share in whole per cent."""
    return f"{100 * share:.0f} %"

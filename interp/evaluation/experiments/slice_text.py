"""How often runs pass, and what differs in slices of the cases, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gram.plurals import counted

from ..cases import Case
from .comparing import Scores
from .experiment import Experiment
from .intervals import wilson
from .pair_tests import ALPHA
from .slices import compared_by, pass_rate, reached, slices
from .tables import aligned, differing, estimated, p_text, verdict


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
    yield f"pass rate {estimated(rate)}: {counted(len(cases), 'case')}{runs} ({rate.method})"
    yield "intervals are of 95 %: of the rate of all cases like these, and of each case alone"
    if repeats > 1:
        often = ", ".join(
            f"{percent(each)} of the time: {percent(reached(each, at_least, repeats))}"
            for each in (0.95, 0.8, 0.5)
        )
        least = percent(wilson(repeats, repeats).low)
        yield f"tests in which a case gets at least {at_least} of {repeats}, if it passes {often}"
        yield f"{repeats} of {repeats} may be luck: the case may pass only {least} of the time"
    if columns:
        yield _slice_table(cases, passed, columns)


def _slice_table(cases: Sequence[Case], passed: Scores, columns: Sequence[str]) -> str:
    rows = [["", "cases", "pass rate", "p", "corrected", ""]]
    for each in slices(cases, passed, columns):
        tested = (each.p_value, each.p_corrected)
        differs = each.p_corrected is not None and each.p_corrected <= ALPHA
        said = "differs from the others" if differs else "no difference shown"
        p_values = ["" if p is None else p_text(p) for p in tested]
        row = [_named(each.column, each.value), str(each.cases), estimated(each.rate), *p_values]
        rows.append([*row, said if each.p_corrected is not None else ""])
    return f"\n{aligned(rows)}\np: each against all other cases; corrected: for all of them (Holm)"


def compared_by_text(experiment: Experiment, columns: Sequence[str]) -> Iterator[str]:
    """What the primary metric says of the slices by each column, as a table each."""
    for column in columns:
        rows = [["", "cases", "difference", "p", "corrected", ""]]
        for kind, each in compared_by(experiment, column):
            what = f"{_named(column, kind)}: {each.name}"
            p_values = (p_text(each.p_value), p_text(each.p_corrected))
            rows.append([what, str(each.cases), differing(each), *p_values, verdict(each)])
        tested = f"corrected: for all slices by {column} (Holm)"
        yield f"{experiment.plan.primary} by {column}\n{aligned(rows)}\n{tested}"


def _named(column: str, value: str) -> str:
    return f"{column}={value}" if value else f"without {column}"


def percent(share: float) -> str:
    """A share in whole per cent."""
    return f"{100 * share:.0f} %"

"""An experiment as text, as JSON and as HTML: figures, plots, pages of the runs that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from attrs import asdict

from gram import GramError, write_atomically
from gram.display import Content, element
from gram.words import counted

from ...history.stores import open_store
from ...json_text import Json
from ...shown import shortened
from ...views import Interval, interval_plot, page, run_page, table
from ..cases import Case
from .chance import ALPHA, wilson
from .comparing import Comparison, Estimate, Scores, clusters_of, factors_of, pass_rate, slices

if TYPE_CHECKING:
    from .experiment import Experiment
    from .metrics import Score, Trial
    from .plan import Key


def text_of(experiment: Experiment) -> str:
    """The experiment as text: what was compared, the arms, the comparisons, the notes."""
    parts = [heading(experiment)]
    if experiment.is_complete:
        parts.append(aligned(arm_rows(experiment)))
        if experiment.comparisons:
            parts.append(aligned(comparison_rows(experiment.comparisons, experiment.plan.primary)))
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
    rows = [["", *plan.arms]]
    for metric in dict.fromkeys(each.metric for each in experiment.estimates):
        found = (within(each) for each in experiment.estimates if each.metric == metric)
        rows.append([marked(metric, plan.primary), *found])
    failed = [each.arm for each in experiment.failures]
    rows.append(["failed runs", *(str(failed.count(arm)) for arm in plan.arms)])
    if any(experiment.models.values()):
        rows.append(["served by", *(", ".join(experiment.models[arm]) for arm in plan.arms)])
    return [*map(list, zip(*rows, strict=True))] if len(plan.arms) > 4 else rows


_FIGURES: Final = ("", "difference", "p", "corrected", "effect", "cases better/worse/equal", "")


def comparison_rows(comparisons: Iterable[Comparison], primary: str = "") -> list[list[str]]:
    """A row for each comparison: the difference, its interval, the test, the effect, the words."""
    rows = [list(_FIGURES)]
    for each in comparisons:
        effect = "" if each.effect is None else f"{each.effect_name} {each.effect:.2f}"
        what = f"{marked(each.metric, primary)}: {each.name}"
        p_values = p_text(each.p_value), p_text(each.p_corrected)
        counts = f"{each.better}/{each.worse}/{each.equal}"
        rows.append([what, within(each), *p_values, effect, counts, verdict(each)])
    return rows


def verdict(found: Comparison) -> str:
    """What a comparison comes to, in words."""
    is_pair = len(found.factors) == 2
    if not found.is_significant:
        return "no interaction shown" if is_pair else "no difference shown"
    if is_pair:
        return f"{' and '.join(found.factors)} interact"
    is_better = (found.difference > 0) == (found.direction == "higher")
    return " ".join((*found.factors, found.arm, "is", "better" if is_better else "worse"))


def marked(metric: str, primary: str) -> str:
    """The name of a metric, with a star if it decides."""
    return f"{metric} *" if metric == primary else metric


def within(found: Estimate | Comparison) -> str:
    """An estimate, or a difference with its sign, and its interval."""
    value, plus = (found.value, "") if isinstance(found, Estimate) else (found.difference, "+")
    ends = (found.interval.low, found.interval.high) if found.interval else ()
    if found.is_rate:
        unit = " points" if plus else " %"
        told, *texts = (f"{100 * each:{plus}.1f}" for each in (value, *ends))
    else:
        unit = {"cost": " USD", "seconds": " s"}.get(found.metric, "")
        told = _digits(value, 3 if found.metric == "seconds" else 4, plus)
        texts = [_digits(each, 3, plus) for each in ends]
    return f"{told}{unit} [{', '.join(texts)}]" if texts else f"{told}{unit}"


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
    padded = ([f"{cell:{n}}" for cell, n in zip(row, widths, strict=True)] for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in padded)


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


_MOST_DIFFERING = 200
_LONGEST = 500  # characters of an answer


def report(experiment: Experiment, links: Mapping[Key, str] = {}) -> str:
    """The experiment as a page that loads nothing; ``links`` are the pages of runs, by trial."""
    plan = experiment.plan
    title = " × ".join(factors_of(plan.levels)) or " or ".join(plan.arms)
    summary = element("summary", "as it was written before the first run")
    written = element("details", summary, element("pre", plan.text))
    body = [*_body(experiment), *_differing(experiment, links)]
    return page(title, *body, element("h2", "Plan"), written)


def fragment(experiment: Experiment) -> str:
    """The figures and plots alone, for a notebook."""
    return str(element("div", *_body(experiment)))


def _body(experiment: Experiment) -> Iterator[Content]:
    plan = experiment.plan
    yield element("p", heading(experiment))
    yield element("p", legend(experiment), class_="quiet")
    if experiment.comparisons:
        yield element("h2", "Comparisons")
        headers, *rows = comparison_rows(experiment.comparisons, plan.primary)
        yield table(headers, rows)
        yield from _plots(experiment, experiment.comparisons, mark=0)
    if experiment.is_complete:
        yield element("h2", "Arms")
        headers, *rows = arm_rows(experiment)
        yield table(headers, rows)
    yield from _plots(experiment, experiment.estimates)
    if experiment.notes:
        yield element("h2", "Notes")
        yield element("ul", *(element("li", each) for each in experiment.notes))


def comparison_form(found: Comparison) -> dict[str, str]:
    """What a notebook shows of a comparison."""
    headers, *rows = comparison_rows([found])
    return {"text/plain": repr(found), "text/html": table(headers, rows)}


def _plots(
    experiment: Experiment,
    figures: Sequence[Estimate] | Sequence[Comparison],
    mark: float | None = None,
) -> Iterator[Content]:
    """A plot for each metric: of its differences where there is a mark, else of its arms."""
    for metric in experiment.plan.metrics:
        found = [each for each in figures if each.metric == metric.name]
        bars = [_bar(each) for each in found if each.interval]
        if bars:
            unit = (" in %" if mark is None else " in points") if found[0].is_rate else ""
            what = "the arms, with intervals of 95 %" if mark is None else "differences"
            title = f"{marked(metric.name, experiment.plan.primary)}{unit}: {what}"
            yield element("h3", title)
            yield interval_plot(bars, mark=mark, title=title)


def _bar(found: Estimate | Comparison) -> Interval:
    """An interval as it is drawn; of rates, in percent."""
    label = found.arm if isinstance(found, Estimate) else found.name
    value = found.value if isinstance(found, Estimate) else found.difference
    by, ends = 100 if found.is_rate else 1, found.interval
    assert ends
    return Interval(label, *(by * each for each in (value, ends.low, ends.high)))


def _differing(experiment: Experiment, links: Mapping[Key, str]) -> Iterator[Content]:
    if not experiment.is_complete:
        return
    groups = experiment.differing()
    primary = experiment.plan.primary
    yield element("h2", "Runs that differ")
    if not groups:
        yield element("p", f"The arms score the same in {primary}, in every run.")
        return
    for group in groups[:_MOST_DIFFERING]:
        rows: list[list[Content]] = []
        for each in group:
            said = (_score(each.scores[primary]), shortened(each.failure or each.content, _LONGEST))
            name = each.run.run if each.run else ""
            link = links.get(each.key)
            run = element("a", "run", href=link) if link else name
            rows.append([each.arm, *(element("div", text, class_="lines") for text in said), run])
        title = f"{_name(group[0])}: {group[0].case.message}"
        summary = element("summary", shortened(title, _LONGEST))
        yield element("details", summary, table(["arm", primary, "answer", "run"], rows))
    if len(groups) > _MOST_DIFFERING:
        yield element("p", f"{counted(len(groups) - _MOST_DIFFERING, 'more case')} differ.")


def _score(score: Score) -> str:
    words: dict[object, str] = {True: "yes", False: "no", None: "none"}
    shown = words[score.value] if isinstance(score.value, bool | None) else f"{score.value:.4g}"
    return f"{shown}: {shortened(score.problem, _LONGEST)}" if score.problem else shown


def _name(trial: Trial) -> str:
    """The case of a trial, and which repeat it is."""
    return f"{trial.case.name}{f', repeat {trial.repeat + 1}' if trial.repeat else ''}"


def write_report(experiment: Experiment, file: Path) -> None:
    """Write the report, and a page for each run that it links to.

    The pages are in a folder beside the report: ``report.runs`` beside ``report.html``. Each file
    is replaced in one step, the report last, so that no reader meets half of one. Where ``file``
    is no regular file, such as a pipe, there is nothing beside it, and no pages are written.

    Raises:
        OSError: a file cannot be written.
    """
    links: dict[Key, str] = {}
    if not file.exists() or file.is_file():
        folder = file.with_name(f"{file.stem}.runs")
        for trial in chain.from_iterable(experiment.differing()[:_MOST_DIFFERING]):
            if page := _page(trial, folder):
                links[trial.key] = page
    write_atomically(file, report(experiment, links))


def _page(trial: Trial, folder: Path) -> str | None:
    """Write the page of a run: its link, or None where the record is gone or was edited."""
    if trial.run is None or not Path(trial.run.place).exists():
        return None
    title, name = f"{_name(trial)}: {trial.arm}", f"{trial.run.run}.html"
    try:
        with open_store(trial.run.place) as store:
            page = run_page(store.recorded(trial.run.run), title=title)
    except GramError:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / name, page)
    return f"{quote(folder.name)}/{quote(name)}"


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
    from scipy.stats import binom  # imported late: it takes longer than a short program

    rate, repeats = pass_rate(cases, passed), len(passed[0])
    runs = f" × {repeats} runs" if repeats > 1 else ""
    yield f"pass rate {within(rate)}: {counted(len(cases), 'case')}{runs} ({rate.method})"
    yield "intervals are of 95 %: of the rate of all cases like these, and of each case alone"
    if repeats > 1:
        shares = {share: binom.sf(at_least - 1, repeats, share) for share in (0.95, 0.8, 0.5)}
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
        for kind, each in experiment.compared_by(column):
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

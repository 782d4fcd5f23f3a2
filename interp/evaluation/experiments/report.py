"""An experiment as HTML: figures, plots, and a page for each run that differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from gram import GramError, write_atomically
from gram.display import Content, Markup, element, markup_of
from gram.words import counted

from ...history.stores import open_store
from ...shown import shortened
from ...views import Interval, facts, interval_plot, page, run_page, table
from .comparing import Comparison, Estimate, factors_of
from .tables import FIGURES, arm_rows, figures, legend, marked, verdict

if TYPE_CHECKING:
    from .experiment import Experiment
    from .metrics import Trial


_MOST_DIFFERING = 200
_LONGEST = 500  # characters of an answer


Links: TypeAlias = dict[tuple[str, int, str], str]
"""Where the page of a run is, by the key of its trial."""


def report(experiment: Experiment, links: Links | None = None) -> str:
    """The experiment as a page that loads nothing.

    Known keys are replaced in each text before it becomes a part of the page, so that a key that is
    a word of HTML spoils no page.

    Args:
        experiment: the experiment.
        links: the pages that it links to.
    """
    plan = experiment.plan
    title = " × ".join(factors_of(plan.levels)) or " or ".join(plan.arms)
    body = [*_body(experiment), *_differing(experiment, links or {}), *_plan(experiment)]
    return page(title, *body)


def shown_groups(experiment: Experiment) -> tuple[tuple[Trial, ...], ...]:
    """The runs that differ, as far as the report shows them."""
    return experiment.differing()[:_MOST_DIFFERING]


def fragment(experiment: Experiment) -> str:
    """The figures and plots alone, for a notebook."""
    return str(element("div", *_body(experiment)))


def _body(experiment: Experiment) -> Iterator[Content]:
    plan = experiment.plan
    yield facts(
        {
            "cases": len(plan.cases),
            "repeats": plan.repeats,
            "runs": f"{len(experiment.trials)} of {len(plan.keys)}",
            "failed": len(experiment.failures),
            "decided by": plan.primary,
            "seed": str(plan.seed),
            "plan": plan.hash[:8],
        }
    )
    yield element("p", legend(experiment), class_="quiet")
    if experiment.comparisons:
        yield element("h2", "Comparisons")
        for each in experiment.comparisons:
            yield _compared(each, marked(each.metric, plan.primary))
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
    return {"text/plain": repr(found), "text/html": _compared(found, found.metric)}


def _compared(found: Comparison, metric: str) -> Markup:
    """What a comparison comes to, and its figures."""
    title = f"{metric}: {found.name}: {verdict(found)}"
    named = zip(FIGURES, figures(found), strict=True)
    return markup_of(
        element("h3", title), facts({name: figure for name, figure in named if figure})
    )


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
    by = 100 if found.is_rate else 1
    assert found.interval
    label, value = (
        (found.arm, found.value) if isinstance(found, Estimate) else (found.name, found.difference)
    )
    return Interval(label, by * value, by * found.interval.low, by * found.interval.high)


def _differing(experiment: Experiment, links: Links) -> Iterator[Content]:
    if not experiment.is_complete:
        return
    groups = experiment.differing()
    primary = experiment.plan.primary
    yield element("h2", "Runs that differ")
    if not groups:
        yield element("p", f"The arms score the same in {primary}, in every run.")
        return
    for group in shown_groups(experiment):
        rows = [
            [
                each.arm,
                element("div", _score(each, primary), class_="lines"),
                element("div", _said(each.failure or each.content), class_="lines"),
                _link(each, links),
            ]
            for each in group
        ]
        case, repeat = group[0].case, group[0].repeat
        again = f", repeat {repeat + 1}" if repeat else ""
        yield element(
            "details",
            element("summary", f"{_said(case.name)}{again}: {_said(case.message)}"),
            table(["arm", primary, "answer", "run"], rows),
        )
    if len(groups) > _MOST_DIFFERING:
        yield element("p", f"{counted(len(groups) - _MOST_DIFFERING, 'more case')} differ.")


def _score(trial: Trial, metric: str) -> str:
    score = trial.scores[metric]
    value = score.value
    if value is None or isinstance(value, bool):
        shown = {True: "yes", False: "no", None: "none"}[value]
    else:
        shown = f"{value:.4g}"
    return f"{shown}: {_said(score.problem)}" if score.problem else shown


def _said(text: str) -> str:
    """The beginning of a text."""
    return shortened(text, _LONGEST)


def _link(trial: Trial, links: Links) -> Content:
    """The page of a run, or the name of its record."""
    if page := links.get(trial.key):
        return element("a", "run", href=page)
    return trial.run.run if trial.run else ""


def _plan(experiment: Experiment) -> Iterator[Markup]:
    yield element("h2", "Plan")
    text = element("pre", experiment.plan.text)
    yield element("details", element("summary", "as it was written before the first run"), text)


def write_report(experiment: Experiment, file: Path) -> None:
    """Write the report, and a page for each run that it links to.

    The pages are in a folder beside the report: ``report.runs`` beside ``report.html``. Each file
    is replaced in one step, the report last, so that no reader meets half of one. Where ``file``
    is no regular file, such as a pipe, there is nothing beside it, and no pages are written.

    Raises:
        OSError: a file cannot be written.
    """
    links: Links = {}
    if not file.exists() or file.is_file():
        folder = file.with_name(f"{file.stem}.runs")
        for trial in (each for group in shown_groups(experiment) for each in group):
            if page := _page(trial, folder):
                links[trial.key] = page
    write_atomically(file, report(experiment, links))


def _page(trial: Trial, folder: Path) -> str | None:
    """Write the page of a run: its link, or None where the record is gone or was edited."""
    if trial.run is None or not Path(trial.run.place).exists():
        return None
    again = f", repeat {trial.repeat + 1}" if trial.repeat else ""
    title, name = f"{trial.case.name}{again}: {trial.arm}", f"{trial.run.run}.html"
    try:
        with open_store(trial.run.place) as store:
            page = run_page(store.recorded(trial.run.run), title=title)
    except GramError:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / name, page)
    return f"{quote(folder.name)}/{quote(name)}"

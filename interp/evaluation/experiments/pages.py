"""The report as a file, with a page beside it for each run that differs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from gram import GramError, write_atomically

from ...history.stores import open_store
from ...views import run_page
from ..testing import file_name
from .judging import beginning_of_judge
from .report import Links, report, shown_groups

if TYPE_CHECKING:
    from .experiment import Experiment
    from .trials import Trial


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
            links[trial.key] = dict(_pages(trial, folder))
    write_atomically(file, report(experiment, links))


def _pages(trial: Trial, folder: Path) -> Iterator[tuple[str, str]]:
    """Write the pages of a run and of those that judged it: what each is called, and its link."""
    if trial.run is None or not Path(trial.run.place).exists():
        return
    again = f", repeat {trial.repeat + 1}" if trial.repeat else ""
    name = trial.run.run
    with open_store(trial.run.place) as store:
        runs = {"run": (name, name)}
        for judge in trial.scores:
            for row in store.rows(beginning=beginning_of_judge(trial.run, judge), limit=1):
                runs[judge] = (row.id, f"{name}.{file_name(judge)}")
        for word, (run, stem) in runs.items():
            title = f"{trial.case.name}{again}: {trial.arm}{'' if word == 'run' else f', {word}'}"
            try:
                page = run_page(store.recorded(run), title=title)
            except GramError:  # the run is gone, or was edited: there is no page of it
                continue
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / f"{stem}.html", page)
            yield word, f"{quote(folder.name)}/{quote(f'{stem}.html')}"

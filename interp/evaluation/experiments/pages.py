"""The report as a file, with a page beside it for each run that differs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from gram import GramError, write_atomically

from ...history.stores import load_run
from ...views import run_page
from .judging import judged_file
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
    if trial.file is None:
        return
    judged = {name: judged_file(trial.file, name) for name in trial.scores}
    again = f", repeat {trial.repeat + 1}" if trial.repeat else ""
    for word, record in {"run": trial.file, **judged}.items():
        title = f"{trial.case.name}{again}: {trial.arm}{'' if word == 'run' else f', {word}'}"
        try:
            page = run_page(load_run(record), title=title)
        except (GramError, OSError):  # the record is gone, or was edited: there is no page of it
            continue
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{record.name.removesuffix('.run.gram')}.html"
        write_atomically(folder / name, page)
        yield word, f"{quote(folder.name)}/{quote(name)}"

"""The progress of an experiment, as a bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from .trials import Trial

Progress: TypeAlias = Callable[[Trial], None]
"""Is called with each trial when it has ended."""


@contextmanager
def shown(progress: bool | Progress | None, planned: int, done: int) -> Iterator[Progress]:
    """Show how far an experiment is; what is yielded is called with each trial that ends.

    Args:
        progress: whether to show a bar, None for where standard error is a terminal; or who is
            told instead.
        planned: the number of all trials.
        done: how many are done already.
    """
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    if not isinstance(progress, bool):
        yield progress
        return
    if not progress or done == planned:
        yield lambda _: None
        return
    with _bar(planned, done) as advance:
        yield advance


@contextmanager
def _bar(planned: int, done: int) -> Iterator[Progress]:
    # Imported late: it is of the extra, and takes longer than a short program.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress as Bar,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("runs"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )
    failed = 0
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=planned, completed=done)

        def advance(trial: Trial) -> None:
            nonlocal failed
            failed += trial.failure is not None
            bar.update(task, advance=1, description=f"{failed} failed" if failed else "")

        yield advance

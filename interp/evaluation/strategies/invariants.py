"""Invariants of runs: held against many, and the smallest that breaks one is kept."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, settings

from gram import ArgumentError
from gram.documents import resolved
from gram.errors import expect
from lenses_ext import ProgramLike

from ...history.records import PathLike, RecordedRun, RunFile
from ...tools import returned_unfinished
from .runs import Library, runs

_RUN: Final = b"[:Run "
"""How the record of a run begins."""


def check_runs(
    program: ProgramLike,
    invariant: Callable[[RecordedRun], object],
    tools: Library = None,
    *,
    failing: PathLike | None = None,
    **how: Any,
) -> None:
    """Hold an invariant against many runs of an agent.

    How many is what the profile of Hypothesis says (``max_examples``).

    Args:
        program: the program, as for `run`.
        invariant: takes a run, see `interp.history.RecordedRun`; it raises (such as by
            ``assert``) or returns False where the run breaks it.
        tools: the implementations of tools, see `runs`.
        failing: a file for the smallest run that breaks the invariant, which `gram replay` and
            `gram trace` show; such a file is written anew each time, and removed when none does.
        **how: the other keywords of `runs`.

    Raises:
        ArgumentError: the invariant is no function, or a coroutine or generator function.
        OSError: ``failing`` is another file than a run's, or its folder does not exist.
        AssertionError: a run returned False. What the invariant raises comes as it is, with a note
            of where the run is.
    """
    expect(invariant, Callable, "invariant", by="check_runs")
    if kind := returned_unfinished(invariant):
        raise ArgumentError(f"check_runs: invariant must be a plain function, got {kind}")
    expect(failing, (str, os.PathLike, type(None)), "failing", by="check_runs")
    if failing is not None:
        _forget(Path(failing))
    broken: list[RecordedRun] = []

    def holds(run: RecordedRun) -> None:
        try:
            kept = invariant(run)
            name = getattr(invariant, "__name__", "the invariant")
            assert kept is not False, f"{name} does not hold"
        except BaseException:  # of the user's invariant: the run is kept, then it is raised again
            broken[:] = [run]  # the last that Hypothesis tries is the smallest
            raise

    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    # Several failures would come as a group, and explaining one runs it many times more.
    run = settings(
        report_multiple_bugs=False,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=quiet,
    )(given(runs(program, tools, **how))(holds))
    try:
        run()
    except Exception as error:
        if broken and failing is not None:
            _write(broken[0], failing)
            error.add_note(f"the smallest run that breaks it: {failing}  (gram trace {failing})")
        raise


def _forget(path: Path) -> None:
    """Remove the run that an earlier check has left, and nothing else."""
    if not resolved(path).parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such directory", str(path.parent))
    with suppress(FileNotFoundError):
        if (content := path.read_bytes()) and not content.startswith(_RUN):
            reason = "exists, and is not the record of a run; not overwritten"
            raise FileExistsError(errno.EEXIST, reason, str(path))
        path.unlink()


def _write(run: RecordedRun, path: PathLike) -> None:
    Path(path).unlink(missing_ok=True)
    RunFile(path).begin(run.state, ())

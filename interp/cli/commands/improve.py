"""``gram improve``: search for changes that make a program better, and test the best one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click
from attrs import evolve
from click.core import ParameterSource

from ...evaluation import improve
from ...evaluation.experiments import Budget
from ...evaluation.improving import Proposer, search_by_front, search_with_gepa
from ..failures import NO
from ..inputs.declaring import command, option
from ..inputs.libraries import read_checks
from ..process import interruptible
from ..terminal.console import forbid, note, show, show_json
from .ab import ComparingOptions, telling_what_is_kept


class _ImproveOptions(ComparingOptions):
    change: tuple[str, ...] = option(
        "What may change: paths as of gram set, such as 'desk.instruction, "
        "desk.tools.*.description'.",
        "PATHS",
        required=True,
    )
    cases: str = option("The cases: .jsonl, .csv, .gram.", "FILE", required=True)
    proposer: str | None = option(
        "Who proposes changes: a model, an agent as FILE.gram, or a function as FILE.py:NAME; by "
        "default the program's own model.",
        "NAME|FILE",
    )
    optimizer: Literal["front", "gepa"] = option(
        "Search by a Pareto front, or by the library gepa.", default="front"
    )
    metric: str = option(
        "What is to be better, as of gram ab; passed by default.", "NAME|FILE", default="passed"
    )
    tries: int = option("How many changes are proposed, at most.", default=10)
    runs: int | None = option("How many runs the search may take.")
    tokens: int | None = option("How many tokens it may use.")
    cost: float | None = option("How many US dollars it may cost.")
    in_place: bool = option("Write the change, if it is better.", name="-i --in-place")


@command("improve")
def improve_command(program: str, options: _ImproveOptions) -> None:
    """Search for changes that make PROGRAM better, and test the best one.

    The cases are in three sets, which follow from what they ask: candidates are found on the
    first, one of them is chosen on the second, and the last decides. It decides in at most five
    searches, which is counted in a file beside the cases. What it can show, and what the search may
    take, is told before anything is spent.

    After Ctrl-C the same command goes on. Exits with 1 where nothing was shown to be better.
    """
    base = options.base
    source = click.get_current_context().get_parameter_source("match")
    if source is ParameterSource.DEFAULT:  # where texts of tools may change, it is looser
        base = evolve(base, match=None)
    with interruptible(), telling_what_is_kept():
        metric, *others = options.metrics_of([options.metric])
        forbid(others, f"--metric {options.metric}: one metric decides; name one of them")
        found = improve(
            program,
            ",".join(options.change),
            options.cases,
            metric,
            base=base,
            **options.running,
            budget=Budget(options.tokens, options.cost, runs=options.runs),
            proposer=_proposer(options.proposer),
            search=search_with_gepa if options.optimizer == "gepa" else search_by_front,
            out=options.out or f"{Path(program).stem}.improve",
            tell=note,
            tries=options.tries,
        )
    show_json(found.to_json()) if options.as_json else show(found.text())
    if found.verdict != "better":
        sys.exit(NO)
    if options.in_place:
        for file in found.apply():
            note(f"{file}: changed")
    else:
        note("-i writes the change")


def _proposer(given: str | None) -> Proposer:
    if given is None or not (given.endswith(".py") or ".py:" in given):
        return given
    functions = read_checks([given])
    forbid(len(functions) > 1, f"write --proposer {given}:NAME, of {', '.join(functions)}")
    return next(iter(functions.values()))

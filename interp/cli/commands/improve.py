"""``gram improve``: search for changes that make a program better, and test the best one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from attrs import evolve
from click.core import ParameterSource

from ...evaluation import Improvement, improve
from ...evaluation.experiments import Budget
from ...evaluation.improving import Proposer, search_by_front, search_with_gepa
from ..failures import NO
from ..inputs.reading import read_checks
from ..process import interruptible
from ..terminal.output import expect_a_name, note, show, show_json
from .ab import base_of, comparing_options, metrics_of, running_of, telling_what_is_kept


@click.command("improve")
@click.argument("program", metavar="PROGRAM")
@click.option(
    "--change",
    "changes",
    multiple=True,
    required=True,
    metavar="PATHS",
    help="What may change: paths as of gram set, such as 'desk.instruction, "
    "desk.tools.*.description'.",
)
@click.option("--cases", required=True, metavar="FILE", help="The cases: .jsonl, .csv, .gram.")
@click.option(
    "--proposer",
    metavar="NAME|FILE",
    help="Who proposes changes: a model, an agent as FILE.gram, or a function as FILE.py:NAME; by "
    "default the program's own model.",
)
@click.option(
    "--optimizer",
    type=click.Choice(["front", "gepa"]),
    default="front",
    help="How candidates are searched for: by a Pareto front, or by the library gepa.",
)
@click.option(
    "--metric",
    default="passed",
    metavar="NAME|FILE",
    help="What is to be better: a metric, function or judge, as of gram ab; passed by default.",
)
@click.option(
    "--tries", type=click.IntRange(1), default=10, help="How many changes are proposed, at most."
)
@click.option("--runs", type=click.IntRange(1), help="How many runs the search may take.")
@click.option("--tokens", type=click.IntRange(1), help="How many tokens it may use.")
@click.option(
    "--cost", type=click.FloatRange(0, min_open=True), help="How many US dollars it may cost."
)
@comparing_options
@click.option("-i", "--in-place", is_flag=True, help="Write the change, if it is better.")
def command(program: str, in_place: bool, as_json: bool, **given: Any) -> None:
    """Search for changes that make PROGRAM better, and test the best one.

    The cases are in three sets, which follow from what they ask: candidates are found on the
    first, one of them is chosen on the second, and the last decides. It decides in at most five
    searches, which is counted in a file beside the cases. What it can show, and what the search may
    take, is told before anything is spent.

    After Ctrl-C the same command goes on. Exits with 1 where nothing was shown to be better.
    """
    expect_a_name(given["out"], "--out")
    with interruptible():
        found = _improved(program, given)
    show_json(found.to_json()) if as_json else show(found.text())
    if found.verdict != "better":
        sys.exit(NO)
    if in_place:
        for file in found.apply():
            note(f"{file}: changed")
    else:
        note("-i writes the change")


def _improved(program: str, given: dict[str, Any]) -> Improvement:
    base = base_of(given)
    source = click.get_current_context().get_parameter_source("match")
    if source is ParameterSource.DEFAULT:  # where texts of tools may change, it is looser
        base = evolve(base, match=None)
    metric, *others = metrics_of({**given, "metrics": (given["metric"],)})
    if others:
        raise click.UsageError(f"--metric {given['metric']}: one metric decides; name one of them")
    with telling_what_is_kept():
        return improve(
            program,
            ",".join(given["changes"]),
            given["cases"],
            metric,
            base=base,
            **running_of(given),
            budget=Budget(given["tokens"], given["cost"], runs=given["runs"]),
            proposer=_proposer(given["proposer"]),
            search=search_with_gepa if given["optimizer"] == "gepa" else search_by_front,
            out=given["out"] or f"{Path(program).stem}.improve",
            tell=note,
            tries=given["tries"],
        )


def _proposer(given: str | None) -> Proposer:
    if given is None or not (given.endswith(".py") or ".py:" in given):
        return given

    functions = read_checks([given])
    if len(functions) > 1:
        raise click.UsageError(
            f"--proposer {given}: it has {', '.join(functions)}; write {given}:NAME"
        )
    return next(iter(functions.values()))

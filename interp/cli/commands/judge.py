"""``gram judge``: compare a judge with people's labels, and correct what it said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...evaluation.cases import read_cases
from ...evaluation.experiments import MeasuredJudge, judged_by, load_experiment, measure_judge
from ..inputs.declaring import json_option, options_of
from ..inputs.files import read_program
from ..inputs.libraries import read_libraries
from ..inputs.options import ModelOptions
from ..process import interruptible
from ..terminal.output import show, show_json


@click.command("judge")
@click.argument("judge", metavar="JUDGE")
@click.argument("labels", metavar="LABELS")
@click.option(
    "--experiment",
    metavar="DIR",
    help="Correct the rates that the judge gave in this experiment of gram ab.",
)
@click.option(
    "--tools",
    multiple=True,
    metavar="FILE.py[:NAME]",
    help="A Python file with the tools of the judge.",
)
@options_of(ModelOptions)
@click.option("--jobs", type=click.IntRange(1), default=4, help="How many answers at once.")
@json_option
def command(
    judge: str,
    labels: str,
    experiment: str | None,
    tools: tuple[str, ...],
    as_json: bool,
    jobs: int,
    options: ModelOptions,
) -> None:
    """Compare the agent in JUDGE with people, who labelled the answers in LABELS.

    LABELS are cases (.csv, .jsonl, .gram) with an input, the answer in a column answer, and in a
    column label what a person says of it: true or false. A column model says who answered, and a
    column position where the answer was among several; biases by both are looked for.
    """
    with interruptible():
        metric = judged_by(
            read_program(judge),
            read_libraries(tools),
            name=Path(judge).stem,
            model=options.named_model,
        )
        found = measure_judge(metric, read_cases(labels), jobs=jobs)
    rates = list(_rates(found, experiment)) if experiment else []
    if as_json:
        show_json({**found.to_json(), "corrected": rates} if experiment else found.to_json())
        return
    show(found.text())
    for each in rates:
        said = "cannot be corrected"
        if each["corrected"] is not None:
            said = f"corrected {each['corrected']:.3g} ({each['low']:.3g} to {each['high']:.3g})"
        show(f"{each['arm']}: the judge says {each['judged']:.3g}, {said}")


def _rates(found: MeasuredJudge, folder: str) -> Any:
    """The rates of each arm of an experiment, as the judge gave them and corrected."""
    experiment = load_experiment(folder)
    cases = len(experiment.plan.cases)
    mine = [each for each in experiment.estimates if each.metric == found.name and each.is_rate]
    if not mine:
        raise click.UsageError(f"{folder}: no finished rates of a judge {found.name}")
    for each in mine:
        corrected = found.corrected(each.value * cases, cases)
        rate, interval = corrected or (None, None)
        yield {
            "arm": each.arm, "judged": each.value, "corrected": rate,
            "low": interval and interval.low, "high": interval and interval.high,
        }  # fmt: skip

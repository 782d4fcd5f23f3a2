"""``gram judge``: compare a judge with people's labels, and correct what it said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from attrs import frozen

from ...evaluation.cases import read_cases
from ...evaluation.experiments import MeasuredJudge, judged_by, load_experiment, measure_judge
from ..inputs.declaring import given_by, json_option, option, options_of
from ..inputs.files import read_program
from ..inputs.libraries import read_libraries
from ..inputs.options import ModelOptions
from ..process import interruptible
from ..terminal.output import show, show_json


@frozen(kw_only=True, slots=False)
class _Options(ModelOptions):
    experiment: str | None = option(
        "Correct the rates that the judge gave in this experiment of gram ab.", "DIR"
    )
    tools: tuple[str, ...] = option("A Python file with the tools of the judge.", "FILE.py[:NAME]")
    jobs: int = option("How many answers at once.", default=4)
    as_json: bool = given_by(json_option)


@click.command("judge")
@click.argument("judge", metavar="JUDGE")
@click.argument("labels", metavar="LABELS")
@options_of(_Options)
def command(judge: str, labels: str, options: _Options) -> None:
    """Compare the agent in JUDGE with people, who labelled the answers in LABELS.

    LABELS are cases (.csv, .jsonl, .gram) with an input, the answer in a column answer, and in a
    column label what a person says of it: true or false. A column model says who answered, and a
    column position where the answer was among several; biases by both are looked for.
    """
    program, tools = read_program(judge), read_libraries(options.tools)
    with interruptible():
        metric = judged_by(program, tools, name=Path(judge).stem, model=options.named_model)
        found = measure_judge(metric, read_cases(labels), jobs=options.jobs)
    rates = list(_rates(found, options.experiment)) if options.experiment else []
    if options.as_json:
        show_json(found.to_json() | ({"corrected": rates} if options.experiment else {}))
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

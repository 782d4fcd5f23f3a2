"""Comparisons: ``ab`` runs cases through several arms, ``judge`` compares a judge with people."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
from attrs import asdict, evolve

from gram.documents import holding
from gram.words import counted

from ...errors import ToolBindingError
from ...evaluation import experiments
from ...evaluation.cases import RubricJudge, read_cases
from ...evaluation.experiments import Arm, Experiment, MetricLike, Plan
from ...models import OFFLINE
from ..failures import LIMIT, WAITING
from ..inputs import declaring
from ..inputs.declaring import command, json_option, option
from ..inputs.files import read_program
from ..inputs.libraries import library_of_one_run, read_checks, read_libraries
from ..inputs.options import POLICIES, ArmOptions, ModelOptions
from ..process import interruptible
from ..terminal import console
from ..terminal.console import forbid, note, show, show_json, show_result, tell


class ComparingOptions(ArmOptions):
    """The options of the commands that run cases through programs."""

    tools: tuple[str, ...] = option(
        "A Python file with the tools, which is run anew for each run; with NAME=, those that an "
        "experiment or the file of a judge calls so.",
        "[NAME=]FILE.py[:NAME]",
    )
    agent: str | None = declaring.agent_option
    checks: tuple[str, ...] = declaring.checks_option
    judge_model: str | None = option(
        "The model that judges rubrics; by default the program's.", "PROVIDER/NAME"
    )
    out: str | None = option("The folder of what is kept; named after the file by default.", "DIR")
    jobs: int = option("How many runs go on at once.", default=4)
    as_json: bool = json_option

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        console.expect_a_name(self.out, "--out")

    @property
    def base(self) -> Arm:
        """What they say of all arms."""
        self.expect_unattended()
        libraries = (self.tools_by_name.get("", ()), self.mcp, self.openapi)
        return Arm(
            tools=partial(library_of_one_run, *libraries, offline=self.offline),
            model=self.named_model,
            settings=self.settings or None,
            agent=self.agent,
            base_url=self.base_url,
            dialect=self.dialect,
            limits=self.limits or None,
            match=self.match,
            policy=POLICIES[self.approve or "all"],
        )

    @property
    def running(self) -> dict[str, Any]:
        """What they say of how cases are run and judged."""
        return {
            "checks": read_checks(self.checks),
            "judge": RubricJudge(model=self.judge_model) if self.judge_model else None,
            "progress": False if console.is_quiet() else None,
            "jobs": self.jobs,
        }

    @property
    def tools_by_name(self) -> Mapping[str, list[str]]:
        """The files of tools by the names that they are given; those of all arms have none."""
        found: dict[str, list[str]] = {}
        for each in self.tools:
            name, _, file = each.rpartition("=")
            found.setdefault(name, []).append(file)
        return found

    def metrics_of(self, names: Iterable[str]) -> list[MetricLike]:
        """The metrics that are named: those that are known, functions, schemas and judges."""
        found: list[MetricLike] = []
        for each in names:
            if each.endswith(".py") or ".py:" in each:
                found += read_checks([each]).values()
            else:
                is_file = each.endswith((".gram", ".json"))
                found.append(experiments.metric_of(Path(each) if is_file else each, self.judge))
        return found

    def judge(self, file: Path) -> MetricLike:
        """The judge in a file, with its tools."""
        tools, name = self.tools_by_name.get(file.stem, ()), file.stem
        library, model = read_libraries(tools), OFFLINE if self.offline else None
        try:
            return experiments.judged_by(read_program(str(file)), library, name=name, model=model)
        except ToolBindingError as error:
            hint = f"hint: --tools {name}=FILE.py names the tools of this judge"
            raise ToolBindingError([*error.problems, *([] if tools else [hint])]) from None


class _Options(ComparingOptions):
    cases: str | None = option("The cases: .jsonl, .csv, .gram.", "FILE")
    metrics: tuple[str, ...] = option(
        "What is tested: passed (the default), exact, schema (the answer is of its declared "
        "type), calls, rounds, tokens, input_tokens, output_tokens, cost, seconds; functions of a "
        "run, as FILE.py[:NAME]; a JSON Schema of the answer, as FILE.json; or a judge, as "
        "FILE.gram: an agent whose typed answer is a boolean or a number.",
        "NAME|FILE",
        name="--metric",
    )
    by: tuple[str, ...] = option(
        "Also compare the cases of each value of this column, or tags.", "COLUMN"
    )
    repeats: int | None = option("How often each arm runs a case.")
    seed: int | None = option("Draws the order; drawn itself by default.", type=click.IntRange(0))
    yes: bool = option("Run the cases after the pilot without a question.")
    html: str | None = option("Write a report here; beside it, pages of runs that differ.", "FILE")


@command("ab")
def ab_command(options: _Options, files: tuple[str, ...] = ()) -> None:
    """Run the same cases through several programs, and compare what comes out.

    FILES are programs, each an arm, and the first is what the others are compared with: gram ab
    A.gram B.gram --cases cases.jsonl. Or one file with an experiment, which holds cases, arms,
    factors, metrics and a budget: gram ab experiment.gram. A few of its cases run first, as a
    pilot; it is told what the others will take and can find, and asked whether they run.

    A plan is written before anything runs, and every run is recorded. After Ctrl-C the same
    command goes on. gram ab DIR shows an experiment again, without running anything.
    """
    html, by = options.html, options.by
    console.expect_a_file(html, "--html")
    console.expect_other_file(html)
    with interruptible():
        if html is not None:
            with holding(Path(html)) as file:
                file.check_writable()  # before much is done
        found = _experiment(files, options)
    if html is not None:
        found.write_html(html)

    if options.as_json:
        parts = [
            {"column": column, "value": value, **asdict(each)}
            for column in by
            for value, each in found.compared_by(column)
        ]
        show_json({**found.to_json(), **({"slices": parts} if by else {})})
    else:
        for text in (found.table(), *experiments.compared_by_text(found, by)):
            show(f"{text}\n" if by else text)
    if found.stopped:
        sys.exit(WAITING if found.stopped == experiments.NOT_BEGUN else LIMIT)


def _experiment(files: tuple[str, ...], options: _Options) -> Experiment:
    if options.cases is not None:
        arguments, name = _of_programs(files, options), "-".join(Path(each).stem for each in files)
    elif len(files) != 1:
        raise click.UsageError("name the cases with --cases FILE, or the file of an experiment")
    elif Path(files[0]).is_dir():
        return experiments.load_experiment(files[0])
    else:
        arguments, name = _of_file(files[0], options), Path(files[0]).stem
    folder = options.out or f"{name}.ab"
    plan = partial(_tell_plan, folder, options.by)
    with telling_what_is_kept():
        return experiments.ab(**arguments, **options.running, out=folder, on_plan=plan)


@contextmanager
def telling_what_is_kept() -> Iterator[None]:
    """What stops an experiment or a search says what of it is kept, in words of a command."""
    try:
        yield
    except BaseException as stopped:  # raised again
        for each in getattr(stopped, "__notes__", ()):
            tell(each.replace("the same call", "the same command"))
        raise


def _tell_plan(
    folder: str, columns: tuple[str, ...], plan: Plan, done: tuple[experiments.Trial, ...]
) -> None:
    for column in columns:
        experiments.require_column(plan.cases, column)
    left = len(plan.keys) + len(plan.pilot_keys) - len(done)
    begun = f", {len(done)} of them are done" if done else ""
    pilot = f" and {len(plan.pilot_keys)} of a pilot" if plan.pilot else ""
    runs = counted(len(plan.keys), "run")
    note(f"{runs}{pilot}{begun}; plan {plan.hash[:8]} (seed {plan.seed}) in {folder}")
    for each in experiments.before_running(plan) if left else ():
        note(f"note: {each}")


# --- what is compared


def _of_programs(files: tuple[str, ...], options: _Options) -> dict[str, Any]:
    """The arguments of an experiment whose arms are programs."""
    forbid(not files, "name the programs: gram ab A.gram B.gram --cases FILE")
    names = [Path(each).stem for each in files]
    for name in names:
        if names.count(name) > 1:
            hint = "arms of one program are written in the file of an experiment"
            raise click.UsageError(f"two arms are named {name}\nhint: {hint}")
    judges = {"", *(Path(each).stem for each in options.metrics)}
    if unused := options.tools_by_name.keys() - judges:
        raise click.UsageError(f"--tools {min(unused)}=…: no judge has this name")
    return {
        "cases": options.cases,
        "arms": dict(zip(names, files, strict=True)),
        "base": options.base,
        "metrics": options.metrics_of(options.metrics) or ["passed"],
        "repeats": options.repeats or 1,
        "seed": options.seed,
    }


def _of_file(file: str, options: _Options) -> dict[str, Any]:
    """The arguments that the file of an experiment says."""
    for name in ("repeats", "seed"):
        forbid(getattr(options, name) is not None, f"--{name} goes with --cases; {file} says it")
    own = {"", *(Path(each).stem for each in options.metrics)}
    libraries = {
        name: partial(library_of_one_run, files)
        for name, files in options.tools_by_name.items()
        if name not in own
    }
    more = options.metrics_of(options.metrics)
    found = experiments.read_experiment(
        file, libraries, base=options.base, judge=options.judge, metrics=more
    )
    if options.offline:
        for arms in (found["arms"], *found["factors"].values()):
            arms |= {name: evolve(arm, model=OFFLINE) for name, arm in arms.items()}
    return {**found, "go_on": partial(_goes_on, options.yes)}


def _goes_on(is_told: bool, notes: Sequence[str]) -> bool:
    """Say what the cases will take and can find, and ask whether they run."""
    for each in notes:
        (note if is_told else tell)(each)
    if is_told:
        return True
    try:
        return console.ask_user("Run them? [y/N] ").strip().lower() in ("y", "yes")
    except console.NoTerminal:
        tell("nobody can be asked here: --yes runs them")
        return False


@command("judge")
def judge_command(
    judge: str,
    labels: str,
    options: ModelOptions,
    experiment: str | None = option(
        "Correct the rates that the judge gave in this experiment of gram ab.", "DIR"
    ),
    tools: tuple[str, ...] = option("A Python file with the tools of the judge.", "FILE.py[:NAME]"),
    jobs: int = option("How many answers at once.", default=4),
    as_json: bool = json_option,
) -> None:
    """Compare the agent in JUDGE with people, who labelled the answers in LABELS.

    LABELS are cases (.csv, .jsonl, .gram) with an input, the answer in a column answer, and in a
    column label what a person says of it: true or false. A column model says who answered, and a
    column position where the answer was among several; biases by both are looked for.
    """
    program, library = read_program(judge), read_libraries(tools)
    with interruptible():
        metric = experiments.judged_by(
            program, library, name=Path(judge).stem, model=options.named_model
        )
        found = experiments.measure_judge(metric, read_cases(labels), jobs=jobs)
    rates = list(_rates(found, experiment)) if experiment else []
    value = found.to_json() | ({"corrected": rates} if experiment else {})
    show_result(as_json, value, [found.text(), *map(_rate_text, rates)])


def _rate_text(rate: dict[str, Any]) -> str:
    said = "cannot be corrected"
    if rate["corrected"] is not None:
        said = f"corrected {rate['corrected']:.3g} ({rate['low']:.3g} to {rate['high']:.3g})"
    return f"{rate['arm']}: the judge says {rate['judged']:.3g}, {said}"


def _rates(found: experiments.MeasuredJudge, folder: str) -> Iterator[dict[str, Any]]:
    """The rates of each arm of an experiment, as the judge gave them and corrected."""
    experiment = experiments.load_experiment(folder)
    cases = len(experiment.plan.cases)
    mine = [each for each in experiment.estimates if each.metric == found.name and each.is_rate]
    forbid(not mine, f"{folder}: no finished rates of a judge {found.name}")
    for each in mine:
        corrected = found.corrected(each.value * cases, cases)
        rate, interval = corrected or (None, None)
        yield {
            "arm": each.arm, "judged": each.value, "corrected": rate,
            "low": interval and interval.low, "high": interval and interval.high,
        }  # fmt: skip

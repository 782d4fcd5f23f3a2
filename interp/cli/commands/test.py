"""``gram test``: run the cases of files, and say which runs are not what they expect."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import cache, partial
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any, cast

import click
from attrs import asdict, converters, frozen

from gram import Pattern, write_atomically
from gram.words import counted, did_you_mean
from lenses_ext import Model

from ...concurrency import waited_for, work_on
from ...errors import ConfigurationError, ValidationError
from ...evaluation import experiments, testing
from ...evaluation.cases import Case, RubricJudge, read_cases, require_checks, require_tools
from ...execution import Observer
from ...history.replaying import timeline
from ...models import AnyModel, connect_model, require_prices
from ...programs import models_of, the_agent
from ...running import RunOptions
from ...tools import bind_agent_tools, empty_tool_library, with_agents
from ...views import lines
from ..each_file import each_file
from ..failures import NO
from ..inputs import declaring
from ..inputs.declaring import command, json_option, option, taken
from ..inputs.files import read_program
from ..inputs.libraries import library_of_one_run, read_checks
from ..inputs.options import RunningOptions
from ..process import interruptible, uninterrupted
from ..terminal import console
from ..terminal.answers import as_json_answer
from ..terminal.console import Styled, forbid, note, show, show_json, unstyled

_SIDES = {"-": "removed", "+": "added"}
"""The styles of what a message compares, by how its lines begin."""

_FOLDER = "recordings"
_HINT = (
    "\nhint: gram test --recordings changed asks what is missing or has changed, all records anew"
)


def _share(given: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", given)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise click.UsageError("--at-least: write K/N, such as 4/5: at least 4 of 5 runs")
    return int(found[1]), int(found[2])


class CaseOptions(RunningOptions):
    """The options of ``gram test``."""

    program: str | None = option("The program, instead of those of the cases.", "FILE")
    agent: str | None = declaring.agent_option
    checks: tuple[str, ...] = declaring.checks_option
    names: tuple[str, ...] = option(
        "Only cases whose names have this text, in capitals or not.", "TEXT", name="-k"
    )
    only: tuple[str, ...] = option("Run only the cases with one of these tags.", "TAG")
    jobs: int = option("How many cases run at once.", default=1)
    repeats: int | None = option("How often each case is run.")
    at_least: tuple[int, int] | None = option(
        "How many of the N runs of a case have to pass; all of them by default.",
        "K/N",
        converter=converters.optional(_share),
    )
    by: tuple[str, ...] = option(
        "Tell pass rates for each value of this column, or tags.", "COLUMN"
    )
    judge: str | None = option("The agent that judges rubrics; else a built-in one.", "FILE")
    judge_model: str | None = option(
        "The model that judges rubrics; by default that of the judge, or the program's.",
        "PROVIDER/NAME",
    )
    record: testing.Mode | None = option(
        "Record runs and replay them: those without a recording are recorded (once), what they "
        "ask otherwise than their recording too (changed), none, or all of them anew. Without it, "
        "nothing is recorded or replayed.",
        name="--recordings",
    )
    recordings: str | None = option(
        "The folder of recordings; by default recordings beside a file.",
        "DIR",
        name="--recordings-in",
    )
    as_json: bool = json_option
    junit: str | None = option("Write JUnit XML to this file.", "FILE")

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        console.expect_a_file(self.junit, "--junit")
        console.expect_a_name(self.recordings, "--recordings-in")
        forbid(self.recordings and not self.record, "--recordings-in needs --recordings MODE")
        if self.at_least and self.repeats not in (None, self.at_least[1]):
            raise click.UsageError(f"--at-least: of {self.at_least[1]} runs, not {self.repeats}")
        self.expect_unattended()

    @property
    def runs(self) -> int:
        """How often each case is run."""
        return self.repeats or (self.at_least[1] if self.at_least else 1)

    @property
    def runs_that_pass(self) -> int:
        """How many of these runs have to pass."""
        return self.at_least[0] if self.at_least else self.runs

    def rubric_judge(self) -> RubricJudge:
        """What judges rubrics."""
        if self.judge is not None:
            chosen = self.judge_model or (self.named_model if self.offline else None)
            try:
                return RubricJudge(read_program(self.judge), model=chosen)
            except ConfigurationError as error:
                raise click.UsageError(f"--judge {self.judge}: {error}") from None
        if self.judge_model is not None:
            return RubricJudge(model=self.judge_model)
        where = {"base_url": self.base_url, "dialect": self.dialect}
        return RubricJudge(model=self.of_new_run.get("model"), options=where)


@frozen
class Planned:
    """A case that is going to be run."""

    case: Case
    agent: Pattern
    recordings: tuple[testing.Recording, ...]
    judge: RubricJudge | None = None


class CaseRun:
    """The cases of files, in the order in which they are run."""

    def __init__(self, options: CaseOptions) -> None:
        self.options = options
        self.planned: dict[str, list[Planned]] = {}
        self._judge, self._checks = options.rubric_judge(), read_checks(options.checks)
        self._library, self._made_up = options.library(), empty_tool_library
        self._results: list[testing.CaseResult] = []

    def read(self, files: Sequence[str]) -> None:
        """Read the cases of files, and find what is wrong with them before anything runs."""
        names, only = self.options.names, self.options.only
        tags = set[str]()
        folders = {path for path in map(Path, files) if path.is_dir()}
        agents = cache(lambda file, agent: the_agent(read_program(file), agent, by="test"))

        def plan(file: str) -> None:
            try:
                cases = read_cases(file)
            except ValidationError as error:
                is_program = [each.code for each in error.faults] == ["no-cases"]
                if is_program and folders & set(Path(file).parents):
                    return
                raise
            tags.update(tag for each in cases for tag in each.tags)
            chosen = [
                each
                for each in cases
                if (not names or any(text.casefold() in each.name.casefold() for text in names))
                and (not only or {*only} & {*each.tags})
            ]
            require_checks(chosen, self._checks)
            self.planned[file] = [self._plan(file, each, agents) for each in chosen]

        each_file(files, plan).leave()
        for tag in only:
            if tag not in tags:
                known = ", ".join(sorted(tags)) or "no tags"
                hint = did_you_mean(tag, tags) or f"there are {known}"
                raise click.UsageError(f"--only {tag}: no case has this tag\nhint: {hint}")
        none = "no cases: of folders, files .gram are read; name files .jsonl and .csv"
        forbid(not self.planned, none)
        named = f"no case has {' or '.join(names)} in its name"
        forbid(not self.all, named if names else "no case of these files is run")
        paths = [path for each in self.all if (path := each.recordings[0].path)]
        forbid(len({*paths}) < len(paths), "files of one name need --recordings-in of their own")
        for planned in self.all:
            self._make_ready(planned)
        library, match = self._library, self.options.match
        require_tools(
            (each.case, [with_agents(each.agent, library, match=match)]) for each in self.all
        )

    def run(self) -> None:
        """Run the cases, in their order and as many at once as there are jobs; report each."""
        options, stdout = self.options, sys.stdout
        options.show_logs()
        if options.runs > 1 or options.by:
            experiments.require_statistics()
        for column in options.by:
            experiments.require_column([each.case for each in self.all], column)
        self._write_junit()  # what an earlier command wrote is never taken for this one's

        async def run(each: Planned) -> None:
            result = await self.result(each, spending.count)
            self._results.append(result)
            with redirect_stdout(stdout):
                self._tell(result)

        with options.spending() as spending, self._reporting(), redirect_stdout(sys.stderr):
            work_on(self.all, run, options.jobs)  # what tools print is no result

    async def result(self, planned: Planned, observe: Observer | None = None) -> testing.CaseResult:
        """Run a case as often as it is to be run, and judge its runs."""
        runs = [await self._run(planned, each, observe) for each in planned.recordings]
        return testing.CaseResult(planned.case, tuple(runs), self.options.runs_that_pass)

    async def _run(
        self, planned: Planned, recording: testing.Recording, observe: Observer | None
    ) -> testing.RunResult:
        """Run a case once, with a library of its own."""
        judge = planned.judge and planned.judge.watched_by(observe)
        options = cast(RunOptions, {**self.options.of_new_run, "observe": observe})
        tools = self.options.tools, self.options.mcp, self.options.openapi
        fresh = partial(library_of_one_run, *tools, offline=self.options.offline)
        async with experiments.fresh_library(fresh) as own:
            library, checks = self._made_up | own, self._checks
            case, agent = planned.case, planned.agent
            return await testing.run_case(case, agent, library, checks, recording, judge, **options)

    def expecting_nothing(self) -> list[Case]:
        """The cases that any answer passes, as where the name of a column is mistaken."""
        return [each.case for each in self.all if each.case.expects_nothing]

    @property
    def all(self) -> list[Planned]:
        """The cases of all files."""
        return [*chain.from_iterable(self.planned.values())]

    def _plan(self, file: str, case: Case, agents: Callable[..., Pattern]) -> Planned:
        options = self.options
        program = options.program or case.program
        if not program:
            hint = "name it in the file, or with --program FILE"
            fault = case.fault("no-program", "the case is for no program", "", hint)
            raise ValidationError.of([fault])
        try:
            agent = agents(program, options.agent or case.agent)
        except ValidationError as error:
            if error.faults:
                raise
            raise ValidationError.of([case.fault("no-agent", str(error), "agent")]) from None
        recording = testing.Recording()
        if options.record is not None:
            base = Path(options.recordings or Path(file).parent / _FOLDER)
            path = base / Path(file).name / f"{testing.file_name(case.name)}{testing.SUFFIX}"
            recording = testing.Recording(path, options.record, _HINT)
        others = (recording.beside(str(number)) for number in range(2, options.runs + 1))
        judge = self._judge.for_agent(agent) if case.rubrics else None
        return Planned(case, agent, (recording, *others), judge)

    def _make_ready(self, planned: Planned) -> None:
        """Find what would break off a run, before any runs: a key, a tool, a folder."""
        options, agent = self.options, planned.agent
        if planned.case.max_cost is not None:
            require_prices(f"max_cost of {planned.case.name}")
        is_replayed = all(each.is_replayed for each in planned.recordings)
        if not is_replayed:
            made_up = options.made_up_tools(agent, self._library)
            self._made_up, self._library = made_up | self._made_up, made_up | self._library
        if not is_replayed or options.named_tools:
            with options.hinting():
                bind_agent_tools(agent, self._library, match=options.match)
        if is_replayed:
            return
        named = options.of_new_run.get("model")
        for model in (Model.parse(str(named)),) if named else models_of(agent):
            asked = connect_model(model, base_url=options.base_url, dialect=options.dialect)
            waited_for(AnyModel(asked).prepare)  # or the first case would have its seconds
        if planned.judge:
            planned.judge.check()
        for each in planned.recordings:
            each.prepare()

    # --- what is told of them

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Report the cases that are run inside, whatever ends it; leave with 1 if one failed."""
        began = monotonic()
        try:
            yield
        finally:
            order = {id(each.case): n for n, each in enumerate(self.all)}
            self._results.sort(key=lambda each: order[id(each.case)])  # several may run at once
            with uninterrupted():
                self._write_junit()
                self._show(monotonic() - began)
        if not all(each.is_passed for each in self._results):
            sys.exit(NO)

    def _write_junit(self) -> None:
        if self.options.junit is not None:
            cases = {file: [each.case for each in some] for file, some in self.planned.items()}
            text = testing.junit_xml(cases, self._results, shown_run)
            write_atomically(Path(self.options.junit), text)

    def _tell(self, result: testing.CaseResult) -> None:
        """Tell of a case that was run; of several runs, how many passed and the rate."""
        if self.options.as_json or (console.is_quiet() and result.is_passed):
            return
        share = ""
        if self.options.runs > 1:
            within = experiments.wilson(result.passed, len(result.runs))
            rate = f"{experiments.percent(within.low)} to {experiments.percent(within.high)}"
            share = f"  {result.passed}/{len(result.runs)} ({rate})"
        took = f"{result.seconds:.2f} s"
        show([_mark(result), (f"{share}  {took:>9}  {_line(result.case.name)}", "")])

    def _show(self, seconds: float) -> None:
        """Show all that failed, how many passed, and pass rates where runs are compared."""
        options, results = self.options, self._results
        passed = sum(each.is_passed for each in results)
        left = len(self.all) - len(results)
        counts = {"passed": passed, "failed": len(results) - passed, "not_run": left}
        cases = [each.case for each in results]
        scores = [[float(run.is_passed) for run in each.runs] for each in results]
        has_figures = bool(results) and (options.runs > 1 or bool(options.by))
        if options.as_json:
            told = {"cases": [*map(_as_row, results)], **counts, "seconds": seconds}
            if has_figures:
                slices = experiments.slices(cases, scores, options.by)
                told["pass_rate"] = asdict(experiments.pass_rate(cases, scores))
                told["slices"] = [asdict(each) for each in slices]
            show_json(told)
            return
        for result in results:
            if not result.is_passed:
                _show_failed(result)
        style = "added" if passed == len(self.all) else "failed"
        said = [(count, what) for what, count in counts.items() if count or what == "passed"]
        closing = ", ".join(f"{count} {what.replace('_', ' ')}" for count, what in said)
        show([("\n", ""), (f"{closing} in {seconds:.2f} s", style)])
        if has_figures:
            least = options.runs_that_pass
            for line in experiments.pass_rate_text(cases, scores, least, options.by):
                show(line)


def _show_failed(result: testing.CaseResult) -> None:
    name, place = f"  {_line(result.case.name)}", result.case.place
    show([("\n", ""), _mark(result), (name, "place"), (f" ({place})" if place else "", "")])
    for line in chain.from_iterable(each.split("\n") for each in result.messages):
        show([(f"  {line}", _SIDES.get(line[:1], ""))])
    for told in _trace_of(result):
        show([("    ", ""), *([(told, "")] if isinstance(told, str) else told)])


def _as_row(result: testing.CaseResult) -> dict[str, Any]:
    run = result.shown
    return {
        "name": result.case.name,
        "place": result.case.place,
        "input": result.case.input,
        "passed": result.is_passed,
        "runs": len(result.runs),
        "runs_passed": result.passed,
        "failures": [asdict(each) for each in run.failures],
        "error": run.error and {"type": type(run.error).__name__, "message": str(run.error)},
        **(as_json_answer(run.response) if run.response else {"answer": None}),
        "seconds": result.seconds,
        "cost": run.cost,
        "tags": list(result.case.tags),
        "cluster": result.case.cluster,
        "columns": dict(result.case.columns),
    }


def shown_run(result: testing.CaseResult) -> str:
    """The run of a case as `gram trace` shows it."""
    return "\n".join(map(unstyled, _trace_of(result)))


def _trace_of(result: testing.CaseResult) -> Sequence[Styled]:
    return lines(timeline(result.shown.run)) if result.shown.run else []


def _mark(result: testing.CaseResult) -> tuple[str, str]:
    return ("passed", "added") if result.is_passed else ("FAILED", "failed")


def _line(name: str) -> str:
    return " ".join(name.split())


@command("test")
def test_command(files: tuple[str, ...], options: CaseOptions) -> None:
    """Run the cases in FILES, and say which runs are not what they expect.

    FILES are .jsonl, .csv or .gram files with cases, folders of .gram files, and globs. A case has
    an input, and what is expected of the run: its answer, its calls of tools, what a judge says,
    its limits, checks by name. Nothing runs before all files are read and found valid. Exits with 1
    if a case does not pass.
    """
    forbid("-" in files, "cases are read from files, whose endings say what they are")
    console.expect_other_file(options.junit)
    found = CaseRun(options)
    found.read(files)
    programs = {each.case.program for each in found.all}
    console.expect_other_file(options.junit, *found.planned, *map(str, programs - {None}))
    if free := found.expecting_nothing():
        note(
            f"note: any answer passes {counted(len(free), 'case')}, the first at {free[0].place}; "
            "expected, contains, calls and checks are some of what a case may expect"
        )
    with interruptible():
        found.run()


def read_case_run(words: Sequence[str]) -> CaseRun:
    """The cases that words of the command name, read and found valid; for pytest."""
    given = test_command.make_context("test", [*words]).params
    found = CaseRun(taken(CaseOptions, given))
    found.read(given["files"])
    return found

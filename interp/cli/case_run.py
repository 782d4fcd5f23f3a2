"""What ``gram test`` runs: the cases of files, each with its agent, its tools and its recording."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, cast

import click
from attrs import define, field, frozen

from gram import Pattern
from gram.words import did_you_mean
from lenses_ext import Model

from ..concurrency import waited_for, work_on
from ..errors import ValidationError
from ..evaluation.cases import (
    Case,
    Checks,
    RubricJudge,
    read_cases,
    require_checks,
    require_tools,
)
from ..evaluation.testing import (
    SUFFIX,
    CaseResult,
    Mode,
    Recording,
    RunResult,
    file_name,
    run_case,
)
from ..execution import Observer, Spending
from ..models import AnyModel, connect_model, require_prices
from ..programs import models_of, the_agent
from ..running import RunOptions
from ..tools import ToolLibrary, bind_agent_tools, empty_tool_library, with_agents
from .each_file import each_file
from .inputs.options import RunningOptions
from .inputs.reading import hint_at_tools, read_checks, read_program
from .terminal.case_report import Report
from .terminal.log_lines import show_logs
from .terminal.output import is_verbose, tell

_FOLDER = "recordings"
_HINT = "\nhint: gram test --recordings changed asks what has changed, all records anew"
_HINT_OF_NONE = "\nhint: gram test --recordings changed records what is missing or has changed"


@frozen
class Planned:
    """A case that is going to be run.

    Attributes:
        case: the case.
        agent: the agent that it is for.
        recordings: where its runs are recorded or replayed, one after another.
        judge: what judges its rubrics; None if it has none.
    """

    case: Case
    agent: Pattern
    recordings: tuple[Recording, ...]
    judge: RubricJudge | None = None

    @property
    def is_replayed(self) -> bool:
        """Whether all its runs are answered by what was recorded."""
        return all(each.is_replayed for each in self.recordings)


@define
class CaseRun:
    """The cases of files, in the order in which they are run.

    Args:
        options: the options of the command.
        program: the program instead of those that the cases name, or None.
        agent: the agent instead of those that the cases name, or None.
        record: what is recorded; None for nothing.
        names_of_checks: the files with the user's functions.
        only: the tags of the cases to run; without tags, all cases are run.
        recordings: the folder of the recordings, or None for one beside each file.
        repeats: how often each case is run.
        at_least: how many of these runs have to pass.
        judge: what judges rubrics.
        checks: these functions by name.
        library: the implementations of the tools.
        made_up: with --offline, tools that have no Python yet.
        planned: the cases that are run, by their files.
    """

    options: RunningOptions
    program: str | None = None
    agent: str | None = None
    record: Mode | None = None
    recordings: str | None = None
    names_of_checks: Sequence[str] = field(default=(), alias="checks")
    only: Sequence[str] = ()
    repeats: int = 1
    at_least: int = 1
    judge: RubricJudge = field(factory=RubricJudge)
    checks: Checks = field(init=False)
    library: ToolLibrary = field(init=False)
    made_up: ToolLibrary = field(init=False)
    planned: dict[str, list[Planned]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.checks = read_checks(self.names_of_checks)
        self.library = self.options.library()
        self.made_up = empty_tool_library

    def read(self, files: Sequence[str], names: Sequence[str]) -> None:
        """Read the cases of files, and find what is wrong with them before anything runs.

        Args:
            files: files, folders and globs.
            names: texts, one of which the name of a case has; all cases if there are none.

        Raises:
            SystemExit: something is wrong with one of several files; it has been told.
            UsageError: there are no cases.
            GramError, OSError: something is wrong.
        """
        wanted = [each.casefold() for each in names]
        tags = set[str]()
        folders = {path for path in map(Path, files) if path.is_dir()}
        agents = cache(self._agent)

        def plan(file: str) -> dict[str, Any]:
            try:
                cases = read_cases(file)
            except ValidationError as error:
                is_program = [each.code for each in error.faults] == ["no-cases"]
                if is_program and folders & set(Path(file).parents):
                    return {}
                raise
            tags.update(tag for each in cases for tag in each.tags)
            chosen = [
                each
                for each in cases
                if (not wanted or any(text in each.name.casefold() for text in wanted))
                and (not self.only or {*self.only} & {*each.tags})
            ]
            require_checks(chosen, self.checks)
            self.planned[file] = [
                self._plan(each, self._agent_of(each, agents), self._recording(file, each))
                for each in chosen
            ]
            return {}

        each_file(files, plan).leave()
        for tag in self.only:
            if tag not in tags:
                hint = (
                    did_you_mean(tag, tags) or f"there are {', '.join(sorted(tags)) or 'no tags'}"
                )
                raise click.UsageError(f"--only {tag}: no case has this tag\nhint: {hint}")
        if not any(self.planned.values()):
            none = "no cases: of folders, files .gram are read; name files .jsonl and .csv"
            named = f"no case has {' or '.join(names)} in its name"
            named = named if names else "no case of these files is run"
            raise click.UsageError(named if self.planned else none)
        self._require_recordings_apart()
        for planned in self._all():
            self._make_ready(planned)
        require_tools((each.case, [self._run_with(each.agent)]) for each in self._all())

    def expecting_nothing(self) -> list[Case]:
        """The cases that any answer passes, as where the name of a column is mistaken."""
        return [each.case for each in self._all() if each.case.expects_nothing]

    def run(self, report: Report, jobs: int) -> None:
        """Run the cases, in their order and as many at once as there are jobs; report each.

        Raises:
            KeyboardInterrupt: the user stops it; what was done until then is reported.
        """
        if self.options.debug or is_verbose():
            show_logs(logging.DEBUG if self.options.debug else logging.WARNING)
        spending, stdout = Spending(), sys.stdout

        async def run(each: Planned) -> None:
            result = await self.result(each, spending.count)
            with redirect_stdout(stdout):
                report.add(result)

        with report, redirect_stdout(sys.stderr):  # what tools and checks print
            work_on(self._all(), run, jobs)
        if self.options.usage or is_verbose():
            tell(spending.text())

    async def result(self, planned: Planned, observe: Observer | None = None) -> CaseResult:
        """Run a case as often as it is to be run, and judge its runs."""
        runs = [await self._run(planned, each, observe) for each in planned.recordings]
        return CaseResult(planned.case, tuple(runs), self.at_least)

    async def _run(
        self, planned: Planned, recording: Recording, observe: Observer | None
    ) -> RunResult:
        """Run a case once, with a library of its own."""
        judge = planned.judge and planned.judge.watched_by(observe)
        options = cast(RunOptions, {**self.options.of_new_run, "observe": observe})
        with self.options.fresh_library() as library:
            return await run_case(
                planned.case,
                planned.agent,
                self.made_up | library,
                self.checks,
                recording,
                judge,
                **options,
            )

    @property
    def cases(self) -> Mapping[str, Sequence[Case]]:
        """The cases by their files."""
        return {file: [each.case for each in planned] for file, planned in self.planned.items()}

    @property
    def files(self) -> set[str]:
        """The files of the cases and of their programs."""
        programs = {each.case.program for each in self._all()}
        return {*self.planned, *(str(each) for each in programs if each is not None)}

    def _all(self) -> list[Planned]:
        return [each for planned in self.planned.values() for each in planned]

    def _agent_of(self, case: Case, agents: Callable[..., Pattern]) -> Pattern:
        try:
            return agents(*self._names(case))
        except ValidationError as error:
            if error.faults:
                raise
            raise ValidationError.of([case.fault("no-agent", str(error), "agent")]) from None

    def _names(self, case: Case) -> tuple[str, str | None]:
        """The program and the agent of a case."""
        if program := self.program or case.program:
            return program, self.agent or case.agent
        hint = "name it in the file, or with --program FILE"
        raise ValidationError.of([case.fault("no-program", "the case is for no program", "", hint)])

    def _agent(self, program: str, agent: str | None) -> Pattern:
        return the_agent(read_program(program), agent, by="test")

    def _plan(self, case: Case, agent: Pattern, recording: Recording) -> Planned:
        others = (recording.beside(str(number + 2)) for number in range(self.repeats - 1))
        judge = self.judge.for_agent(agent) if case.rubrics else None
        return Planned(case, agent, (recording, *others), judge)

    def _recording(self, file: str, case: Case) -> Recording:
        if self.record is None:
            return Recording()
        base = Path(self.recordings) if self.recordings else Path(file).parent / _FOLDER
        path = base / Path(file).name / f"{file_name(case.name)}{SUFFIX}"
        return Recording(path, self.record, _HINT_OF_NONE if self.record == "none" else _HINT)

    def _require_recordings_apart(self) -> None:
        """Refuse one folder for the recordings of two files that have the same name."""
        paths = [path for each in self._all() if (path := each.recordings[0].path)]
        if len(set(paths)) < len(paths):
            raise click.UsageError("two files of the same name need --recordings-in of their own")

    def _run_with(self, agent: Pattern) -> Pattern:
        """An agent as it is run: with the agents of the library that implement its tools."""
        return with_agents(agent, self.library, match=self.options.match)

    def _make_ready(self, planned: Planned) -> None:
        """Find what would break off a run, before any runs: a key, a tool, a folder."""
        if planned.case.max_cost is not None:
            require_prices(f"max_cost of {planned.case.name}")
        if not planned.is_replayed:
            made_up = self.options.made_up_tools(planned.agent, self.library)
            self.made_up, self.library = made_up | self.made_up, made_up | self.library
        if not planned.is_replayed or self.options.named_tools:
            with hint_at_tools(self.options.named_tools, self.options.mcp):
                bind_agent_tools(planned.agent, self.library, match=self.options.match)
        if not planned.is_replayed:
            named = self.options.of_new_run.get("model")
            models = (Model.parse(str(named)),) if named else models_of(planned.agent)
            for model in models:
                where = self.options.base_url
                asked = connect_model(model, base_url=where, dialect=self.options.dialect)
                waited_for(AnyModel(asked).prepare)  # or the first case would have its seconds
            if planned.judge:
                planned.judge.check()
            for each in planned.recordings:
                each.prepare()

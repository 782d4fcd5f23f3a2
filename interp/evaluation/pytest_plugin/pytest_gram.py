"""The pytest plugin: agents in tests, their runs recorded once and replayed ever after.

This module is loaded with every pytest, so it imports nothing of ours until it has something to do.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from interp.cli.commands.test import CaseRun, Planned
    from interp.evaluation.testing import AgentUnderTest, RunsOfTest

CASES = (".cases.jsonl", ".cases.csv", ".cases.gram")
"""How the names of files end whose cases are tests."""

FOLDER = "recordings"
"""The folder beside a test file in which its recordings are."""

_RUNS: pytest.StashKey[RunsOfTest] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--gram-recordings`` and the setting ``gram_test``."""
    parser.addini("gram_test", "Options of `gram test` for the cases of files", type="args")
    parser.getgroup("gram").addoption(
        "--gram-recordings",
        choices=["once", "changed", "none", "all"],
        default="once",
        help="Which runs of agents are recorded: those without a recording (once, the default), "
        "what they ask otherwise than their recording too (changed), none, or all of them anew. "
        "All others are replayed.",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    """Collect the cases of a file."""
    if file_path.name.endswith(CASES):
        return CaseFile.from_parent(parent, path=file_path)
    return None


class CaseFile(pytest.File):
    """A file whose cases are tests, which are run as ``gram test`` runs them."""

    def collect(self) -> Iterator[CaseItem]:
        """Read the file, and find what is wrong with it."""
        from click import ClickException

        from gram import GramError
        from interp.cli.commands.test import read_case_run

        words = self.config.getini("gram_test")
        if "--offline" not in words:
            words = ["--recordings", self.config.getoption("--gram-recordings"), *words]
        try:
            run = read_case_run([*words, str(self.path)])
        except (GramError, OSError, ClickException) as error:
            raise self.CollectError(str(error)) from None
        for case in run.expecting_nothing():
            self.warn(pytest.PytestWarning(f"{case.place}: any answer passes {case.name}"))
        for planned in run.planned[str(self.path)]:
            yield CaseItem.from_parent(self, name=planned.case.name, run=run, planned=planned)


class CaseItem(pytest.Item):
    """A case as a test."""

    def __init__(self, *, run: CaseRun, planned: Planned, **others: Any) -> None:
        super().__init__(**others)
        self._run, self._planned = run, planned
        self.funcargs: dict[str, Any] = {}  # other plugins look for it at every item

    def runtest(self) -> None:
        """Run the case and judge its run."""
        from interp.cli.commands.test import shown_run
        from interp.concurrency import waited_for

        result = waited_for(partial(self._run.result, self._planned))
        if not result.is_passed:
            told = [*result.messages, "", f"{result.case.place}:", shown_run(result)]
            pytest.fail("\n".join(told), pytrace=False)  # its summary has the first line alone

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The place of the case."""
        row = self._planned.case.row
        line = row.source.position(row.span.start)[0] - 1 if row else None
        return self.path, line, self.name


@pytest.fixture
def _gram_runs(request: pytest.FixtureRequest) -> Iterator[RunsOfTest]:
    from interp.evaluation.testing import Network, RunsOfTest  # imported late, see the module

    is_recorded = "gram_recording" in request.fixturenames

    def refuse(where: str) -> NoReturn:
        pytest.fail(_refused(where, is_recorded), pytrace=False)

    runs = RunsOfTest(Network(refuse, has_loopback=not is_recorded))
    if is_recorded:
        runs.stem = _stem(request)
        runs.mode = request.config.getoption("--gram-recordings")
        runs.hint = "\nhint: pytest --gram-recordings=changed asks what changed, all records anew"
        if runs.mode == "none":
            runs.hint = "\nhint: pytest --gram-recordings=once records what is missing, all anew"
    request.node.stash[_RUNS] = runs
    with runs.network.guarded():
        yield runs


def _refused(where: str, is_recorded: bool) -> str:
    how = "use the fixture gram_recording to record what models answer"
    if is_recorded:
        how = "what is recorded is replayed; pytest --gram-recordings=all records anew"
    return f"a test of an agent may not connect to {where}: {how}"


@pytest.fixture
def gram_agent(
    request: pytest.FixtureRequest, _gram_runs: RunsOfTest
) -> Callable[..., AgentUnderTest]:
    """Load an agent: ``gram_agent("file.gram", tools=library).run("hi")``.

    The path is relative to the test file, and so are those of Python files among ``tools``, which
    are what `ToolLibrary.of` takes. ``agent`` names one of several agents, and other keywords are
    those of `interp.run`. While the test runs, nothing outside of this machine can be connected to.
    """
    from gram import GramError
    from interp import bind_agent_tools, load
    from interp.evaluation.testing import AgentUnderTest
    from interp.tools import library_of

    def agent(
        path: str | Path, agent: str | None = None, *, tools: Any = (), **options: Any
    ) -> AgentUnderTest:
        __tracebackhide__ = True  # what is wrong is shown at the line of the test
        try:
            pattern = load(request.path.parent / path, agent)
            library = library_of(_beside(request.path.parent, tools), by="gram_agent")
            if library:  # a replayed run needs no tools, but those that are given have to bind
                bind_agent_tools(pattern, library, match=options.get("match", "full"))
        except (GramError, OSError) as error:
            raise error.with_traceback(None)  # noqa: B904  # it is the same error
        return AgentUnderTest(pattern, library, _gram_runs, options)

    return agent


def _beside(folder: Path, tools: Any) -> Any:
    """Tools whose files are found from a folder."""
    if isinstance(tools, list | tuple):
        return [_beside(folder, each) for each in tools]
    return str(folder / tools) if isinstance(tools, str) else tools


@pytest.fixture
def gram_recording(_gram_runs: RunsOfTest) -> RunsOfTest:
    """Record the runs of the test's agents once, and replay them ever after.

    Recordings are in the folder ``recordings`` beside the test file; ``--gram-recordings`` says
    which are written. ``gram_recording.run`` runs any program as `interp.run` does. While the test
    runs, nothing can be connected to but by runs that are recorded.
    """
    return _gram_runs


def _stem(request: pytest.FixtureRequest) -> Path:
    """The path of a test's recordings, without their endings."""
    from interp.evaluation.testing import file_name

    node = request.node
    inside = node.nodeid.split("::")[1:] or [node.name]
    test, bracket, parameters = "::".join(inside).partition("[")
    name = ".".join(map(file_name, test.split("::")))
    if bracket:
        name += f"-{file_name(parameters.removesuffix(']'))}"
    return request.path.parent / FOLDER / request.path.stem / name


@pytest.hookimpl(hookwrapper=True)  # the newer kind of wrapper would break older versions of pytest
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Show the runs of a test that failed; one in which a tool was refused the network fails."""
    report: pytest.TestReport = (yield).get_result()
    runs = item.stash.get(_RUNS, None)
    if report.when == "call" and report.passed and runs is not None and runs.network.refused:
        report.outcome = "failed"
        report.longrepr = _refused(runs.network.refused[0], runs.stem is not None)
    if report.failed and runs is not None:
        from interp.cli.terminal.console import unstyled
        from interp.history.replaying import timeline
        from interp.views import lines

        for run in runs.runs:
            shown = map(unstyled, lines(timeline(run)))
            report.sections.append(("Run of the agent", "\n".join(shown)))

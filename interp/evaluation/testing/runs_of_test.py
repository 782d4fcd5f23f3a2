"""The runs of one test: each recorded or replayed in a file of its own, and kept to be shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Unpack, cast

from attrs import Factory, define, frozen

from gram import GramError, Pattern
from gram.plurals import counted
from lenses_ext import ProgramLike

from ...history.records import RecordedRun
from ...machine import AgentResponse, ConversationContext, empty_context
from ...running import BeginOptions, begin
from ...tools import LibraryLike, ToolLibrary
from .network import Network
from .recordings import SUFFIX, Mode, Recording


@define(repr=False)  # pytest shows it with every test that fails
class RunsOfTest:
    """The runs of one test.

    Attributes:
        network: the network of the test, which is open while a run is recorded.
        stem: the path of its recordings without their endings; None if nothing is recorded.
        mode: what is recorded.
        hint: how to record, for messages.
        recordings: the runs so far, in the order in which they began.
    """

    network: Network
    stem: Path | None = None
    mode: Mode = "once"
    hint: str = ""
    recordings: list[Recording] = Factory(list)

    def __repr__(self) -> str:
        return f"<RunsOfTest: {counted(len(self.recordings), 'run')}>"

    @property
    def runs(self) -> list[RecordedRun]:
        """The runs that have begun."""
        return [each.run for each in self.recordings if each.run]

    def run(
        self,
        program: ProgramLike,
        user_input: str,
        tools: LibraryLike = None,
        context: ConversationContext = empty_context,
        **options: Unpack[BeginOptions],
    ) -> AgentResponse:
        """Run an agent as `interp.run` does, recorded or replayed.

        Raises:
            ReplayError: nothing is recorded for the run, or something else.
        """
        __tracebackhide__ = True  # pytest shows the line of the test, and none of ours
        try:
            with self._recorded(options) as added:
                return begin(program, user_input, tools, context, **added).finish()
        except (GramError, OSError) as error:
            raise error.with_traceback(None)  # noqa: B904  # it is the same error

    async def arun(
        self,
        program: ProgramLike,
        user_input: str,
        tools: LibraryLike = None,
        context: ConversationContext = empty_context,
        **options: Unpack[BeginOptions],
    ) -> AgentResponse:
        """Run an agent without blocking as `interp.arun` does, recorded or replayed."""
        __tracebackhide__ = True
        try:
            with self._recorded(options) as added:
                return await begin(program, user_input, tools, context, **added).afinish()
        except (GramError, OSError) as error:
            raise error.with_traceback(None)  # noqa: B904  # it is the same error

    @contextmanager
    def _recorded(self, options: BeginOptions) -> Iterator[BeginOptions]:
        recording = self._next()
        is_live = recording.path and recording.may_ask
        with (
            recording.around(options) as added,
            self.network.opened() if is_live else nullcontext(),
        ):
            yield added

    def _next(self) -> Recording:
        count = len(self.recordings) + 1
        number = "" if count == 1 else f"+{count}"
        path = self.stem and self.stem.with_name(f"{self.stem.name}{number}{SUFFIX}")
        recording = Recording(path, self.mode, self.hint)
        self.recordings.append(recording)
        return recording


@frozen
class AgentUnderTest:
    """An agent with its tools, whose runs are those of one test.

    Attributes:
        pattern: the agent.
        library: the implementations of its tools.
        runs: the runs of the test.
        options: the options of its runs, see `RunOptions`.
    """

    pattern: Pattern
    library: ToolLibrary
    runs: RunsOfTest
    options: Mapping[str, Any]

    def run(
        self,
        user_input: str,
        context: ConversationContext = empty_context,
        **options: Unpack[BeginOptions],
    ) -> AgentResponse:
        """Say something to the agent; see `interp.run`."""
        __tracebackhide__ = True
        given = cast(BeginOptions, {**self.options, **options})
        return self.runs.run(self.pattern, user_input, self.library, context, **given)

    async def arun(
        self,
        user_input: str,
        context: ConversationContext = empty_context,
        **options: Unpack[BeginOptions],
    ) -> AgentResponse:
        """Say something to the agent without blocking; see `interp.arun`."""
        __tracebackhide__ = True
        given = cast(BeginOptions, {**self.options, **options})
        return await self.runs.arun(self.pattern, user_input, self.library, context, **given)

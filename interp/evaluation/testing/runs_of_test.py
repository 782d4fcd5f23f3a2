"""The runs of one test: each recorded or replayed in a file of its own, and kept to be shown."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NoReturn, Unpack, cast
from unittest.mock import patch

from attrs import Factory, define, frozen

from gram import GramError, Pattern
from gram.words import counted
from lenses_ext import ProgramLike

from ...history.records import RecordedRun
from ...machine import AgentResponse, ConversationContext, empty_context
from ...models import close_connections
from ...running import BeginOptions, begin
from ...tools import LibraryLike, ToolLibrary
from .recordings import SUFFIX, Mode, Recording


class Network:
    """The network as a test sees it: refused, but where it is opened.

    Unix sockets are always open: they lead nowhere else. Loopback is open where a test records
    nothing and replays nothing, since servers of its own are there.

    Args:
        refuse: called with where somebody wants to connect to; it raises.
        has_loopback: whether servers on this machine may be connected to.

    Attributes:
        refused: where somebody wanted to connect to, which a tool tells its model alone.
    """

    def __init__(self, refuse: Callable[[str], NoReturn], *, has_loopback: bool) -> None:
        self.refuse = refuse
        self.has_loopback = has_loopback
        self.refused: list[str] = []
        self._opened = 0

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Inside, every connection is allowed."""
        self._opened += 1
        try:
            yield
        finally:
            self._opened -= 1

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Inside, the network is guarded; connections that models have kept are closed before."""
        close_connections()
        getaddrinfo, socketpair = socket.getaddrinfo, socket.socketpair

        def guarded_getaddrinfo(host: Any, port: Any, *given: Any, **options: Any) -> Any:
            self._check(host, port)
            return getaddrinfo(host, port, *given, **options)

        def open_socketpair(*given: Any) -> Any:
            with self.opened():  # event loops need one, and Windows makes it over loopback
                return socketpair(*given)

        with ExitStack() as stack:
            for name in ("connect", "connect_ex", "sendto"):
                stack.enter_context(patch.object(socket.socket, name, self._method(name)))
            stack.enter_context(patch.object(socket, "getaddrinfo", guarded_getaddrinfo))
            stack.enter_context(patch.object(socket, "socketpair", open_socketpair))
            yield

    def _method(self, name: str) -> Callable[..., Any]:
        unguarded = getattr(socket.socket, name)

        def guarded(connection: socket.socket, *given: Any) -> Any:
            if connection.family in (socket.AF_INET, socket.AF_INET6):
                host, port = given[-1][:2]
                self._check(host, port)
            return unguarded(connection, *given)

        return guarded

    def _check(self, host: object, port: object) -> None:
        if self._opened or (self.has_loopback and _is_loopback(host)):
            return
        name = host.decode(errors="replace") if isinstance(host, bytes) else host
        self.refused.append(f"{name}:{port}")
        self.refuse(self.refused[-1])


def _is_loopback(host: object) -> bool:
    name = host.decode(errors="replace") if isinstance(host, bytes) else str(host or "localhost")
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return name.lower() == "localhost" or name.lower().endswith(".localhost")


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

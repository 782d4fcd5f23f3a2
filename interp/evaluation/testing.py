"""The runs of one test: each recorded or replayed in a file of its own, and kept to be shown.

Runs of cases are judged here, and reported as JUnit XML.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import socket
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic
from typing import Any, Literal, NoReturn, TypeAlias, Unpack, cast
from unittest.mock import patch
from xml.etree import ElementTree as ET

from attrs import Factory, define, field, frozen

from gram import GramError, Pattern, write_atomically
from gram.words import counted
from lenses_ext import ProgramLike

from ..errors import AgentError, ConfigurationError, ReplayError, ValidationError, said_by
from ..execution import Spending
from ..history.records import RecordedRun
from ..history.replaying import UntilChanged, recorded
from ..history.stores import load_run
from ..machine import AgentResponse, ConversationContext, empty_context, pending
from ..models import close_connections
from ..running import BeginOptions, RunOptions, begin
from ..tools import LibraryLike, ToolLibrary
from .cases.judging import Case, Checks, Failure, RubricJudge, Seen, failures_of

Mode: TypeAlias = Literal["once", "changed", "none", "all"]
"""What is recorded: runs without a recording, those too in what they ask otherwise than their
recording, nothing, or all runs anew."""

SUFFIX = ".run.gram"
_MOST_BYTES = 150  # of a file name, which may have 255 with what is added


@define
class Recording:
    """One run of a test, and the file it is recorded in.

    Attributes:
        path: the file; None if the run is not to be kept.
        mode: whether it is recorded or replayed.
        hint: how to record it, for messages.
        run: the run as it was, for as long as it is known; None before it began.
        was_replayed: whether that run was answered by what was recorded.
    """

    path: Path | None = None
    mode: Mode = "once"
    hint: str = ""
    run: RecordedRun | None = field(default=None, repr=False)
    was_replayed: bool = field(default=False, init=False)
    _changing: UntilChanged | None = field(default=None, init=False, repr=False)

    @property
    def is_replayed(self) -> bool:
        """Whether the run is answered by what was recorded, with `changed` as far as it fits."""
        if self.path is None or self.mode == "all":
            return False
        return self.mode == "none" or self.path.exists()

    @property
    def may_ask(self) -> bool:
        """Whether models may be asked, and tools may run."""
        return self.mode == "changed" or not self.is_replayed

    def beside(self, name: str) -> Recording:
        """The recording of another run that belongs to this one, such as that of its judge."""
        stem = self.path and self.path.name.removesuffix(SUFFIX)
        path = self.path and self.path.with_name(f"{stem}+{name}{SUFFIX}")
        return Recording(path, self.mode, self.hint)

    @contextmanager
    def around(self, options: BeginOptions) -> Iterator[BeginOptions]:
        """The options with which a run is recorded or replayed; the run takes place inside.

        A recording is written when the run has ended as its events say: with an answer, or at a
        limit. A run that was broken off by an error or by Ctrl-C leaves no recording.

        Raises:
            ReplayError: nothing is recorded, or the run is not the recorded one.
            OSError: the recording cannot be written.
        """
        if taken := sorted({"record", "handler"} & options.keys()):
            if self.path is None:
                yield options
                return
            raise ConfigurationError(f"a recorded test has its own {' and '.join(taken)}")
        with TemporaryDirectory(prefix="gram-") as folder:
            file = Path(folder) / f"this{SUFFIX}"
            added: BeginOptions = {"record": file}
            self._changing, self.was_replayed = None, self.is_replayed
            try:
                self.prepare()
                if self.path and self.is_replayed:
                    if not self.path.exists():
                        raise ReplayError("there is no recording")
                    try:
                        self._changing = UntilChanged.of(self.path) if self.may_ask else None
                        added["handler"] = self._changing or recorded(self.path)
                    except ValidationError as error:  # its hint is not one for tests
                        raise ReplayError(str(error).partition("\n")[0]) from None
                yield {**options, **added}
            except ReplayError as error:  # told with the file, named once, and how to record it
                has_place = str(error).startswith(f"{self.path}:")
                told = ReplayError(f"{error if has_place else f'{self.path}: {error}'}{self.hint}")
                told.state = error.state
                raise told from None
            except AgentError as error:
                if error.state and not pending(error.state):
                    self._keep(file)
                raise
            else:
                self._keep(file)
            finally:
                if file.exists():
                    self.run = load_run(file)

    def prepare(self) -> None:
        """Raise OSError where the run cannot be recorded, before anything is asked."""
        if self.path is None or not self.may_ask:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=self.path.parent):
            pass

    def _keep(self, file: Path) -> None:
        is_new = self._changing.is_changed if self._changing else not self.was_replayed
        if self.path and is_new:
            write_atomically(self.path, file.read_text("utf-8"))


def file_name(name: str) -> str:
    """A name of a test or case as one of a file, without its ending.

    Letters, digits and ``_ . -`` are kept. Names that would become the same one get a part of a
    hash each.

    >>> file_name("greets-Alice"), file_name("a/b")
    ('greets-Alice', 'a-b-c14cddc0')
    """
    kept = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", name)).strip(".-")
    kept = kept.encode()[:_MOST_BYTES].decode(errors="ignore")
    if kept and kept == name:
        return kept
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{kept}-{digest}" if kept else digest


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
        # Event loops need a pair of sockets, and Windows makes it over loopback.
        socketpair = self.opened()(socket.socketpair)
        with ExitStack() as stack:
            for name in ("connect", "connect_ex", "sendto"):
                stack.enter_context(patch.object(socket.socket, name, self._method(name)))
            getaddrinfo = partial(self._looked_up, socket.getaddrinfo)
            stack.enter_context(patch.object(socket, "getaddrinfo", getaddrinfo))
            stack.enter_context(patch.object(socket, "socketpair", socketpair))
            yield

    def _looked_up(self, getaddrinfo: Any, host: Any, port: Any, *given: Any, **more: Any) -> Any:
        self._check(host, port)
        return getaddrinfo(host, port, *given, **more)

    def _method(self, name: str) -> Callable[..., Any]:
        unguarded = getattr(socket.socket, name)

        def guarded(connection: socket.socket, *given: Any) -> Any:
            if connection.family in (socket.AF_INET, socket.AF_INET6):
                self._check(*given[-1][:2])
            return unguarded(connection, *given)

        return guarded

    def _check(self, host: object, port: object) -> None:
        name = host.decode(errors="replace") if isinstance(host, bytes) else host
        if self._opened or (self.has_loopback and _is_loopback(str(name or "localhost"))):
            return
        self.refused.append(f"{name}:{port}")
        self.refuse(self.refused[-1])


def _is_loopback(name: str) -> bool:
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
        count = len(self.recordings) + 1
        number = "" if count == 1 else f"+{count}"
        path = self.stem and self.stem.with_name(f"{self.stem.name}{number}{SUFFIX}")
        recording = Recording(path, self.mode, self.hint)
        self.recordings.append(recording)
        live = self.network.opened() if path and recording.may_ask else nullcontext()
        with recording.around(options) as added, live:
            yield added


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


@frozen
class RunResult:
    """What became of one run of a case.

    Attributes:
        response: the response; None if the run broke off.
        failures: what is not as expected.
        error: what the run raised, or None.
        seconds: how long it took; of a run that is replayed, how long its steps took then.
        cost: what it cost in US dollars, or None if that is not known.
        run: the run, to be shown; None if it did not begin.
    """

    response: AgentResponse | None
    failures: tuple[Failure, ...]
    error: GramError | OSError | None
    seconds: float
    cost: float | None
    run: RecordedRun | None = field(repr=False)

    @property
    def is_passed(self) -> bool:
        """Whether the run is what the case expects."""
        return self.error is None and not self.failures

    @property
    def messages(self) -> list[str]:
        """What is to be said of a run that did not pass."""
        if self.error is not None:
            return [f"the run broke off: {said_by(self.error)}"]
        return [each.message for each in self.failures]


@frozen
class CaseResult:
    """What became of a case.

    Attributes:
        case: the case.
        runs: its runs, at least one.
        at_least: how many of them have to pass.
    """

    case: Case
    runs: tuple[RunResult, ...]
    at_least: int = 1

    @property
    def passed(self) -> int:
        """How many runs passed."""
        return sum(each.is_passed for each in self.runs)

    @property
    def is_passed(self) -> bool:
        """Whether as many runs passed as have to."""
        return self.passed >= self.at_least

    @property
    def shown(self) -> RunResult:
        """The run that is shown of several: the first that did not pass, else the first."""
        return next((each for each in self.runs if not each.is_passed), self.runs[0])

    @property
    def seconds(self) -> float:
        """How long all runs took together."""
        return sum(each.seconds for each in self.runs)

    @property
    def messages(self) -> list[str]:
        """What is to be said of a case that did not pass."""
        if len(self.runs) == 1:
            return self.shown.messages
        number = self.runs.index(self.shown) + 1
        told = f"{self.passed} of {len(self.runs)} runs passed, at least {self.at_least} have to"
        return [f"{told}; run {number}:", *self.shown.messages]


async def run_case(
    case: Case,
    agent: Pattern,
    library: ToolLibrary,
    checks: Checks,
    recording: Recording,
    judge: RubricJudge | None = None,
    **options: Unpack[RunOptions],
) -> RunResult:
    """Run a case and judge its run; a run that fails is a result too.

    The options are those of `interp.run`, but for ``watch``.
    """
    response, error, spending, began = None, None, Spending(), monotonic()
    chosen = cast(BeginOptions, {**options, "watch": spending.count})
    try:
        with recording.around(chosen) as added:
            given = case.given_to(agent)
            response = await begin(agent, given, library, case.after, **added).afinish()
    except (GramError, OSError) as raised:
        error = raised
    seconds = monotonic() - began
    if recording.run and recording.was_replayed:
        seconds = sum(each.seconds or 0.0 for each in recording.run.steps)
    cost, failures = spending.cost(), tuple[Failure, ...]()
    if response:
        verdicts = {}
        if case.rubrics and judge:
            verdicts = await judge.verdicts(
                case, response, lambda n, chosen: recording.beside(f"judge{n + 1}").around(chosen)
            )
        failures = failures_of(Seen(case, response, checks, seconds, cost, verdicts))
    return RunResult(response, failures, error, seconds, cost, recording.run)


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(
    cases: Mapping[str, Sequence[Case]],
    results: Sequence[CaseResult],
    shown: Callable[[CaseResult], str],
) -> str:
    """The results as JUnit XML: a suite for each file, a case that was not run as skipped.

    Of a case that did not pass, ``shown`` gives the run as text.
    """
    of_cases = {id(each.case): each for each in results}
    root = ET.Element("testsuites", name="gram test")
    for file, own in cases.items():
        suite = ET.SubElement(root, "testsuite", name=_text(file))
        for case in own:
            found = ET.SubElement(suite, "testcase", classname=_text(file), name=_text(case.name))
            found.set("file", _text(file))
            if case.row:
                found.set("line", str(case.row.source.position(case.row.span.start)[0]))
            result = of_cases.get(id(case))
            found.set("time", f"{result.seconds if result else 0:.3f}")
            if result is None:
                ET.SubElement(found, "skipped", message="not run")
            elif not result.is_passed:
                run, messages = result.shown, result.messages
                kind = type(run.error).__name__ if run.error else run.failures[0].part
                inside = ET.SubElement(found, "error" if run.error else "failure", type=kind)
                inside.set("message", _text(messages[0].split("\n")[0]))
                inside.text = _text("\n\n".join([*messages, shown(result)]))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped",) * 2):
            suite.set(attribute, str(len(list(suite.iter(tag)))))
        suite.set("tests", str(len(own)))
        suite.set("time", f"{sum(float(each.get('time', 0)) for each in suite):.3f}")
        suite.set("timestamp", datetime.now(UTC).isoformat(timespec="seconds"))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _text(text: str) -> str:
    """A text without the characters that XML cannot have."""
    return _NOT_XML.sub("\ufffd", text)

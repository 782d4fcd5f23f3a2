"""Prints answers as they arrive, as text or as JSON, and asks the user to approve tool calls.

Questions go to standard error, so that standard output has only the answers.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from attrs import define, frozen

from gram.json import Json
from gram.words import counted

from ... import execution, machine
from ...errors import AgentError, ReplayError
from ...execution import AgentFinished, Answer, Finished, ReasoningDelta, TextDelta, ToolStarted
from ...history.records import RecordedRun
from ...json_text import json_or_text
from ...machine import AgentResponse, AgentStarted, Ask, State, Status, ToolFinished, ToolInvocation
from ...programs import names_of_models
from ...running import Run
from ...secrets import without_keys
from ...shown import shortened, visible_text
from ..failures import Failure, exit_code_of, shown
from . import console
from .console import Styled, note, show, show_json, tell, without_surrogates

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live


class _Spinner:
    """Shows what is waited for, on standard error, while there is a terminal for it.

    It is on a line of its own, which is erased when it stops. What a tool prints meanwhile is
    printed above it; while a tool reads from the terminal, nothing is shown.
    """

    def __init__(self, *, is_wanted: bool = True) -> None:
        self._is_wanted = is_wanted
        self._text = self.beside = ""  # the latter is shown at the end of the line
        self._live: Live | None = None  # while it is shown
        self._lock = threading.RLock()

    def start(self, text: str) -> None:
        """Say from now on that ``text`` is waited for, and nothing else any more."""
        self.stop()
        err = sys.stderr
        is_terminal = err is not None and err.isatty() and os.environ.get("TERM") != "dumb"
        if not (self._is_wanted and is_terminal):
            return
        from rich.console import Console  # imported late: only terminals need it
        from rich.live import Live
        from rich.spinner import Spinner

        self._text, self.beside, self._since = text, "", time.monotonic()
        self._console = Console(file=err)
        self._turning = Spinner("line" if self._console.options.ascii_only else "dots")
        self._live = Live(
            get_renderable=self._drawn,
            console=self._console,
            transient=True,
            refresh_per_second=10,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._streams = (sys.stdout, sys.stderr)
        self._aside = tuple(stream and _Aside(stream, self) for stream in self._streams)
        sys.stdout, sys.stderr = self._aside
        self._show()

    def stop(self) -> None:
        """Erase the line for good."""
        if self._live is not None:
            with self._lock:
                self.erase()
                self._live = None
            if (sys.stdout, sys.stderr) == self._aside:  # else a tool has put its own there
                sys.stdout, sys.stderr = self._streams

    def erase(self) -> None:
        """Take the line away, as where something else takes the terminal, such as ``input``."""
        with self._lock, suppress(OSError, ValueError):  # the terminal is gone
            if self._live is not None:
                self._live.stop()

    def print_aside(self, stream: TextIO, text: str) -> int:
        with self._lock:
            self.erase()
            count = stream.write(text)
            stream.flush()
            if text.endswith("\n"):
                self._show()
            return count

    def _show(self) -> None:
        with suppress(OSError, ValueError):
            if self._live is not None:
                self._live.start(refresh=True)

    def _drawn(self) -> RenderableType:
        from rich.text import Text

        def part(text: str, room: int) -> Text:
            shown = Text(without_surrogates(visible_text(without_keys(text))))
            shown.truncate(max(room, 1), overflow="ellipsis")
            return shown

        now, width = time.monotonic(), self._console.width
        seconds = f" {now - self._since:.0f}s"
        beside = part(self.beside and f" {self.beside}", width // 2)
        text = part(self._text, width - len(seconds) - beside.cell_len - 3)
        self._turning.text = Text.assemble(text, seconds, beside)
        return self._turning.render(now)


@frozen
class _Aside:
    """A stream that prints above the line."""

    _stream: TextIO
    _spinner: _Spinner

    def write(self, text: str) -> int:
        return self._spinner.print_aside(self._stream, text)

    def fileno(self) -> int:
        self._spinner.erase()
        return self._stream.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


_LONGEST_ARGUMENT = 500  # characters in a question; the user can ask to see the rest
_LONG_QUESTION = 15  # lines of arguments, after which the question names the tool once more
_LONGEST_RESULT = 500
_DENIED = "denied, not run"  # what the model is told of a call that the policy or the user refused
_ANSWERS = """y  run this call
n  do not run it, and tell the model so (Enter does the same)
always  run this and all other calls of this tool from this place, until the command ends
never   run no call of this tool from this place, until the command ends"""


def answered_call(call: ToolInvocation, most: int | None = None) -> Styled:
    """A tool call and its result or error, on one line; errors and refusals have their colours."""
    text = machine.call_text(call.tool_name, call.args_text)
    return _outcome(text, call.result_text, call.error, most)


def _outcome(text: str, result: str | None, error: str | None, most: int | None) -> Styled:
    outcome, style, more = result or "", "", ""
    if error is not None:
        outcome = f"error: {error}"
        style = "refused" if error.startswith(_DENIED) else "failed"
    if most and (hidden := sum(max(0, len(part) - most) for part in (text, outcome))):
        text, outcome = shortened(text, most), shortened(outcome, most)
        more = f" ({counted(hidden, 'more character')}; -v shows all, in a chat /calls)"
    return [(f"{text} -> ", ""), (outcome, style), (more, "")]


def _who(inside: AgentStarted | AgentFinished) -> str:
    """An agent or workflow inside a run, with its place where its name does not say that."""
    is_plain = inside.at == (inside.name,)
    return inside.name if is_plain else f"{inside.name} ({'.'.join(map(str, inside.at))})"


def _is_at_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


@define(kw_only=True, eq=False, repr=False, slots=False)
class Terminal:
    """Prints answers and asks for approval.

    On a terminal the words are printed as they arrive, otherwise when the answer is complete. If
    printing fails, the error is raised at the end of the run.

    Args:
        is_debugging: whether to show calls whole, and no spinner among the lines of the log.
        is_streaming: whether to print words as they arrive to a pipe or file, too.
        is_kept: whether the run is kept, so that questions stay open if nobody can be asked.
        shows_reasoning: whether to show the reasoning of models, on standard error.

    Attributes:
        calls: the tool calls that were shown since the last answer began.
        unrecorded: why the last answer could not be recorded, or None; it is raised when the answer
            has been printed.
    """

    _is_debugging: bool = False
    _is_streaming: bool = False
    _is_kept: bool = False
    _shows_reasoning: bool = True
    _conversation: str | None = None

    def __attrs_post_init__(self) -> None:
        is_whole = self._is_debugging or console.is_verbose()
        self._most = None if is_whole else _LONGEST_RESULT
        self._spinner = _Spinner(is_wanted=not (self._is_debugging or console.is_quiet()))
        self._shows_reasoning = self._shows_reasoning and not console.is_quiet()
        self._is_reasoning = False
        self.calls: list[ToolInvocation] = []
        self._always: dict[tuple[object, ...], Answer] = {}
        self._run: Run | RecordedRun | None = None
        self._is_within_line = False
        self._failure: OSError | None = None
        self.unrecorded: AgentError | None = None

    def show_answer(self, run: Run | RecordedRun) -> AgentResponse:
        """Continue a run, or a recorded one, to its end and print its answer."""
        is_shown_as_said = self._is_streaming or _is_at_terminal()
        self.calls, self._run = [], run
        model = names_of_models(run.state.agent, run.state.model)
        said, told = "", None  # what was shown last, word by word and as what an agent gave
        said_at: machine.At = ()
        told_at: machine.At = ()
        self._spinner.start(model)
        for each in self.watched(run, words=is_shown_as_said):
            match each:
                case execution.ToolProgress():
                    self._spinner.beside = str(each)
                    continue
                case ReasoningDelta():
                    self._reason(each.text)
                    continue
                case TextDelta(at, text) if machine.streams_result(run.state, at):
                    self._spinner.stop()
                    self._end_reasoning()
                    said, said_at = (said if at == said_at else "") + text, at
                    self._print(text, nl=False)
                    self._is_within_line = True
                    continue
            was_within_line, waits_for = self._is_within_line, model
            self.end_line()
            match each:
                case execution.SaidBeforeCalls() if machine.says_result(run.state, each.at):
                    said = ""
                    if not was_within_line:
                        note(each.text)
                case ToolStarted():
                    waits_for = machine.call_text(each.call.name, each.call.arguments)
                case ToolFinished():
                    self.calls.append(each.invocation)
                    note(answered_call(each.invocation, self._most))
                case AgentStarted():
                    note(f"{_who(each)} begins")
                case AgentFinished():
                    is_inside = told_at[: len(each.at)] == each.at  # what gave it
                    is_told = each.result == said or (is_inside and each.result == told)
                    if each.error is None and is_told:
                        note(f"{_who(each)} ends")
                    elif not all(isinstance(part, int) for part in each.at[-2:]):  # no call
                        note(_outcome(_who(each), each.result_text, each.error, self._most))
                        told, told_at = each.result, each.at
                case Finished():
                    if not was_within_line and (said != each.response.content or not said):
                        self._print(each.response.content)
                    for problem in (self._failure, self.unrecorded):
                        if problem is not None:
                            raise problem
                    return each.response
            self._spinner.start(waits_for)
        raise AssertionError("a stream ends with Finished")

    def watched(self, run: Run | RecordedRun, *, words: bool) -> Iterator[execution.Observation]:
        """What happens in a run; an answer that could not be recorded ends it like any other."""
        try:
            yield from run.stream(words=words)
        except AgentError as error:
            if run.state.status is not Status.DONE or isinstance(error, ReplayError):
                raise
            self.unrecorded = error
            yield Finished(machine.response(run.state))

    def show_failure(self, state: State, failure: Failure, *, named: str | None = None) -> None:
        """Show nothing of a run that failed: its error is told when the command ends."""

    def end_line(self) -> None:
        """End the line of the model's words, if one has begun, and the spinner's."""
        self._spinner.stop()
        self._end_reasoning()
        if self._is_within_line:
            if console.is_within_line() or not _is_at_terminal():
                self._print("")
            self._is_within_line = False

    def _reason(self, text: str) -> None:
        if self._shows_reasoning:
            if not self._is_reasoning:
                self.end_line()
            self._is_reasoning = True
            with suppress(OSError):
                show([(text, "reasoning")], nl=False, err=True)

    def _end_reasoning(self) -> None:
        if self._is_reasoning:
            self._is_reasoning = False
            tell("")

    def _print(self, text: str, *, nl: bool = True) -> None:
        if self._failure is None:
            try:
                show(text, nl=nl)
            except OSError as failure:
                self._failure = failure

    def ask(self, ask: Ask) -> Answer:
        """Ask the user whether a call may run.

        Without a terminal it is denied, or stays open if the run is recorded.
        """
        self.end_line()
        assert self._run is not None, "runs ask while their answer is shown"
        state = self._run.state
        place = machine.path_of_names(state, ask.at)
        whose = (place, machine.frame_at(state, ask.at).pattern, ask.name)
        if not ask.may_have_run and (always := self._always.get(whose)) is not None:
            return always
        if ask.may_have_run:
            tell("this call had begun when the run ended: it may have run already")
        asked = partial(machine.question_text, ask.name, ask.args, place, width=console.columns())
        question, whole = asked(most=_LONGEST_ARGUMENT), asked()
        while True:
            is_cut = question != whole
            choices = "y/N/always/never" + (", v to view it whole" if is_cut else "")
            who, *lines = question.split("\n")
            again = f"{who} " if len(lines) > _LONG_QUESTION else ""
            try:
                answer = console.ask_user(
                    without_surrogates(f"Run {question}\n{again}[{choices}]: ")
                )
            except KeyboardInterrupt:
                tell("")  # what follows is not on the line of the question
                raise
            except console.NoTerminal:
                if self._is_kept:
                    return None
                call = without_surrogates(visible_text(machine.call_text(ask.name, ask.args)))
                tell(f"{call}: denied, because there is no terminal to ask at")
                return "nobody is there to approve it"
            match answer.strip().lower():
                case "y" | "yes":
                    return True
                case "" | "n" | "no":
                    return "the user does not allow it"
                case "a" | "always":
                    return self._always.setdefault(whose, True)
                case "never":
                    return self._always.setdefault(whose, "the user never allows this tool")
                case "v" | "view" if is_cut:
                    question = whole
                case _:
                    tell(_ANSWERS)


class JsonAnswers(Terminal):
    """Prints each answer as an object on a line; approval is asked for as usual.

    With ``is_streaming`` it prints a line for each piece of text, reasoning, call and result, too.
    """

    def show_answer(self, run: Run | RecordedRun) -> AgentResponse:
        """Continue a run to its end and print its answer; see `Terminal`."""
        self._run = run
        for each in self.watched(run, words=self._is_streaming):
            match each:
                case TextDelta() if machine.streams_result(run.state, each.at):
                    self._tell("text", {"text": each.text})
                case ReasoningDelta() if self._shows_reasoning:
                    self._tell("reasoning", {"text": each.text, "at": list(each.at)})
                case ToolStarted():
                    call = each.call
                    what = {"tool": call.name, "arguments": json_or_text(call.arguments)}
                    caller = machine.frame_at(run.state, call.at).name
                    self._tell("call", {**what, "agent": caller, "at": list(call.at)})
                case execution.ToolProgress():
                    what = {"tool": each.name, "at": list(each.at), "done": each.done}
                    self._tell("progress", {**what, "total": each.total, "message": each.message})
                case ToolFinished():
                    self.calls.append(each.invocation)
                    self._tell("result", _call(each.invocation))
                case AgentStarted():
                    self._tell("begin", {"agent": each.name, "at": list(each.at)})
                case AgentFinished():
                    what = {"agent": each.name, "at": list(each.at)}
                    self._tell("end", {**what, **_result(each.result, each.error)})
                case Finished(response):
                    self._print_answer(as_json_answer(response), run.state)
                    if self.unrecorded:
                        raise self.unrecorded
                    return response
        raise AssertionError("a stream ends with Finished")

    def show_failure(self, state: State, failure: Failure, *, named: str | None = None) -> None:
        """Print an object for a run that failed, with what it did until then.

        An answer that could not be saved has been printed already.
        """
        if state.status is Status.DONE:
            return
        problem = {"type": named or type(failure).__name__, "message": shown(failure)}
        answer: dict[str, Json] = {
            "answer": None,
            "error": {**problem, "exit_code": exit_code_of(failure)},
            "calls": [_call(each) for each in state.tools_used],
            "usage": {**state.usage.to_json()},
        }
        self._print_answer(answer, state)

    def _print_answer(self, answer: dict[str, Json], state: State) -> None:
        whole = {**answer, "conversation": self._conversation, "run": state.run_id}
        show_json({"type": "answer", **whole} if self._is_streaming else whole, indent=None)

    def _tell(self, kind: str, what: dict[str, Json]) -> None:
        if self._is_streaming:
            show_json({"type": kind, **what}, indent=None)


def as_json_answer(response: AgentResponse) -> dict[str, Json]:
    """A response as a JSON object."""
    return {
        "answer": response.content,
        "value": response.value,
        "calls": [_call(each) for each in response.tools_used],
        "usage": {**response.usage.to_json()},
        "truncated": response.truncated,
        "unfinished": response.unfinished,
        "refused": response.refused,
    }


def _call(call: ToolInvocation) -> dict[str, Json]:
    outcome = _result(call.result, call.error)
    made = {"agent": call.agent_name, "at": list(call.at)}
    return {"tool": call.tool_name, "arguments": call.args_text.value, **outcome, **made}


def _result(result: Json, error: str | None) -> dict[str, Json]:
    return {"result": result} if error is None else {"error": error}

"""Prints answers as JSON: an object for each, or a line for each thing that happens."""

from __future__ import annotations

from gram.json import Json

from ...execution import (
    AgentFinished,
    AgentStarted,
    Finished,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from ...history.replaying import Replay
from ...json_text import json_or_text
from ...machine import AgentResponse, State, Status, ToolInvocation, frame_at, says_result
from ...running import Run
from ..failures import Failure, exit_code_of, shown
from .answers import Terminal
from .output import show_json_line


class JsonAnswers(Terminal):
    """Prints each answer as an object on a line; approval is asked for as usual.

    Args:
        is_streaming: print a line for each piece of text, call and result too.
        conversation: the name of the conversation, or None.
        is_kept: whether the run is kept, so that questions stay open if nobody can be asked.
        shows_reasoning: whether there is an object for each piece of reasoning.
    """

    def __init__(
        self,
        *,
        is_streaming: bool,
        conversation: str | None = None,
        is_kept: bool = False,
        shows_reasoning: bool = True,
    ) -> None:
        super().__init__(is_debugging=True, is_kept=is_kept, shows_reasoning=shows_reasoning)
        self._is_streaming = is_streaming
        self._conversation = conversation

    def show_answer(self, run: Run | Replay) -> AgentResponse:
        """Continue a run to its end and print its answer; see `Terminal`."""
        self._run = run
        for each in self.watched(run, words=self._is_streaming):
            match each:
                case TextDelta() if says_result(run.state, each.at):
                    self._tell("text", {"text": each.text})
                case ReasoningDelta() if self._shows_reasoning:
                    self._tell("reasoning", {"text": each.text, "at": list(each.at)})
                case ToolStarted():
                    call = each.call
                    what = {"tool": call.name, "arguments": json_or_text(call.arguments)}
                    caller = frame_at(run.state, call.at).name
                    self._tell("call", {**what, "agent": caller, "at": list(call.at)})
                case ToolProgress():
                    what = {"tool": each.name, "at": list(each.at), "done": each.done}
                    self._tell("progress", {**what, "total": each.total, "message": each.message})
                case ToolFinished():
                    self.calls.append(each.invocation)
                    self._tell("result", _call(each.invocation))
                case AgentStarted():
                    self._tell("begin", {"agent": each.name, "at": list(each.at)})
                case AgentFinished():
                    what = {"agent": each.name, "at": list(each.at)}
                    self._tell("end", {**what, **_outcome(each.result, each.error)})
                case Finished(response):
                    self._print_answer(as_json_answer(response), run.state)
                    if self.unrecorded:
                        raise self.unrecorded
                    return response
        raise AssertionError("a stream ends with Finished")

    def show_failure(self, state: State, failure: Failure, *, named: str | None = None) -> None:
        """Print an object for a run that failed, with what it did until then.

        An answer that could not be saved has been printed already.

        Args:
            state: the last State of the run.
            failure: what failed.
            named: the type of error that is told, if it is not that of the failure.
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
        show_json_line({"type": "answer", **whole} if self._is_streaming else whole)

    def _tell(self, kind: str, what: dict[str, Json]) -> None:
        if self._is_streaming:
            show_json_line({"type": kind, **what})


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
    outcome = _outcome(call.result, call.error)
    made = {"agent": call.agent_name, "at": list(call.at)}
    return {"tool": call.tool_name, "arguments": call.args_text.value, **outcome, **made}


def _outcome(result: Json, error: str | None) -> dict[str, Json]:
    return {"result": result} if error is None else {"error": error}

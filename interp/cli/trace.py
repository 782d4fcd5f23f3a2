"""``gram trace``: a recorded run as a timeline."""

from __future__ import annotations

import json
from typing import Any

import click

from lenses_ext import agent_model, agent_name, view

from ..call_text import call_text, shortened
from ..machine import (
    Ask,
    CallFailed,
    CallModel,
    CallTool,
    Decided,
    Effect,
    ModelReplied,
    Resumed,
    ToolReturned,
    newly_answered,
    pending,
)
from ..messages import Usage
from ..records import RecordedRun, Step, load_run
from ..redaction import redact
from .completing import complete_files
from .file_options import json_option
from .output import show

_LONGEST = 100  # characters of what is said and of results; --json has all of it


@click.command("trace")
@click.argument("file", shell_complete=complete_files)
@json_option
def command(file: str, as_json: bool) -> None:
    """Show the run that FILE records: who was asked, what was called, how long it took.

    FILE is written by gram run --record. A run that is still going on is shown as far as it is.
    """
    run = load_run(file)
    if as_json:
        show(redact(json.dumps(_as_json(run), ensure_ascii=False, indent=2)))
        return
    for line in timeline(run):
        show(redact(line))


def timeline(run: RecordedRun) -> list[str]:
    """The lines of a timeline: one about the run, one for each step, and what it waits for."""
    rows = [*map(_row, run.steps), *map(_waiting, pending(run.state))]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    steps = [f"{at:{widths[0]}}  {took:>{widths[1]}}  {what}" for at, took, what in rows]
    return [_summary(run), *steps]


def _summary(run: RecordedRun) -> str:
    agent, state = run.first.agent, run.state
    model = state.model or view(agent_model, agent)
    seconds = sum(step.seconds or 0 for step in run.steps)
    parts = [
        view(agent_name, agent) or "the agent",
        str(model),
        state.status.value,
        f"{_count(len(_replies(run)), 'request')}, {_count(len(state.invocations), 'call')}",
        _tokens(state.usage),
        f"{seconds:.2f} s",
    ]
    return " · ".join(parts)


def _row(step: Step) -> tuple[str, str, str]:
    """The position, the seconds, and what happened."""
    at = ".".join(map(str, step.event.at))
    took = "" if step.seconds is None else f"{step.seconds:.2f} s"
    answered = [each for _, each in newly_answered(step.before, step.state)]
    told = [_outcome(each.error, each.result_text) for each in answered]
    match step.event:
        case ModelReplied() as event:
            calls = [call.name for call in event.message.tool_calls]
            said = _short(event.message.content)
            what = " ".join(
                each
                for each in (
                    said and f'"{said}"',
                    calls and f"calls {', '.join(calls)}",
                    event.truncated and "(cut off)",
                    f"({_tokens(event.usage)})",
                )
                if each
            )
            return at, took, "; ".join([f"model: {what}", *(f"refused: {each}" for each in told)])
        case ToolReturned() | CallFailed() | Decided() as event:
            call = step.effect
            assert isinstance(call, Ask | CallTool)
            named = call_text(call.name, call.arguments)
            if isinstance(event, Decided):
                reason = f" ({event.reason})" if event.reason else ""
                return at, took, f"{named} {'allowed' if event.allowed else 'denied'}{reason}"
            return at, took, f"{named} {told[0] if told else ''}"
        case Resumed():
            calls = [f"{each.tool_name} {how}" for each, how in zip(answered, told, strict=True)]
            return at, took, "; ".join(["resumed", *calls])
    return at, took, "the time of the run was up"


def _waiting(effect: Effect) -> tuple[str, str, str]:
    at = ".".join(map(str, effect.at))
    if isinstance(effect, CallModel):
        return at, "", "waits for the model"
    wanted = "waits for approval of" if isinstance(effect, Ask) else "waits for"
    return at, "", f"{wanted} {call_text(effect.name, effect.arguments)}"


def _outcome(error: str | None, result: str | None) -> str:
    return f"-> error: {_short(error)}" if error is not None else f"-> {_short(result or '')}"


def _as_json(run: RecordedRun) -> dict[str, Any]:
    state = run.state
    return {
        "agent": view(agent_name, run.first.agent),
        "model": str(state.model or view(agent_model, run.first.agent)),
        "run": state.run_id,
        "status": state.status.name.lower(),
        "usage": _usage(state.usage),
        "steps": [_step_as_json(step) for step in run.steps],
    }


def _step_as_json(step: Step) -> dict[str, Any]:
    found: dict[str, Any] = {
        "at": list(step.event.at),
        "event": type(step.event).__name__,
        "seconds": step.seconds,
    }
    match step.event:
        case ModelReplied(_, message, usage, truncated):
            calls = [
                {"name": each.name, "arguments": each.arguments} for each in message.tool_calls
            ]
            found |= {"content": message.content, "calls": calls, "usage": _usage(usage)}
            found["truncated"] = truncated
        case Decided(_, allowed, reason):
            found |= {"allowed": allowed, "reason": reason}
    if isinstance(step.effect, Ask | CallTool):
        found |= {"tool": step.effect.name, "arguments": step.effect.args}
    answered = [each for _, each in newly_answered(step.before, step.state)]
    found["answered"] = [
        {"tool": each.tool_name, "result": each.result, "error": each.error} for each in answered
    ]
    return found


def _usage(usage: Usage) -> dict[str, int | None]:
    return {"input": usage.input_tokens, "output": usage.output_tokens}


def _replies(run: RecordedRun) -> list[Step]:
    return [step for step in run.steps if isinstance(step.event, ModelReplied)]


def _tokens(usage: Usage) -> str:
    if usage.total_tokens is None:
        return "tokens unknown"
    return f"{usage.input_tokens}+{usage.output_tokens} tokens"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _short(text: str) -> str:
    return shortened(" ".join(text.split()), _LONGEST)

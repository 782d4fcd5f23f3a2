"""The person at the terminal: shown answers as they come, and asked for approval.

Questions go to standard error, so that the output has the answers alone.
"""

from __future__ import annotations

import sys

import click

from ..approval import ApprovalPolicy, allow_all, ask_all, deny_all
from ..effects import Ask, ToolEffect
from ..json_text import write_json
from ..messages import AgentResponse
from ..performing import Answer
from ..redaction import RedactedStream, redact
from ..runs import Run
from ..streaming import Finished, TextDelta

POLICIES: dict[str, ApprovalPolicy] = {"ask": ask_all, "all": allow_all, "none": deny_all}
"""What ``--approve`` may say, and the policy it means."""


def tell(text: str) -> None:
    """Say something that is no answer: on standard error, keys redacted."""
    click.echo(printable(redact(text)), err=True)


def printable(text: str) -> str:
    """A text for the terminal: lone surrogates, which no encoding has, are replaced."""
    return text.encode(errors="replace").decode()


def call_text(call: ToolEffect) -> str:
    """A tool call on one line."""
    arguments = ", ".join(f"{name}: {write_json(value)}" for name, value in call.args.items())
    return f"{call.name}({arguments})"


def ask_person(ask: Ask) -> Answer:
    """Whether a call may be run; where nobody can be asked, it may not."""
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        tell(f"{call_text(ask)}: denied, since there is no terminal to ask at")
        return "nobody is there to approve it"
    question = printable(redact(f"Run {call_text(ask)}?"))
    return click.confirm(question, default=False, err=True) or ("the user does not allow it")


def shown_answer(run: Run) -> AgentResponse:
    """Print the answer of a run: on a terminal as the model says it, elsewhere when it is there."""
    if not sys.stdout.isatty():
        response = run.finish()
        click.echo(printable(redact(response.content)))
        return response
    said = RedactedStream()
    speaking: int | None = None  # the turn whose text the line that is being printed has
    for each in run.stream():
        if isinstance(each, TextDelta):
            click.echo(printable(said.feed(each.text)), nl=False)
            speaking = each.turn
        elif isinstance(each, Finished):
            unsaid = redact(each.response.content) if speaking is None else said.rest()
            click.echo(printable(unsaid))
            return each.response
        elif speaking is not None:  # it was said beside tool calls
            click.echo(printable(said.rest()))
            speaking = None
    raise AssertionError("a stream ends with Finished")

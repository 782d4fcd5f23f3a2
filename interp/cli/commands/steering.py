"""``gram runs cancel`` and ``decide``."""

from __future__ import annotations

from collections.abc import Mapping

import click

from gram.json import Json

from ...json_text import read_json
from ...machine import Ask, At, State, path_of_names, question_text
from ...workers import Decision, Result, cancel_run, decide_run
from ..inputs.file_options import json_option
from ..inputs.record_option import run_argument, run_in_store
from ..terminal.asking import columns
from ..terminal.output import note, show, show_json


@click.command("cancel")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@json_option
def cancel(runs: tuple[str, ...], as_json: bool) -> None:
    """End runs for good: nothing more of them is recorded, whoever goes on with them."""
    named = list[str]()
    for each in runs:
        with run_in_store(each) as (store, run):
            cancel_run(store, run)
            named.append(run)
            note(f"gram: run {run} is cancelled")
    if as_json:
        show_json([{"id": run, "status": "cancelled"} for run in named])


@click.command("decide")
@run_argument
@click.option("--allow", multiple=True, metavar="AT", help="Run the call at this position.")
@click.option("--deny", multiple=True, metavar="AT[=WHY]", help="Do not run it, and say why.")
@click.option(
    "--result", multiple=True, metavar="AT=JSON", help="Take this as its result, without a run."
)
@click.option("--all", "all_of_them", type=click.Choice(["allow", "deny"]), help="Each call.")
@json_option
def decide(
    run: str,
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    result: tuple[str, ...],
    all_of_them: str | None,
    as_json: bool,
) -> None:
    """Answer the calls that a run waits for approval of; without an answer, list them.

    A call may wait because it had begun when the run was stopped, and its tool is to run only once:
    --allow runs it again, --result says what it gave, gram runs cancel gives the run up. After the
    answers, gram resume goes on with the run.
    """
    with run_in_store(run) as (opened, run):
        given = _decisions(allow, deny, result)
        if given and all_of_them:
            raise click.UsageError("--all answers each call: leave out --allow, --deny, --result")
        if given or all_of_them:
            decide_run(opened, run, given or all_of_them == "allow")
        state = opened.recorded(run).state
        status = opened.row(run).status
    waiting = state.asks
    if as_json:
        show_json([_ask_json(state, ask) for ask in waiting])
        return
    for ask in waiting:
        may_have_run = "  (may have run already)" if ask.may_have_run else ""
        place = path_of_names(state, ask.at)
        call = question_text(ask.name, ask.args, place, width=columns())
        name, *arguments = call.split("\n")
        show("\n".join([f"{'.'.join(map(str, ask.at))}  {name}{may_have_run}", *arguments]))
    if not waiting and (given or all_of_them):
        note(f"gram: run {run} waits for no more approval; gram resume goes on with it")
    elif not waiting:
        note(f"gram: run {run} is {status}, and waits for no approval")


def _ask_json(state: State, ask: Ask) -> dict[str, Json]:
    return {
        "at": list(ask.at),
        "place": list(path_of_names(state, ask.at)),
        "tool": ask.name,
        "arguments": ask.args,
        "may_have_run": ask.may_have_run,
    }


def _decisions(
    allow: tuple[str, ...], deny: tuple[str, ...], result: tuple[str, ...]
) -> Mapping[At, Decision]:
    found: dict[At, Decision] = {position(at): True for at in allow}
    for each in deny:
        at, _, why = each.partition("=")
        found[position(at)] = why or False
    for each in result:
        at, equals, text = each.partition("=")
        if not equals:
            raise click.UsageError(f"--result {each}: write AT=JSON")
        try:
            found[position(at)] = Result(read_json(text))
        except ValueError as error:
            raise click.UsageError(f"--result {at}: this is not JSON: {error}") from None
    return found


def position(text: str) -> At:
    """A position as traces show it, such as ``0.1`` or ``writer.0.0``."""
    return tuple(int(part) if part.isdecimal() else part for part in text.split("."))

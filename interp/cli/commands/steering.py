"""``gram runs resume``, ``replay``, ``cancel``, ``decide`` and ``fork``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from gram import GramError
from gram.json import Json

from ...history.stores import StoredRun, open_store
from ...json_text import read_json
from ..completion.completing import complete_files
from ..inputs.file_options import agent_option, json_option
from ..inputs.options import AnsweringOptions, options_of
from ..inputs.store_option import named_run, run_argument, shown_address, store_option
from ..process import interruptible
from ..terminal.asking import columns
from ..terminal.output import note, show, show_json, tell
from .replay import replay_options, show_again

if TYPE_CHECKING:
    from ...machine import Ask, At, State
    from ...workers import Decision


@click.command("resume")
@run_argument
@store_option()
@json_option
@options_of(AnsweringOptions)
def resume_run(run: str, store: str, as_json: bool, options: AnsweringOptions) -> None:
    """Go on with a run, and print its answer, as gram resume does with a run file.

    Nothing that is recorded is asked or run again. What the options do not change stays as it was.
    """
    from ...workers import tell_workers
    from ..unfinished_turn import how_to_resume, may_go_on
    from .resume import resumed, terminal_of

    terminal = terminal_of(options, as_json=as_json)
    with interruptible(), open_store(store, must_exist=True) as opened:
        log, kept = StoredRun.of(opened, named_run(opened, run))
        going_on = resumed(log, kept, options, terminal)
        try:
            terminal.show_answer(going_on, lambda _: None)
        except BaseException as failure:  # how to resume is told, then it is raised again
            terminal.end_line()
            if isinstance(failure, GramError | OSError):
                terminal.show_failure(going_on.state, failure)
            if may_go_on(going_on.state, failure):
                address = shown_address(store)
                tell(how_to_resume("", going_on.state, options, store=address))
            raise
        tell_workers(opened, log.id)


@click.command("replay")
@run_argument
@store_option()
@replay_options
def replay_run(run: str, store: str, **options: Any) -> None:
    """Show a run as it was shown, as gram replay does with a run file.

    With --program, a changed program gets the recorded answers.
    """
    with open_store(store, must_exist=True) as opened:
        kept = opened.recorded(named_run(opened, run))
    show_again(kept, **options)


@click.command("cancel")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@store_option()
@json_option
def cancel(runs: tuple[str, ...], store: str, as_json: bool) -> None:
    """End runs for good: nothing more of them is recorded, whoever goes on with them."""
    from ...workers import cancel_run

    with open_store(store, must_exist=True) as opened:
        named = [named_run(opened, each) for each in runs]
        for run in named:
            cancel_run(opened, run)
            note(f"gram: run {run} is cancelled")
    if as_json:
        show_json([{"id": run, "status": "cancelled"} for run in named])


@click.command("decide")
@run_argument
@store_option()
@click.option("--allow", multiple=True, metavar="AT", help="Run the call at this position.")
@click.option("--deny", multiple=True, metavar="AT[=WHY]", help="Do not run it, and say why.")
@click.option(
    "--result", multiple=True, metavar="AT=JSON", help="Take this as its result, without a run."
)
@click.option("--all", "all_of_them", type=click.Choice(["allow", "deny"]), help="Each call.")
@json_option
def decide(
    run: str,
    store: str,
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    result: tuple[str, ...],
    all_of_them: str | None,
    as_json: bool,
) -> None:
    """Answer the calls that a run waits for approval of; without an answer, list them.

    A call may wait because it had begun when the run was stopped, and its tool is to run only once:
    --allow runs it again, --result says what it gave, gram runs cancel gives the run up. After the
    answers, gram runs resume goes on with the run.
    """
    from ...machine import path_of_names, question_text
    from ...workers import decide_run

    with open_store(store, must_exist=True) as opened:
        run = named_run(opened, run)
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
        note(f"gram: run {run} waits for no more approval; gram runs resume goes on with it")
    elif not waiting:
        note(f"gram: run {run} is {status}, and waits for no approval")


def _ask_json(state: State, ask: Ask) -> dict[str, Json]:
    from ...machine import path_of_names

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
    from ...workers import Result

    found: dict[At, Decision] = {_position(at): True for at in allow}
    for each in deny:
        at, _, why = each.partition("=")
        found[_position(at)] = why or False
    for each in result:
        at, equals, text = each.partition("=")
        if not equals:
            raise click.UsageError(f"--result {each}: write AT=JSON")
        try:
            found[_position(at)] = Result(read_json(text))
        except ValueError as error:
            raise click.UsageError(f"--result {at}: this is not JSON: {error}") from None
    return found


def _position(text: str) -> At:
    """A position as traces show it, such as ``0.1`` or ``writer.0.0``."""
    return tuple(int(part) if part.isdecimal() else part for part in text.split("."))


@click.command("fork")
@run_argument
@store_option()
@click.option(
    "--program", metavar="FILE", shell_complete=complete_files, help="The program of the new run."
)
@agent_option
@json_option
def fork(run: str, store: str, program: str | None, agent: str | None, as_json: bool) -> None:
    """Make a run that begins like RUN, and print its id; gram runs resume goes on with it.

    The new run has what is recorded of RUN up to the first request that its program makes
    differently.
    """
    from ...workers import fork_run
    from ..inputs.reading import read_document

    document = None if program is None else read_document(program)
    with open_store(store, must_exist=True) as opened:
        parent = named_run(opened, run)
        new = fork_run(opened, parent, document, agent=agent)
    if as_json:
        show_json({"id": new, "parent": parent})
    else:
        show(new)

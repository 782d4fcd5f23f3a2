"""``gram runs``: the runs of a store, listed and steered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from shlex import quote
from time import sleep
from typing import Any, Literal, get_args

import click
from attrs import evolve

from gram import GramError
from gram.json import Json
from gram.words import counted

from ... import workers
from ...history import stores
from ...history.stores import Address, RunRow, RunStatus, RunStore
from ...json_text import read_json
from ...machine import Ask, At, State, path_of_names, question_text
from ..completion.completing import complete_agent
from ..each_file import each_file
from ..failures import Refused
from ..inputs.declaring import agent_option, argument, command, json_option, option
from ..inputs.files import RECORDED, read_program
from ..inputs.options import named_texts, read_limits
from ..inputs.record_option import moment, position, run_in_store, store_option
from ..terminal.console import columns, forbid, note, show, show_result
from .causes import fork

_WATCHED = 2.0  # seconds between two lists
_MOST = 50  # runs that a list shows unless told otherwise


@click.group("runs")
def runs_command() -> None:
    """List and steer the runs of a store; gram trace shows one, gram resume goes on with it.

    gram run FILE TEXT --record runs.db keeps a run there. A RUN is runs.db#ID, or an id alone in
    the store that GRAM_RECORD names, or in your own; the beginning of an id is enough.
    """


runs_command.add_command(fork)


@command("list", runs_command)
def list_runs(
    store: str = store_option,
    status: tuple[RunStatus, ...] = option("Only runs like this."),
    agent: str | None = option("Only of this agent.", "NAME", shell_complete=complete_agent),
    tenant: str | None = option("Only for this tenant.", "NAME"),
    conversation: str | None = option("Only turns of this conversation.", "NAME"),
    since: datetime | None = option("Only runs made since then."),
    before: datetime | None = option("Only runs made before then."),
    most: int | None = option(f"How many at most; {_MOST} by default, all with --json."),
    watch: bool = option("List them again every two seconds, until Ctrl-C."),
    as_json: bool = json_option,
) -> None:
    """List runs, the newest first: id, status, agent, time it was made, tokens it used."""
    forbid(watch and as_json, "--watch is for people: leave out --json")
    filters: dict[str, Any] = {"agent": agent, "tenant": tenant, "conversation": conversation}
    filters |= {"status": status, "since": since, "before": before}
    with stores.open_store(store, must_exist=True) as opened:
        while watch:
            now = [*_table(_rows(opened, filters, most or _MOST))]
            click.clear()
            show("\n".join([f"{datetime.now():%Y-%m-%d %H:%M:%S}", *now]))
            sleep(_WATCHED)
        found = _rows(opened, filters, most or (None if as_json else _MOST + 1))
    shown = found if most or as_json else found[:_MOST]
    show_result(as_json, [row.to_json() for row in shown], _table(shown))
    if not (shown or as_json):
        note("gram: there are no such runs")
    if len(found) > len(shown):
        note(f"gram: there are more than {_MOST} runs; --most shows more, filters fewer")


def _rows(store: RunStore, filters: Mapping[str, Any], most: int | None) -> list[RunRow]:
    """Runs of a store, which also say why no worker goes on with them."""
    rows = [*store.rows(**filters, limit=most)]
    left = [row.id for row in rows if row.status in ("queued", "stopped")]
    if not left or not isinstance(store.database, stores.PostgresDatabase):
        return rows
    reasons = workers.why_queued(store, left)
    return [evolve(row, reason=reasons.get(row.id, row.reason)) for row in rows]


def _table(rows: list[RunRow]) -> Iterator[str]:
    width = max((len(row.facts.agent) for row in rows), default=0)
    for row in rows:
        tokens = row.usage.total_tokens
        used = "" if tokens is None else f"  {counted(tokens, 'token')}"
        head = f"{row.id}  {row.status:9}  {row.facts.agent:{width}}  {moment(row.created)}"
        yield f"{head}{used}{_why(row)}"


def _why(row: RunRow) -> str:
    return f"  {row.reason.splitlines()[0]}" if row.reason else ""


@command("cancel", runs_command)
def cancel(runs: tuple[str, ...] = argument("RUN..."), as_json: bool = json_option) -> None:
    """End runs for good: nothing more of them is recorded, whoever goes on with them."""
    rows = list[dict[str, str]]()
    for each in runs:
        with run_in_store(each) as (store, run):
            workers.cancel_run(store, run)
            rows.append({"id": run, "status": "cancelled"})
            note(f"gram: run {run} is cancelled")
    show_result(as_json, rows, ())


@command("decide", runs_command)
def decide(
    run: str,
    allow: tuple[str, ...] = option("Run the call at this position.", "AT"),
    deny: tuple[str, ...] = option("Do not run it, and say why.", "AT[=WHY]"),
    result: tuple[str, ...] = option("Take this as its result, without a run.", "AT=JSON"),
    of_all: Literal["allow", "deny"] | None = option("Each call.", name="--each"),
    as_json: bool = json_option,
) -> None:
    """Answer the calls that a run waits for approval of; without an answer, list them.

    A call may wait because it had begun when the run was stopped, and its tool is to run only once:
    --allow runs it again, --result says what it gave, gram runs cancel gives the run up. After the
    answers, a worker goes on with a submitted run, gram resume with any other.
    """
    named = quote(str(Address.of(run)))  # without a password
    with run_in_store(run) as (opened, run):
        given = _decisions(allow, deny, result)
        forbid(given and of_all, "--each answers every call: leave out --allow, --deny, --result")
        if given or of_all:
            workers.decide_run(opened, run, given or of_all == "allow")
        state = opened.recorded(run).state
        status = opened.row(run).status
    rows = [
        {
            "at": list(ask.at),
            "place": list(path_of_names(state, ask.at)),
            "tool": ask.name,
            "arguments": ask.args,
            "may_have_run": ask.may_have_run,
        }
        for ask in state.asks
    ]
    show_result(as_json, rows, (_question(state, ask) for ask in state.asks))
    if rows and not (as_json or given or of_all):
        at = ".".join(map(str, state.asks[0].at))
        note(f"gram: to answer: gram runs decide {named} --allow {at} (or --deny, or --result)")
    if not (as_json or rows):
        more = "waits for no more approval; its worker, or gram resume, goes on with it"
        waits = more if given or of_all else f"is {status}, and waits for no approval"
        note(f"gram: run {run} {waits}")


def _question(state: State, ask: Ask) -> str:
    place = path_of_names(state, ask.at)
    name, *arguments = question_text(ask.name, ask.args, place, width=columns()).split("\n")
    may_have_run = "  (may have run already)" if ask.may_have_run else ""
    return "\n".join([f"{'.'.join(map(str, ask.at))}  {name}{may_have_run}", *arguments])


def _decisions(
    allow: tuple[str, ...], deny: tuple[str, ...], result: tuple[str, ...]
) -> Mapping[At, workers.Decision]:
    found: dict[At, workers.Decision] = {position(at): True for at in allow}
    for each in deny:
        at, _, why = each.partition("=")
        found[position(at)] = why or False
    for at, text in named_texts("--result", result):
        try:
            found[position(at)] = workers.Result(read_json(text))
        except ValueError as error:
            raise click.UsageError(f"--result {at}: this is not JSON: {error}") from None
    return found


@command("export", runs_command)
def export(run: str, file: str) -> None:
    """Write RUN to the new run FILE, for gram resume, replay and trace.

    A run file does not say for which tenant a run was done, and of which conversation it is a turn.
    """
    with run_in_store(run) as (opened, run):
        workers.export_run(opened, run, file)
        facts = opened.row(run).facts
    for kind, name in (("tenant", facts.tenant), ("conversation", facts.conversation)):
        if name is not None:
            note(f"gram: {file} does not have the {kind} of the run: {name}")


@command("import", runs_command)
def import_files(
    files: tuple[str, ...] = argument("FILE..."),
    store: str = store_option,
    tenant: str | None = option("Whom the runs were done for.", "NAME"),
    as_json: bool = json_option,
) -> None:
    """Take the runs of run files into the store, and print their ids.

    A run that was a turn of a conversation is one no more. A file that fails is told, and the
    others are taken. Of a folder, the files named *.run.gram are meant.
    """
    with stores.open_store(store) as opened:

        def take(file: str) -> dict[str, Json]:
            taken = workers.imported(opened, file, tenant=tenant)
            if not as_json:
                show("\n".join(run for run, _ in taken))
            if all(was_there for _, was_there in taken):
                note(f"gram: {file}: {opened.name} has this run already")
            return {"id": taken[-1][0], "turns": [run for run, _ in taken]}

        tally = each_file(files, take, suffix=RECORDED)
    show_result(as_json, tally.rows, ())
    tally.leave()


@command("prune", runs_command)
def prune(
    store: str = store_option,
    before: datetime = option(
        "Only runs that last changed before then, such as 30d or 2026-11-22.",
        required=True,
    ),
    status: tuple[RunStatus, ...] = option(
        "Only runs like this.",
        type=click.Choice([each for each in get_args(RunStatus) if each != "running"]),
        default=stores.ENDED,
        show_default=True,
    ),
    tenant: str | None = option("Only for this tenant.", "NAME"),
    as_json: bool = json_option,
) -> None:
    """Remove runs that have ended, for good; nothing that somebody goes on with is removed."""
    with stores.open_store(store, must_exist=True) as opened:
        removed = opened.prune(before, status=status, tenant=tenant)
    show_result(as_json, {"removed": removed}, ())
    note(f"gram: {counted(removed, 'run')} removed")


@command("requeue", runs_command)
def requeue(
    runs: tuple[str, ...] = argument("[RUN]...", required=False),
    store: str = store_option,
    status: tuple[Literal["failed", "limited", "stopped"], ...] = option(
        "All runs like this; failed, where another filter is given."
    ),
    since: datetime | None = option("Only runs made since then, such as 1h."),
    tenant: str | None = option("Only for this tenant.", "NAME"),
    tool: str | None = option("Only where a call of it failed or has no answer.", "NAME"),
    model: str | None = option("Only those that ask this model, or this provider.", "NAME"),
    program: str | None = option("Go on with this program.", "FILE"),
    agent: str | None = agent_option,
    limits: tuple[str, ...] = option(
        "Go on with this limit, such as iterations=20.", "NAME=NUMBER", name="--limit"
    ),
    does_it: bool = option("Give them back; else only show which.", name="-i"),
    as_json: bool = json_option,
) -> None:
    """Give runs that have stopped back to the workers of their store, once each.

    A run that its model, a limit or a worker stopped goes on where it was. One that has failed
    itself, or gets another --program, is forked before the event that failed it, under an id such
    as RUN.again-1. Without RUN the filters say which.
    """
    is_filtered = bool(tool or model or status or since or tenant)
    forbid(bool(runs) == is_filtered, "give runs, or filters such as --status failed --since 1h")
    changed = read_limits(limits)
    new = None if program is None else read_program(program)
    named = [stores.address_of_run(each, store) for each in runs]
    places = {each.place for each in named} or {store}
    forbid(len(places) > 1, "give back the runs of one store at a time")
    with stores.open_store(places.pop(), must_exist=True) as opened:
        rows = opened.rows(status=status or ("failed",), since=since, tenant=tenant)
        ids = [stores.run_named(opened, each.run) for each in named] or [row.id for row in rows]
        found: list[workers.Requeue] = []
        refused = 0
        for run in ids:
            try:
                others = None
                if changed:
                    others = evolve(opened.recorded(run).state.limits, **changed)
                planned = workers.requeue_of(opened, run, new, agent=agent, limits=others)
            except GramError as error:
                refused += 1
                note(f"gram: {error}")
                continue
            if (tool is None or planned.called(tool)) and (model is None or planned.asked(model)):
                found.append(planned)
        for each in found:
            line = _given_back(each, does_it=does_it)
            if not as_json:  # at once: the next one may fail
                show(line)
    given = [{"id": it.new or it.row.id, "parent": it.row.id if it.new else None} for it in found]
    show_result(as_json, given, ())
    done = "given back" if does_it else "would be given back"
    hint = "; -i does it" if found and not does_it else ""
    note(f"gram: {counted(len(found), 'run')} {done}{hint}")
    if runs and refused:
        raise Refused(f"{counted(refused, 'run')} cannot be given back")


def _given_back(planned: workers.Requeue, *, does_it: bool) -> str:
    """What is shown of a run that is given back, which is done before if it is to be."""
    row, events = planned.row, counted(len(planned.kept.steps), "event")
    if does_it:
        planned.carry_out()
    how = f"forked as {planned.new}" if planned.new else "goes on"
    return f"{row.id}  {row.status:9}  {how} after {events}{_why(row)}"
